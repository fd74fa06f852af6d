// The formats of ids. Text and JSON Lines have one line for each row. The binary formats have two
// files: the ids of all rows end to end, and the start of each row followed by the end of the last
// one (rows + 1 unsigned 64-bit integers).

import path from 'node:path'

import { Failure, UsageError } from '../failure.mjs'
import { rowsFileOf } from '../input/rows-file.mjs'
import { openOutput } from './file.mjs'
import { idList, parquetWriter } from './parquet.mjs'
import { NumberFile } from '../../lib/files/npy.mjs'

export const ID_FORMATS = ['text', 'jsonl', 'npy', 'bin', 'parquet']
const EXTENSIONS = {
  '.txt': 'text',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.npy': 'npy',
  '.bin': 'bin',
  '.parquet': 'parquet',
}

/**
 * Returns the format that the options or the name of the output select. A name without an extension
 * selects the default. An extension that the command does not write is an error.
 *
 * @param {{ format?: string, output?: string }} values the options of the command
 * @param {string[]} formats the formats that the command writes
 * @param {string} [byDefault]
 */
export function formatOf({ format, output }, formats, byDefault = 'text') {
  if (format !== undefined) return format
  const extension = path.extname(output ?? '')
  if (extension === '' || extension === '.') return byDefault
  const found = EXTENSIONS[extension.toLowerCase()]
  if (formats.includes(found)) return found
  const known = Object.entries(EXTENSIONS).filter(([, one]) => formats.includes(one))
  const names = known.map(([name, one]) => `${name} (${one})`).join(', ')
  throw new UsageError(`${output}: no format has the extension ${extension}; use ${names}, or '--format'`)
}

/**
 * @typedef {object} WriterOptions
 * @property {string} [output]
 * @property {import('./same-file.mjs').Input[]} inputs
 * @property {'u16' | 'u32'} type the type of ids in binary formats
 * @property {string} unit of a row
 * @property {import('../skips.mjs').Skips} skips handles rows that a Parquet file cannot hold
 */

/**
 * Returns a writer for the rows of batches: `write(batch, rows)` for each batch, then `commit()`.
 *
 * @param {string} format one of ID_FORMATS
 * @param {WriterOptions} options
 */
export async function idWriter(format, options) {
  if (format === 'parquet') return parquetIds(options)
  if (format === 'npy' || format === 'bin') return BinaryWriter.create(format, options)
  const lines = format === 'text' ? textLines : jsonLines
  const file = openOutput(options.output, options.inputs)
  const write = async (batch, rows) => {
    for (const text of lines(batch, rows, options)) await file.write(text)
  }
  return { write, commit: () => file.commit() }
}

/** @param {WriterOptions} options */
async function parquetIds({ output, inputs, unit, skips }) {
  /** @type {import('./parquet.mjs').Columns} */
  const columns = { ...(unit === 'files' && { file: 'string' }), ids: 'list' }
  const writer = await parquetWriter({ output, inputs, columns })
  const write = async (batch, rows) => {
    for (let index = 0; index < batch.length; index++) {
      const ids = idList(batch.row(index))
      await skips.attempt(rows[index], () =>
        writer.add(rows[index], { file: rows[index].source.name, ids }, ids.length),
      )
    }
  }
  return { write, commit: () => writer.commit() }
}

/**
 * The number of values that become text at once: the text of a long row could exceed the maximum
 * length of a string.
 */
const VALUES_PER_SLICE = 1 << 16

/** Yields the text of a list in parts, with a separator between the items. */
function* joined(length, separator, textOf) {
  for (let from = 0; from < length; from += VALUES_PER_SLICE) {
    yield `${from > 0 ? separator : ''}${textOf(from, Math.min(from + VALUES_PER_SLICE, length))}`
  }
}

function* textLines(batch) {
  for (const ids of batch) {
    yield* joined(ids.length, ' ', (from, to) => ids.subarray(from, to).join(' '))
    yield '\n'
  }
}

/** Names that fields of a row must not replace. */
const OWN_FIELDS = ['file', 'ids', 'tokens', 'offsets']

/** JSON of any value, also of Parquet files: 64-bit integers as digits, bytes as base64. */
export const jsonText = (value) => JSON.stringify(toJson(value))

function toJson(value) {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(/** @type {any} */ (value), toJson)
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toJson(one)]))
}

/**
 * Yields the text of `{"ids": [...]}` for each row, with the file name if a row is a file, and with
 * tokens and offsets if they were requested.
 */
function* jsonLines(batch, rows, { unit }) {
  const { rowOffsets, tokens } = batch
  for (let row = 0; row < batch.length; row++) {
    yield '{'
    if (unit === 'files' && rows[row].source.file) yield `"file":${JSON.stringify(rows[row].source.name)},`
    for (const [name, value] of Object.entries(rows[row].fields ?? {})) {
      if (!OWN_FIELDS.includes(name)) yield `${JSON.stringify(name)}:${jsonText(value)},`
    }
    const ids = batch.row(row)
    yield '"ids":['
    yield* joined(ids.length, ',', (from, to) => ids.subarray(from, to).join(','))
    yield ']'
    if (tokens) {
      const start = rowOffsets[row]
      yield ',"tokens":['
      yield* joined(ids.length, ',', (from, to) => JSON.stringify(tokens.slice(start + from, start + to)).slice(1, -1))
      yield ']'
    }
    if (batch.offsets) {
      const offsets = batch.offsetsOf(row)
      yield ',"offsets":['
      yield* joined(offsets.length / 2, ',', (from, to) => pairs(offsets.subarray(2 * from, 2 * to)))
      yield ']'
    }
    yield '}\n'
  }
}

function pairs(offsets) {
  let text = ''
  for (let at = 0; at < offsets.length; at += 2) text += `${at > 0 ? ',' : ''}[${offsets[at]},${offsets[at + 1]}]`
  return text
}

const TYPES = {
  u16: { View: Uint16Array, descr: '<u2', max: 65535 },
  u32: { View: Uint32Array, descr: '<u4', max: 2 ** 32 - 1 },
}

/** A file of numbers in an output. */
async function numberOutput(name, inputs, descr, isNpy) {
  const file = openOutput(name, inputs)
  if (isNpy && !file.isSeekable)
    throw new UsageError(`the header of ${name} is written last, so the output must be a regular file`)
  return { file, numbers: await NumberFile.create(file, isNpy ? descr : undefined) }
}

class BinaryWriter {
  #ids
  #rows
  #type
  #count = 0n

  constructor(ids, rows, type) {
    this.#ids = ids
    this.#rows = rows
    this.#type = type
  }

  /**
   * @param {string} format
   * @param {WriterOptions} options
   */
  static async create(format, { output, inputs, type }) {
    if (output === undefined || output === '-')
      throw new UsageError(`the format ${format} has two files: name the first with '--output'`)
    const ids = await numberOutput(output, inputs, TYPES[type].descr, format === 'npy')
    const rows = await numberOutput(rowsFileOf(output), inputs, '<u8', format === 'npy')
    await rows.numbers.write(BigUint64Array.of(0n))
    return new BinaryWriter(ids, rows, type)
  }

  async write(batch) {
    const { View, max } = TYPES[this.#type]
    const { ids } = batch
    const tooLarge = max < 2 ** 32 - 1 ? ids.find((id) => id > max) : undefined
    if (tooLarge !== undefined) throw new Failure('USAGE', `the id ${tooLarge} has more than 16 bits: use '--type u32'`)
    // Copied, because the batch's memory is reused before a small write reaches the disk.
    await this.#ids.numbers.write(new View(ids))
    const ends = BigUint64Array.from(batch.rowOffsets.subarray(1), (end) => this.#count + BigInt(end))
    this.#count += BigInt(ids.length)
    await this.#rows.numbers.write(ends)
  }

  async commit() {
    for (const { numbers, file } of [this.#rows, this.#ids]) {
      await numbers.finish()
      await file.commit()
    }
  }
}
