// Batches of rows go through asynchronous calls of the library, two at a time, and come out in order.

/** As many as the addon runs at once. */
const AHEAD = 2
/** A batch with more bytes of text, or ids, is worked on before the next one is read: a few of them would fill the memory. */
const LARGE = 16 << 20

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
    // Of two that fail the first is heard; the other one must not count as unhandled.
    result.catch(() => {})
    running.push(result)
  }
  for await (const batch of batches) {
    start(batch)
    const isLarge = batch.reduce((sum, { text, ids }) => sum + (text ?? ids).length, 0) > LARGE
    while (running.length > 0 && (isLarge || running.length >= AHEAD)) yield await running.shift()
  }
  while (running.length > 0) yield await running.shift()
}
