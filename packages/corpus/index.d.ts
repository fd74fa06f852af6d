/**
 * Turns corpora into files of tokens, on all cores of a machine or on many machines, and trains
 * tokenizers on them, exactly as the trainers of Hugging Face's tokenizers do. An interrupted job
 * continues where it stopped.
 *
 * ```js
 * import { tokenizeCorpus, trainTokenizer } from '@tokenlane/corpus'
 *
 * const options = { inputs: 'data/', output: 'tokens/', tokenizer: 'gpt-4o', eos: true }
 * const { documents, tokens } = await tokenizeCorpus(options)
 *
 * const tokenizer = await trainTokenizer({ inputs: 'data/', like: 'gpt-4o', vocabSize: 32_000 })
 * await fs.promises.writeFile('tokenizer.json', tokenizer.toBuffer())
 * ```
 *
 * docs/guide/token-files.md describes the files, docs/guide/training.md how to choose options of
 * training.
 *
 * @module @tokenlane/corpus
 */

import type { RefusedEvent, StalledEvent, WaitingEvent } from './src/event-types.js'
import type { CorpusOptions, MetricsOptions } from './src/job-types.js'
import type { CorpusResult, CorpusTotals } from './src/result-types.js'

/** Options of {@link verifyCorpus}. */
export interface VerifyOptions {
  /**
   * Number of shards that are compared at a time, 1 to 256; not with a queue, whose workers have
   * their own. Default: the number of processors.
   */
  concurrency?: number | undefined
  /**
   * Also reads objects in S3 that still have the ETag of their upload. Default: `false`.
   */
  readAll?: boolean | undefined
  /**
   * Lets the workers of {@link createWorker} read the files of shards: the URL of a Redis, as in
   * {@link CorpusOptions.queue}. Default: this process reads them.
   */
  queue?: string | undefined
  /** The name of the queue. Needs `queue`. Default: `'tokenlane-corpus'`. */
  queueName?: string | undefined
  /**
   * With a queue: seconds without a shard in progress after which the call rejects, 1 to 86,400; a
   * silent Redis has two seconds more. Default: it waits.
   */
  giveUpSeconds?: number | undefined
  /**
   * Ends the comparison; the promise rejects with `signal.reason`, after 5 seconds at the latest.
   * Default: none.
   */
  signal?: AbortSignal | undefined
  /**
   * Called with each problem and each shard. With a queue, the shards come in the order in which
   * they are compared, and the problems at the end. Default: none.
   */
  onEvent?: ((event: VerifyEvent) => void) | undefined
}

/** The events that {@link VerifyOptions.onEvent} receives. */
export type VerifyEvent = ProblemEvent | VerifiedEvent | RefusedEvent | StalledEvent | WaitingEvent

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
 * full disk, `ERR_TOKENLANE_CORPUS_STORE` for a failure of a store, and `ERR_TOKENLANE_PARQUET` for
 * a Parquet file that is damaged or has pages above the limits. Unless rows are skipped, rejects
 * with the error of the first row that fails; its message names the row. With a queue, rejects with
 * `ERR_TOKENLANE_CORPUS_QUEUE` if Redis cannot be used, and `ERR_TOKENLANE_CORPUS_SHARDS_FAILED` if
 * shards failed three times; the other shards are done then.
 */
export function tokenizeCorpus(options: CorpusOptions): Promise<CorpusResult>

/**
 * Compares the output of a job with its records: the plan, every file of every shard by SHA-256,
 * and the totals of the manifest.
 *
 * Rejects with `ERR_TOKENLANE_FILE_NOT_FOUND` if the folder contains no job. With a queue, rejects
 * with `ERR_TOKENLANE_CORPUS_QUEUE` if Redis cannot be used, and
 * `ERR_TOKENLANE_CORPUS_SHARDS_FAILED` if workers could not compare some shards.
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
   * resolved: what is opened must lie below one of them. `hf://datasets/OWNER/NAME` allows all
   * revisions of a dataset. Required; there is no default.
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
  /** Serves metrics of this worker, as {@link CorpusOptions.metrics}. Default: none. */
  metrics?: MetricsOptions | undefined
  /**
   * Called with an event when metrics are served (`metrics`), when a shard is done (`shard`), when
   * a shard or the manifest failed (`failed`), when this machine cannot process a shard and the
   * worker pauses (`paused`), when the manifest is written (`manifest`), and when Redis fails
   * (`error`). Default: none.
   */
  onEvent?: ((event: Record<string, unknown> & { event: string }) => void) | undefined
}

/** A worker. It takes shards until it is closed. */
export interface CorpusWorker {
  /** Resolves when the worker is closed; rejects if it cannot continue. */
  readonly done: Promise<void>
  /**
   * Takes no more shards. Those in progress are finished, or returned to the queue after
   * `graceSeconds`. If Redis or a store does not answer, it resolves some seconds after that.
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
 * `ERR_TOKENLANE_CORPUS_MISMATCH` if the queue has a job of another version of tokenlane, and with
 * `ERR_TOKENLANE_CORPUS_QUEUE` if what answers is no Redis, or after 100 jobs in a row that are not
 * of tokenlane.
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

export * from './src/event-types.js'
export * from './src/job-types.js'
export * from './src/merge-types.js'
export * from './src/reading-types.js'
export * from './src/result-types.js'
export * from './src/train/types.js'
