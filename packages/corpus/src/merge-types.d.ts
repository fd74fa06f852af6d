// The calls that join finished jobs, a part of index.d.ts.

import type { CorpusOptions } from './job-types.js'
import type { CorpusTotals } from './result-types.js'

/** An input of {@link mergeCorpora}. */
export interface MergeInput {
  /** The output folder of a finished job, or s3://bucket/prefix/. */
  path: string
  /**
   * How often each document is used. With 2.5, each is used twice, and random ones with half of the
   * tokens a third time.
   * Default: 1.
   */
  epochs?: number | undefined
  /** The share of the input in {@link MergeOptions.tokens}, relative to the other inputs. */
  weight?: number | undefined
  /**
   * The number of tokens that the output has of the input, approximately: it is used in part or
   * several times.
   */
  tokens?: number | undefined
}

/** Options of {@link mergeCorpora}. */
export interface MergeOptions {
  /**
   * Output folders of finished jobs in the formats `megatron`, `npy` or `bin`, with the same
   * tokenizer: all of texts, or all of chats with loss masks.
   */
  inputs: readonly (string | MergeInput)[]
  /** The output folder: a new one, an empty one, or that of the same merge. */
  output: string
  /**
   * The largest number of tokens of a file. In order, a file has whole shards of the inputs, so a
   * larger shard is a file of its own. A shuffle keeps the tokens of a file in memory; its files
   * have approximately as many. Default: 67,108,864.
   */
  tokensPerFile?: number | undefined
  /**
   * Files of exactly so many tokens, apart from the last one, in the order of the inputs; documents
   * are cut at the ends of files. Not with `shuffle`, or with inputs that are used in part: merge
   * their result once more. Default: `tokensPerFile`.
   */
  tokensPerShard?: number | undefined
  /**
   * The number of tokens of the output, approximately: inputs are used in part or several times,
   * by their weights or else by their sizes. Default: as `epochs` say.
   */
  tokens?: number | undefined
  /**
   * Leaves out documents whose tokens occurred before in the order of the inputs, in the same one
   * too (by 128 bits of their SHA-256). Takes 32 to 64 bytes of memory for each document. Not with
   * `tokensPerShard`. Default: `false`.
   */
  dedup?: boolean | undefined
  /** The seed of one random order of all documents. Default: the order of the inputs. */
  shuffle?: number | undefined
  /** The format of the output. Default: that of the first input. */
  format?: CorpusOptions['format']
  /** Tokens of a row across documents. Default: a row is a document. */
  pack?: number | undefined
  /** How documents come into rows, as in {@link CorpusOptions.packing}. Default: `'sequential'`. */
  packing?: CorpusOptions['packing']
  /** Number of files at a time. Default: 2. */
  concurrency?: number | undefined
  /** How the files of an earlier run are compared with their records. Default: `'sha256'`. */
  resumeCheck?: 'sha256' | 'size' | undefined
  /**
   * Ends the merge; what is done is kept. The promise rejects with `signal.reason`, after 5 seconds
   * at the latest. Default: none.
   */
  signal?: AbortSignal | undefined
  /** Called with the progress of each pass. Default: none. */
  onEvent?: ((event: MergeEvent) => void) | undefined
}

/** The progress of a merge: shards that are compared or read, or files that are written. */
export interface MergeEvent {
  /** The pass. */
  event: 'compared' | 'read' | 'written'
  /** What is done. */
  done: number
  /** What there is to do. */
  all: number
}

/** What a merge has of an input. */
export interface MergedInput {
  /** The folder. */
  path: string
  /** How often its documents were to be used. */
  epochs: number
  /** The tokens that the output was to have of it. */
  planned: number
  /** With `dedup`: its documents that occurred before, which are left out. */
  duplicates: number
  /** The documents that are in the output, with repetitions. */
  documents: number
  /** Their tokens. */
  tokens: number
}

/**
 * The result of {@link mergeCorpora}. Bytes and characters of the texts are 0 if documents were
 * chosen or shuffled one by one.
 */
export interface MergeResult extends CorpusTotals {
  /** The id of the merge. */
  id: string
  /** The output folder. */
  output: string
  /** The number of files of an earlier run that were kept. */
  kept: number
  /** The inputs. */
  inputs: MergedInput[]
}

/**
 * Joins the outputs of finished jobs without tokenizing again: in order or shuffled, each input
 * whole, in part or several times. The output is that of a job: `verifyCorpus`,
 * `writeReport`, `openTokens` and another merge read it. Its bytes depend only on the
 * inputs and the options. If the folder contains the same merge, files that match their records are
 * kept. With the format `megatron`, `blend.txt` has the numbers of tokens and the prefixes of all
 * files, for `--data-args-path` of Megatron-LM.
 *
 * Rejects with `ERR_TOKENLANE_CORPUS_MISMATCH` if the folder contains another job or other files,
 * `ERR_TOKENLANE_CORPUS_DAMAGED` if an input is not finished or not as it was written,
 * `ERR_TOKENLANE_UNSUPPORTED` for an input in another format, and `ERR_TOKENLANE_ARGUMENT_TYPE` if
 * inputs have different tokenizers, or some have loss masks and others have none.
 */
export function mergeCorpora(options: MergeOptions): Promise<MergeResult>
