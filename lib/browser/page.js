'use strict'

// The thread of a page may not wait, not even for a lock that another thread holds for a moment: WebAssembly traps there.
// So nothing runs beside it. It does batches itself, on one thread, and the page stands still meanwhile; workers have threads.

/** The addon with its tasks done at once. */
function withoutWaiting(binding) {
  const { countBatchSync, decodeBatchSync, encodeBatchSync, leaveLine, loadBytesSync, split } = binding
  const atOnce = (work) => async (turn, ...rest) => {
    try {
      return work(...rest)
    } finally {
      leaveLine(turn)
    }
  }
  const encode = (handle, texts, pairs, flags, extra) => encodeBatchSync(handle, texts, pairs, flags, extra, 1)
  return {
    ...binding,
    encodeBatchSync: encode,
    encodeBatch: atOnce(encode),
    countBatch: atOnce((handle, texts, flags, extra) => countBatchSync(handle, texts, flags, extra, 1)),
    decodeBatch: atOnce((handle, ids, rowOffsets, skip) => decodeBatchSync(handle, ids, rowOffsets, skip, 1)),
    loadBytes: atOnce(loadBytesSync),
    splitAsync: atOnce(split),
  }
}

module.exports = { withoutWaiting }
