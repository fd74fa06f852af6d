'use strict'

// The text of ids, and which part of it each id stands for.

const SEQUENCE_LENGTHS = [
  [0xc0, 0x80, 1],
  [0xe0, 0xc0, 2],
  [0xf0, 0xe0, 3],
  [0xf8, 0xf0, 4],
]

/** Whether bytes end within a character of UTF-8. */
function endsWithin(bytes) {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back]
    if (byte < 0x80) return false
    if (byte < 0xc0) continue
    const length = SEQUENCE_LENGTHS.find(([mask, value]) => (byte & mask) === value)?.[2] ?? 1
    return length > back
  }
  // Only bytes that continue a character: its last ones, or those in its middle.
  return false
}

/**
 * @param {any} tokenizer
 * @param {Uint32Array} ids
 * @param {any} options of decode
 * @returns {{ text: string, offsets: Uint32Array }}
 */
function decodeWithOffsets(tokenizer, ids, options) {
  const stream = tokenizer.decodeStream(options)
  const offsets = new Uint32Array(2 * ids.length)
  const isOpen = new Uint8Array(ids.length)
  /** @type {Map<number, { isEmpty: boolean, isOpen: boolean }>} */
  const known = new Map()
  const parts = []
  let at = 0
  for (let index = 0; index < ids.length; index++) {
    const id = ids[index]
    // The stream refuses an unknown id by its index in the whole list.
    const text = stream.push(id)
    let token = known.get(id)
    if (token === undefined) {
      const bytes = tokenizer.decodeBytes(ids.subarray(index, index + 1), options)
      known.set(id, (token = { isEmpty: bytes.length === 0, isOpen: endsWithin(bytes) }))
    }
    offsets[2 * index] = at
    at += text.length
    offsets[2 * index + 1] = at
    parts.push(text)
    isOpen[index] = Number(token.isOpen || (text === '' && !token.isEmpty))
  }
  parts.push(stream.end())
  const text = parts.join('')
  // An id that ends within a character stands for all of it.
  for (let index = 0; index < ids.length; index++) {
    const end = offsets[2 * index + 1]
    if (isOpen[index] === 1 && end < text.length) offsets[2 * index + 1] += text.codePointAt(end) > 0xffff ? 2 : 1
  }
  return { text, offsets }
}

module.exports = { decodeWithOffsets }
