// The plan of a job: which bytes of which inputs are which shard. It is a file of JSON Lines with a
// part of an input per line; lines that follow each other with the same `shard` are that shard. It
// depends on the inputs and the shard size alone: paths are as they were named, and nothing in it
// is of a machine or a time. It is written and read as a stream.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import readline from 'node:readline'

import { Failure, fileFailure } from '../files/failure.mjs'
import { error, inputChanged, typeError } from './errors.mjs'
import { codecOf, unitOf } from './input-kind.mjs'
import { PLAN } from './layout.mjs'
import { openInput } from './store/store.mjs'
import { isTable, rowGroups } from './table.mjs'
import { inputFiles } from './walk.mjs'

/**
 * Inputs of a shard. More small files than this are several shards, so that a shard's part of the
 * plan stays small.
 */
const MAX_PARTS = 4096
/** Bytes of text that a compressed byte counts for. */
const COMPRESSION = 4
/** A range that would be shorter than this part of a shard goes to the next one. */
const MIN_RANGE_SHARE = 1 / 16
/** Characters of lines that are written at once. */
const BUFFER = 1 << 16

/** Inputs that are opened before they are needed: a store answers many requests at once. */
const AHEAD = 16

/**
 * The parts of all inputs, in order.
 *
 * @param {{ inputs: string[], filesFrom?: string, content: import('./options.mjs').Content,
 *   exclude?: string, onUnreadable?: (error: Error) => void }} request
 * @returns {AsyncGenerator<import('./part.mjs').Part>}
 */
export async function* planParts({ inputs, filesFrom, content, exclude, onUnreadable }) {
  const parts = new Parts(content)
  for await (const { opened } of openedAhead(inputFiles(inputs, filesFrom, { exclude }), content)) {
    try {
      const input = await opened
      try {
        yield* parts.of(input)
      } finally {
        await input.close()
      }
    } catch (failure) {
      const isUnreadable = ofOpening.has(failure) || failure.code === 'ERR_TOKENLANE_PARQUET'
      if (content.onError === 'fail' || !isUnreadable || failure.code === 'ERR_TOKENLANE_TOO_MANY_FILES') throw failure
      onUnreadable?.(failure)
    }
  }
}

/** Errors of inputs that could not be opened. */
const ofOpening = new WeakSet()

/** Opens inputs, some of them ahead, and reads what their plan needs. */
async function* openedAhead(paths, { shardSize }) {
  const opening = []
  const open = async (path) => {
    try {
      const input = await openInput(path)
      // The sample of an input that is not cut.
      if (input.size > 0 && input.size <= shardSize) await input.sample(0, input.size)
      return input
    } catch (failure) {
      ofOpening.add(failure)
      throw failure
    }
  }
  try {
    for await (const path of paths) {
      const opened = open(path)
      opened.catch(() => {})
      opening.push(opened)
      if (opening.length >= AHEAD) yield { opened: opening.shift() }
    }
    // An object, because a generator awaits a promise that it yields.
    while (opening.length > 0) yield { opened: opening.shift() }
  } finally {
    for (const opened of opening) opened.then((input) => input.close()).catch(() => {})
  }
}

/** Divides inputs into parts, and these among shards. */
class Parts {
  #content
  #shard = 0
  /** Of the shard that is not full: bytes of text, about, and parts. */
  #weight = 0
  #count = 0

  /** @param {import('./options.mjs').Content} content */
  constructor(content) {
    this.#content = content
  }

  /** @returns {AsyncGenerator<import('./part.mjs').Part>} */
  async *of(input) {
    if (input.size === 0) return
    const head = await input.read(0, Math.min(4, input.size))
    yield* isTable(head) ? this.#table(input) : this.#rows(input, codecOf(head))
  }

  /** Plain files are cut at record ends; compressed ones, and files that are a row, are not. */
  async *#rows(input, codec) {
    const { path, size } = input
    const { shardSize } = this.#content
    const rows = this.#content.rows ?? unitOf(path)
    if (this.#content.idField !== undefined && rows !== 'json') {
      const reason = `idField is for rows of JSON and Parquet, and ${path} is read as ${rows}`
      throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', `${reason}: leave it out, or name another input`)
    }
    const isCut = codec === undefined && rows !== 'files'
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

  /** Parquet files are cut between row groups. */
  async *#table(input) {
    const { path, size } = input
    const { rows, shardSize } = this.#content
    let [start, end, sum] = [0, 0, 0]
    const part = async () => ({
      ...{ shard: this.#shard, path, rows: /** @type {const} */ ('parquet'), start, end, size },
      sample: await input.sample(start, end),
    })
    for (const piece of await tableGroups(input, path, rows)) {
      if (this.#weight + sum > 0 && this.#weight + sum + piece.weight > shardSize) {
        if (sum > 0) {
          yield await part()
          this.#add(sum)
        }
        this.#close()
        start = end
        sum = 0
      }
      end = piece.end
      sum += piece.weight
    }
    if (sum === 0) return
    yield await part()
    this.#add(sum)
  }

  #add(weight) {
    this.#weight += weight
    this.#count += 1
    if (this.#weight >= this.#content.shardSize || this.#count >= MAX_PARTS) this.#close()
  }

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
    throw new Failure('PARQUET', `${path}: this is a Parquet file, and its rows are no ${rows}`)
  try {
    return await rowGroups(input)
  } catch (failure) {
    throw failure.code === 'ERR_TOKENLANE_PARQUET' ? new Failure('PARQUET', `${path}: ${failure.message}`) : failure
  }
}

/**
 * What a plan holds.
 *
 * @typedef {object} PlanSummary
 * @property {number} shards
 * @property {number} parts
 * @property {number} bytes of inputs, as they lie on the disk
 * @property {string} sha256 of plan.jsonl
 */

/**
 * Writes a plan.
 *
 * @param {fs.promises.FileHandle} handle of a new file
 * @param {AsyncIterable<import('./part.mjs').Part>} parts
 * @param {(summary: { shards: number, parts: number, bytes: number }) => void} [onPart]
 * @returns {Promise<PlanSummary>}
 */
export async function writePlan(handle, parts, onPart) {
  const hash = createHash('sha256')
  const summary = { shards: 0, parts: 0, bytes: 0 }
  let text = ''
  const flush = async () => {
    hash.update(text)
    await handle.writeFile(text)
    text = ''
  }
  for await (const part of parts) {
    text += `${JSON.stringify(part)}\n`
    summary.shards = part.shard + 1
    summary.parts += 1
    summary.bytes += part.end - part.start
    onPart?.(summary)
    if (text.length >= BUFFER) await flush()
  }
  await flush()
  return { ...summary, sha256: hash.digest('hex') }
}

/**
 * The shards of a plan, in order.
 *
 * @param {string} file
 * @returns {AsyncGenerator<import('./part.mjs').Part[]>}
 */
export async function* readPlan(file) {
  let parts = []
  for await (const part of readLines(file)) {
    if (parts.length > 0 && parts[0].shard !== part.shard) {
      yield parts
      parts = []
    }
    parts.push(part)
  }
  if (parts.length > 0) yield parts
}

async function* readLines(file) {
  try {
    const handle = await fs.promises.open(file)
    yield* parsed(file, readline.createInterface({ input: handle.createReadStream(), crlfDelay: Infinity }))
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
      throw error('ERR_TOKENLANE_CORPUS_DAMAGED', `${name}, line ${number}: this is no plan: ${failure.message}`)
    }
  }
}

/**
 * Throws the first difference between the plan of a job and one of the inputs as they are now,
 * which is a file.
 */
export async function throwDifference(store, now) {
  const [first, second] = [parsed(store.where(PLAN), store.lines(PLAN)), readLines(now)]
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
    throw inputChanged(is.path, 'it is divided in another way')
  }
}

/**
 * Where the lines of each shard stand in a plan.
 *
 * @param {string} file
 * @returns {AsyncGenerator<{ shard: number, from: number, to: number }>}
 */
export async function* planSlices(file) {
  let from = 0
  for await (const parts of readPlan(file)) {
    // The lines are written by JSON.stringify, and a part that was read is written the same way.
    const to = parts.reduce((sum, part) => sum + Buffer.byteLength(JSON.stringify(part)) + 1, from)
    yield { shard: parts[0].shard, from, to }
    from = to
  }
}

/** The parts in a slice of the plan of a job. Throws if it is none. */
export async function readSlice(store, from, to) {
  try {
    const parts = (await store.readRange(PLAN, from, to))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    if (parts.length > 0 && parts.every((part) => isPart(part) && part.shard === parts[0].shard))
      return /** @type {import('./part.mjs').Part[]} */ (parts)
  } catch (failure) {
    if (!(failure instanceof SyntaxError)) throw failure
  }
  throw error('ERR_TOKENLANE_CORPUS_DAMAGED', `${store.where(PLAN)}: bytes ${from} to ${to} are no shard of a plan`)
}

function isPart(part) {
  const numbers = [part?.shard, part?.start, part?.end, part?.size]
  const isRange =
    numbers.every((value) => Number.isSafeInteger(value) && value >= 0) &&
    part.start < part.end &&
    part.end <= part.size
  const isKnown =
    ['json', 'lines', 'files', 'parquet'].includes(part?.rows) && [undefined, 'gzip', 'zstd'].includes(part?.codec)
  return isRange && isKnown && typeof part.path === 'string' && typeof part.sample === 'string'
}
