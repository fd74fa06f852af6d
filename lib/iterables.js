'use strict'

// Calls over sources: iterables and async iterables of texts or ids, of any length. No more is read
// from a source than the results that were taken need.

const { error, wrongType, wrongValue } = require('./errors.js')
const { MANY_TEXTS, checkCount, checkObject, encodeFlags } = require('./options.js')
const { isRevoked, isUint8Array } = require('./realm.js')
const { watch } = require('./signals.js')

/** The default number of texts of a batch, and the number of units of text that end one earlier. */
const BATCH_TEXTS = 1024
const BATCH_UNITS = 1 << 22

/** Whether a value is a source; a string and bytes are one text. */
const isSource = (value) =>
  typeof value === 'object' &&
  value !== null &&
  !isRevoked(value) &&
  !isUint8Array(value) &&
  (typeof value[Symbol.asyncIterator] === 'function' || typeof value[Symbol.iterator] === 'function')

/**
 * Yields the values of a source. A signal ends the wait for one with its reason.
 *
 * @param {any} source
 * @param {AbortSignal} [signal]
 */
async function* valuesOf(source, signal) {
  signal?.throwIfAborted()
  const iterator = source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]()
  let isDone = false
  let refuse = (_reason) => {}
  const unwatch = signal && watch(signal, () => refuse(signal.reason))
  try {
    for (;;) {
      const { done, value } = await new Promise((resolve, reject) => {
        refuse = reject
        Promise.resolve(iterator.next()).then(resolve, reject)
      })
      signal?.throwIfAborted()
      isDone = done === true
      if (isDone) return
      yield value
    }
  } finally {
    unwatch?.()
    // A source that is stuck in `next` would never answer.
    if (!isDone) Promise.resolve(iterator.return?.()).catch(() => {})
  }
}

/**
 * Yields arrays of texts.
 *
 * @returns {AsyncGenerator<any[], any>}
 */
async function* chunksOf(source, batchSize, signal) {
  let texts = []
  let units = 0
  for await (const text of valuesOf(source, signal)) {
    texts.push(text)
    units += text?.length ?? 0
    if (texts.length < batchSize && units < BATCH_UNITS) continue
    yield texts
    texts = []
    units = 0
  }
  if (texts.length > 0) yield texts
}

/**
 * The results of `call(texts, options)` for the batches of a source.
 *
 * @param {any} source
 * @param {any} options of the call, and `batchSize`
 * @param {string[]} known the names of the options of the call
 * @param {(texts: any[], options: any) => Promise<any>} call
 */
function inBatches(source, options, known, call) {
  if (!isSource(source)) throw wrongType('texts', 'an iterable or async iterable of texts', source)
  checkObject(options)
  const { batchSize = BATCH_TEXTS, ...rest } = options
  encodeFlags(options, known, MANY_TEXTS)
  return resultsOfBatches(source, batchSize, rest, call)
}

/** Yields the results. While the caller works on one, the next texts are read. */
async function* resultsOfBatches(source, batchSize, options, call) {
  checkCount('batchSize', batchSize)
  if (batchSize === 0) throw wrongValue('batchSize', 'at least 1', batchSize)
  const chunks = chunksOf(source, batchSize, options.signal)
  let before = 0
  let read = chunks.next()
  read.catch(() => {})
  try {
    for (;;) {
      const { done, value: texts } = await read
      if (done) return
      const result = call(texts, options)
      result.catch(() => {})
      read = chunks.next()
      read.catch(() => {})
      yield await result.catch((failure) => {
        throw moved(failure, before)
      })
      before += texts.length
    }
  } finally {
    chunks.return(undefined).catch(() => {})
  }
}

/** The error of a row of a batch, with the row's index in the source. */
function moved(failure, before) {
  if (typeof failure?.row !== 'number' || before === 0) return failure
  failure.row += before
  if (typeof failure.reason === 'string') failure.message = `row ${failure.row}: ${failure.reason}`
  return failure
}

/** Turns strings and bytes of UTF-8 that arrive in parts into strings. */
class TextParts {
  #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  text(part) {
    if (typeof part === 'string') return this.end() + part
    if (!isUint8Array(part)) throw wrongType('text', 'a string or a Uint8Array of UTF-8', part)
    return this.#decoded(part, true)
  }

  /** The end of the bytes so far: nothing, or an error if they end within a character. */
  end() {
    return this.#decoded(undefined, false)
  }

  #decoded(bytes, stream) {
    try {
      return this.#decoder.decode(bytes, { stream })
    } catch (cause) {
      throw error('ERR_TOKENLANE_INVALID_UTF8', 'the bytes of the text are not valid UTF-8', { cause })
    }
  }
}

/**
 * A TransformStream over `work`, which has `push(part)` and `end()`, both of which return iterables
 * of results.
 *
 * @param {{ push(part: any): Iterable<any>, end(): Iterable<any> }} work
 * @param {AbortSignal} [signal]
 */
function transformStream(work, signal) {
  /** @type {(() => void) | undefined} */
  let unwatch
  const enqueueAll = (run, controller) => {
    try {
      for (const result of run()) controller.enqueue(result)
    } catch (failure) {
      unwatch?.()
      throw failure
    }
  }
  /** @type {Transformer & { cancel: () => void }} the libraries of TypeScript lack `cancel` */
  const transformer = {
    start(controller) {
      const stop = () => controller.error(signal.reason)
      if (signal?.aborted) stop()
      else if (signal !== undefined) unwatch = watch(signal, stop)
    },
    transform: (part, controller) => enqueueAll(() => work.push(part), controller),
    flush(controller) {
      unwatch?.()
      enqueueAll(() => work.end(), controller)
    },
    cancel: () => unwatch?.(),
  }
  return new TransformStream(transformer)
}

/** The results of `work` over a source. */
async function* resultsOf(work, source, signal) {
  for await (const part of valuesOf(source, signal)) yield* work.push(part)
  yield* work.end()
}

/** A splitter that takes strings and bytes. */
const ofTexts = (splitter) => {
  const parts = new TextParts()
  return {
    push: (part) => splitter.push(parts.text(part)),
    *end() {
      parts.end()
      yield* splitter.end()
    },
  }
}

/** A decoder of ids whose results leave out empty texts. */
const ofIds = (stream) => {
  const some = (text) => (text === '' ? [] : [text])
  return { push: (ids) => some(stream.push(ids)), end: () => some(stream.end()) }
}

module.exports = { inBatches, isSource, ofIds, ofTexts, resultsOf, transformStream, valuesOf }
