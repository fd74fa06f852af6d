// Reads a library of Windows (PE, 64 bits): the libraries that it imports and what it exports.

const MACHINES = { 34404: 'x64', 43620: 'arm64' }
const PE32_PLUS = 0x20b

/**
 * @typedef {object} Pe
 * @property {string} arch as Node names it
 * @property {string[]} libraries names in lower case, including libraries that are loaded on first
 *   use
 * @property {string[]} exported names
 * @property {boolean} randomized whether it can be loaded at any address
 * @property {boolean} noExecute whether data cannot be executed
 */

/**
 * Reads a file's bytes.
 *
 * @param {Buffer} bytes
 * @returns {Pe}
 * @throws {Error} if they are not a PE file
 */
export function readPe(bytes) {
  const header = bytes.length > 64 && bytes.toString('latin1', 0, 2) === 'MZ' ? bytes.readUInt32LE(60) : 0
  const optional = header + 24
  if (header === 0 || bytes.readUInt32BE(header) !== 0x50450000 || bytes.readUInt16LE(optional) !== PE32_PLUS)
    throw new Error('this is not a 64-bit PE file')
  const sections = Array.from({ length: bytes.readUInt16LE(header + 6) }, (_, index) => {
    const at = optional + bytes.readUInt16LE(header + 20) + index * 40
    const [address, size, offset] = [12, 16, 20].map((field) => bytes.readUInt32LE(at + field))
    return { address, size, offset }
  })
  /** Converts an address in memory to a position in the file. */
  const place = (address) => {
    const section = sections.find((is) => address >= is.address && address < is.address + is.size)
    if (section === undefined) throw new Error(`no section has the address ${address}`)
    return section.offset + address - section.address
  }
  const directory = (index) => bytes.readUInt32LE(optional + 112 + index * 8)
  const text = (address) => {
    const at = place(address)
    return bytes.toString('latin1', at, bytes.indexOf(0, at))
  }
  /** The names in a table of imports that ends with an empty entry. */
  const names = (table, entrySize, field) => {
    const found = []
    if (table === 0) return found
    for (let at = place(table); bytes.readUInt32LE(at + field) !== 0; at += entrySize)
      found.push(text(bytes.readUInt32LE(at + field)).toLowerCase())
    return found
  }
  const flags = bytes.readUInt16LE(optional + 70)
  return {
    arch: MACHINES[bytes.readUInt16LE(header + 4)] ?? `machine ${bytes.readUInt16LE(header + 4)}`,
    libraries: [...names(directory(1), 20, 12), ...names(directory(13), 32, 4)],
    exported: exportsOf(bytes, directory(0), place, text),
    randomized: (flags & 0x40) !== 0,
    noExecute: (flags & 0x100) !== 0,
  }
}

function exportsOf(bytes, table, place, text) {
  if (table === 0) return []
  const at = place(table)
  const list = place(bytes.readUInt32LE(at + 32))
  return Array.from({ length: bytes.readUInt32LE(at + 24) }, (_, index) => text(bytes.readUInt32LE(list + index * 4)))
}
