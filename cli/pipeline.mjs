// Runs asynchronous calls of the library on batches of rows, two at a time, and yields the results
// in order.

import { inOrder } from '../lib/files/in-order.mjs'

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
 */
export const runInOrder = (batches, work) =>
  inOrder(batches, work, (batch) =>
    batch.reduce((sum, { text, ids }) => sum + (text ?? ids).length, 0) > MAX_SHARED_SIZE ? 1 : MAX_RUNNING,
  )
