'use strict'

// The bytes of tokens, and what follows from them: which ids are canonical, and which a longer
// token could replace.

const { error } = require('./errors.js')
const native = require('./native.js')

function tokenBytes(handle) {
  const parts = native.tokenBytes(handle)
  if (parts === null) {
    const message = 'the ids of this vocabulary are too far apart for one list; decodeBytes([id]) has the bytes of one'
    throw error('ERR_TOKENLANE_UNSUPPORTED', message)
  }
  const [offsets, bytes, added] = parts
  return { bytes, offsets: new Uint32Array(offsets), added }
}

/**
 * The first place where encoding the text of ids gives another id; undefined if there is none.
 *
 * @param {any} tokenizer
 * @param {Uint32Array} ids
 */
function firstNonCanonical(tokenizer, ids) {
  const options = { addSpecialTokens: false, specialTokens: 'parse', truncation: false, padding: false }
  const encoded = tokenizer.encode(tokenizer.decode(ids), options).ids
  let at = 0
  while (at < ids.length && ids[at] === encoded[at]) at++
  return at === encoded.length && at === ids.length ? undefined : at
}

/** @type {WeakMap<object, ReturnType<typeof tokenBytes> & { longest: number }>} */
const TOKENS = new WeakMap()

/** The bytes of all tokens, which are found once for each tokenizer. */
function knownTokens(handle) {
  let tokens = TOKENS.get(handle)
  if (tokens === undefined) {
    const { bytes, offsets, added } = tokenBytes(handle)
    let longest = 0
    for (let id = 0; id < added.length; id++) {
      if (added[id] === 0) longest = Math.max(longest, offsets[id + 1] - offsets[id])
    }
    TOKENS.set(handle, (tokens = { bytes, offsets, added, longest }))
  }
  return tokens
}

/**
 * Finds the longest end of ids whose bytes start a longer token, in one pass over the vocabulary.
 *
 * @param {object} handle
 * @param {Uint32Array} ids
 */
function heal(handle, ids) {
  const { bytes, offsets, added, longest } = knownTokens(handle)
  // The ends of ids that are short enough, by the number of their bytes.
  const ends = [0]
  const parts = []
  for (let at = ids.length - 1; at >= 0; at--) {
    const id = ids[at]
    // An added token, or an id without bytes, cannot be a part of a longer token.
    if (id >= added.length || added[id] === 1 || offsets[id] === offsets[id + 1]) break
    const size = ends[ends.length - 1] + offsets[id + 1] - offsets[id]
    if (size >= longest) break
    ends.push(size)
    parts.unshift(bytes.subarray(offsets[id], offsets[id + 1]))
  }
  const tail = new Uint8Array(ends[ends.length - 1])
  let filled = 0
  for (const part of parts) {
    tail.set(part, filled)
    filled += part.length
  }
  let removed = 0
  for (let id = 0; id < added.length && removed + 1 < ends.length; id++) {
    if (added[id] === 1) continue
    const start = offsets[id]
    const length = offsets[id + 1] - start
    for (let count = ends.length - 1; count > removed; count--) {
      const size = ends[count]
      if (size >= length) continue
      const from = tail.length - size
      let same = 0
      while (same < size && tail[from + same] === bytes[start + same]) same++
      if (same === size) removed = count
    }
  }
  return { ids: ids.slice(0, ids.length - removed), prefix: tail.slice(tail.length - ends[removed]) }
}

module.exports = { firstNonCanonical, heal, tokenBytes }
