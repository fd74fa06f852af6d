// Runs asynchronous calls of the library on batches of rows, two at a time, and yields the results
// in order.

/** Maximum number of calls that run at a time. The addon runs two. */
const MAX_RUNNING = 2
/**
 * A batch with more bytes of text, or more ids, is finished before the next one is read, because a
 * few of them would fill the memory.
 */
const MAX_SHARED_SIZE = 16 << 20

/**
 * @template {{ text?: { length: number }, ids?: { length: number } }[]} In
 * @template Out
 * @param {AsyncIterable<In>} batches
 * @param {(batch: In) => Promise<Out>} work
 * @returns {AsyncGenerator<{ batch: In, result: Out }>}
 */
export async function* inOrder(batches, work) {
  const running = []
  const start = (batch) => {
    const result = work(batch).then((result) => ({ batch, result }))
    // If two calls fail, the first error is thrown. The other one must not count as unhandled.
    result.catch(() => {})
    running.push(result)
  }
  for await (const batch of batches) {
    start(batch)
    const isLarge = batch.reduce((sum, { text, ids }) => sum + (text ?? ids).length, 0) > MAX_SHARED_SIZE
    while (running.length > 0 && (isLarge || running.length >= MAX_RUNNING)) yield await running.shift()
  }
  while (running.length > 0) yield await running.shift()
}
