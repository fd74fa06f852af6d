// Decompresses gzip (RFC 1951 and 1952), for Vercel's edge runtime, which has no
// DecompressionStream.

import errors from '../lib/errors.js'

const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
const DISTANCE_EXTRA = Array.from({ length: 30 }, (_, code) => (code < 2 ? 0 : (code >> 1) - 1))
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

/** The smallest value of each code whose further values are in `extra` bits. */
function bases(first, extra) {
  const all = []
  for (let at = 0, base = first; at < extra.length; base += 1 << extra[at++]) all.push(base)
  return all
}
const LENGTHS = [...bases(3, LENGTH_EXTRA.slice(0, 28)), 258]
const DISTANCES = bases(1, DISTANCE_EXTRA)

export const damaged = (cause = undefined) =>
  errors.error('ERR_TOKENLANE_FILE', 'the compressed data is damaged', cause && { cause })

/** A canonical Huffman code: the number of codes of each length, and their symbols in order. */
function codeOf(lengths) {
  const counts = new Uint16Array(16)
  for (const length of lengths) counts[length]++
  counts[0] = 0
  const places = new Uint16Array(16)
  for (let length = 1; length < 15; length++) places[length + 1] = places[length] + counts[length]
  const symbols = new Uint16Array(lengths.length)
  lengths.forEach((length, symbol) => {
    if (length > 0) symbols[places[length]++] = symbol
  })
  return { counts, symbols }
}

const FIXED_LITERALS = codeOf(Array.from({ length: 288 }, (_, at) => (at < 144 ? 8 : at < 256 ? 9 : at < 280 ? 7 : 8)))
const FIXED_DISTANCES = codeOf(Array(30).fill(5))

/** The bytes of a gzip file of one member without optional fields. */
export function gunzip(bytes) {
  if (bytes.length < 18 || bytes[2] !== 8 || bytes[3] !== 0) throw damaged()
  const size = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4).getUint32(0, true)
  // No gzip file shrinks further.
  if (size > bytes.length * 1032) throw damaged()
  const out = new Uint8Array(size)
  let [at, written, buffer, held] = [10, 0, 0, 0]

  function bits(count) {
    while (held < count) {
      if (at >= bytes.length) throw damaged()
      buffer |= bytes[at++] << held
      held += 8
    }
    const value = buffer & ((1 << count) - 1)
    buffer >>>= count
    held -= count
    return value
  }

  function symbol({ counts, symbols }) {
    let [code, first, index] = [0, 0, 0]
    for (let length = 1; length < 16; length++) {
      code |= bits(1)
      const count = counts[length]
      if (code - count < first) return symbols[index + code - first]
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    throw damaged()
  }

  /** @returns {[any, any]} */
  function codes() {
    const [literals, distances, lengths] = [bits(5) + 257, bits(5) + 1, bits(4) + 4]
    const given = Array(19).fill(0)
    for (let index = 0; index < lengths; index++) given[CODE_LENGTH_ORDER[index]] = bits(3)
    const code = codeOf(given)
    const all = []
    while (all.length < literals + distances) {
      const found = symbol(code)
      if (found < 16) all.push(found)
      else {
        const value = found === 16 ? (all.at(-1) ?? 0) : 0
        const times = found === 16 ? 3 + bits(2) : found === 17 ? 3 + bits(3) : 11 + bits(7)
        for (let time = 0; time < times; time++) all.push(value)
      }
    }
    return [codeOf(all.slice(0, literals)), codeOf(all.slice(literals, literals + distances))]
  }

  function stored() {
    buffer = held = 0
    const length = bytes[at] | (bytes[at + 1] << 8)
    at += 4
    if (at + length > bytes.length || written + length > size) throw damaged()
    out.set(bytes.subarray(at, at + length), written)
    at += length
    written += length
  }

  function block(literals, distances) {
    for (;;) {
      const found = symbol(literals)
      if (found === 256) return
      if (found < 256) {
        if (written >= size) throw damaged()
        out[written++] = found
        continue
      }
      const length = LENGTHS[found - 257] + bits(LENGTH_EXTRA[found - 257])
      const code = symbol(distances)
      const from = written - DISTANCES[code] - bits(DISTANCE_EXTRA[code])
      if (!(from >= 0 && written + length <= size)) throw damaged()
      for (let index = 0; index < length; index++) out[written++] = out[from + index]
    }
  }

  for (let isLast = 0; isLast === 0; ) {
    isLast = bits(1)
    const kind = bits(2)
    if (kind === 0) stored()
    else if (kind === 3) throw damaged()
    else if (kind === 1) block(FIXED_LITERALS, FIXED_DISTANCES)
    else block(...codes())
  }
  if (written !== size) throw damaged()
  return out
}
