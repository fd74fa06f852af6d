'use strict'

// Texts that change: LiveText encodes only what an edit touches, ChunkEncoder what has arrived.
//
// A text is kept in chunks that end at cuts, which no token crosses (crates/core/src/cuts.rs).
// Whether a position is a cut depends on the characters next to it alone. So an edit leaves all
// cuts, and the ids between them, as they are, except cuts within MARGIN of it. The text between
// the cuts around an edit is encoded again, and gets new cuts.

const { wrongType, wrongValue } = require('./errors.js')
const { checkInput } = require('./limits.js')
const native = require('./native.js')

/** Minimum length of a chunk, in UTF-16 units. */
const CHUNK_UNITS = 512

/** An edit nearer to a cut can remove it, in UTF-16 units: a cut has three characters. */
const MARGIN = 8

// What follows a part of a text, as numbers of crates/calls/src/part.rs.
const TEXT_ENDS = 0
const CUT_FOLLOWS = 1
const IS_OPEN = 2

/**
 * Encodes a part of a text: { hasCuts, chunks, ids, starts }, where `chunks` has the end of each
 * chunk and the number of ids up to it.
 */
function encodedPart({ handle, flags, extra }, text, request) {
  const words = new Uint32Array(native.encodePart(handle, text, flags, extra, request))
  const firstId = 2 + 2 * words[1]
  const chunks = []
  for (let at = 2; at < firstId; at += 2) chunks.push([words[at], words[at + 1]])
  const idCount = chunks.length === 0 ? 0 : words[firstId - 1]
  const ids = words.subarray(firstId, firstId + idCount)
  return { hasCuts: words[0] === 1, chunks, ids, starts: words.subarray(firstId + idCount) }
}

function checkString(text) {
  if (typeof text !== 'string') throw wrongType('text', 'a string', text)
  checkInput(text)
}

class LiveText {
  #encoder
  /** @type {{ text: string, ids: Uint32Array }[]} */
  #chunks = [{ text: '', ids: new Uint32Array(0) }]
  #length = 0
  #count = 0
  #hasCuts = false

  constructor(text, encoder) {
    this.#encoder = encoder
    checkString(text)
    this.#replace(0, 0, text)
  }

  get length() {
    return this.#length
  }

  get text() {
    return this.#chunks.map((chunk) => chunk.text).join('')
  }

  get isIncremental() {
    return this.#hasCuts
  }

  append(text) {
    checkString(text)
    this.#replace(this.#length, this.#length, text)
  }

  replace(start, end, text) {
    this.#checkRange(start, end)
    checkString(text)
    this.#replace(start, end, text)
  }

  ids() {
    const ids = new Uint32Array(this.#count)
    let at = 0
    for (const chunk of this.#chunks) {
      ids.set(chunk.ids, at)
      at += chunk.ids.length
    }
    return ids
  }

  count(start, end) {
    if (start === undefined && end === undefined) return this.#count
    this.#checkRange(start, end)
    return this.#startsBefore(end) - this.#startsBefore(start)
  }

  /** The number of tokens of the text that start before a position. */
  #startsBefore(position) {
    if (position === 0) return 0
    const [last, lastStart] = this.#chunkAt(position)
    const before = this.#chunks.slice(0, last).reduce((count, chunk) => count + chunk.ids.length, 0)
    const { text } = this.#chunks[last]
    const request = this.#request(last, last, true)
    const { ids, starts } = encodedPart(this.#encoder, text, { ...request, chunkLen: text.length })
    const [first, end] = this.#ownIds(last, ids.length)
    // A token behind the text stands for a suffix that the model reads.
    const isBefore = (start) => Math.min(start, text.length - 1) < position - lastStart
    const starting = starts.subarray(first, end).filter(isBefore).length
    return before + starting - (last === 0 ? 0 : this.#encoder.before)
  }

  /** The ids of a chunk that are not special tokens around the text. */
  #ownIds(chunk, count) {
    const { before, after } = this.#encoder
    return [chunk === 0 ? before : 0, chunk === this.#chunks.length - 1 ? count - after : count]
  }

  #checkRange(start, end) {
    const isPosition = (value) => Number.isInteger(value) && value >= 0
    if (!isPosition(start) || start > this.#length) throw wrongValue('start', `0 to ${this.#length}`, start)
    if (!isPosition(end) || end < start || end > this.#length) {
      throw wrongValue('end', `${start} to ${this.#length}`, end)
    }
  }

  /** The index of the chunk that contains a position or ends there, and its start. */
  #chunkAt(position) {
    let at = this.#chunks.length - 1
    let start = this.#length - this.#chunks[at].text.length
    if (position > start || at === 0) return [at, start]
    at = start = 0
    while (position > start + this.#chunks[at].text.length) start += this.#chunks[at++].text.length
    return [at, start]
  }

  #request(first, last, offsets = false) {
    const end = last === this.#chunks.length - 1 ? TEXT_ENDS : CUT_FOLLOWS
    return { startsText: first === 0, end, chunkLen: CHUNK_UNITS, offsets }
  }

  /** If encoding fails, nothing has changed. */
  #replace(start, end, put) {
    const chunks = this.#chunks
    let [first, firstStart] = this.#chunkAt(start)
    let [last, lastStart] = this.#chunkAt(end)
    if (first > 0 && start - firstStart < MARGIN) firstStart -= chunks[--first].text.length
    if (last < chunks.length - 1 && lastStart + chunks[last].text.length - end < MARGIN) last++
    let before = ''
    let idsBefore = 0
    for (let at = first; at <= last; at++) {
      before += chunks[at].text
      idsBefore += chunks[at].ids.length
    }
    const text = before.slice(0, start - firstStart) + put + before.slice(end - firstStart)
    const part = encodedPart(this.#encoder, text, this.#request(first, last))
    const after = []
    let [from, firstId] = [0, 0]
    for (const [chunkEnd, idEnd] of part.chunks) {
      after.push({ text: text.slice(from, chunkEnd), ids: part.ids.slice(firstId, idEnd) })
      from = chunkEnd
      firstId = idEnd
    }
    if (first === last && after.length === 1) chunks[first] = after[0]
    else chunks.splice(first, last + 1 - first, ...after)
    this.#count += part.ids.length - idsBefore
    this.#length += text.length - before.length
    this.#hasCuts = part.hasCuts
  }
}

/** A stretch that can contain a cut; the core decides whether it does. */
const MAY_BE_CUT = /\p{L} \p{L}/u

/** Encodes a text that arrives in parts: each push returns the ids up to the last cut so far. */
class ChunkEncoder {
  #encoder
  /** The text from the last cut on. It is only read if it may contain a cut. */
  #text = ''
  /** The last units of it, in which a cut can start. */
  #tail = ''
  #startsText = true
  #hasCuts = true
  /** The length from which on the text is read. It grows where stretches turn out to be no cuts. */
  #minLength = 0

  constructor(encoder) {
    this.#encoder = encoder
  }

  push(text) {
    const latest = this.#tail + text
    this.#tail = latest.slice(-MARGIN)
    this.#text += text
    if (!this.#hasCuts || this.#text.length < this.#minLength || !MAY_BE_CUT.test(latest)) return []
    const part = this.#encoded(IS_OPEN)
    this.#hasCuts = part.hasCuts
    if (part.chunks.length === 0) {
      this.#minLength = 2 * this.#text.length
      return []
    }
    this.#minLength = 0
    this.#startsText = false
    this.#text = this.#text.slice(part.chunks[0][0])
    return part.ids.length === 0 ? [] : [part.ids.slice()]
  }

  end() {
    const { ids } = this.#encoded(TEXT_ENDS)
    return ids.length === 0 ? [] : [ids.slice()]
  }

  #encoded(end) {
    const request = { startsText: this.#startsText, end, chunkLen: this.#text.length, offsets: false }
    return encodedPart(this.#encoder, this.#text, request)
  }
}

/** A live text. `flags` and `extra` are the options of a call. */
function liveText(handle, text, flags, extra) {
  const encoder = { handle, flags, extra, before: 0, after: 0 }
  // The special tokens around a text are those of its empty ends.
  const around = (startsText, end) =>
    encodedPart(encoder, '', { startsText, end, chunkLen: 1, offsets: false }).ids.length
  encoder.before = around(true, CUT_FOLLOWS)
  encoder.after = around(false, TEXT_ENDS)
  return new LiveText(text, encoder)
}

module.exports = { ChunkEncoder, liveText }
