// Settings for all tokenizers of a service: limits, and the memory of results.

/**
 * Limits of calls. Each JS thread has its own, except for `maxExpansion`. By default, only chat
 * templates and the output of a file's components are limited.
 */
export interface Limits {
  /**
   * The maximum number of bytes of UTF-8 that one call encodes, counts, truncates or splits, over
   * all its texts; streams are not limited. More is a `RangeError`,
   * `ERR_TOKENLANE_INPUT_TOO_LARGE`, before any work is done. Default: `Infinity`.
   */
  readonly maxInputBytes: number
  /**
   * The maximum number of batches and loads in the queue. A further one rejects at once with
   * `ERR_TOKENLANE_QUEUE_FULL`, for services that prefer refusing requests to answering late.
   * Default: `Infinity`.
   */
  readonly maxQueuedBatches: number
  /**
   * The steps that rendering a chat template may take. A step is about 30 ns: one operation of the
   * template, one element of a list, 8 characters that are examined or 32 that are copied. Each
   * value in the messages, tools, documents and variables adds 300 steps and half a step per
   * character, up to three times the limit. More is `ERR_TOKENLANE_CHAT_LIMIT`. Default: 6,000,000.
   */
  readonly maxChatWork: number
  /**
   * The bytes that rendering a chat template may allocate, including memory that is no longer in
   * use. Each value that the template gets adds 2,048 bytes and 16 per character, up to three times
   * the limit. More is `ERR_TOKENLANE_CHAT_LIMIT`. Default: 134,217,728 (128 MiB).
   */
  readonly maxChatMemory: number
  /**
   * The UTF-16 units that a chat template may write. More is `ERR_TOKENLANE_CHAT_LIMIT`. Default:
   * 67,108,864.
   */
  readonly maxChatOutput: number
  /**
   * How many times longer than its input the output of a file's components may be: of the
   * normalizer, the pre-tokenizer, tokens as strings and the decoder, in bytes of UTF-8; of the
   * parts into which truncation splits a text, in tokens. A decoded id counts as 64 bytes of input.
   * Output of 64 KiB (encoding), 1 MiB (decoding) or 4,194,304 tokens (truncation) is always
   * allowed. The work of long chains of components is limited in proportion. More is
   * `ERR_TOKENLANE_OUTPUT_LIMIT`, before the output is created; the error has the properties
   * `component`, `reached` and `limit`. At least 1. It holds for all threads of the
   * process. Default: 32; the largest factor of real files is 26.
   */
  readonly maxExpansion: number
  /**
   * Sets the named limits, from the next call on. A value that is neither a whole number from 0 nor
   * `Infinity` is an error (`ERR_TOKENLANE_ARGUMENT_TYPE`, `ERR_TOKENLANE_ARGUMENT_VALUE`), and no
   * limit changes.
   */
  configure(limits: {
    maxInputBytes?: number | undefined
    maxQueuedBatches?: number | undefined
    maxChatWork?: number | undefined
    maxChatMemory?: number | undefined
    maxChatOutput?: number | undefined
    maxExpansion?: number | undefined
  }): void
}

/**
 * Limits of texts and queues. The time of a batch is limited by its signal, `{ signal:
 * AbortSignal.timeout(500) }`: it then rejects with the signal's `TimeoutError`.
 */
export const limits: Limits

/** The queue of batches and loads of this thread. */
export interface QueueStats {
  /** Calls that wait for their turn. */
  waiting: number
  /** Calls that run, two at a time in the process, or whose results are on their way. */
  running: number
  /** Calls that were started, since the package was loaded. */
  started: number
  /** Calls that were refused with `ERR_TOKENLANE_QUEUE_FULL`. */
  refused: number
  /** Calls whose signal aborted before they ended. */
  aborted: number
}

/**
 * The queue of `encodeBatch`, `countBatch`, `decodeBatch` and of the asynchronous loaders. Each JS
 * thread has its own; the threads of a process take turns. docs/guide/services.md has examples.
 */
export const queue: {
  /** The state of the queue. */
  stats(): QueueStats
}

/** Statistics of a step of an allocation, since the process started. */
export interface MemoryStep {
  /** How often the step ran. */
  count: number
  /** How often it succeeded. */
  helped: number
  /** Total milliseconds. For `scan` an estimate: one in sixteen is timed. */
  ms: number
}

/**
 * The state of the pool that holds results. Sizes are in bytes, and
 * `free + outstanding + cached === mapped`.
 */
export interface MemoryStats {
  /** The kind of pool: see {@link MemoryOptions.pool}. */
  pool: 'split' | 'binned'
  /** The handling of unused pages: see {@link MemoryOptions.madvise}. */
  madvise: 'free' | 'dontneed' | 'off'
  /** Whether the pool triggers garbage collections. */
  collect: boolean
  /** Memory taken from the system. */
  mapped: number
  /** Memory in use: texts and ids of running calls, and results that JavaScript holds. */
  outstanding: number
  /** Memory that was released and not yet merged; the next allocation does that. */
  free: number
  /** Memory available to the next batch. */
  cached: number
  /** The part of `cached` that keeps its pages, without blocks below 64 KiB. */
  warm: number
  /** The maximum of `outstanding` since the pool was chosen. */
  peakOutstanding: number
  /** The maximum of `mapped`. */
  cap: number
  /** Results that JavaScript holds, including garbage that is not finalized yet. */
  external: number
  /**
   * The steps of an allocation, in order: scan free blocks, merge released blocks, map new memory,
   * reclaim unused memory, trigger a minor and a full garbage collection, and finally copy the
   * result into V8's heap.
   */
  steps: Record<'scan' | 'merge' | 'map' | 'reclaim' | 'quickCollection' | 'fullCollection' | 'copy', MemoryStep>
}

/** Options of `memory.configure`. Options that are not given keep their values. */
export interface MemoryOptions {
  /**
   * `'split'` splits and merges blocks; `'binned'` keeps blocks of powers of two. Default: the
   * environment variable `TOKENLANE_POOL`, else `'split'`.
   */
  pool?: 'split' | 'binned' | undefined
  /**
   * The maximum number of bytes that the pool takes from the system: from 1 MiB to the memory of
   * the machine or container. Results use at most half of it; further results are copied into V8's
   * heap. Default: 256 MiB.
   */
  cap?: number | undefined
  /**
   * The handling of pages that are neither in use nor kept warm: `'free'` lets the kernel take them
   * when memory is short, `'dontneed'` returns them at once, `'off'` keeps them. Default: the
   * environment variable `TOKENLANE_MADVISE`, else `'free'`.
   */
  madvise?: 'free' | 'dontneed' | 'off' | undefined
  /**
   * Trigger garbage collections when many results may have become garbage, so that their memory is
   * reused. Default: `true`.
   */
  collect?: boolean | undefined
}

/** The memory pool of batch results; one for all threads of the process. */
export const memory: {
  /** The state and the statistics of the pool. */
  stats(): MemoryStats
  /**
   * Sets the named options. Memory in use stays in place and running batches continue; the next
   * allocation follows the new options, and a lower cap is reached as results are freed.
   *
   * Throws a `RangeError` for an unknown pool or a cap out of bounds
   * (`ERR_TOKENLANE_ARGUMENT_VALUE`), a `TypeError` for a value of the wrong type
   * (`ERR_TOKENLANE_ARGUMENT_TYPE`) or an unknown option (`ERR_TOKENLANE_UNKNOWN_OPTION`).
   */
  configure(options: MemoryOptions): void
  /**
   * Returns unused memory to the system at once. Also runs when a worker thread that loaded the
   * package ends.
   */
  trim(): void
}
