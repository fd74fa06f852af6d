// The formats of shards. A writer takes blocks of documents, in order, and writes the files of a
// shard.
//
// `pack` changes only where rows end: after every `pack` tokens instead of at the end of each
// document. The last row of a shard may be shorter, so no token is lost. With best fit the rows of
// a block have lengths of their own (packing.mjs). The starts of the documents are stored too.

/** @typedef {import('./rows.mjs').Block} Block */

/**
 * @typedef {object} FormatWriter
 * @property {(block: Block) => Promise<void>} write
 * @property {(rest?: number) => Promise<void>} finish `rest` is the length of a last row that is
 *   not full
 */

/** The writer of each format. Only that of the job is loaded. */
const WRITERS = {
  megatron: async () => (await import('./megatron.mjs')).MegatronWriter,
  npy: async () => (await import('./binary.mjs')).BinaryWriter,
  bin: async () => (await import('./binary.mjs')).BinaryWriter,
  llmc: async () => (await import('./llmc.mjs')).LlmcWriter,
  mds: async () => (await import('./mds.mjs')).MdsWriter,
  jsonl: async () => (await import('./json-lines.mjs')).JsonLinesWriter,
  parquet: async () => (await import('./parquet.mjs')).ParquetWriter,
  // The file itself, which words.mjs fills.
  words: async () => ({ create: async (_content, create) => (await create('.words')).appendOnly() }),
}

/**
 * Creates the writer for a shard.
 *
 * @param {import('../options.mjs').Content} content
 * @param {(suffix: string) => Promise<import('../store/part-file.mjs').PartFile>} create makes a
 *   file of the shard
 * @param {(suffix: string) => Promise<import('../store/part-file.mjs').PartFile>} scratch makes a
 *   temporary file
 * @param {import('../sizes.mjs').Sizes} sizes
 * @returns {Promise<FormatWriter>}
 */
export const writerOf = async (content, create, scratch, sizes) =>
  (await WRITERS[content.format]()).create(content, create, scratch, sizes)
