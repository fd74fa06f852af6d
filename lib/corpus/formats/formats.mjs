// The formats of shards. A writer takes blocks of documents, in order, and makes the files of a
// shard of them.
//
// With `pack` the tokens of all documents follow each other as without it. Only where rows end is
// different: every `pack` tokens, the last row of a shard may be shorter. So no token is lost, and
// the starts of documents are kept beside the rows.

import { BinaryWriter } from './binary.mjs'
import { JsonLinesWriter } from './json-lines.mjs'
import { MegatronWriter } from './megatron.mjs'
import { ParquetWriter } from './parquet.mjs'

/**
 * Documents as tokens.
 *
 * @typedef {object} Block
 * @property {Uint16Array | Uint32Array} tokens of all documents, end to end
 * @property {Uint32Array} lengths of the documents; none is empty
 * @property {boolean} [isLarge] whether the next block is only made when this one is on the disk
 * @property {{ id?: string, path: string, at: number }[]} documents
 */

/**
 * @typedef {object} FormatWriter
 * @property {(block: Block) => Promise<void>} write
 * @property {() => Promise<void>} finish
 */

const WRITERS = {
  megatron: MegatronWriter,
  npy: BinaryWriter,
  bin: BinaryWriter,
  jsonl: JsonLinesWriter,
  parquet: ParquetWriter,
}

/**
 * @param {import('../options.mjs').Content} content
 * @param {(suffix: string) => Promise<import('../store/part-file.mjs').PartFile>} create makes a
 *   file of the shard
 * @returns {Promise<FormatWriter>}
 */
export const writerOf = (content, create) => WRITERS[content.format].create(content, create)
