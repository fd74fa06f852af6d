// The plan of a job: which bytes of which inputs are which shard. It is a file of JSON Lines with a
// part of an input per line; lines that follow each other with the same `shard` are that shard. It
// depends on the inputs and the shard size alone: paths are as they were named, and nothing in it
// is of a machine or a time. It is written and read as a stream.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import readline from 'node:readline'

import { fileFailure } from '../files/failure.mjs'
import { error, inputChanged, unsupported } from './errors.mjs'
import { Input, codecOf, unitOf } from './inputs.mjs'
import { inputFiles } from './walk.mjs'

/**
 * Inputs of a shard. More small files than this are several shards, so that a shard's part of the
 * plan stays small.
 */
const MAX_PARTS = 4096
/** The first bytes of a Parquet file. */
const PARQUET = Buffer.from('PAR1')
/** Bytes of text that a compressed byte counts for. */
const COMPRESSION = 4
/** A range that would be shorter than this part of a shard goes to the next one. */
const LEAST = 1 / 16
/** Characters of lines that are written at once. */
const BUFFER = 1 << 16

/**
 * A range of an input.
 *
 * @typedef {object} Part
 * @property {number} shard counted from 0
 * @property {string} path
 * @property {'json' | 'lines' | 'files'} rows
 * @property {'gzip' | 'zstd'} [codec]
 * @property {number} start in bytes
 * @property {number} end
 * @property {number} size of the whole file
 * @property {string} sample SHA-256 of the first and the last 64 KiB of the range
 */

/**
 * The parts of all inputs, in order.
 *
 * @param {{ inputs: string[], filesFrom?: string, content: import('./options.mjs').Content,
 *   exclude?: string, onUnreadable?: (error: Error) => void }} request
 * @returns {AsyncGenerator<Part>}
 */
export async function* planParts({ inputs, filesFrom, content, exclude, onUnreadable }) {
  const { shardSize } = content
  let shard = 0
  let weight = 0
  let parts = 0
  const close = () => {
    if (parts === 0) return
    shard += 1
    weight = 0
    parts = 0
  }
  for await (const path of inputFiles(inputs, filesFrom, { exclude })) {
    let input
    try {
      input = await Input.open(path)
    } catch (failure) {
      if (content.onError === 'fail' || failure.code === 'ERR_TOKENLANE_TOO_MANY_FILES') throw failure
      onUnreadable?.(failure)
      continue
    }
    try {
      const { size } = input
      if (size === 0) continue
      const head = await input.read(0, Math.min(4, size))
      if (head.equals(PARQUET))
        throw unsupported(`${path}: corpus jobs do not read Parquet; convert it to JSON Lines first`)
      const codec = codecOf(head)
      const rows = content.rows ?? unitOf(path)
      const isCut = codec === undefined && rows !== 'files'
      for (let start = 0; start < size; ) {
        const all = (size - start) * (codec === undefined ? 1 : COMPRESSION)
        if (weight > 0 && weight + Math.min(all, shardSize * LEAST) > shardSize) close()
        const room = shardSize - weight
        const end = isCut && all > room ? await input.recordEnd(start + room) : size
        yield { shard, path, rows, ...(codec && { codec }), start, end, size, sample: await input.sample(start, end) }
        weight += codec === undefined ? end - start : all
        parts += 1
        start = end
        if (weight >= shardSize || parts >= MAX_PARTS) close()
      }
    } finally {
      await input.close()
    }
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
 * @param {AsyncIterable<Part>} parts
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
 * @returns {AsyncGenerator<Part[]>}
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
  let number = 0
  try {
    const handle = await fs.promises.open(file)
    for await (const line of readline.createInterface({ input: handle.createReadStream(), crlfDelay: Infinity })) {
      number += 1
      yield JSON.parse(line)
    }
  } catch (failure) {
    if (failure instanceof SyntaxError)
      throw error('ERR_TOKENLANE_CORPUS_DAMAGED', `${file}, line ${number}: this is no plan: ${failure.message}`)
    throw failure.syscall === undefined ? failure : fileFailure(file, failure)
  }
}

/** Throws the first difference between the plan of a job and one of the inputs as they are now. */
export async function throwDifference(before, now) {
  const [first, second] = [readLines(before), readLines(now)]
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

/** The parts in a slice of a plan. Throws if it is none. */
export async function readSlice(file, from, to) {
  const input = await Input.open(file)
  try {
    const parts = (await input.read(from, to - from))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    if (parts.length > 0 && parts.every((part) => isPart(part) && part.shard === parts[0].shard))
      return /** @type {Part[]} */ (parts)
  } catch (failure) {
    if (!(failure instanceof SyntaxError)) throw failure
  } finally {
    await input.close()
  }
  throw error('ERR_TOKENLANE_CORPUS_DAMAGED', `${file}: bytes ${from} to ${to} are no shard of a plan`)
}

function isPart(part) {
  const numbers = [part?.shard, part?.start, part?.end, part?.size]
  const isRange =
    numbers.every((value) => Number.isSafeInteger(value) && value >= 0) &&
    part.start < part.end &&
    part.end <= part.size
  const isKnown = ['json', 'lines', 'files'].includes(part?.rows) && [undefined, 'gzip', 'zstd'].includes(part?.codec)
  return isRange && isKnown && typeof part.path === 'string' && typeof part.sample === 'string'
}
