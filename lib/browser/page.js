'use strict'

// The main thread of a page must not wait: WebAssembly traps even if a lock is only held for a
// moment. There are therefore no other threads: batches run on the main thread, and block the page.
// Workers have threads.

/**
 * Replaces the asynchronous functions of the addon by ones that run synchronously on this thread.
 */
function withoutWaiting(binding) {
  const {
    countBatchSync,
    countCopied,
    decodeBatchSync,
    encodeBatchSync,
    encodeCopied,
    leaveQueue,
    loadBytesSync,
    split,
  } = binding
  const runNow =
    (work) =>
    async (queueEntry, ...rest) => {
      try {
        return work(...rest)
      } finally {
        leaveQueue(queueEntry)
      }
    }
  const runCopied = (work) => (queueEntry, handle, flags, extra) =>
    runNow(() => work(queueEntry, handle, flags, extra))(queueEntry)
  return {
    ...binding,
    encodeBatchSync: (handle, texts, pairs, flags, extra) => encodeBatchSync(handle, texts, pairs, flags, extra, 1),
    countBatchSync: (handle, texts, flags, extra) => countBatchSync(handle, texts, flags, extra, 1),
    encodeBatch: runCopied(encodeCopied),
    countBatch: runCopied(countCopied),
    decodeBatch: runNow((handle, ids, rowOffsets, skip) => decodeBatchSync(handle, ids, rowOffsets, skip, 1)),
    loadBytes: runNow(loadBytesSync),
    splitAsync: runNow(split),
  }
}

module.exports = { withoutWaiting }
