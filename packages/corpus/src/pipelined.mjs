// Overlaps the steps of a job: while the result of one batch is used, the next batches are
// processed and one more is read.

/** Number of batches that the addon encodes at a time, in the whole process (src/queue.rs). */
const MAX_RUNNING = 2
/**
 * A batch with more bytes is processed alone, because a few of them would fill the memory. So is a
 * batch with `isLarge`: no other batch is read before its memory is released.
 */
const MAX_SHARED_BYTES = 4 << 20

/**
 * Calls `work` with each batch and the number of batches that are encoded at the same time. Yields
 * the results in the order of the batches.
 *
 * @template {{ bytes: number, isLarge: boolean }} In
 * @template Out
 * @param {AsyncIterable<In>} batches
 * @param {(batch: In, running: number) => Promise<Out>} work
 * @param {() => number} shards the number of shards that are processed now. If there are several,
 *   one call of each is enough, and none has to wait for the calls of another shard
 * @returns {AsyncGenerator<Out>}
 */
export async function* pipelined(batches, work, shards = () => 1) {
  const most = () => (shards() > 1 ? 1 : MAX_RUNNING)
  const iterator = batches[Symbol.asyncIterator]()
  const running = []
  const read = () => awaitedLater(iterator.next())
  let next = read()
  try {
    for (;;) {
      const result = await next.catch(async (failure) => ({ failure, value: undefined, done: true }))
      const { value, done } = result
      if (done) {
        // A call of an earlier batch may fail too, and its failure comes first.
        while (running.length > 0) yield await running.shift()
        if ('failure' in result) throw result.failure
        break
      }
      const isLarge = value.isLarge || value.bytes > MAX_SHARED_BYTES
      running.push(awaitedLater(work(value, isLarge ? 1 : MAX_RUNNING)))
      if (!isLarge && running.length < most()) {
        next = read()
        continue
      }
      while (isLarge && running.length > 0) yield await running.shift()
      // Reading goes on while the oldest call ends and its result is used.
      next = read()
      while (running.length >= most()) yield await running.shift()
    }
  } finally {
    await Promise.allSettled([next, ...running])
    await iterator.return?.()
  }
}

/** Keeps a failure before the promise is awaited from being reported as an unhandled rejection. */
function awaitedLater(promise) {
  promise.catch(() => {})
  return promise
}
