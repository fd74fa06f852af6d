// Reads a shared library of Linux (ELF, 64 bits, little endian): what it needs and what it exports.

const MACHINES = { 62: 'x64', 183: 'arm64' }
const SECTIONS = { DYNAMIC: 6, DYNSYM: 11, VERNEED: 0x6ffffffe }
const TAGS = { NEEDED: 1, SONAME: 14, RPATH: 15, TEXTREL: 22, RUNPATH: 29 }
const GNU_STACK = 0x6474e551

/**
 * @typedef {object} Elf
 * @property {string} arch as Node names it
 * @property {string[]} needed names of libraries
 * @property {string[]} versions needed symbol versions, such as GLIBC_2.17
 * @property {string[]} exported names of defined global symbols
 * @property {string[]} undefined names of symbols that other libraries must have, without weak ones
 * @property {boolean} executableStack
 * @property {boolean} textRelocations whether code is written to when it is loaded
 * @property {string[]} runPaths folders in which the loader looks for libraries
 */

/**
 * Reads a file's bytes.
 *
 * @param {Buffer} bytes
 * @returns {Elf}
 * @throws {Error} if they are not an ELF file
 */
export function readElf(bytes) {
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1)
    throw new Error('this is not a 64-bit little-endian ELF file')
  const long = (at) => Number(bytes.readBigUInt64LE(at))
  const sections = headers(bytes, long(40), bytes.readUInt16LE(60), 64).map((at) => ({
    type: bytes.readUInt32LE(at + 4),
    offset: long(at + 24),
    size: long(at + 32),
    link: bytes.readUInt32LE(at + 40),
    info: bytes.readUInt32LE(at + 44),
  }))
  const segments = headers(bytes, long(32), bytes.readUInt16LE(56), 56).map((at) => ({
    type: bytes.readUInt32LE(at),
    flags: bytes.readUInt32LE(at + 4),
  }))
  const of = (type) => sections.find((section) => section.type === type)
  const text = (section, at) => stringAt(bytes, sections[section.link].offset + at)

  const dynamic = of(SECTIONS.DYNAMIC)
  const entries = headers(bytes, dynamic.offset, Math.floor(dynamic.size / 16), 16).map((at) => [
    long(at),
    long(at + 8),
  ])
  const named = (tag) => entries.filter(([is]) => is === tag).map(([, at]) => text(dynamic, at))

  const dynsym = of(SECTIONS.DYNSYM)
  const symbols = headers(bytes, dynsym.offset, Math.floor(dynsym.size / 24), 24).map((at) => ({
    name: text(dynsym, bytes.readUInt32LE(at)),
    binding: bytes[at + 4] >> 4,
    defined: bytes.readUInt16LE(at + 6) !== 0,
  }))

  return {
    arch: MACHINES[bytes.readUInt16LE(18)] ?? `machine ${bytes.readUInt16LE(18)}`,
    needed: named(TAGS.NEEDED),
    versions: neededVersions(bytes, of(SECTIONS.VERNEED), text),
    exported: symbols.filter(({ defined, binding }) => defined && binding !== 0).map(({ name }) => name),
    undefined: symbols.filter(({ defined, binding }) => !defined && binding === 1).map(({ name }) => name),
    executableStack: segments.some(({ type, flags }) => type === GNU_STACK && (flags & 1) !== 0),
    textRelocations: entries.some(([tag]) => tag === TAGS.TEXTREL),
    runPaths: [...named(TAGS.RPATH), ...named(TAGS.RUNPATH)],
  }
}

/** The symbol versions of .gnu.version_r: a list of libraries, each with a list of versions. */
function neededVersions(bytes, section, text) {
  const versions = []
  if (section === undefined) return versions
  for (let library = section.offset, count = section.info; count > 0; count -= 1) {
    const entries = bytes.readUInt16LE(library + 2)
    let entry = library + bytes.readUInt32LE(library + 8)
    for (let left = entries; left > 0; left -= 1) {
      versions.push(text(section, bytes.readUInt32LE(entry + 8)))
      entry += bytes.readUInt32LE(entry + 12)
    }
    library += bytes.readUInt32LE(library + 12)
  }
  return versions
}

/** The offsets of `count` entries of `size` bytes each. */
function headers(bytes, offset, count, size) {
  if (offset + count * size > bytes.length) throw new Error('the ELF file is cut')
  return Array.from({ length: count }, (_, at) => offset + at * size)
}

function stringAt(bytes, at) {
  return bytes.toString('latin1', at, bytes.indexOf(0, at))
}

/** The newest version of glibc among needed versions, as [major, minor]; undefined without one. */
export function newestGlibc(versions) {
  return versions
    .map((version) => /^GLIBC_(\d+)\.(\d+)/.exec(version))
    .filter((match) => match !== null)
    .map(([, major, minor]) => [Number(major), Number(minor)])
    .sort(([a, b], [c, d]) => c - a || d - b)[0]
}
