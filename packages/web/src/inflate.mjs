// Decompresses gzip (RFC 1951 and 1952) at once, for the drop-ins and for Vercel's edge runtime,
// which has no DecompressionStream.

import { errors } from 'tokenlane/internal/base.js'

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

const damaged = (cause = undefined) =>
  errors.error('ERR_TOKENLANE_FILE', 'the compressed data is damaged', cause && { cause })

/**
 * A canonical Huffman code as a table. For the next `width` bits it has the symbol and, in the
 * lower four bits, the length of its code, which is 0 if there is none.
 */
function codeOf(lengths) {
  const width = Math.max(1, ...lengths)
  const counts = new Uint16Array(16)
  for (const length of lengths) counts[length]++
  const next = new Uint16Array(16)
  for (let length = 1; length < 15; length++) next[length + 1] = (next[length] + counts[length]) << 1
  const table = new Uint16Array(1 << width)
  lengths.forEach((length, symbol) => {
    if (length === 0) return
    const code = next[length]++
    // Codes come with their first bit first.
    let first = 0
    for (let bit = 0; bit < length; bit++) first |= ((code >> bit) & 1) << (length - 1 - bit)
    for (let at = first; at < table.length; at += 1 << length) table[at] = (symbol << 4) | length
  })
  return { table, width }
}

const FIXED_LITERALS = codeOf(Array.from({ length: 288 }, (_, at) => (at < 144 ? 8 : at < 256 ? 9 : at < 280 ? 7 : 8)))
const FIXED_DISTANCES = codeOf(Array(30).fill(5))

/** The bytes of a gzip file of one member without optional fields. */
export function gunzip(bytes) {
  if (bytes.length < 18 || bytes[2] !== 8 || bytes[3] !== 0) throw damaged()
  const size = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4).getUint32(0, true)
  // No gzip file shrinks further.
  if (size > bytes.length * 1032) throw damaged()
  const out = errors.allocated(() => new Uint8Array(size))
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

  function symbol({ table, width }) {
    while (held < width && at < bytes.length) {
      buffer |= bytes[at++] << held
      held += 8
    }
    const entry = table[buffer & ((1 << width) - 1)]
    const length = entry & 15
    if (length === 0 || length > held) throw damaged()
    buffer >>>= length
    held -= length
    return entry >> 4
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
    at -= held >> 3
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

/** Bytes that may be compressed with gzip, decompressed. */
export async function inflated(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return await decompressed(bytes)
  } catch (failure) {
    throw errors.isTokenlaneError(failure) || errors.isStackOverflow(failure) ? failure : damaged(failure)
  }
}

/** The zlib of Node.js, or undefined. The edge routes of Next have a function that throws. */
function zlibOfNode() {
  try {
    return globalThis.process?.getBuiltinModule?.('node:zlib')
  } catch {
    return undefined
  }
}

function decompressed(bytes) {
  // Node.js loads the whole of fetch for a stream or a Response, which takes longer than to
  // decompress.
  const zlib = zlibOfNode()
  if (zlib !== undefined)
    return new Promise((resolve, reject) => {
      zlib.gunzip(bytes, { chunkSize: 1 << 20 }, (failure, result) => (failure ? reject(failure) : resolve(result)))
    })
  let stream
  try {
    stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  } catch {
    // Vercel's edge runtime has none, and that of Next has one that throws.
    return gunzip(bytes)
  }
  return new Response(stream).arrayBuffer().then((buffer) => new Uint8Array(buffer))
}
