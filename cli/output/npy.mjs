// The array files of NumPy, version 1.0 of the format: a magic number, a header in Python's words, and the numbers.

import { Failure } from '../failure.mjs'

const MAGIC = Buffer.from('\x93NUMPY', 'latin1')
/** The header of a one-dimensional array always has this length, so that it can be written before the count is known. */
const HEADER = 128

/** The header of an array of so many numbers; `descr` as NumPy writes it, such as `<u2`. */
export function headerOf(descr, count) {
  const words = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${count},), }`
  const header = Buffer.alloc(HEADER, ' ')
  MAGIC.copy(header)
  header.writeUInt16LE(1, 6) // version 1.0, the lower byte first
  header.writeUInt16LE(HEADER - 10, 8)
  header.write(words, 10, 'latin1')
  header[HEADER - 1] = 0x0a
  return header
}

/** Whether bytes start as an array file does. */
const isNpy = (bytes) => bytes.subarray(0, MAGIC.length).equals(MAGIC)

/**
 * Reads a header.
 *
 * @param {import('../input/ids.mjs').ByteReader} reader stands behind the header afterwards
 * @returns {Promise<{ descr: string, shape: number[] }>}
 */
export async function readHeader(reader, name) {
  const start = await reader.read(10)
  if (start.length < 10 || !isNpy(start)) throw new Failure('NPY', `${name}: this is no .npy file`)
  const isLong = start[6] > 1
  const length = isLong ? start.readUInt16LE(8) + (await reader.read(2)).readUInt16LE(0) * 65536 : start.readUInt16LE(8)
  const words = (await reader.read(length)).toString('latin1')
  const descr = /'descr': *'([^']*)'/.exec(words)?.[1]
  const shape = /'shape': *\(([\d, ]*)\)/.exec(words)?.[1]
  if (descr === undefined || shape === undefined || /'fortran_order': *True/.test(words)) {
    throw new Failure('NPY', `${name}: its header says something that is not read here: ${words.trim()}`)
  }
  return { descr, shape: shape.split(',').filter((part) => part.trim() !== '').map(Number) }
}
