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

import type { CorpusEvent } from './event-types.js'

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

export * from './event-types.js'
export * from './merge-types.js'
export * from './reading-types.js'
