// The calls that read the tokens of finished jobs, a part of index.d.ts.

import type { CorpusTokenizer } from './result-types.js'

/** Options of {@link CorpusTokens.rows}. */
export interface RowsOptions {
  /** The seed of a random order of all rows; another one for each epoch. Default: in order. */
  shuffle?: number | undefined
  /** The number of this reader, from 0. Default: 0. */
  rank?: number | undefined
  /** The number of readers; each gets every `ranks`-th row of the order. Default: 1. */
  ranks?: number | undefined
  /** The number of rows that this reader has had before, to go on after a stop. Default: 0. */
  start?: number | undefined
  /** Whether rows have `cuSeqlens` and `positionIds`. Default: `false`. */
  documents?: boolean | undefined
}

/** A row of tokens. */
export interface TokenRow {
  /** The number of the row. */
  index: number
  /** The ids. */
  ids: Uint16Array | Uint32Array
  /** For a job of chats, 1 for each id that the assistant wrote, else 0. */
  lossMask?: Uint8Array
  /**
   * With `documents`: where the documents of the row start in it, and the length of the row, as
   * attention of variable length takes it (`cu_seqlens`).
   */
  cuSeqlens?: Int32Array
  /** With `documents`: the position of each token in the part of its document that the row has. */
  positionIds?: Int32Array
}

/** The tokens of a finished job. */
export interface CorpusTokens {
  /** The number of rows: documents, or, with `pack`, rows of that number of tokens. */
  readonly length: number
  /** The number of documents. */
  readonly documents: number
  /** The number of tokens. */
  readonly tokens: number
  /** The largest number of tokens of a row; undefined without `pack`. */
  readonly pack: number | undefined
  /** The type of the ids. */
  readonly type: 'u16' | 'u32'
  /** Whether the tokens have a loss mask: the job's documents are chats. */
  readonly hasLossMask: boolean
  /** The tokenizer of the job. */
  readonly tokenizer: CorpusTokenizer
  /** Reads a row, by its number from 0. */
  row(index: number): Promise<Uint16Array | Uint32Array>
  /** Reads the loss mask of a row; undefined if the job has none. */
  lossMask(index: number): Promise<Uint8Array | undefined>
  /** Where the documents of a row start in it, and the length of the row. */
  documentsOfRow(index: number): Promise<Int32Array>
  /**
   * Reads rows, some of them ahead. The order depends on the seed alone. To go on after a stop,
   * store the number of rows that were taken, and give it as `start`.
   */
  rows(options?: RowsOptions): AsyncGenerator<TokenRow, void, undefined>
  /** Closes the folder. */
  close(): Promise<void>
}

/**
 * Opens the output of a finished job in the format `megatron`, `npy` or `bin` to read its rows.
 * Memory grows with the number of shards, and with the rows of the 64 shards used last.
 *
 * Rejects with `ERR_TOKENLANE_FILE_NOT_FOUND` if the folder contains no job,
 * `ERR_TOKENLANE_CORPUS_DAMAGED` if the job is not finished, and `ERR_TOKENLANE_UNSUPPORTED` for
 * another format. Files that are not as they were written are found when they are read, by their
 * sizes; `verifyCorpus` compares their SHA-256.
 */
export function openTokens(output: string): Promise<CorpusTokens>
