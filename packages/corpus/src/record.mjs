// The names of a shard's files, and the records of shards that are done. Whoever can write to the
// folder can have written a record, so its values are checked.

import os from 'node:os'

import { inOrder } from 'tokenlane/internal/files.mjs'
import { JOB_ID_LENGTH } from './layout.mjs'
import { isHash, isObject, isSize, isText } from './values.mjs'

/** Minimum number of digits of a shard's number in file names. */
const DIGITS = 8
/** Maximum size in bytes of a record. It has the names of the shard's inputs. */
const MAX_RECORD_BYTES = 32 << 20
/** Size in bytes up to which records are read ahead. */
const MAX_SMALL_RECORD_BYTES = 1 << 18
const MAX_TEXT_LENGTH = 1 << 16
/** Maximum number of files of a shard. */
const MAX_FILES = 8
/** What follows the stem in the name of a shard's file; that of the record is `.json`. */
const SUFFIX = /^(?!\.json$)\.[a-z.]{1,20}$/

/** The common start of the names of a shard's files. */
export const stemOf = (shard) => `shard-${String(shard).padStart(DIGITS, '0')}`

/** The name of the record of a shard. */
export const recordName = (shard) => `${stemOf(shard)}.json`

/** Reads the record of a shard; `undefined` if it is missing or is not the record of this shard. */
export async function readRecord(store, shard) {
  try {
    return parsed(await store.readText(recordName(shard), MAX_RECORD_BYTES), shard)
  } catch (failure) {
    if (failure.code === 'ERR_TOKENLANE_FILE_TOO_LARGE') return undefined
    throw failure
  }
}

function parsed(text, shard) {
  try {
    const record = text === undefined ? undefined : JSON.parse(text)
    return isRecord(record, shard) ? record : undefined
  } catch (failure) {
    if (failure instanceof SyntaxError) return undefined
    throw failure
  }
}

/** Number of records that are read at a time, because a store answers many requests at once. */
const READ_AHEAD = 32

/**
 * Yields the records of the shards from `first` to `shards - 1`, in order; `undefined` for a
 * missing one. Large records are read one by one.
 *
 * @param {import('./store/types.js').Store} store
 * @returns {AsyncGenerator<any>}
 */
export async function* recordsOf(store, shards, first = 0) {
  const read = async (shard) => {
    try {
      return { shard, text: await store.readText(recordName(shard), MAX_SMALL_RECORD_BYTES) }
    } catch (failure) {
      if (failure.code !== 'ERR_TOKENLANE_FILE_TOO_LARGE') throw failure
      return { shard, isLarge: true }
    }
  }
  for await (const { shard, text, isLarge } of inOrder(numbers(first, shards), read, () => READ_AHEAD))
    yield isLarge ? await readRecord(store, shard) : parsed(text, shard)
}

function* numbers(first, end) {
  for (let number = first; number < end; number++) yield number
}

/** The sums in a record, and those of a source or a group. */
export const SUMS = /** @type {const} */ ([
  'documents',
  'tokens',
  'cutTokens',
  'textBytes',
  'characters',
  'empty',
  'unlearned',
  'truncated',
  'unpaired',
  'filtered',
  'unsampled',
])
const PACKING = ['rows', 'pieces', 'cutDocuments', 'padding']
const COUNTS = ['documents', 'tokens', 'textBytes']
const OPTIONAL_COUNTS = ['cutTokens', 'characters']

const hasSizes = (value, names) => isObject(value) && names.every((name) => isSize(value[name]))
const isOptional = (value, isValid) => value === undefined || isValid(value)
const isShortText = (value) => isText(value, MAX_TEXT_LENGTH)
const isCounts = (value) => hasSizes(value, COUNTS) && OPTIONAL_COUNTS.every((name) => isOptional(value[name], isSize))
const allOf = (value, isValid) => isObject(value) && Object.values(value).every(isValid)
const listOf = (value, maxLength, isValid) => Array.isArray(value) && value.length <= maxLength && value.every(isValid)

/** Whether a value is the record of a shard. Its files can only be those of the shard. */
function isRecord(record, shard) {
  return (
    hasSizes(record, [...SUMS, 'planned']) &&
    record.shard === shard &&
    isText(record.job, JOB_ID_LENGTH) &&
    areFiles(record.files, stemOf(shard)) &&
    listOf(record.lengths, 64, isSize) &&
    isSkipped(record.skipped) &&
    isOptional(record.lossTokens, isSize) &&
    isOptional(record.packing, (packing) => hasSizes(packing, PACKING)) &&
    allOf(record.sources, (source) => isCounts(source) && isSize(source.skipped)) &&
    isOptional(record.groups, (groups) => allOf(groups, isCounts)) &&
    hasSizes(record.input, ['bytes']) &&
    isHash(record.input.sha256) &&
    isOptional(record.input.mtimes, isHash) &&
    isShortText(record.host) &&
    isShortText(record.started) &&
    Number.isFinite(Date.parse(record.started)) &&
    Number.isFinite(record.seconds) &&
    record.seconds >= 0
  )
}

const areFiles = (files, stem) =>
  listOf(
    files,
    MAX_FILES,
    (file) =>
      hasSizes(file, ['bytes']) &&
      isHash(file.sha256) &&
      isOptional(file.etag, isShortText) &&
      isText(file.name, MAX_TEXT_LENGTH) &&
      file.name.startsWith(stem) &&
      SUFFIX.test(file.name.slice(stem.length)),
  ) && new Set(files.map(({ name }) => name)).size === files.length

const isSkipped = (skipped) =>
  hasSizes(skipped, ['rows']) &&
  allOf(skipped.codes, isSize) &&
  listOf(
    skipped.listed,
    64,
    (row) =>
      hasSizes(row, ['at']) &&
      isShortText(row.path) &&
      isOptional(row.from, isSize) &&
      isOptional(row.line, isSize) &&
      isOptional(row.row, isSize) &&
      isOptional(row.code, isShortText) &&
      typeof row.message === 'string' &&
      row.message.length <= MAX_TEXT_LENGTH,
  )

/**
 * Makes the record of a shard, and writes it if there is a store.
 *
 * @param {import('./store/types.js').Store | undefined} store
 * @param {{ shard: number } & Record<string, any>} facts all of it but who wrote it, and when
 * @param {number} started the time in milliseconds
 */
export async function writeRecord(store, facts, started) {
  const record = {
    ...facts,
    host: os.hostname(),
    started: new Date(started).toISOString(),
    seconds: (Date.now() - started) / 1000,
  }
  await store?.writeWhole(recordName(facts.shard), `${JSON.stringify(record)}\n`)
  return record
}

/**
 * The record of a shard of a job if its files are as recorded; otherwise `undefined`.
 *
 * @param {import('./store/types.js').Store} store
 * @param {number} shard
 * @param {string} job its id
 * @param {string} check how the files are compared: 'sha256' or 'size'
 */
export async function intactRecord(store, shard, job, check) {
  const record = await readRecord(store, shard)
  if (record?.job !== job) return undefined
  for (const file of record.files) if ((await differenceOf(store, file, check)) !== undefined) return undefined
  return record
}

/**
 * How a file differs from its record; `undefined` if it does not. An object that still has the ETag
 * of its upload is not read.
 */
export async function differenceOf(store, { name, bytes, sha256, etag }, check) {
  const found = check === 'sha256' ? await store.hashOf(name, bytes, etag) : await store.sizeOf(name)
  if (found === undefined) return 'it is missing'
  if (found.bytes !== bytes) return `it has ${found.bytes} bytes, but its record says ${bytes}`
  if (found.sha256 !== undefined && found.sha256 !== sha256)
    return `its SHA-256 is ${found.sha256}, but its record says ${sha256}`
  return undefined
}
