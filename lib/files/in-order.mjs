// Asynchronous calls for a sequence of items, some at a time.

/**
 * Yields the results of `work` for items, in their order, while work for the next ones runs.
 *
 * @template In
 * @template Out
 * @param {Iterable<In> | AsyncIterable<In>} items
 * @param {(item: In) => Promise<Out>} work
 * @param {(item: In) => number} running how many calls may run when that for an item has started
 * @returns {AsyncGenerator<Out>}
 */
export async function* inOrder(items, work, running) {
  const results = []
  for await (const item of items) {
    const result = work(item)
    // A failure is thrown when its turn comes, and must not count as unhandled before.
    result.catch(() => {})
    results.push(result)
    for (const most = running(item); results.length >= most; ) yield await results.shift()
  }
  while (results.length > 0) yield await results.shift()
}
