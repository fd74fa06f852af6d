// How much the modules of corpus jobs read, hold or write at once. What they write does not depend
// on it, apart from the order of best fit and of a shuffle, and from row groups. Each module takes
// these sizes as a parameter, so that tests reach the second unit of each with small inputs.

/** @typedef {typeof SIZES} Sizes */

export const SIZES = Object.freeze({
  /** Tokens that best fit chooses from. A quarter of them may wait for shorter documents. */
  packingWindow: 1 << 21,
  /** Tokens of a block of packed rows. */
  packedBlock: 1 << 20,
  /** Tokens of an array of copied tokens, or of their loss mask. */
  piece: 1 << 18,
  /** Entries of the index of a Megatron file that are read or written at once. */
  indexEntries: 1 << 16,
  /** Positions of an MDS file that are read at once, and bytes of its samples. */
  mdsPositions: 1 << 14,
  mdsBytes: 1 << 20,
  /** Ids of a row of JSON that are formatted at once. */
  jsonIds: 1 << 16,
  /** A row group of Parquet ends when it has this many ids or rows. */
  groupIds: 1 << 19,
  groupRows: 100_000,
  /** Bytes of input per bucket of a shuffle, and the maximum number of buckets. */
  bucketBytes: 8 << 20,
  buckets: 64,
  /**
   * Bytes of tokens of a block of several shuffled documents. A document with more is never in
   * memory as a whole.
   */
  shuffledBlock: 4 << 20,
  /** Bytes of tokens of several documents that a merge reads at once. */
  mergedBlock: 4 << 20,
  /** Bytes of tokens that the shuffle of a merge collects, and then writes by file. */
  scatteredSlice: 32 << 20,
  /** Slots of the table of the documents that a merge has seen, at first. */
  seenSlots: 1 << 16,
  /** Parts of a shard in a plan. */
  shardParts: 4096,
  /** Inputs of a plan that are opened before threads are started, and ahead of their use. */
  openedFirst: 256,
  openedAhead: 32,
  /** Inputs on disk that a thread of a plan looks at in one call. */
  probedBatch: 128,
})
