/**
 * Turns corpora into files of tokens, on all cores of a machine. An interrupted job continues where
 * it stopped.
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
   * Files, folders and patterns (`*`, `?`, `**`, `[a-z]`, `{md,txt}`), read in this order. The
   * files of a folder are read in the order of their names, except those whose names start with a
   * dot. gzip, Zstandard and Parquet are recognised by their first bytes. `s3://bucket/prefix/` and
   * patterns of keys need the optional packages `@aws-sdk/client-s3` and `@aws-sdk/lib-storage`,
   * Parquet `hyparquet` and `fzstd`. Default: none.
   */
  inputs?: string | readonly string[] | undefined
  /** A file with one more input per line. Default: none. */
  filesFrom?: string | undefined
  /**
   * The folder for the output, a path or `s3://bucket/prefix/`. It must not exist, be empty, or
   * contain the same job. Required unless `dryRun`. Default: none.
   */
  output?: string | undefined
  /**
   * A file (tokenizer.json, tekken.json, a SentencePiece model or a rank file), a folder with a
   * tokenizer.json or tekken.json, a bundled encoding, a model of OpenAI, or
   * `owner/name[@revision]` on the Hugging Face Hub. A tokenizer of several files, such as
   * vocab.json with merges.txt, is refused (`ERR_TOKENLANE_UNSUPPORTED`). Default: `'o200k_base'`.
   */
  tokenizer?: string | undefined
  /**
   * For a rank file: the bundled encoding whose pattern and special tokens it has. Default: none.
   */
  encoding?: string | undefined
  /**
   * `'megatron'`: .bin and .idx for IndexedDataset of megatron-core. `'npy'` and `'bin'`: tokens,
   * row offsets, and a table of the documents. `'llmc'`: .bin files of llm.c and modded-nanogpt,
   * without rows. `'jsonl'`: ids as text. `'parquet'`: ids as a list of int32, by the optional
   * package `hyparquet-writer`. Default: `'megatron'`.
   */
  format?: 'megatron' | 'npy' | 'bin' | 'llmc' | 'jsonl' | 'parquet' | undefined
  /**
   * The type of ids in megatron, npy, bin and llmc. Default: `'u16'` if the vocabulary fits, else
   * `'u32'`.
   */
  type?: 'u16' | 'u32' | undefined
  /**
   * What a document is: a field of a line of JSON, a line without its line feed, or a file.
   * Default: `'json'` for names that end in .jsonl, .ndjson or .json (also .gz, .zst), else
   * `'lines'`. In a Parquet file, a document is always a field of a row.
   */
  rows?: 'json' | 'lines' | 'files' | undefined
  /**
   * The field with the text. Dots separate the names of nested fields, 32 at most. Default:
   * `'text'`.
   */
  field?: string | undefined
  /**
   * The field with the id of a document, a string or a number; not for megatron and llmc. Default:
   * none.
   */
  idField?: string | undefined
  /**
   * A field such as the language. `writeReport` shows tokens, and characters and bytes per token,
   * for each of its values. A record has at most 1,000 values; documents with further values are
   * one group, and documents without the field are another one. The files of tokens do not depend
   * on it. Default: none.
   */
  groupBy?: string | undefined
  /**
   * Puts a token before each document: `true` for the one that tokenizer_config.json or the
   * vocabulary suggests, or the token itself. Default: `false`.
   */
  bos?: boolean | string | undefined
  /** Puts a token after each document, in the same way. Default: `false`. */
  eos?: boolean | string | undefined
  /**
   * The length of rows in tokens. Rows then go across documents. No token is lost: the last row of
   * a shard may be shorter. Default: each document is a row.
   */
  pack?: number | undefined
  /**
   * How documents come into rows of `pack` tokens. `'sequential'`: one after the other; rows are
   * full, and documents are cut at their ends. `'best-fit'`: rows of whole documents that fit,
   * which may be shorter than `pack`; only documents longer than a row are cut. For megatron, npy
   * and bin. Default: `'sequential'`.
   */
  packing?: 'sequential' | 'best-fit' | undefined
  /**
   * The seed of a random order of the shards and of the documents in each. Default: the order of
   * the inputs.
   */
  shuffle?: number | undefined
  /**
   * A module that exports `filter(document)`, `map(document)` or both, of the type {@link Hook}:
   * `filter` returns whether a document is kept, and `map` returns its new text. Its SHA-256, not
   * that of modules that it imports, is one of the options of the job, so the functions must give
   * the same results everywhere. A hook that throws or returns something else is an error of the
   * row (`ERR_TOKENLANE_CORPUS_HOOK`). Lines are read more slowly. Not with `messages`. Default:
   * none.
   */
  hooks?: string | undefined
  /**
   * `'skip'` leaves out rows that cannot be read or encoded, and counts them. The record of a shard
   * lists the first 20. Default: `'fail'`.
   */
  onError?: 'fail' | 'skip' | undefined
  /**
   * The maximum number of tokens in a document, including bos and eos. Further tokens are cut off
   * and counted. Default: no limit.
   */
  maxTokens?: number | undefined
  /**
   * How special tokens that are spelled out in a text are treated. Default: `'parse'` for a
   * tokenizer.json, `'text'` for ranks and for chats.
   */
  specialTokens?: 'parse' | 'text' | 'throw' | undefined
  /**
   * Makes documents of chats: the field with the messages of a row of JSON or Parquet, an array or
   * its JSON. They are rendered with the chat template of the tokenizer, or with the format of
   * gpt-oss for `'o200k_harmony'`. Special tokens in messages are text unless `specialTokens` is
   * `'parse'`. Each id gets a loss mask, 1 if the assistant wrote the token: `.mask.npy` or
   * `.mask.bin` (u8), `.mask.bin` and `.mask.idx` for megatron, `.mask.bin` for llmc, and
   * `loss_mask` in jsonl and parquet. Numbers have Python's form, so `1.0` stays `1.0`; in columns
   * of numbers of Parquet, it is `1`. Default: documents are texts.
   */
  messages?: string | undefined
  /** With `messages`: the field with the tools of a chat. Default: no tools. */
  tools?: string | undefined
  /**
   * With `messages`: a file with a chat template. Default: that of the tokenizer. In both cases the
   * template is one of the job's options, so another template is another job.
   */
  template?: string | undefined
  /**
   * With `messages`: whether the loss mask is what `{% generation %}` blocks of the template mark,
   * as in transformers, or what comes from messages of the assistant, with the token that ends its
   * turn. Default: `'generation'` if the template has such blocks, else `'origin'`.
   */
  maskBy?: 'generation' | 'origin' | undefined
  /**
   * With `messages`: the day that templates with `strftime_now` write, such as `'2026-01-31'`.
   * Required for such templates, because a job can run on several days. Default: none.
   */
  date?: string | undefined
  /**
   * The maximum size of a row in bytes. Default: 16 MiB, and 256 MiB for a whole file (`rows:
   * 'files'`). A row of one token per byte needs twenty times its size in memory.
   */
  maxRow?: number | undefined
  /** The maximum number of bytes per compressed byte, beyond the first 64 MiB. Default: 100. */
  maxRatio?: number | undefined
  /** The approximate size of a shard in bytes of text. Default: 268435456. */
  shardSize?: number | undefined
  /** Counts documents and tokens without writing anything. Default: `false`. */
  dryRun?: boolean | undefined
  /** How the files of an earlier run are compared with their records. Default: `'sha256'`. */
  resumeCheck?: 'sha256' | 'size' | undefined
  /**
   * If the output folder has the plan of the same job, uses it: the inputs are not listed, and
   * those of shards that are done are not compared. Inputs that are read are compared as always.
   * Default: `false`.
   */
  trustPlan?: boolean | undefined
  /**
   * If the output folder has a finished job with the same options, adds shards of the inputs that
   * it does not have; the shards that are there stay as they are. A known input on disk must have
   * the same size. Without new inputs, all shards are compared. Not with `queue`. Default: `false`.
   */
  append?: boolean | undefined
  /** Number of shards at a time, 1 to 256. Default: half the number of processors, from 2 to 4. */
  concurrency?: number | undefined
  /**
   * Maximum number of threads that encode one batch, 1 to 256. Two batches are encoded at the same
   * time. Default: half the number of processors; all of them for a batch of large rows.
   */
  threads?: number | undefined
  /**
   * The queue whose workers process the shards: `'redis://host:6379'`, or `'rediss://…'` for TLS.
   * User and password may be in the URL, or in the environment variables TOKENLANE_QUEUE_USERNAME
   * and TOKENLANE_QUEUE_PASSWORD. Needs the packages bullmq and ioredis. All machines must see the
   * inputs and the output under the same paths. Default: this machine processes the shards.
   */
  queue?: string | undefined
  /** The name of the queue. Default: `'tokenlane-corpus'`. */
  queueName?: string | undefined
  /**
   * With a queue: rejects with `ERR_TOKENLANE_CORPUS_SHARDS_FAILED` if no worker has had a shard
   * for this number of seconds, 1 to 86,400. Default: waits.
   */
  giveUpSeconds?: number | undefined
  /**
   * Ends the job; the promise rejects with `signal.reason`. With a queue, workers continue.
   * Default: none.
   */
  signal?: AbortSignal | undefined
  /** Called with each event of the job. Default: none. */
  onEvent?: ((event: CorpusEvent) => void) | undefined
}

/** A document, as {@link CorpusOptions.hooks} get it. */
export interface HookDocument {
  /** The text. */
  text: string
  /** Its input. */
  path: string
  /** With `idField`: its id. */
  id?: string
  /** The row of JSON that it is in. */
  row?: Record<string, unknown>
}

/** A function of a module of {@link CorpusOptions.hooks}. */
export type Hook<Result extends boolean | string> = (document: HookDocument) => Result

/** The events that {@link CorpusOptions.onEvent} receives. */
export type CorpusEvent =
  | PlanningEvent
  | UnreadableEvent
  | PlanEvent
  | QueuedEvent
  | ShardEvent
  | FailedEvent
  | ProgressEvent
  | DoneEvent
  | RefusedEvent
  | StalledEvent
  | WaitingEvent
  | NoteEvent

/** A machine handed a shard back, because only another one may be able to process it. */
export interface RefusedEvent {
  /** The kind of event. */
  event: 'refused'
  /** The machine. Its worker pauses. */
  host: string
  /** The code of the error. */
  code?: string
  /** The reason. */
  message: string
}

/** The worker of a shard is gone. Another one takes the shard. */
export interface StalledEvent {
  /** The kind of event. */
  event: 'stalled'
  /** The number of the shard in the plan. */
  shard: number
}

/** With a queue: no shard is in progress. Repeated every 30 seconds. */
export interface WaitingEvent {
  /** The kind of event. */
  event: 'waiting'
  /** Seconds since the last shard was in progress. */
  seconds: number
  /** The reason, as far as it is known. */
  message: string
}

/** Something that may surprise, said once: lines of an input that is not JSON are documents. */
export interface NoteEvent {
  /** The kind of event. */
  event: 'note'
  /** What it is. */
  message: string
}

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
  /** The number of the shard in the plan. */
  shard: number
  /** The error. */
  message: string
}

/** A shard is done. */
export interface ShardEvent extends ShardSummary {
  /** The kind of event. */
  event: 'shard'
}

/** The progress of the job. There are at most five of these events per second. */
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
  /** The number of its tokens. */
  vocabSize: number
  /** The id before each document. */
  bos?: number
  /** The id after each document. */
  eos?: number
}

/** Options of {@link verifyCorpus}. */
export interface VerifyOptions {
  /**
   * Number of shards that are compared at a time, 1 to 256. Default: the number of processors.
   */
  concurrency?: number | undefined
  /**
   * Also reads objects in S3 that still have the ETag of their upload. Default: `false`.
   */
  readAll?: boolean | undefined
  /** Ends the comparison. Default: none. */
  signal?: AbortSignal | undefined
  /** Called with each problem and each shard. Default: none. */
  onEvent?: ((event: VerifyEvent) => void) | undefined
}

/** The events that {@link VerifyOptions.onEvent} receives. */
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

/** The result of {@link verifyCorpus}. The totals are those of the shards that have records. */
export interface VerifyResult extends CorpusTotals {
  /** The job. */
  id: string
  /** Whether nothing is missing and nothing differs. */
  isWhole: boolean
  /** The number of problems. */
  problems: number
  /** The first thousand problems. */
  listed: CorpusProblem[]
}

/**
 * Turns a corpus into files of tokens. The bytes of the files depend only on the inputs, the
 * tokenizer and the options. A file gets its name only when it is complete and on disk. If the
 * output folder contains the same job, shards whose files match their records are kept.
 *
 * Rejects with `ERR_TOKENLANE_CORPUS_MISMATCH` if the folder contains another job or other files,
 * `ERR_TOKENLANE_CORPUS_INPUT_CHANGED` if an input changed after it was planned,
 * `ERR_TOKENLANE_CORPUS_DAMAGED` if a record is missing, `ERR_TOKENLANE_OUTPUT_IS_INPUT` if an
 * input is in the output folder, `ERR_TOKENLANE_FILE` for a failure of the file system such as a
 * full disk, `ERR_TOKENLANE_CORPUS_STORE` for a failure of S3, and `ERR_TOKENLANE_PARQUET` for a
 * Parquet file that is damaged or has pages above the limits. Unless rows are skipped, rejects with
 * the error of the first row that fails; its message names the row. With a queue, rejects with
 * `ERR_TOKENLANE_CORPUS_QUEUE` if Redis cannot be used, and `ERR_TOKENLANE_CORPUS_SHARDS_FAILED` if
 * shards failed three times; the other shards are done then.
 */
export function tokenizeCorpus(options: CorpusOptions): Promise<CorpusResult>

/**
 * Compares the output of a job with its records: the plan, every file of every shard by SHA-256,
 * and the totals of the manifest.
 *
 * Rejects with `ERR_TOKENLANE_FILE_NOT_FOUND` if the folder contains no job.
 */
export function verifyCorpus(output: string, options?: VerifyOptions): Promise<VerifyResult>

/** The result of {@link cleanCorpus}. */
export interface CleanResult {
  /** The names of what was removed. */
  removed: string[]
}

/** Options of {@link cleanCorpus}. */
export interface CleanOptions {
  /**
   * Minimum time in seconds since the last write of files of other machines and containers, of
   * whose processes nothing is known. 0 removes all of them. Default: 86400, a day.
   */
  ageSeconds?: number
}

/**
 * Removes what killed processes left in the folder of a job: unfinished files, uploads to S3, and a
 * claim.json without use. Returns their names. Files of this machine are removed if their process
 * has ended.
 *
 * Rejects with `ERR_TOKENLANE_FILE_NOT_FOUND` if the folder contains no job.
 */
export function cleanCorpus(output: string, options?: CleanOptions): Promise<CleanResult>

/** Options of {@link createWorker}. */
export interface WorkerOptions {
  /** The queue, as in {@link CorpusOptions.queue}. Required; there is no default. */
  queue: string
  /**
   * Folders, and prefixes such as `s3://bucket/prefix/`, that jobs may read and write. Links are
   * resolved: what is opened must lie below one of them. Required; there is no default.
   */
  allow: string | readonly string[]
  /** Lets jobs use tokenizers of the Hugging Face Hub. Default: `false`. */
  allowHub?: boolean | undefined
  /**
   * The module of {@link CorpusOptions.hooks} for jobs that have one: jobs name only its SHA-256.
   * Default: none.
   */
  hooks?: string | undefined
  /** The name of the queue. Default: `'tokenlane-corpus'`. */
  queueName?: string | undefined
  /** Number of shards at a time, 1 to 256. Default: half the number of processors, from 2 to 4. */
  concurrency?: number | undefined
  /**
   * Maximum number of threads that encode one batch, 1 to 256. Two batches are encoded at the same
   * time. Default: half the number of processors; all of them for a batch of large rows.
   */
  threads?: number | undefined
  /**
   * Seconds after which another worker takes the shard of a dead worker; at least 4. Default: 30.
   */
  lockSeconds?: number | undefined
  /** Seconds that `close` waits for shards before it returns them to the queue. Default: 20. */
  graceSeconds?: number | undefined
  /**
   * Number of workers that may end while they have a shard, before the shard counts as failed; 0 to
   * 1,000,000. Default: 25.
   */
  maxStalls?: number | undefined
  /** Seconds to wait at the start for a Redis that cannot be reached. Default: 300. */
  waitSeconds?: number | undefined
  /**
   * Called with an event when a shard is done (`shard`), when a shard or the manifest failed
   * (`failed`), when this machine cannot process a shard and the worker pauses (`paused`), when the
   * manifest is written (`manifest`), and when Redis fails (`error`). Default:
   * none.
   */
  onEvent?: ((event: Record<string, unknown> & { event: string }) => void) | undefined
}

/** A worker. It takes shards until it is closed. */
export interface CorpusWorker {
  /** Resolves when the worker is closed; rejects if it cannot continue. */
  readonly done: Promise<void>
  /**
   * Takes no more shards. Those in progress are finished, or returned to the queue after
   * `graceSeconds`.
   */
  close(): Promise<void>
}

/**
 * Starts a worker, which processes shards of the jobs in a queue. Whatever a job says, it reads and
 * writes only below `allow`. A shard that only this machine cannot process, such as one that needs
 * another folder, returns to the queue, and the worker pauses for 1 to 60 seconds. A job that
 * cannot succeed fails at the first attempt.
 *
 * Rejects with `ERR_TOKENLANE_PACKAGE_MISSING` without bullmq or ioredis, and
 * `ERR_TOKENLANE_CORPUS_QUEUE` if Redis cannot be reached or is older than 6.2. `done` rejects with
 * `ERR_TOKENLANE_CORPUS_MISMATCH` if the queue has a job of another version of tokenlane.
 */
export function createWorker(options: WorkerOptions): Promise<CorpusWorker>

/** Options of {@link writeReport}. */
export interface ReportOptions {
  /** The price of a million tokens. With it, the page shows costs. Default: no costs. */
  price?: number | undefined
  /** Its currency: a sign such as `'$'`, or a code such as `'EUR'`. Default: none is shown. */
  currency?: string | undefined
}

/**
 * Writes an HTML page about a job: tokens, and characters and bytes per token, by source and by the
 * field of `groupBy`; lengths of documents; machines; skipped rows. The page is one file without
 * scripts and loads nothing. Returns the totals.
 *
 * Rejects with `ERR_TOKENLANE_FILE_NOT_FOUND` if the folder contains no job.
 *
 * @param output the folder of the job
 * @param file the path of the page
 */
export function writeReport(output: string, file: string, options?: ReportOptions): Promise<CorpusTotals>

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
  /** Ends the merge; what is done is kept. Default: none. */
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
 * whole, in part or several times. The output is that of a job: {@link verifyCorpus},
 * {@link writeReport}, {@link openTokens} and another merge read it. Its bytes depend only on the
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
 * sizes; {@link verifyCorpus} compares their SHA-256.
 */
export function openTokens(output: string): Promise<CorpusTokens>
