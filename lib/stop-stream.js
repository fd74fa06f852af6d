'use strict'

// Streams of ids that end at strings, at ids or at a number of ids. The addon decodes and searches
// (crates/core/src/stop_stream.rs); the ids that are not released wait here.

const { wrongType, wrongValue } = require('./errors.js')
const { toIds } = require('./ids.js')
const { valuesOf } = require('./iterables.js')
const native = require('./native.js')
const { boolean, checkCount, checkId, checkKnown } = require('./options.js')
const { isArray } = require('./realm.js')
const { MAX_TEXTS, textsOf } = require('./stream.js')

const MAX_STOPS = 10_000
/** The maximum length of all stops together, in UTF-16 units. */
const MAX_STOP_UNITS = 2 ** 20

/** By the number of a reason in crates/calls/src/stop.rs. */
const REASONS = [undefined, 'stop', 'id', 'length']

/** Codes of errors after which a stream is unchanged. */
const UNCHANGED = /^ERR_TOKENLANE_(?:ARGUMENT_TYPE|BUFFER|UNKNOWN_ID)$/

// The addon writes to the one and reads the other, and runs no JavaScript meanwhile.
const numbers = new Uint32Array(6)
const one = new Uint32Array(1)
const NO_IDS = new Uint32Array(0)

/** The option `stop`: one string or several. */
function stopsOf(value = []) {
  const stops = typeof value === 'string' ? [value] : value
  if (!isArray(stops)) throw wrongType('stop', 'a string or an array of strings', value)
  if (stops.length > MAX_STOPS) throw wrongValue('stop.length', `at most ${MAX_STOPS}`, stops.length)
  let units = 0
  return Array.from(stops, (stop, index) => {
    const name = `stop[${index}]`
    if (typeof stop !== 'string') throw wrongType(name, 'a string', stop)
    if (stop === '') throw wrongValue(name, 'a string that is not empty', stop)
    // A decoded text never has one, so the stop would never be found.
    if (/\p{Surrogate}/u.test(stop)) throw wrongValue(name, 'a string without half a surrogate pair', stop)
    units += stop.length
    if (units > MAX_STOP_UNITS) throw wrongValue('stop', `at most ${MAX_STOP_UNITS} UTF-16 units in all`, units)
    return stop
  })
}

/** The texts of ids that stand between two characters, and how the addon is asked for one. */
function ownTexts(handle, skipSpecialTokens) {
  const texts = textsOf(handle, skipSpecialTokens)
  let stream
  const find = (id) => {
    stream ??= native.decodeStream(handle, skipSpecialTokens)
    const text = native.streamText(stream, id)
    if (texts.size < MAX_TEXTS) texts.set(id, text)
  }
  return { texts, find }
}

class StopStream {
  #stream
  #stops
  /** The first UTF-16 units of the stops. An id whose text has none of them changes no state. */
  #firstUnits
  #stopIds
  #own
  /** The number of ids that the addon need not see if their texts are such. */
  #skippable = 0
  /** The number of ids that were read. The addon has not seen all of them. */
  #count = 0
  /** The ids that were read, and the number of those that were released. */
  #ids = []
  #released = 0
  /** How the stream has ended. */
  #finish

  constructor(stream, { stop, stopIds }, own) {
    this.#stream = stream
    this.#stops = stop
    this.#firstUnits = new Set(stop.map((text) => text.charCodeAt(0)))
    this.#stopIds = new Set(stopIds)
    this.#own = own
  }

  push(ids) {
    if (typeof ids !== 'number') return this.#read(toIds('ids', ids))
    const text = this.#own.texts.get(ids)
    if (this.#skippable > 0 && typeof text === 'string' && this.#isCertain(ids, text)) {
      this.#skippable--
      this.#count++
      one[0] = ids
      return { text, ids: one.slice() }
    }
    checkId('ids', ids)
    one[0] = ids
    const result = this.#read(one)
    if (text === undefined) this.#own.find(ids)
    return result
  }

  #isCertain(id, text) {
    for (let index = 0; index < text.length; index++) if (this.#firstUnits.has(text.charCodeAt(index))) return false
    return text !== '' && !this.#stopIds.has(id)
  }

  #read(list) {
    if (this.#finish !== undefined) return { text: '', ids: new Uint32Array(0), finish: this.#finish }
    try {
      return this.#result(native.stopPush(this.#stream, list, this.#count, numbers), list)
    } catch (failure) {
      this.#skippable = 0
      if (!UNCHANGED.test(failure.code)) this.#reset()
      throw failure
    }
  }

  /** After an error within the ids: the addon may have reset its stream, or not begun. */
  #reset() {
    try {
      this.end()
    } catch {
      // The stream is as new even so.
    }
  }

  end() {
    const finish = this.#finish
    try {
      const text = native.stopEnd(this.#stream, numbers)
      return finish === undefined ? this.#result(text, NO_IDS) : { text, ids: new Uint32Array(0), finish }
    } finally {
      this.#count = this.#skippable = 0
      this.#finish = undefined
      this.#ids = []
      this.#released = 0
    }
  }

  /** The result of a call that read a list of ids; its numbers are in `numbers`. */
  #result(text, list) {
    const count = numbers[0]
    const read = numbers[1]
    this.#count += read
    this.#skippable = numbers[2] === 0 ? numbers[5] : 0
    let ids
    if (this.#ids.length === 0 && count === read) {
      ids = list.slice(0, read)
    } else {
      for (let index = 0; index < read; index++) this.#ids.push(list[index])
      const first = this.#released
      this.#released += count
      ids = Uint32Array.from(this.#ids.slice(first, this.#released))
      // Seldom, so that an id costs the same however many wait.
      if (2 * this.#released > this.#ids.length) {
        this.#ids = this.#ids.slice(this.#released)
        this.#released = 0
      }
    }
    return numbers[2] === 0 ? { text, ids } : { text, ids, finish: (this.#finish = this.#finished()) }
  }

  #finished() {
    const [, , reason, value, count] = numbers
    const cut = { text: native.stopCut(this.#stream), ids: Uint32Array.from(this.#ids.slice(this.#released)) }
    const stop = [undefined, this.#stops[value], value, undefined][reason]
    return { reason: REASONS[reason], stop, count, cut }
  }
}

/** @param {any} options that `checkKnown` accepted */
function stopStream(handle, options, known) {
  checkKnown(options, known)
  const { maxTokens, includeStop, skipSpecialTokens, stopIds = [] } = options
  const stop = stopsOf(options.stop)
  if (maxTokens !== undefined) {
    checkCount('maxTokens', maxTokens)
    if (maxTokens === 0) throw wrongValue('maxTokens', 'at least 1', maxTokens)
  }
  const request = {
    stop,
    stopIds: Array.from(toIds('stopIds', stopIds)),
    maxTokens,
    includeStop: boolean('includeStop', includeStop, false),
    skipSpecialTokens: boolean('skipSpecialTokens', skipSpecialTokens, false),
  }
  return new StopStream(native.stopStream(handle, request), request, ownTexts(handle, request.skipSpecialTokens))
}

/** The results over a source of ids, which is read up to the end of the stream. */
async function* stoppedResults(stream, source, signal) {
  const isSome = ({ ids, finish }) => ids.length > 0 || finish !== undefined
  for await (const ids of valuesOf(source, signal)) {
    const result = stream.push(ids)
    if (isSome(result)) yield result
    if (result.finish !== undefined) return
  }
  const rest = stream.end()
  if (isSome(rest) || rest.text !== '') yield rest
}

module.exports = { stopStream, stoppedResults }
