/**
 * Corpora to files of tokens, on all cores of a machine. A job that ended early goes on where it
 * was.
 *
 * ```js
 * import { tokenizeCorpus } from 'tokenlane/corpus'
 *
 * const options = { inputs: 'data/', output: 'tokens/', tokenizer: 'gpt-4o', eos: true }
 * const { documents, tokens } = await tokenizeCorpus(options)
 * ```
 *
 * docs/guide/corpus.md describes the files.
 *
 * @module tokenlane/corpus
 */

/** Options of {@link tokenizeCorpus}. */
export interface CorpusOptions {
  /**
   * Files, folders and patterns (`*`, `?`, `**`, `[a-z]`, `{md,txt}`), in this order; files of a
   * folder in the order of their names. Names that start with a dot are left out of folders. gzip,
   * Zstandard and Parquet are recognised by their first bytes. `s3://bucket/prefix/` and patterns
   * of keys need the optional packages `@aws-sdk/client-s3` and `@aws-sdk/lib-storage`, Parquet
   * `hyparquet` and `fzstd`. Default: none.
   */
  inputs?: string | readonly string[] | undefined
  /** A file with one more input per line. Default: none. */
  filesFrom?: string | undefined
  /**
   * The folder for the output, a path or `s3://bucket/prefix/`: new, empty, or that of the same
   * job. Required unless `dryRun`.
   * Default: none.
   */
  output?: string | undefined
  /**
   * A file (tokenizer.json, tekken.json, a rank file), a folder with one of the first two, a
   * bundled encoding, a model of OpenAI, or `owner/name[@revision]` on the Hugging Face Hub.
   * Default `'o200k_base'`.
   */
  tokenizer?: string | undefined
  /** The bundled encoding that a rank file is read as. Default: none. */
  encoding?: string | undefined
  /**
   * `'megatron'`: .bin and .idx for IndexedDataset of megatron-core. `'npy'` and `'bin'`: tokens,
   * row offsets, and a table of the documents. `'jsonl'`: ids as text. `'parquet'`: ids as a list
   * of int32, by the optional package `hyparquet-writer`. Default `'megatron'`.
   */
  format?: 'megatron' | 'npy' | 'bin' | 'jsonl' | 'parquet' | undefined
  /**
   * The numbers of megatron, npy and bin. Default: `'u16'` if the vocabulary fits, else `'u32'`.
   */
  type?: 'u16' | 'u32' | undefined
  /**
   * What a document is: a field of a line of JSON, a line without its end, or a file. Default:
   * `'json'` for names that end in .jsonl, .ndjson or .json (also .gz, .zst), else `'lines'`. A
   * document of a Parquet file is a field of a row in any case.
   */
  rows?: 'json' | 'lines' | 'files' | undefined
  /** The field with the text; parts of a path are joined with dots. Default `'text'`. */
  field?: string | undefined
  /** The field with the id of a document, a string or a number; not for megatron. Default: none. */
  idField?: string | undefined
  /**
   * A field, such as the language, by whose values `writeReport` shows tokens, and characters per
   * token. A record has at most 1,000 values; documents with others, and those without the field,
   * are a group each. The files of tokens do not depend on it. Default: none.
   */
  groupBy?: string | undefined
  /**
   * Puts a token before each document: the one that tokenizer_config.json or the vocabulary names,
   * or this one. Default `false`.
   */
  bos?: boolean | string | undefined
  /** The same behind each document. Default `false`. */
  eos?: boolean | string | undefined
  /**
   * Makes rows of so many tokens across documents. No token is lost: the last row of a shard may be
   * shorter. Default: a document is a row.
   */
  pack?: number | undefined
  /**
   * Seed of a random order of shards, and of the documents in each. Default: the order of the
   * inputs.
   */
  shuffle?: number | undefined
  /**
   * `'skip'` leaves out rows that cannot be read or encoded, and counts them; a record lists the
   * first 20 of its shard. Default `'fail'`.
   */
  onError?: 'fail' | 'skip' | undefined
  /**
   * The most tokens of a document, bos and eos included; the rest is cut off and counted. Default:
   * no limit.
   */
  maxTokens?: number | undefined
  /**
   * Special tokens that a text spells out. Default: `'parse'` for a tokenizer.json, `'text'` for
   * ranks.
   */
  specialTokens?: 'parse' | 'text' | 'throw' | undefined
  /**
   * The most bytes of a row. Default: 256 MiB for a whole file, 64 MiB for a line, 16 MiB for a
   * line of JSON. A row of Parquet may have 64 MiB.
   */
  maxRow?: number | undefined
  /** How many bytes a compressed byte may become, beyond the first 64 MiB. Default 100. */
  maxRatio?: number | undefined
  /** About how many bytes of text a shard has. Default 268435456. */
  shardSize?: number | undefined
  /** Counts documents and tokens, and writes nothing. Default `false`. */
  dryRun?: boolean | undefined
  /** How the files of a run before are compared with their records. Default `'sha256'`. */
  resumeCheck?: 'sha256' | 'size' | undefined
  /** Shards at a time, 1 to 256. Default: half as many as processors, from 2 to 4. */
  concurrency?: number | undefined
  /** The most threads that encode, 1 to 256. Default: as many as processors. */
  threads?: number | undefined
  /**
   * Has the shards done by the workers of a queue: `'redis://host:6379'`, or `'rediss://…'` for
   * TLS. User and password may stand in the URL, or in TOKENLANE_QUEUE_USERNAME and
   * TOKENLANE_QUEUE_PASSWORD. It needs the packages bullmq and ioredis. All machines must see the
   * inputs and the output under the same paths. Default: this machine.
   */
  queue?: string | undefined
  /** The name of the queue. Default `'tokenlane-corpus'`. */
  queueName?: string | undefined
  /**
   * Ends the job; the promise rejects with `signal.reason`. With a queue, workers go on. Default:
   * none.
   */
  signal?: AbortSignal | undefined
  /** Hears how the job goes. Default: nobody. */
  onEvent?: ((event: CorpusEvent) => void) | undefined
}

/** What {@link CorpusOptions.onEvent} hears. */
export type CorpusEvent =
  | PlanningEvent
  | UnreadableEvent
  | PlanEvent
  | QueuedEvent
  | ShardEvent
  | FailedEvent
  | ProgressEvent
  | DoneEvent

/** The plan is being made. */
export interface PlanningEvent {
  /** The kind of event. */
  event: 'planning'
  /** Shards so far. */
  shards: number
  /** Ranges of inputs so far. */
  parts: number
  /** Bytes of inputs so far. */
  bytes: number
}

/** With `onError: 'skip'`, an input that cannot be read is left out. */
export interface UnreadableEvent {
  /** The kind of event. */
  event: 'unreadable'
  /** The code of the error. */
  code: string
  /** Its message, which names the input. */
  message: string
}

/** The plan is made. */
export interface PlanEvent extends CorpusPlan {
  /** The kind of event. */
  event: 'plan'
}

/** Shards were put into the queue. */
export interface QueuedEvent {
  /** The kind of event. */
  event: 'queued'
  /** Shards so far. */
  shards: number
  /** All shards of the job. */
  allShards: number
}

/** A shard in the queue failed for the last time. */
export interface FailedEvent {
  /** The kind of event. */
  event: 'failed'
  /** The place of the shard in the plan. */
  shard: number
  /** The error. */
  message: string
}

/** A shard is done. */
export interface ShardEvent extends ShardSummary {
  /** The kind of event. */
  event: 'shard'
}

/** How far the job is; at most five a second. */
export interface ProgressEvent extends CorpusProgress {
  /** The kind of event. */
  event: 'progress'
}

/** The job is done. */
export interface DoneEvent extends CorpusResult {
  /** The kind of event. */
  event: 'done'
}

/** The plan of a job. */
export interface CorpusPlan {
  /** The number of shards. */
  shards: number
  /** The number of ranges of inputs. */
  parts: number
  /** Bytes of the inputs as they lie on the disk. */
  bytes: number
  /** SHA-256 of plan.jsonl. */
  sha256: string
}

/** A shard that is done. */
export interface ShardSummary {
  /** The number in the names of its files. */
  shard: number
  /** Whether this run did it; otherwise it was there, and its files are as recorded. */
  isNew: boolean
  /** Documents with tokens. */
  documents: number
  /** Tokens, bos and eos included. */
  tokens: number
  /** Bytes of its inputs as they lie on the disk. */
  bytes: number
  /** Rows that were skipped. */
  skipped: number
  /** How long it took. */
  seconds: number
  /** The machine that did it. */
  host: string
}

/** How far a job is. */
export interface CorpusProgress {
  /** Shards that are done. */
  shards: number
  /** Those of them that a run before did. */
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
  /** Since the first shard was started. */
  seconds: number
  /** With a queue: shards that failed and are not retried. */
  failed?: number
  /** Estimated seconds until the end; nothing until there is something to estimate from. */
  left?: number
  /** What each machine has done in this run. */
  hosts: Record<string, MachineProgress>
}

/** What a machine has done in this run. */
export interface MachineProgress {
  /** Shards under way. */
  running: number
  /** Shards that are done. */
  shards: number
  /** Documents, those of shards under way included. */
  documents: number
  /** Tokens so far. */
  tokens: number
  /** Bytes of inputs that were read. */
  bytes: number
  /** Since the machine was first heard of. */
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
  /** Documents without tokens, which are left out. */
  empty: number
  /** Documents that `maxTokens` cut. */
  truncated: number
  /** Tokens that it cut off. */
  cutTokens: number
  /** Rows that were skipped. */
  skipped: number
  /** The times of all shards together. */
  seconds: number
}

/** What a job did. */
export interface CorpusResult extends CorpusTotals {
  /** Names the job: inputs, tokenizer, options and version. */
  id: string
  /** The folder; nothing after a dry run. */
  output: string | undefined
  /** The tokenizer and the ids around documents. */
  tokenizer: CorpusTokenizer
  /** The options that decide the bytes of the output, with their defaults. */
  options: Record<string, unknown>
  /** The plan. */
  plan: CorpusPlan
  /** Shards that a run before did. */
  kept: number
}

/** The tokenizer of a job. */
export interface CorpusTokenizer {
  /** As it was given. */
  name: string
  /** Where it comes from. */
  kind: 'file' | 'encoding' | 'hub'
  /** The bundled encoding, or that of a rank file. */
  encoding?: string
  /** SHA-256 of its file. */
  sha256: string
  /** The number of its tokens. */
  vocabSize: number
  /** The id before each document. */
  bos?: number
  /** The id behind each document. */
  eos?: number
}

/** Options of {@link verifyCorpus}. */
export interface VerifyOptions {
  /** Ends the comparison. Default: none. */
  signal?: AbortSignal | undefined
  /** Hears of each problem and each shard. Default: nobody. */
  onEvent?: ((event: VerifyEvent) => void) | undefined
}

/** What {@link VerifyOptions.onEvent} hears. */
export type VerifyEvent = ProblemEvent | VerifiedEvent

/** A file is missing, or differs from its record. */
export interface ProblemEvent extends CorpusProblem {
  /** The kind of event. */
  event: 'problem'
}

/** A shard was compared. */
export interface VerifiedEvent {
  /** The kind of event. */
  event: 'verified'
  /** The shard. */
  shard: number
  /** All shards of the job. */
  allShards: number
}

/** What is wrong with a file of the output. */
export interface CorpusProblem {
  /** The name of the file. */
  file: string
  /** What is wrong. */
  problem: string
}

/** The result of {@link verifyCorpus}; the sums are those of the shards that have records. */
export interface VerifyResult extends CorpusTotals {
  /** The job. */
  id: string
  /** Whether nothing is missing and nothing differs. */
  isWhole: boolean
  /** How many problems there are. */
  problems: number
  /** The first thousand. */
  listed: CorpusProblem[]
}

/**
 * Turns a corpus into files of tokens. The bytes of the files depend on the inputs, the tokenizer
 * and the options alone. Files appear under their names when they are complete and on the disk. If
 * the output folder holds the same job, shards whose files agree with their records are kept.
 *
 * Rejects with `ERR_TOKENLANE_CORPUS_MISMATCH` if the folder holds another job or other files,
 * `ERR_TOKENLANE_CORPUS_INPUT_CHANGED` if an input is not the one that was planned,
 * `ERR_TOKENLANE_CORPUS_DAMAGED` if a record went missing, `ERR_TOKENLANE_OUTPUT_IS_INPUT`,
 * `ERR_TOKENLANE_FILE` for a failure of the file system such as a full disk,
 * `ERR_TOKENLANE_CORPUS_STORE` for one of S3, `ERR_TOKENLANE_PARQUET` for a Parquet file that is
 * damaged or has pages above the limits, and unless rows are
 * skipped with the error of the first row that fails, whose message has its place. With a queue
 * also with `ERR_TOKENLANE_CORPUS_QUEUE` if Redis cannot be used, and
 * `ERR_TOKENLANE_CORPUS_SHARDS_FAILED` if shards failed three times; the others are done then.
 */
export function tokenizeCorpus(options: CorpusOptions): Promise<CorpusResult>

/**
 * Compares the output of a job with its records: the plan, every file of every shard by SHA-256,
 * and the sums of the manifest.
 *
 * Rejects with `ERR_TOKENLANE_FILE_NOT_FOUND` if the folder holds no job.
 */
export function verifyCorpus(output: string, options?: VerifyOptions): Promise<VerifyResult>

/** Options of {@link createWorker}. */
export interface WorkerOptions {
  /** The queue, as in {@link CorpusOptions.queue}. Required; there is no default. */
  queue: string
  /**
   * Folders that jobs may read and write, links resolved, and prefixes such as
   * `s3://bucket/prefix/`. Required; there is no default.
   */
  allow: string | readonly string[]
  /** Lets jobs use tokenizers of the Hugging Face Hub. Default `false`. */
  allowHub?: boolean | undefined
  /** The name of the queue. Default `'tokenlane-corpus'`. */
  queueName?: string | undefined
  /** Shards at a time, 1 to 256. Default: half as many as processors, from 2 to 4. */
  concurrency?: number | undefined
  /** The most threads that encode, 1 to 256. Default: as many as processors. */
  threads?: number | undefined
  /** Seconds after which another worker takes the shard of a dead one; at least 4. Default 30. */
  lockSeconds?: number | undefined
  /** How long `close` waits for shards before it hands them back. Default 20. */
  graceSeconds?: number | undefined
  /** Hears of shards that are done or failed. Default: nobody. */
  onEvent?: ((event: Record<string, unknown> & { event: string }) => void) | undefined
}

/** A worker that takes shards until it is closed. */
export interface CorpusWorker {
  /** Resolves when the worker is closed; rejects if it cannot go on. */
  readonly done: Promise<void>
  /** Takes no more shards; those under way are finished, or handed back after the time of grace. */
  close(): Promise<void>
}

/**
 * Starts a worker, which does shards of the jobs in a queue. It reads and writes below `allow`
 * only, whatever a job says (`ERR_TOKENLANE_CORPUS_NOT_ALLOWED` is the error of such a shard).
 *
 * Rejects with `ERR_TOKENLANE_PACKAGE_MISSING` without bullmq or ioredis, and
 * `ERR_TOKENLANE_CORPUS_QUEUE` if Redis cannot be reached or is older than 6.2. `done` rejects with
 * `ERR_TOKENLANE_CORPUS_MISMATCH` if the queue has a job of another version of tokenlane.
 */
export function createWorker(options: WorkerOptions): Promise<CorpusWorker>

/** Options of {@link writeReport}. */
export interface ReportOptions {
  /** What a million tokens cost; the page has the cost of all. Default: no cost. */
  price?: number | undefined
}

/**
 * Writes an HTML page about a job: tokens by source, lengths of documents, bytes per token,
 * machines, skipped rows. The page is one file without scripts and loads nothing. Returns the sums.
 *
 * Rejects with `ERR_TOKENLANE_FILE_NOT_FOUND` if the folder holds no job.
 *
 * @param output the folder of the job
 * @param file the page
 */
export function writeReport(output: string, file: string, options?: ReportOptions): Promise<CorpusTotals>
