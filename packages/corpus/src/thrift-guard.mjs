// Checks the metadata of a Parquet file, in the compact protocol of Thrift, before it is parsed.
// The parser makes a list as long as its header says, so a few bytes could take gigabytes.

const [TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12]
/** Maximum number of fields and elements. They take up to a hundred bytes each. */
const MAX_ITEMS = 10_000_000
const MAX_DEPTH = 32

const damaged = (what) => new RangeError(`its metadata is damaged: ${what}`)

/**
 * Throws if a structure has a list that is longer than the bytes after it, is nested too deeply, or
 * has too many elements. Other damage is left to the parser.
 *
 * @param {Uint8Array} bytes the structure, and what follows it
 */
export function checkThrift(bytes) {
  let at = 0
  let items = 0
  /** As the parser reads it: 32 bits, with a sign. */
  const number = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      if (at >= bytes.length) throw damaged('it ends early')
      const byte = bytes[at++]
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const count = () => {
    items += 1
    if (items > MAX_ITEMS) throw damaged(`it has more than ${MAX_ITEMS} elements`)
  }
  const element = (type, depth) => {
    count()
    if (type === TRUE || type === FALSE) return
    if (type === BYTE) at += 1
    else if (type === I16 || type === I32 || type === I64) number()
    else if (type === DOUBLE) at += 8
    else if (type === BINARY) {
      const length = number()
      if (!(length >= 0 && length <= bytes.length - at)) throw damaged('a text is longer than the file')
      at += length
    } else if (type === LIST) list(depth + 1)
    else if (type === STRUCT) struct(depth + 1)
    else throw damaged('a field has an unknown type')
  }
  const list = (depth) => {
    if (depth > MAX_DEPTH) throw damaged('it is nested too deeply')
    const header = bytes[at++]
    const length = header >> 4 === 15 ? number() : header >> 4
    // Each element takes at least one byte.
    if (!(length >= 0 && length <= bytes.length - at)) throw damaged('a list is longer than the file')
    const type = header & 15
    for (let index = 0; index < length; index++) element(type === TRUE || type === FALSE ? BYTE : type, depth)
  }
  const struct = (depth) => {
    if (depth > MAX_DEPTH) throw damaged('it is nested too deeply')
    for (;;) {
      if (at >= bytes.length) throw damaged('it ends early')
      const header = bytes[at++]
      if ((header & 15) === 0) return
      if (header >> 4 === 0) number()
      element(header & 15, depth)
    }
  }
  struct(0)
}
