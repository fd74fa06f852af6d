// Reads Parquet files: the rows of one column, and the values of other columns as fields.

import { fork } from 'node:child_process'
import { on } from 'node:events'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import { fileURLToPath } from 'node:url'

import { Failure } from './failure.mjs'
import { isTable } from './magic.mjs'
import { MAX_RATIO } from './ratio.mjs'

const { projectPlaces, resolveOptional } = createRequire(import.meta.url)('../optional.js')

const MIB = 2 ** 20
/** Maximum memory of a row group's values in MiB. */
const MAX_GROUP_MIB = 4096

const READER = fileURLToPath(new URL('./parquet-reader.mjs', import.meta.url))

/**
 * A file and its name for messages.
 *
 * @typedef {{ name: string, file?: string, size?: number }} Source
 */

/**
 * Whether a source is a Parquet file, by its first and last bytes.
 *
 * @param {Source} source
 */
export function isParquet({ file, size }) {
  if (file === undefined || !(size >= 12)) return false
  let descriptor
  try {
    descriptor = fs.openSync(file, 'r')
    const ends = [Buffer.alloc(4), Buffer.alloc(4)]
    fs.readSync(descriptor, ends[0], 0, 4, 0)
    fs.readSync(descriptor, ends[1], 0, 4, size - 4)
    return ends.every(isTable)
  } catch {
    // The reader of the file reports the error.
    return false
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor)
  }
}

/**
 * Throws if a package is missing.
 *
 * @param {ImportMeta} meta of the module that imports them
 * @param {...string} names
 */
export function checkPackages(meta, ...names) {
  for (const name of names) {
    try {
      resolveOptional(name, meta.url)
    } catch (error) {
      const message = `Parquet needs the package ${name}: run "npm install ${names.join(' ')}"`
      throw new Failure('PACKAGE_MISSING', message, { cause: error })
    }
  }
}

/**
 * @typedef {object} ParquetRow
 * @property {any} text a value of any type
 * @property {Record<string, any>} [fields]
 * @property {Record<string, any>} schema the elements of the file's schema for each kept column
 * @property {any} source the one that was given
 * @property {number} line
 */

/**
 * The rows of a Parquet file, some at a time.
 *
 * @param {Source} source
 * @param {object} options
 * @param {string} options.field path of the text
 * @param {'all' | string[]} [options.keep] columns whose values are in a row's `fields`
 * @param {boolean} [options.isRaw] whether dates and times stay numbers
 * @param {number} [options.maxRatio]
 * @param {(bytes: number) => void} [options.onRead]
 * @returns {AsyncGenerator<ParquetRow[]>}
 */
export async function* parquetRows(source, { field, keep, isRaw = false, maxRatio = MAX_RATIO, onRead }) {
  checkPackages(import.meta, 'hyparquet', 'fzstd')
  const mib = Math.min(MAX_GROUP_MIB, Math.floor(os.totalmem() / MIB / 2))
  const reader = fork(
    READER,
    [JSON.stringify({ file: source.file, field, keep, isRaw, maxRatio, places: projectPlaces() })],
    {
      execArgv: [`--max-old-space-size=${mib}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
  )
  const ended = new Promise((resolve) => reader.once('exit', (status, signal) => resolve(signal ?? status)))
  let schema
  let line = 0
  try {
    for await (const [message] of on(reader, 'message', { close: ['disconnect'] })) {
      if (message.failure !== undefined)
        throw new Failure(message.failure.code, message.failure.message, { place: source.name })
      if (message.schema !== undefined) {
        schema = message.schema
        continue
      }
      onRead?.(message.bytes)
      const first = line + 1
      line += message.texts.length
      const rows = message.texts.map((text, index) => ({
        text,
        fields: message.fields?.[index],
        schema,
        source,
        line: first + index,
      }))
      reader.send('more')
      yield rows
    }
    if ((await ended) !== 0) {
      throw new Failure(
        'PARQUET',
        `a row group has more values than fit into ${mib} MiB: it is damaged, or must be written with smaller row groups`,
        { place: source.name },
      )
    }
  } finally {
    reader.kill()
  }
}
