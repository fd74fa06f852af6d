// The plan of a job: which bytes of which inputs belong to which shard. It is a file of JSON Lines
// with one part of an input per line; adjacent lines with the same `shard` are the parts of that
// shard. It depends only on the inputs and the shard size: it has the paths as the user named them,
// and nothing that depends on the machine or the time. It is written and read as a stream.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

import {
  Failure,
  bareCode,
  checkName,
  fileFailure,
  HEAD_BYTES,
  foreignFailure,
  statIfThere,
} from 'tokenlane/internal/files.mjs'
import { checkFrame, piecesOf } from './compressed.mjs'
import { csvPackage, delimiterOf } from './csv.mjs'
import { damaged, inputChanged, otherJob, contradiction } from './errors.mjs'
import { kindOf } from './kind.mjs'
import { JOB, PLAN } from './layout.mjs'
import { Probes } from './probe.mjs'
import { isAddress, withoutRevision } from './store/address.mjs'
import { readFully } from './store/read.mjs'
import { SideFiles } from './side-files.mjs'
import { openInput } from './store/store.mjs'
import { SIZES } from './sizes.mjs'
import { textLines } from './plan-lines.mjs'
import { isHash, isSize, isText } from './values.mjs'
import { inputFiles } from './walk.mjs'

/** Maximum size in bytes of the lines of a shard. */
const MAX_SLICE_BYTES = 32 << 20
/** Maximum length of the path of an input, in UTF-16 units. */
const MAX_PATH_LENGTH = 1 << 14
/** Estimated bytes of text per byte of compressed input. */
const COMPRESSION = 4
/** If less than this fraction of a shard is free, the next part of a file starts a new shard. */
const MIN_RANGE_SHARE = 1 / 16
/** A shard with more than this many times the usual size is handed out before others. */
const LARGE_SHARD = 2
const MAX_LARGE_SHARDS = 1000
/** Lines are collected and written once they have this many characters. */
const FLUSH_LENGTH = 1 << 16

/** The kind of rows in a file, by its name. */
const unitOf = (path) =>
  delimiterOf(path) !== undefined
    ? 'csv'
    : /\.(?:jsonl|jsonlines|jl|ndjson|json)(?:\.(?:gz|zst|zstd))?$/i.test(path)
      ? 'json'
      : 'lines'

/**
 * Yields the parts of all inputs, in order.
 *
 * @param {{ inputs: string[], filesFrom?: string, exclude?: string[], content:
 *   import('./options.mjs').Content, known?: Map<string, number>, commits?: Map<string, string>,
 *   onUnreadable?: (error: Error) => void, onNote?: (message: string) => void, sizes?:
 *   import('./sizes.mjs').Sizes }} request `known`
 *   are inputs that are left out, by `keyOf`, with their sizes: they are planned already; `commits`
 *   are those of datasets of the hub
 * @returns {AsyncGenerator<import('./part.mjs').Part>}
 */
export async function* planParts({ inputs, filesFrom, content, exclude, known, commits, sizes = SIZES, ...events }) {
  const { onUnreadable, onNote } = events
  const parts = new Parts(content, sizes, onNote)
  const onUnreadableName = (name, reason) => {
    const failure = fileFailure(name, reason)
    if (failure.code === 'ERR_TOKENLANE_TOO_MANY_FILES') throw failure
    onUnreadable?.(failure)
  }
  const skipping = content.onError === 'skip' ? { onUnreadable: onUnreadableName } : {}
  const side = new SideFiles(content.rows, onNote)
  const files = inputFiles(inputs, filesFrom, { exclude, commits, side, ...skipping })
  for await (const { opened } of openedAhead(known === undefined ? files : others(files, known), content, sizes)) {
    try {
      const input = await opened
      try {
        yield* parts.of(input)
      } finally {
        await input.close()
      }
    } catch (failure) {
      const isUnreadable =
        openingErrors.has(failure) || ['PARQUET', 'INVALID_UTF8', 'UNSUPPORTED'].includes(bareCode(failure))
      if (content.onError === 'fail' || !isUnreadable || failure.code === 'ERR_TOKENLANE_TOO_MANY_FILES') throw failure
      onUnreadable?.(failure)
    }
  }
}

/**
 * What identifies an input, however it is named: its address, without the revision of a dataset, or
 * its path from the root.
 */
export const keyOf = (name) => (isAddress(name) ? withoutRevision(name) : path.resolve(name))

/** The inputs that are not known. Throws if a known one on disk has another size. */
async function* others(names, known) {
  for await (const name of names) {
    const size = known.get(keyOf(name))
    if (size === undefined) yield name
    else if (!isAddress(name)) {
      const now = statIfThere(name)?.size
      if (now !== size) throw inputChanged(name, `it had ${size} bytes and has ${now}`)
    }
  }
}

/** The errors of inputs that could not be opened. */
const openingErrors = new WeakSet()

/** Opens inputs, some of them ahead; after the first ones, threads look at those on disk. */
async function* openedAhead(paths, { shardSize }, sizes) {
  const opening = []
  const probes = new Probes(sizes)
  const open = async (path) => {
    const input = await openInput(path)
    // An input that becomes one part needs this sample. Reading it here makes `sample` fast later.
    if (input.size > 0 && input.size <= shardSize) await input.sample(0, input.size)
    return input
  }
  let count = 0
  try {
    for await (const path of paths) {
      const isProbed = (count += 1) > sizes.openedFirst && !isAddress(path)
      if (!isProbed) probes.flush()
      const opened = isProbed ? probes.of(path) : open(path)
      opened.catch((failure) => openingErrors.add(failure))
      opening.push(opened)
      while (opening.length >= (isProbed ? probes.ahead : sizes.openedAhead)) yield { opened: opening.shift() }
    }
    probes.flush()
    // The promise is wrapped in an object, because a generator awaits the promises that it yields.
    while (opening.length > 0) yield { opened: opening.shift() }
  } finally {
    for (const opened of opening) opened.then((input) => input.close()).catch(() => {})
    await probes.end()
  }
}

/** Divides inputs into parts and assigns the parts to shards. */
class Parts {
  #content
  /**
   * Maximum number of parts in a shard. Many small files become several shards, so that the lines
   * of one shard in the plan fit into memory.
   */
  #mostParts
  #shard = 0
  /** The estimated bytes of text and the number of parts in the current shard. */
  #weight = 0
  #count = 0

  #onNote
  #isNoted = false

  /**
   * @param {import('./options.mjs').Content} content
   * @param {import('./sizes.mjs').Sizes} sizes
   * @param {(message: string) => void} [onNote]
   */
  constructor(content, sizes, onNote) {
    this.#mostParts = sizes.shardParts
    this.#content = content
    this.#onNote = onNote
  }

  /** Says once that lines are documents: a book would become as many documents as it has lines. */
  #note(path) {
    if (this.#isNoted) return
    this.#isNoted = true
    this.#onNote?.(
      `each line of ${path} is a document, as in all inputs that are neither named .jsonl, .jsonlines, .jl, .ndjson, .json, .csv or .tsv nor Parquet (--rows json; or --rows files: each file is one)`,
    )
  }

  /**
   * Yields the parts of an input.
   *
   * @returns {AsyncGenerator<import('./part.mjs').Part>}
   */
  async *of(input) {
    if (input.size === 0) return
    const head = () => input.read(0, Math.min(HEAD_BYTES, input.size))
    const kind = input.kind ?? kindOf(await head())
    if (kind === 'table') return yield* this.#table(input)
    if (kind === 'foreign') throw foreignFailure(input.path, await head())
    yield* this.#rows(input, kind === 'plain' ? undefined : kind)
  }

  /** Cuts a plain file between rows, and a large compressed one between frames. */
  async *#rows(input, codec) {
    const { path, size } = input
    const { shardSize } = this.#content
    if (this.#content.rows === undefined) checkName(path)
    const rows = this.#content.rows ?? unitOf(path)
    const hasFields = rows === 'json' || rows === 'csv'
    if (rows === 'csv') await csvPackage()
    if (this.#content.idField !== undefined && !hasFields) {
      const reason = `idField is for rows of JSON, CSV and Parquet, and ${path} is read as ${rows}`
      throw contradiction(`${reason}: leave it out, or name another input`)
    }
    if (this.#content.messages !== undefined && !hasFields) {
      const reason = `messages is for rows of JSON and Parquet, and ${path} is read as ${rows}`
      throw contradiction(`${reason}: say rows: 'json' (--rows json), or name another input`)
    }
    if (rows === 'lines' && this.#content.rows === undefined) this.#note(path)
    const isWhole = rows === 'files' || rows === 'csv'
    if (codec !== undefined && !isWhole && size * COMPRESSION > this.#content.shardSize)
      return yield* this.#pieces(input, { rows, codec }, piecesOf(input, codec, COMPRESSION))
    const isCut = codec === undefined && !isWhole
    for (let start = 0; start < size; ) {
      const all = (size - start) * (codec === undefined ? 1 : COMPRESSION)
      if (this.#weight > 0 && this.#weight + Math.min(all, shardSize * MIN_RANGE_SHARE) > shardSize) this.#close()
      const room = shardSize - this.#weight
      const end = isCut && all > room ? await input.recordEnd(start + room) : size
      const sample = await input.sample(start, end)
      yield { shard: this.#shard, path, rows, ...(codec && { codec }), start, end, size, sample }
      this.#add(codec === undefined ? end - start : all)
      start = end
    }
  }

  /** Cuts a Parquet file between row groups. */
  async *#table(input) {
    const groups = await tableGroups(input, input.path, this.#content.rows)
    yield* this.#pieces(input, { rows: 'parquet' }, groups)
  }

  /** Cuts an input between pieces. */
  async *#pieces(input, { rows, codec = undefined }, pieces) {
    const { path, size } = input
    const { shardSize } = this.#content
    let [start, end, sum] = [0, 0, 0]
    /**
     * The decompressed bytes before the part, and before the piece, if they are known.
     *
     * @type {(number | undefined)[]}
     */
    let [offset, contents] = [0, 0]
    const part = async () => {
      if (codec !== undefined && start > 0) await checkFrame(input, start, codec)
      const range = { start, end, ...(start > 0 && codec && offset !== undefined && { offset }), size }
      return {
        shard: this.#shard,
        path,
        rows,
        ...(codec && { codec }),
        ...range,
        sample: await input.sample(start, end),
      }
    }
    for await (const piece of pieces) {
      if (this.#weight + sum > 0 && this.#weight + sum + piece.weight > shardSize) {
        if (sum > 0) {
          yield await part()
          this.#add(sum)
        }
        this.#close()
        start = end
        sum = 0
        offset = contents
      }
      end = piece.end
      sum += piece.weight
      const all = (contents ?? NaN) + (piece.content ?? NaN)
      contents = isSize(all) ? all : undefined
    }
    if (sum === 0) return
    yield await part()
    this.#add(sum)
  }

  /** Adds a part to the current shard. */
  #add(weight) {
    this.#weight += weight
    this.#count += 1
    if (this.#weight >= this.#content.shardSize || this.#count >= this.#mostParts) this.#close()
  }

  /** Ends the current shard. */
  #close() {
    if (this.#count === 0) return
    this.#shard += 1
    this.#weight = 0
    this.#count = 0
  }
}

/** The row groups of a Parquet file. */
async function tableGroups(input, path, rows) {
  if (rows === 'lines' || rows === 'files')
    throw new Failure('PARQUET', `${path}: this is a Parquet file, which cannot be read with rows ${rows}`)
  const { rowGroups } = await import('./table.mjs')
  try {
    return await rowGroups(input)
  } catch (failure) {
    throw failure.code === 'ERR_TOKENLANE_PARQUET' ? new Failure('PARQUET', `${path}: ${failure.message}`) : failure
  }
}

/**
 * The totals of a plan.
 *
 * @typedef {object} PlanSummary
 * @property {number} shards
 * @property {number} parts
 * @property {number} bytes the size of the inputs in storage
 * @property {string} sha256 of plan.jsonl
 */

/**
 * A shard that is much larger than others, because its input cannot be cut, and the byte range of
 * its lines in the plan.
 *
 * @typedef {{ shard: number, from: number, to: number, weight: number }} LargeShard
 */

/**
 * Writes a plan.
 *
 * @param {fs.promises.FileHandle} handle of a new file
 * @param {AsyncIterable<import('./part.mjs').Part>} parts
 * @param {{ shardSize?: number, onPart?: (soFar: { shards: number, parts: number, bytes: number })
 *   => void }} [options]
 * @returns {Promise<{ summary: PlanSummary, large: LargeShard[] }>} `large` has the shards that are
 *   handed out first, largest first
 */
export async function writePlan(handle, parts, { shardSize = Infinity, onPart } = {}) {
  const hash = createHash('sha256')
  const summary = { shards: 0, parts: 0, bytes: 0 }
  /** @type {LargeShard[]} */
  let large = []
  let last = { shard: -1, from: 0, to: 0, weight: 0 }
  const endShard = () => {
    if (last.weight <= LARGE_SHARD * shardSize) return
    large.push(last)
    if (large.length >= 2 * MAX_LARGE_SHARDS) large = largestOf(large)
  }
  let text = ''
  const flush = async () => {
    hash.update(text)
    await handle.writeFile(text)
    text = ''
  }
  for await (const part of parts) {
    const line = `${JSON.stringify(part)}\n`
    text += line
    if (part.shard !== last.shard) {
      endShard()
      last = { shard: part.shard, from: last.to, to: last.to, weight: 0 }
    }
    last.to += Buffer.byteLength(line)
    last.weight += (part.end - part.start) * (part.codec === undefined ? 1 : COMPRESSION)
    summary.shards = part.shard + 1
    summary.parts += 1
    summary.bytes += part.end - part.start
    onPart?.(summary)
    if (text.length >= FLUSH_LENGTH) await flush()
  }
  await flush()
  endShard()
  return { summary: { ...summary, sha256: hash.digest('hex') }, large: largestOf(large) }
}

const largestOf = (shards) =>
  shards.toSorted((a, b) => b.weight - a.weight || a.shard - b.shard).slice(0, MAX_LARGE_SHARDS)

/**
 * Yields the parts of each shard of a plan: first the large ones, then the others in order.
 *
 * @param {string} file
 * @param {LargeShard[]} [large]
 * @returns {AsyncGenerator<import('./part.mjs').Part[]>}
 */
export async function* readPlan(file, large = []) {
  if (large.length > 0) {
    const handle = await fs.promises.open(file)
    try {
      for (const { from, to } of large) {
        const bytes = Buffer.allocUnsafe(to - from)
        await readFully(handle, bytes, bytes.length, from)
        yield [...linesOf(bytes)].map((line) => JSON.parse(line))
      }
    } finally {
      await handle.close()
    }
  }
  const isDone = new Set(large.map(({ shard }) => shard))
  for await (const parts of partsInOrder(file)) if (!isDone.has(parts[0].shard)) yield parts
}

async function* partsInOrder(file) {
  let parts = []
  for await (const part of readLines(file)) {
    if (parts.length > 0 && parts[0].shard !== part.shard) {
      yield parts
      parts = []
    }
    if (parts.push(part) > SIZES.shardParts)
      throw damaged(`${file}: shard ${part.shard} has more than ${SIZES.shardParts} parts`)
  }
  if (parts.length > 0) yield parts
}

async function* readLines(file) {
  try {
    const handle = await fs.promises.open(file)
    yield* parsed(file, textLines(handle.createReadStream(), file))
  } catch (failure) {
    throw failure.syscall === undefined ? failure : fileFailure(file, failure)
  }
}

async function* parsed(name, lines) {
  let number = 0
  for await (const line of lines) {
    number += 1
    try {
      yield JSON.parse(line)
    } catch (failure) {
      throw damaged(`${name}, line ${number}: this is not a plan: ${failure.message}`)
    }
  }
}

/** The error of a plan that is not that of its job. */
export const changedPlan = (store, file) =>
  otherJob(`${store.where(file)} is missing or was changed: its SHA-256 is not that of ${JOB}`)

/** Yields the inputs of a plan in the output folder, some of them several times. */
export const inputsOfPlan = (store, file) => parsed(store.where(file), store.lines(file))

/**
 * Throws an error that names the first difference between the plan of a job and `now`, a file with
 * the plan of the inputs as they are now.
 */
export async function throwDifference(store, now) {
  const plans = [parsed(store.where(PLAN), store.lines(PLAN)), readLines(now)]
  try {
    await throwFirst(...plans)
  } finally {
    for (const plan of plans) await plan.return(undefined)
  }
}

async function throwFirst(first, second) {
  for (;;) {
    const [{ value: was, done }, { value: is, done: isDone }] = [await first.next(), await second.next()]
    if (done && isDone) return
    if (JSON.stringify(was) === JSON.stringify(is)) continue
    if (is === undefined || (was !== undefined && was.path !== is.path && was.path < is.path))
      throw inputChanged(was.path, 'it is no longer there')
    if (was === undefined || was.path !== is.path) throw inputChanged(is.path, 'it was not there')
    if (was.size !== is.size) throw inputChanged(is.path, `it had ${was.size} bytes and has ${is.size}`)
    if (was.sample !== is.sample) {
      const range = `the ends of bytes ${was.start} to ${was.end}`
      throw inputChanged(is.path, `${range} had the SHA-256 ${was.sample} and have ${is.sample}`)
    }
    throw inputChanged(is.path, 'it is divided differently')
  }
}

/**
 * Yields the byte range of each shard's lines in a plan: first the large ones, then the others in
 * order.
 *
 * @param {string} file
 * @param {LargeShard[]} [large]
 * @returns {AsyncGenerator<{ shard: number, from: number, to: number }>}
 */
export async function* planSlices(file, large = []) {
  yield* large
  const isDone = new Set(large.map(({ shard }) => shard))
  let from = 0
  for await (const parts of readPlan(file)) {
    // JSON.stringify wrote the lines, and writes them the same way again.
    const to = parts.reduce((sum, part) => sum + Buffer.byteLength(JSON.stringify(part)) + 1, from)
    if (!isDone.has(parts[0].shard)) yield { shard: parts[0].shard, from, to }
    from = to
  }
}

/**
 * Reads the parts of a shard from its byte range in a plan. Neither the range nor the plan is
 * trusted. Throws if the parts are not those of one shard.
 *
 * @returns {Promise<import('./part.mjs').Part[]>}
 */
export async function readSlice(store, from, to) {
  const notShard = damaged(`${store.where(PLAN)}: bytes ${from} to ${to} are not a shard of a plan`)
  if (!(to - from <= MAX_SLICE_BYTES)) throw notShard
  const size = (await store.sizeOf(PLAN))?.bytes ?? 0
  if (!(from < to && to <= size)) throw notShard
  const parts = []
  for (const line of linesOf(await store.readRange(PLAN, from, to))) {
    if (parts.length === SIZES.shardParts) throw notShard
    parts.push(partOf(line))
  }
  if (parts.every((part) => part !== undefined && part.shard === parts[0].shard)) return parts
  throw notShard
}

/** Yields the lines of bytes. */
function* linesOf(bytes) {
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(10, from)
    const to = end === -1 ? bytes.length : end
    yield bytes.toString('utf8', from, to)
    from = to + 1
  }
}

/** The part in a line of a plan; `undefined` if there is none. */
function partOf(line) {
  try {
    const part = JSON.parse(line)
    return isPart(part) ? part : undefined
  } catch {
    return undefined
  }
}

function isPart(part) {
  const isRange =
    [part?.shard, part?.start, part?.end, part?.size].every(isSize) && part.start < part.end && part.end <= part.size
  const isKnown =
    ['json', 'lines', 'files', 'csv', 'parquet'].includes(part?.rows) &&
    [undefined, 'gzip', 'zstd'].includes(part?.codec)
  const isOffset = part.offset === undefined || isSize(part.offset)
  return isRange && isKnown && isOffset && isText(part.path, MAX_PATH_LENGTH) && isHash(part.sample)
}
