// What a service sets for all of its tokenizers: limits, and the memory of results.

/** What a service does not take on. For each JS thread its own; at first there are no limits. */
export interface Limits {
  /**
   * The most bytes of UTF-8 that one call encodes, counts, truncates or splits, all its texts together; of a text that comes in a
   * stream, nothing is said. More is a `RangeError`, `ERR_TOKENLANE_INPUT_TOO_LARGE`, before anything is done. Default `Infinity`.
   */
  readonly maxInputBytes: number
  /**
   * The most batches and loads that may wait for their turn. One more is rejected at once, with `ERR_TOKENLANE_QUEUE_FULL`: for
   * a service that would rather refuse than come too late. Default `Infinity`.
   */
  readonly maxQueuedBatches: number
  /**
   * Sets one or both, from the next call on. What is no whole number from 0 on, and not `Infinity` either, is an error
   * (`ERR_TOKENLANE_ARGUMENT_TYPE`, `ERR_TOKENLANE_ARGUMENT_VALUE`), and then none is set.
   */
  configure(limits: { maxInputBytes?: number | undefined; maxQueuedBatches?: number | undefined }): void
}

/**
 * Limits of this thread. How long a batch may take is said by its signal, `{ signal: AbortSignal.timeout(500) }`: then it is rejected with
 * the signal's `TimeoutError`.
 */
export const limits: Limits

/** What a step of an allocation did, since the process began. */
export interface MemoryStep {
  /** How often it was taken. */
  count: number
  /** How often it gave what was wanted. */
  helped: number
  /** The milliseconds that it took in all. Of `scan` it is an estimate: one in sixteen is timed. */
  ms: number
}

/** The pool that results lie in, at the moment. All sizes are in bytes, and `free + lent + cached === mapped`. */
export interface MemoryStats {
  /** How blocks are kept: see {@link MemoryOptions.pool}. */
  pool: 'split' | 'binned' | 'off'
  /** What becomes of pages that are not in use: see {@link MemoryOptions.madvise}. */
  madvise: 'free' | 'dontneed' | 'off'
  /** Whether V8 is made to collect. */
  collect: boolean
  /** What the pool has from the system. */
  mapped: number
  /** What is in use: texts and ids on their way, and results that JS holds. */
  lent: number
  /** What was handed back and not taken in yet; the next batch that needs it does that. */
  free: number
  /** What the next batch can have. */
  cached: number
  /** What of that keeps its pages, blocks of less than 64 KiB left aside. */
  warm: number
  /** The most that was in use at any time since the pool was chosen. */
  mostLent: number
  /** What the pool may have from the system. */
  cap: number
  /** Results that JS holds, or that it let go of and the event loop has not come round to yet. */
  external: number
  /**
   * The steps of an allocation, in the order in which they are tried: look among free blocks, merge what was handed back,
   * map new memory, reclaim what is not in use, ask for a quick and for a full garbage collection, and give up, after which
   * the result is copied into memory of V8's own.
   */
  steps: Record<
    'scan' | 'merge' | 'map' | 'reclaim' | 'quickCollection' | 'fullCollection' | 'copy',
    MemoryStep
  >
}

/** What `memory.configure` sets. What is not named stays. */
export interface MemoryOptions {
  /**
   * `'split'` cuts and merges blocks of memory; `'binned'` keeps blocks of powers of two; `'off'` keeps nothing. Default:
   * the environment variable `TOKENLANE_POOL`, else `'split'`.
   */
  pool?: 'split' | 'binned' | 'off' | undefined
  /**
   * Bytes that the pool has from the system, at most: from 1 MiB to the memory of the machine or container. Results take half
   * of it at most. Past it results are copied into memory of V8's own. Default 256 MiB.
   */
  cap?: number | undefined
  /**
   * What becomes of pages that are neither in use nor kept warm: `'free'` lets the kernel take them when memory is short,
   * `'dontneed'` gives them back at once, `'off'` keeps them. Default: the environment variable `TOKENLANE_MADVISE`, else `'free'`.
   */
  madvise?: 'free' | 'dontneed' | 'off' | undefined
  /**
   * Whether V8 is made to collect when many results may have become garbage, so that their memory is used again. Default
   * `true`.
   */
  collect?: boolean | undefined
}

/** The memory that the results of batches lie in; one for all threads of the process. */
export const memory: {
  /** What it has and did. */
  stats(): MemoryStats
  /**
   * Sets what is named; the rest stays. What is in use stays where it is, batches that run go on, and the next allocation
   * keeps to it: a lower cap is reached as results are freed.
   *
   * Throws a `RangeError` for an unknown name and for a cap outside its bounds (`ERR_TOKENLANE_ARGUMENT_VALUE`), a
   * `TypeError` for a value of the wrong kind (`ERR_TOKENLANE_ARGUMENT_TYPE`) or an option that there is not.
   */
  configure(options: MemoryOptions): void
  /**
   * Gives back to the system, at once, what is not in use. It is done by itself when a worker thread ends that loaded the
   * package.
   */
  trim(): void
}
