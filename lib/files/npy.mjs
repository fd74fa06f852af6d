// NumPy array files, version 1.0 of the format: a magic number, a header in Python syntax, and the
// numbers.

import { Failure } from './failure.mjs'

const MAGIC = Buffer.from('\x93NUMPY', 'latin1')
/**
 * The fixed length of the header of a one-dimensional array, so that it can be written before the
 * count is known.
 */
const HEADER_BYTES = 128
/** Maximum length of a header that is read, in bytes. */
const MAX_HEADER = 1 << 16
const ZERO = Buffer.alloc(2)

/** The header of an array of `count` numbers; `descr` is NumPy's name of their type: `<u2`. */
export function headerOf(descr, count) {
  const words = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${count},), }`
  const header = Buffer.alloc(HEADER_BYTES, ' ')
  MAGIC.copy(header)
  header.writeUInt16LE(1, 6) // version 1.0, the lower byte first
  header.writeUInt16LE(HEADER_BYTES - 10, 8)
  header.write(words, 10, 'latin1')
  header[HEADER_BYTES - 1] = 0x0a
  return header
}

/** Whether bytes start with the magic number of an array file. */
const isNpy = (bytes) => bytes.subarray(0, MAGIC.length).equals(MAGIC)

/**
 * Reads a header.
 *
 * @param {{ read(length: number): Promise<Buffer> }} reader at the start of the file. This function
 *   reads the header from it, and nothing else.
 * @returns {Promise<{ descr: string, shape: number[] }>}
 */
export async function readHeader(reader, name) {
  const start = await reader.read(10)
  if (start.length < 10 || !isNpy(start)) throw new Failure('NPY', 'this is not an .npy file', { place: name })
  // Version 1 has a length of two bytes, later ones of four.
  const rest = start[6] > 1 ? await reader.read(2) : ZERO
  const length = rest.length === 2 ? start.readUInt16LE(8) + rest.readUInt16LE(0) * 65536 : 0
  if (length > MAX_HEADER) throw new Failure('NPY', `its header has more than ${MAX_HEADER} bytes`, { place: name })
  const words = (await reader.read(length)).toString('latin1')
  const descr = /'descr': *'([^']*)'/.exec(words)?.[1]
  const shape = /'shape': *\(([\d, ]*)\)/.exec(words)?.[1]
  if (descr === undefined || shape === undefined || /'fortran_order': *True/.test(words)) {
    throw new Failure('NPY', `its header is not supported: ${words.trim().slice(0, 200)}`, { place: name })
  }
  const sizes = shape
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(Number)
  if (!sizes.every(Number.isSafeInteger))
    throw new Failure('NPY', `its shape (${shape.slice(0, 100)}) is too large`, { place: name })
  return { descr, shape: sizes }
}

/**
 * A file of numbers, with or without the header of NumPy. Like the file, all machines that the
 * addon supports store the low byte first.
 */
export class NumberFile {
  #file
  #descr
  #count = 0

  constructor(file, descr) {
    this.#file = file
    this.#descr = descr
  }

  /**
   * @param {{ write(bytes: Buffer): Promise<void>, rewriteStart?(bytes: Buffer): any }} file
   * @param {string | undefined} descr the type as NumPy writes it, such as `<u2`; `undefined` for a
   *   file without a header
   */
  static async create(file, descr) {
    if (descr !== undefined) await file.write(headerOf(descr, 0))
    return new NumberFile(file, descr)
  }

  write(numbers) {
    this.#count += numbers.length
    return this.#file.write(Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength))
  }

  /** Writes the count into the header. The caller completes the file. */
  async finish() {
    if (this.#descr !== undefined) await this.#file.rewriteStart(headerOf(this.#descr, this.#count))
  }
}
