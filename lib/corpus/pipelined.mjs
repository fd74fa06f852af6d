// Work on batches overlaps: while the results of one are used, the next ones are worked on, and one
// more is read.

/** Calls that are under way; the addon runs two at a time. */
const AHEAD = 2
/**
 * A batch with more bytes is worked on alone: a few of them would fill the memory. So is one for
 * which memory was reserved: the next one is read when that is released.
 */
const LARGE = 4 << 20

/**
 * @template {{ bytes: number, isLarge: boolean }} In
 * @template Out
 * @param {AsyncIterable<In>} batches
 * @param {(batch: In) => Promise<Out>} work
 * @returns {AsyncGenerator<Out>} in the order of the batches
 */
export async function* pipelined(batches, work) {
  const iterator = batches[Symbol.asyncIterator]()
  const running = []
  const read = () => heard(iterator.next())
  let next = read()
  try {
    for (;;) {
      const { value, done } = await next
      if (done) break
      const isLarge = value.isLarge || value.bytes > LARGE
      running.push(heard(work(value)))
      if (!isLarge && running.length < AHEAD) {
        next = read()
        continue
      }
      while (isLarge && running.length > 0) yield await running.shift()
      // Reading goes on while the oldest call ends and its result is used.
      next = read()
      if (running.length >= AHEAD) yield await running.shift()
    }
    while (running.length > 0) yield await running.shift()
  } finally {
    await Promise.allSettled([next, ...running])
    await iterator.return?.()
  }
}

/** A promise that is awaited later, if at all: until then its failure is no unhandled one. */
function heard(promise) {
  promise.catch(() => {})
  return promise
}
