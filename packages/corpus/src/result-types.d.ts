// The plans, the progress and the results of corpus jobs, a part of index.d.ts.

/** The plan of a job. */
export interface CorpusPlan {
  /** The number of shards. */
  shards: number
  /** The number of ranges of inputs. */
  parts: number
  /** Bytes of the inputs as they are stored. */
  bytes: number
  /** SHA-256 of plan.jsonl. */
  sha256: string
}

/** A shard that is done. */
export interface ShardSummary {
  /** The number in the names of its files. */
  shard: number
  /** Whether this run processed it. Otherwise its files already existed and match its record. */
  isNew: boolean
  /** Documents with tokens. */
  documents: number
  /** Tokens, bos and eos included. */
  tokens: number
  /** Bytes of its inputs as they are stored. */
  bytes: number
  /** Rows that were skipped. */
  skipped: number
  /** The time that it took. */
  seconds: number
  /** The machine that processed it. */
  host: string
}

/** The progress of a job. */
export interface CorpusProgress {
  /** Shards that are done. */
  shards: number
  /** The number of them that an earlier run processed. */
  kept: number
  /** Documents so far. */
  documents: number
  /** Tokens so far. */
  tokens: number
  /** Bytes of inputs that were read. */
  bytes: number
  /** All shards of the job. */
  allShards: number
  /** All bytes of its inputs. */
  allBytes: number
  /** Seconds since the first shard was started. */
  seconds: number
  /** With a queue: shards that failed and are not retried. */
  failed?: number
  /** Estimated seconds until the end; absent as long as nothing was read. */
  left?: number
  /** What each machine has done in this run. */
  hosts: Record<string, MachineProgress>
}

/** What a machine has done in this run. */
export interface MachineProgress {
  /** Shards in progress. */
  running: number
  /** Shards that are done. */
  shards: number
  /** Documents, including those of shards in progress. */
  documents: number
  /** Tokens so far. */
  tokens: number
  /** Bytes of inputs that were read. */
  bytes: number
  /** Seconds since the first message of the machine. */
  seconds: number
}

/** The sums over all shards. */
export interface CorpusTotals {
  /** The number of shards. */
  shards: number
  /** Documents with tokens. */
  documents: number
  /** Tokens, bos and eos included. */
  tokens: number
  /** Bytes of the texts in UTF-8. */
  textBytes: number
  /** Characters, Unicode code points, of the texts. */
  characters: number
  /** Documents without tokens, which are left out. */
  empty: number
  /** Chats without a token to learn from, which are left out: their loss masks are 0. */
  unlearned: number
  /** Documents that were cut at `maxTokens`. */
  truncated: number
  /** Tokens that were cut off. */
  cutTokens: number
  /** The number of rows: documents, or the rows that `pack` made. */
  rows: number
  /** Documents that `pack` cut, because they lie across the end of a row or are longer than one. */
  cutDocuments: number
  /** Tokens that rows lack if all of them are filled up to `pack`. */
  padding: number
  /** Documents that `hooks` left out. */
  filtered: number
  /** Documents that `sample` leaves out. */
  unsampled: number
  /** Texts of JSON with unpaired surrogates, each of which became U+FFFD. */
  unpaired: number
  /** For chats, the tokens whose loss mask is 1. */
  lossTokens?: number
  /** Rows that were skipped. */
  skipped: number
  /** The sum of the times of all shards. */
  seconds: number
}

/** The result of a job. */
export interface CorpusResult extends CorpusTotals {
  /** Identifies the job: a hash of inputs, tokenizer, options and version. */
  id: string
  /** The output folder; `undefined` after a dry run. */
  output: string | undefined
  /** The tokenizer and the ids around documents. */
  tokenizer: CorpusTokenizer
  /** The options that determine the bytes of the output, with their defaults. */
  options: Record<string, unknown>
  /** The plan. */
  plan: CorpusPlan
  /** Number of shards that an earlier run processed. */
  kept: number
}

/** The tokenizer of a job. */
export interface CorpusTokenizer {
  /** The name as it was given. */
  name: string
  /** Where it comes from. */
  kind: 'file' | 'encoding' | 'hub'
  /** The bundled encoding, or that of a rank file. */
  encoding?: string
  /** SHA-256 of its file. */
  sha256: string
  /** The rows that an embedding needs: the largest id, added tokens included, plus one. */
  vocabSize: number
  /** The id before each document. */
  bos?: number
  /** The id after each document. */
  eos?: number
}
