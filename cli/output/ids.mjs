// The formats of ids. Text and JSON Lines have a row a line. The binary ones have the ids of all rows end to end in one file,
// and in another where each row starts and the last one ends: rows + 1 unsigned numbers of 64 bits.

import path from 'node:path'

import { Failure, UsageError } from '../failure.mjs'
import { openOutput } from './file.mjs'
import { headerOf } from './npy.mjs'

export const ID_FORMATS = ['text', 'jsonl', 'npy', 'bin']
const EXTENSIONS = { '.txt': 'text', '.jsonl': 'jsonl', '.ndjson': 'jsonl', '.npy': 'npy', '.bin': 'bin' }

/** The format that the options or the name of the output say. */
export function formatOf({ format, output }, formats, byDefault = 'text') {
  const told = format ?? EXTENSIONS[path.extname(output ?? '').toLowerCase()]
  return formats.includes(told) ? told : byDefault
}

/** The file beside `corpus.npy` or `corpus.bin` that says where rows start. */
export function rowsFileOf(file) {
  const extension = path.extname(file)
  return `${file.slice(0, file.length - extension.length)}.rows${extension}`
}

/**
 * What takes the rows of batches: `write(batch, rows)`, and `commit()` when there are no more.
 *
 * @param {string} format one of ID_FORMATS
 * @param {{ output?: string, type: 'u16' | 'u32', unit: string }} options
 */
export function idWriter(format, options) {
  if (format === 'npy' || format === 'bin') return new BinaryWriter(format, options)
  const lines = format === 'text' ? textLines : jsonLines
  const file = openOutput(options.output)
  return { write: (batch, rows) => file.write(lines(batch, rows, options)), commit: () => file.commit() }
}

function textLines(batch) {
  let text = ''
  for (const ids of batch) text += `${ids.join(' ')}\n`
  return text
}

/** Per row `{"ids": [...]}`, with the name of the file where a row is a file, and tokens and offsets where they were asked for. */
function jsonLines(batch, rows, { unit }) {
  const { rowOffsets, tokens } = batch
  let text = ''
  for (let row = 0; row < batch.length; row++) {
    text += '{'
    if (unit === 'files' && rows[row].source.file) text += `"file":${JSON.stringify(rows[row].source.name)},`
    text += `"ids":[${batch.row(row).join(',')}]`
    if (tokens) text += `,"tokens":${JSON.stringify(tokens.slice(rowOffsets[row], rowOffsets[row + 1]))}`
    if (batch.offsets) text += `,"offsets":[${pairs(batch.offsetsOf(row))}]`
    text += '}\n'
  }
  return text
}

function pairs(offsets) {
  let text = ''
  for (let at = 0; at < offsets.length; at += 2) text += `${at > 0 ? ',' : ''}[${offsets[at]},${offsets[at + 1]}]`
  return text
}

const TYPES = { u16: { View: Uint16Array, descr: '<u2', most: 65535 }, u32: { View: Uint32Array, descr: '<u4', most: 2 ** 32 - 1 } }

/** Numbers in a file, with NumPy's header before them or without one. */
class NumberFile {
  #file
  #descr
  #count = 0

  constructor(name, descr, isNpy) {
    this.#file = openOutput(name)
    if (isNpy && !this.#file.isSeekable) throw new UsageError(`the header of ${name} is written last, so it must be a plain file`)
    this.#descr = isNpy ? descr : undefined
    if (isNpy) this.#file.write(headerOf(descr, 0))
  }

  /** All machines that the addon runs on store the lower byte first, as the files do. */
  write(numbers) {
    this.#count += numbers.length
    return this.#file.write(Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength))
  }

  async commit() {
    if (this.#descr !== undefined) this.#file.rewriteStart(headerOf(this.#descr, this.#count))
    await this.#file.commit()
  }
}

class BinaryWriter {
  #ids
  #rows
  #type
  #count = 0n

  constructor(format, { output, type }) {
    if (output === undefined || output === '-') throw new UsageError(`the format ${format} is two files: name the first with '--output'`)
    this.#type = type
    this.#ids = new NumberFile(output, TYPES[type].descr, format === 'npy')
    this.#rows = new NumberFile(rowsFileOf(output), '<u8', format === 'npy')
    this.#rows.write(BigUint64Array.of(0n))
  }

  async write(batch) {
    const { View, most } = TYPES[this.#type]
    const { ids } = batch
    const tooLarge = most < 2 ** 32 - 1 ? ids.find((id) => id > most) : undefined
    if (tooLarge !== undefined) throw new Failure('USAGE', `the id ${tooLarge} has more than 16 bits: say '--type u32'`)
    // A copy: the batch's memory is used again before a small write is on the disk.
    await this.#ids.write(new View(ids))
    const ends = BigUint64Array.from(batch.rowOffsets.subarray(1), (end) => this.#count + BigInt(end))
    this.#count += BigInt(ids.length)
    await this.#rows.write(ends)
  }

  async commit() {
    await this.#rows.commit()
    await this.#ids.commit()
  }
}
