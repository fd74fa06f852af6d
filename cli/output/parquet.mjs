// Parquet files: for each row its other fields, and then the columns of the command, such as `ids`
// as list<int32>.

import { Failure, UsageError, at } from '../failure.mjs'
import { checkPackages } from '../../lib/files/parquet.mjs'
import { placeOf } from '../input/place.mjs'
import { openOutput } from './file.mjs'

/** A row group ends when it reaches one of these sizes. */
const MAX_GROUP_ROWS = 100_000
const MAX_GROUP_VALUES = 2_000_000
const MAX_GROUP_UNITS = 64 << 20
const MAX_INT32 = 2 ** 31 - 1

const scalar = (type, converted_type) => (name) => [
  { name, type, ...(converted_type && { converted_type }), repetition_type: 'OPTIONAL' },
]

/**
 * The types of fields of JSON: whether a value fits, what is written, and the elements of the
 * schema.
 */
const KINDS = {
  boolean: { fits: (value) => typeof value === 'boolean', elements: scalar('BOOLEAN') },
  integer: {
    fits: (value) => Number.isSafeInteger(value) || typeof value === 'bigint',
    convert: BigInt,
    elements: scalar('INT64'),
  },
  number: { fits: (value) => typeof value === 'number', elements: scalar('DOUBLE') },
  string: { fits: (value) => typeof value === 'string', elements: scalar('BYTE_ARRAY', 'UTF8') },
  json: { fits: () => true, elements: scalar('BYTE_ARRAY', 'JSON') },
}

/** The columns that commands write, by their kind. */
const COLUMNS = {
  list: (name) => [
    { name, repetition_type: 'REQUIRED', num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', type: 'INT32', repetition_type: 'REQUIRED' },
  ],
  int32: (name) => [{ name, type: 'INT32', repetition_type: 'REQUIRED' }],
  string: (name) => [{ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' }],
}

/** Types that are read and written without a change. */
const COPIED = {
  BOOLEAN: [undefined],
  INT32: [undefined, 'INT_8', 'INT_16', 'INT_32', 'UINT_8', 'UINT_16', 'UINT_32', 'DATE'],
  INT64: [undefined, 'INT_64', 'TIMESTAMP_MILLIS', 'TIMESTAMP_MICROS'],
  FLOAT: [undefined],
  DOUBLE: [undefined],
  BYTE_ARRAY: [undefined, 'UTF8', 'JSON', 'ENUM'],
}

/**
 * The columns of a command: their kinds by name.
 *
 * @typedef {Record<string, 'list' | 'int32' | 'string'>} Columns
 */

/**
 * Writes rows to a Parquet file.
 *
 * @param {{ output?: string, inputs: import('./same-file.mjs').Input[], columns: Columns }} options
 * @returns {Promise<ParquetWriter>}
 */
export async function parquetWriter({ output, inputs, columns }) {
  if (output === undefined || output === '-')
    throw new UsageError("the format parquet needs a file: name it with '--output'")
  checkPackages(import.meta, 'hyparquet-writer', 'hyparquet')
  const library = await import('hyparquet-writer')
  return new ParquetWriter(openOutput(output, inputs), columns, library)
}

class ParquetWriter {
  #file
  #columns
  #library
  #writer
  #sink
  /**
   * The fields of the rows: name to `{ kind }`, or to `{ source, elements }` of a Parquet file. The
   * rows of the first row group define them.
   */
  #fields = new Map()
  #rows = []
  #values = 0
  #units = 0

  constructor(file, columns, library) {
    this.#file = file
    this.#columns = columns
    this.#library = library
  }

  /**
   * Adds a row. Throws a Failure if a field does not fit the type that the column has in rows
   * before.
   *
   * @param {import('../input/rows.mjs').Row} row
   * @param {object} values of the command's columns
   * @param {number} [size] the approximate number of values and UTF-16 units
   */
  async add(row, values, size = 1) {
    if (this.#writer === undefined) this.#addTypes(row)
    else this.#check(row)
    this.#rows.push({ row, values })
    this.#values += size
    this.#units += row.text.length
    if (this.#rows.length < MAX_GROUP_ROWS && this.#values < MAX_GROUP_VALUES && this.#units < MAX_GROUP_UNITS) return
    await this.#flush()
  }

  async commit() {
    await this.#flush()
    this.#open()
    await this.#writer.finish()
    await this.#write()
    await this.#file.commit()
  }

  /** @param {import('../input/rows.mjs').Row} row */
  #check({ fields = {}, schema, ...row }) {
    for (const [name, value] of Object.entries(fields)) {
      if (Object.hasOwn(this.#columns, name) || value === null) continue
      const known = this.#fields.get(name)
      if (known === undefined) {
        throw new Failure(
          'FIELD',
          `the field '${name}' is not in the first ${MAX_GROUP_ROWS} rows; name the fields with '--keep'`,
          { place: placeOf(row) },
        )
      }
      const isSame =
        known.kind === undefined ? sameElements(known.source, schema?.[name]) : schema?.[name] === undefined
      if (!isSame || known.kind?.fits(value) === false) {
        throw new Failure('FIELD', `the field '${name}' has another type than in the rows before`, {
          place: placeOf(row),
        })
      }
    }
  }

  async #flush() {
    this.#open()
    const rows = this.#rows
    ;[this.#rows, this.#values, this.#units] = [[], 0, 0]
    if (rows.length === 0) return
    const data = [
      ...[...this.#fields].map(([name, { kind }]) => ({ name, data: rows.map(({ row }) => fieldOf(row, name, kind)) })),
      ...Object.keys(this.#columns).map((name) => ({ name, data: rows.map(({ values }) => values[name]) })),
    ]
    try {
      this.#writer.write({ columnData: data, rowGroupSize: rows.length })
    } catch (error) {
      throw at(placeOf(rows[0].row), Object.assign(error, { code: 'ERR_TOKENLANE_PARQUET' }))
    }
    await this.#write()
  }

  /** Starts the file. The types of the fields do not change from here on. */
  #open() {
    if (this.#writer !== undefined) return
    for (const field of this.#fields.values()) {
      if (field.elements === undefined) field.kind ??= KINDS.json
    }
    const elements = [
      ...[...this.#fields].flatMap(([name, field]) => field.elements ?? field.kind.elements(name)),
      ...Object.entries(this.#columns).flatMap(([name, kind]) => COLUMNS[kind](name)),
    ]
    const count = this.#fields.size + Object.keys(this.#columns).length
    this.#sink = new this.#library.ByteWriter()
    this.#writer = new this.#library.ParquetWriter({
      writer: this.#sink,
      schema: [{ name: 'root', num_children: count }, ...elements],
      createdBy: 'tokenlane',
    })
  }

  /** Adds the types of the fields of a row, or throws and adds none. */
  #addTypes(row) {
    const fields = Object.entries(row.fields ?? {}).filter(([name]) => !Object.hasOwn(this.#columns, name))
    const types = fields.map(([name, value]) => this.#typeWith(row, name, value))
    fields.forEach(([name], index) => this.#fields.set(name, types[index]))
  }

  /** The type of a field that holds its values in the rows before and in this one. */
  #typeWith(row, name, value) {
    const known = this.#fields.get(name)
    const elements = row.schema?.[name]
    if (known === undefined && elements !== undefined)
      return { source: elements, elements: copied(row, name, elements) }
    if (known?.elements === undefined && elements === undefined) return { kind: joined(known?.kind, kindOf(value)) }
    if (sameElements(known.source, elements)) return known
    throw new Failure('FIELD', `the field '${name}' has another type than in the rows before`, { place: placeOf(row) })
  }

  /** Writes the encoded bytes to the file. */
  async #write() {
    const bytes = Buffer.from(this.#sink.getBytes())
    this.#sink.index = 0
    await this.#file.write(bytes)
  }
}

/** The kind of a value, or undefined for null. */
function kindOf(value) {
  if (value === null) return undefined
  return Object.values(KINDS).find((kind) => kind.fits(value))
}

/** The kind that holds values of both kinds. */
function joined(a, b) {
  if (a === undefined || b === undefined || a === b) return a ?? b
  const kinds = [a, b]
  return kinds.includes(KINDS.integer) && kinds.includes(KINDS.number) ? KINDS.number : KINDS.json
}

const sameElements = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b)

/** The elements of a column that is copied from a Parquet file. */
function copied(row, name, elements) {
  const other = elements.find(({ type, converted_type, logical_type, num_children }) => {
    if (num_children > 0) return converted_type !== undefined && converted_type !== 'LIST'
    if (logical_type?.type === 'INTEGER' && converted_type === undefined) return true
    const isPlain = ['STRING', 'INTEGER', 'DATE', 'TIMESTAMP', 'JSON', 'ENUM', undefined].includes(logical_type?.type)
    return !isPlain || !COPIED[type]?.includes(converted_type)
  })
  // hyparquet-writer 0.17 writes the width of INTEGER with the wrong type. `converted_type` has the
  // same meaning.
  if (other === undefined)
    return elements.map((one) => (one.logical_type?.type === 'INTEGER' ? { ...one, logical_type: undefined } : one))
  const type = other.logical_type?.type ?? other.converted_type ?? other.type
  throw new Failure(
    'FIELD',
    `the column '${name}' has the type ${type}, which is not supported; name the other columns with '--keep'`,
    { place: row.source.name },
  )
}

function fieldOf(row, name, kind) {
  const value = row.fields?.[name] ?? null
  return value === null || kind?.convert === undefined ? value : kind.convert(value)
}

/** Returns the ids of a row as a list of int32. */
export function idList(ids) {
  const tooLarge = ids.find((id) => id > MAX_INT32)
  if (tooLarge !== undefined)
    throw new Failure('USAGE', `the id ${tooLarge} has more than 31 bits, but ids in parquet are int32`)
  return Array.from(ids)
}
