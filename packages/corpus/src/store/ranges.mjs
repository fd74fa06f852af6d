// Reads ranges of objects. A body that ends early is continued where it stopped.

import { addAbortSignal } from 'node:stream'

import { Failure } from 'tokenlane/internal/files.mjs'
import { pause, signalOfRequest } from 'tokenlane/internal/corpus.js'

/** How often a range whose body ended early is continued. */
const ATTEMPTS = 6
/**
 * A range that received at least this many bytes since its last failure is tried from the first.
 */
const MIN_PROGRESS_BYTES = 1 << 16
const MIN_PAUSE_MS = 100
const MAX_PAUSE_MS = 5000

/**
 * A response to a request for the bytes from a position on.
 *
 * @typedef {{ body: AsyncIterable<Uint8Array> & { destroy?: () => void }, start?: number }} Ranged
 *   `start` is the position of the first byte; `undefined` if the store has no ranges
 */

/**
 * Reads the bytes of an object from `start` up to `end`.
 *
 * @param {string} address for messages
 * @param {number} start
 * @param {number} end
 * @param {(start: number, end: number) => Promise<Ranged>} request
 * @param {{ first?: Ranged, explain: (failure: any) => Promise<any> | any }} more `first` is the
 *   response to a request for these bytes; `explain` makes the error of a body that failed
 */
export async function readRange(address, start, end, request, { first, explain }) {
  const bytes = Buffer.allocUnsafeSlow(end - start)
  let at = start
  let tries = 0
  let mark = start
  while (at < end) {
    const { body, start: from } = first ?? (await request(at, end))
    first = undefined
    try {
      if (from !== at) throw new Failure('CORPUS_STORE', `${address}: the store has no ranges`)
      for await (const chunk of body) {
        if (at + chunk.length > end)
          throw new Failure('CORPUS_STORE', `${address}: the store sent more than was requested`)
        bytes.set(chunk, at - start)
        at += chunk.length
      }
      if (at < end) throw Object.assign(new Error('the store ended the body early'), { code: 'ECONNRESET' })
    } catch (failure) {
      body.destroy?.()
      if (failure instanceof Failure || isFinal(failure)) throw failure
      if (at - mark >= MIN_PROGRESS_BYTES) tries = 0
      mark = at
      tries += 1
      if (tries >= ATTEMPTS) throw await explain(failure)
      await pause(Math.min(MIN_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS))
    }
  }
  return bytes
}

/** Whether an error of a body says that another request would fail too. */
const isFinal = ({ code }) => code?.startsWith?.('ERR_TOKENLANE_') && code !== 'ERR_TOKENLANE_HUB_NETWORK'

/** Time in seconds without a byte after which a body is continued by another request. */
const IDLE_TIMEOUT_SECONDS = 60

export const idleTimeout = () => (Number(process.env.TOKENLANE_STORE_TIMEOUT) || IDLE_TIMEOUT_SECONDS) * 1000

/**
 * The chunks of a stream, which fails if nothing arrives for a time, and ends with its request.
 *
 * @param {import('node:stream').Readable} stream
 */
export async function* watched(stream) {
  const stalled = Object.assign(new Error('the store sent nothing more'), { code: 'ETIMEDOUT' })
  const timer = setTimeout(() => stream.destroy(stalled), idleTimeout())
  const signal = signalOfRequest()
  if (signal !== undefined) addAbortSignal(signal, stream)
  try {
    for await (const chunk of stream) {
      timer.refresh()
      yield chunk
    }
  } finally {
    clearTimeout(timer)
    stream.destroy()
  }
}

/** The first position and the size in a Content-Range; `undefined` where it has none. */
export function contentRange(value) {
  const [, start, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(value ?? '') ?? []
  return { start: start === undefined ? undefined : Number(start), size: size === undefined ? undefined : Number(size) }
}
