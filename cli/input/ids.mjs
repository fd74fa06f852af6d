// Rows of ids, as `tokenlane encode` writes them and others do: numbers in text, JSON Lines, NumPy's arrays, bare little-endian numbers.

import fs from 'node:fs'

import { Failure } from '../failure.mjs'
import { rowsFileOf } from '../output/ids.mjs'
import { readHeader } from '../output/npy.mjs'
import { batchesOf, jsonOf, placeOf, valueAt } from './rows.mjs'

const BATCH_IDS = 1 << 20
const BATCH_ROWS = 1 << 14
const MOST = 2 ** 32 - 1

/**
 * @typedef {object} IdRow
 * @property {Uint32Array | number[]} ids
 * @property {import('./files.mjs').Source} source
 * @property {number} [line]
 */

/**
 * Batches of rows of ids.
 *
 * @param {import('./files.mjs').Source[]} sources
 * @param {{ from?: string, field: string, type: 'u16' | 'u32', onRead?: (bytes: number) => void }} options
 * @returns {AsyncGenerator<IdRow[]>}
 */
export async function* idBatches(sources, options) {
  for (const source of sources) {
    const format = options.from ?? formatOf(source)
    if (format === 'npy' || format === 'bin') yield* inBatches(binaryRows(source, format, options))
    else yield* lineRows(source, format, options)
  }
}

function formatOf({ file = '', name }) {
  const extension = /\.(jsonl|ndjson|npy|bin)(\.gz|\.zst)?$/i.exec(file || name)?.[1].toLowerCase()
  return extension === 'ndjson' ? 'jsonl' : (extension ?? 'text')
}

async function* lineRows(source, format, { field, onRead }) {
  const ids = format === 'jsonl' ? (row) => jsonIds(row, field) : textIds
  for await (const rows of batchesOf([source], { unit: 'lines', onRead })) {
    const full = format === 'jsonl' ? rows.filter(({ text }) => text.toString().trim() !== '') : rows
    yield full.map((row) => ({ ids: ids(row), source, line: row.line }))
  }
}

function textIds(row) {
  return Uint32Array.from(row.text.toString('latin1').split(/[\s,]+/).filter((word) => word !== ''), (word) => {
    if (/^\d+$/.test(word) && Number(word) <= MOST) return Number(word)
    throw new Failure('ID', `${placeOf(row)}: '${word.slice(0, 40)}' is no id`)
  })
}

/** A line is a list of ids, or an object that has one. */
function jsonIds(row, field) {
  const value = jsonOf(row)
  const ids = Array.isArray(value) ? value : valueAt(value, field)
  if (!Array.isArray(ids)) throw new Failure('FIELD', `${placeOf(row)}: the field '${field}' must be a list of ids`)
  const wrong = ids.find((id) => !Number.isInteger(id) || id < 0 || id > MOST)
  if (wrong !== undefined) throw new Failure('ID', `${placeOf(row)}: ${JSON.stringify(wrong)} is no id`)
  return ids
}

async function* inBatches(rows) {
  let batch = []
  let ids = 0
  for await (const row of rows) {
    batch.push(row)
    ids += row.ids.length
    if (ids < BATCH_IDS && batch.length < BATCH_ROWS) continue
    yield batch
    batch = []
    ids = 0
  }
  if (batch.length > 0) yield batch
}

/** Bytes of a source, so many at a time. */
export class ByteReader {
  #chunks
  #rest = Buffer.alloc(0)

  constructor(chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** So many bytes; fewer where the source ends, and none behind its end. */
  async read(length) {
    const parts = []
    for (let wanted = length; wanted > 0; ) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next()
        if (done) break
        this.#rest = value
      }
      const part = this.#rest.subarray(0, wanted)
      this.#rest = this.#rest.subarray(part.length)
      wanted -= parts.push(part) && part.length
    }
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }

  close() {
    return this.#chunks.return?.()
  }
}

const WIDTHS = { '<u2': 2, '<i2': 2, '<u4': 4, '<i4': 4, '<u8': 8, '<i8': 8, '|u1': 1 }
const READ = 1 << 18

/** Rows of a binary file: as the file of row starts beside it says, or those of a table; otherwise the file is one row. */
async function* binaryRows(source, format, { type, onRead }) {
  const reader = new ByteReader(source.chunks(onRead))
  try {
    const { descr, shape } = format === 'npy' ? await readHeader(reader, source.name) : { descr: type === 'u16' ? '<u2' : '<u4', shape: [] }
    if (WIDTHS[descr] === undefined || shape.length > 2) {
      throw new Failure('NPY', `${source.name}: ids are a list or a table of integers, not '${descr}' with ${shape.length} dimensions`)
    }
    const next = (count) => numbers(reader, descr, count, source.name)
    let row = 0
    for await (const length of rowLengths(source, format, shape)) {
      row += 1
      const ids = await next(length)
      if (length !== Infinity && ids.length < length) {
        throw new Failure('ID', `${source.name}: it ends in row ${row}, which has ${length} ids`)
      }
      yield { ids, source, line: length === Infinity ? undefined : row }
    }
    if ((await reader.read(1)).length > 0) throw new Failure('ID', `${source.name}: there are more ids than in its rows`)
  } finally {
    await reader.close()
  }
}

/** How many ids each row has; one row of all where nothing says so. */
async function* rowLengths(source, format, shape) {
  if (shape.length === 2) {
    for (let row = 0; row < shape[0]; row++) yield shape[1]
    return
  }
  const file = source.file && rowsFileOf(source.file)
  if (file === undefined || !fs.existsSync(file)) {
    yield shape[0] ?? Infinity
    return
  }
  const reader = new ByteReader(fs.createReadStream(file))
  if (format === 'npy') await readHeader(reader, file)
  let before
  for (let bytes = await reader.read(READ); bytes.length > 0; bytes = await reader.read(READ)) {
    if (bytes.length % 8 !== 0) throw new Failure('ID', `${file}: it is no list of 64-bit numbers`)
    for (let at = 0; at < bytes.length; at += 8) {
      const end = Number(bytes.readBigUInt64LE(at))
      if (before !== undefined && !(end >= before)) throw new Failure('ID', `${file}: rows end before they start`)
      if (before !== undefined) yield end - before
      before = end
    }
  }
}

/** The next numbers of a file, as ids. */
async function numbers(reader, descr, count, name) {
  const width = WIDTHS[descr]
  const parts = []
  let length = 0
  while (length < count) {
    const bytes = await reader.read(Math.min(READ, (count - length) * width))
    if (bytes.length === 0) break
    if (bytes.length % width !== 0) throw new Failure('ID', `${name}: its last id is cut off`)
    const ids = idsOf(bytes, descr, width)
    if (ids === undefined) throw new Failure('ID', `${name}: it holds a number that is no id`)
    length += parts.push(ids) && ids.length
  }
  if (parts.length === 1) return parts[0]
  const all = new Uint32Array(length)
  parts.reduce((at, part) => all.set(part, at) ?? at + part.length, 0)
  return all
}

function idsOf(bytes, descr, width) {
  const ids = new Uint32Array(bytes.length / width)
  const signed = descr[1] === 'i'
  for (let at = 0; at < ids.length; at++) {
    const id = width === 8 ? Number(bytes.readBigInt64LE(at * 8)) : signed ? bytes.readIntLE(at * width, width) : bytes.readUIntLE(at * width, width)
    if (id < 0 || id > MOST) return undefined
    ids[at] = id
  }
  return ids
}
