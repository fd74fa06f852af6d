// Reads a shared library of macOS (Mach-O, 64 bits, one architecture).

import { createHash } from 'node:crypto'

const MAGIC = 0xfeedfacf
const CPUS = { 16777223: 'x64', 16777228: 'arm64' }
const COMMANDS = {
  SYMTAB: 0x2,
  LOAD_DYLIB: 0xc,
  ID_DYLIB: 0xd,
  CODE_SIGNATURE: 0x1d,
  VERSION_MIN_MACOSX: 0x24,
  BUILD_VERSION: 0x32,
  RPATH: 0x8000001c,
}
/** Bits of a symbol's type: whether it is a debug entry, its kind, and whether it is external. */
const SYMBOL_BITS = { STAB: 0xe0, TYPE: 0x0e, EXT: 0x01 }
const DYNAMIC_LOOKUP = 0xfe
const SIGNATURE = { SUPER_BLOB: 0xfade0cc0, CODE_DIRECTORY: 0xfade0c02, AD_HOC: 0x2, SHA256: 2 }

/**
 * @typedef {object} MachO
 * @property {string} arch as Node names it
 * @property {string} [minimum] the oldest version of macOS, such as 11.0
 * @property {string} [id] the name that the library gives itself
 * @property {string[]} libraries
 * @property {string[]} runPaths
 * @property {string[]} exported names, with the underscore of C
 * @property {{ name: string, library: string }[]} undefined symbols of other libraries; the library
 *   is `lookup` if every loaded one is searched
 * @property {{ adHoc: boolean, broken: number, covers: boolean }} [signature] the number of pages
 *   whose hash differs, and whether the hashes cover all bytes before the signature
 */

/**
 * Reads a file's bytes.
 *
 * @param {Buffer} bytes
 * @returns {MachO}
 * @throws {Error} if they are not a Mach-O file
 */
export function readMachO(bytes) {
  if (bytes.length < 32 || bytes.readUInt32LE(0) !== MAGIC) throw new Error('this is not a 64-bit Mach-O file')
  const commands = []
  for (let at = 32, left = bytes.readUInt32LE(16); left > 0; left -= 1) {
    commands.push({ type: bytes.readUInt32LE(at), at })
    at += bytes.readUInt32LE(at + 4)
  }
  const all = (type) => commands.filter((command) => command.type === type).map(({ at }) => at)
  const name = (at) => stringAt(bytes, at + bytes.readUInt32LE(at + 8))
  const version = (at) => `${bytes.readUInt16LE(at + 2)}.${bytes[at + 1]}`
  const [minimum] = [
    ...all(COMMANDS.BUILD_VERSION).map((at) => version(at + 12)),
    ...all(COMMANDS.VERSION_MIN_MACOSX).map((at) => version(at + 8)),
  ]
  const libraries = all(COMMANDS.LOAD_DYLIB).map(name)
  const symbols = all(COMMANDS.SYMTAB).flatMap((at) => symbolsOf(bytes, at))
  const external = symbols.filter(({ type }) => (type & SYMBOL_BITS.STAB) === 0 && (type & SYMBOL_BITS.EXT) !== 0)
  return {
    arch: CPUS[bytes.readUInt32LE(4)] ?? `CPU ${bytes.readUInt32LE(4)}`,
    minimum,
    id: all(COMMANDS.ID_DYLIB).map(name)[0],
    libraries,
    runPaths: all(COMMANDS.RPATH).map(name),
    exported: external.filter(({ type }) => (type & SYMBOL_BITS.TYPE) !== 0).map((symbol) => symbol.name),
    undefined: external
      .filter(({ type }) => (type & SYMBOL_BITS.TYPE) === 0)
      .map((symbol) => ({
        name: symbol.name,
        library: symbol.ordinal === DYNAMIC_LOOKUP ? 'lookup' : (libraries[symbol.ordinal - 1] ?? 'itself'),
      })),
    signature: all(COMMANDS.CODE_SIGNATURE).map((at) => signatureOf(bytes, bytes.readUInt32LE(at + 8)))[0],
  }
}

function symbolsOf(bytes, command) {
  const [symbols, count, strings] = [8, 12, 16].map((at) => bytes.readUInt32LE(command + at))
  return Array.from({ length: count }, (_, index) => {
    const at = symbols + index * 16
    return {
      name: stringAt(bytes, strings + bytes.readUInt32LE(at)),
      type: bytes[at + 4],
      // The upper byte of the description is the library's number, counted from 1.
      ordinal: bytes.readUInt16LE(at + 6) >> 8,
    }
  })
}

/** Reads the code signature at `start`, and compares the hash of each page. */
function signatureOf(bytes, start) {
  const number = (at) => bytes.readUInt32BE(at)
  if (number(start) !== SIGNATURE.SUPER_BLOB) return undefined
  const blobs = Array.from({ length: number(start + 8) }, (_, index) => start + number(start + 12 + index * 8 + 4))
  const directory = blobs.find((at) => number(at) === SIGNATURE.CODE_DIRECTORY)
  if (directory === undefined || bytes[directory + 37] !== SIGNATURE.SHA256) return undefined
  const [hashes, pages, limit] = [directory + number(directory + 16), number(directory + 28), number(directory + 32)]
  const [hashSize, pageSize] = [bytes[directory + 36], 2 ** bytes[directory + 39]]
  const broken = Array.from({ length: pages }, (_, page) => {
    const content = bytes.subarray(page * pageSize, Math.min((page + 1) * pageSize, limit))
    const stated = bytes.subarray(hashes + page * hashSize, hashes + (page + 1) * hashSize)
    return !createHash('sha256').update(content).digest().subarray(0, hashSize).equals(stated)
  }).filter(Boolean).length
  return {
    adHoc: (number(directory + 12) & SIGNATURE.AD_HOC) !== 0,
    broken,
    covers: limit === start && pages === Math.ceil(limit / pageSize),
  }
}

function stringAt(bytes, at) {
  return bytes.toString('latin1', at, bytes.indexOf(0, at))
}
