// What a shard leaves out of damaged inputs if `onError` is 'skip': the frames of Zstandard, the
// members of gzip and the row groups of Parquet in which a checksum or anything else is wrong, each
// as a whole. Rows that were read before the damage was found may be wrong too, so the shard starts
// again without the range, and reads what lies before and after it.
//
// A range ends where the next frame or member starts. After damage that place is not known: it is
// searched for by the first bytes of a frame. A row that starts or ends in the range is left out.

import { Readable, pipeline } from 'node:stream'
import zlib from 'node:zlib'

import { Failure, Ratio, bareCode, crc32, decompressed } from 'tokenlane/internal/files.mjs'
import { inputChanged } from './errors.mjs'

/** Number of bytes that are searched at once. */
const SEARCH_BYTES = 1 << 20
const SLICE_BYTES = 1 << 14
const FIRST_BYTES = 1 << 15
const HEADER_BYTES = 1 << 12
/** The first bytes of a frame and of a member with the only method of gzip. */
const MAGIC = { zstd: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), gzip: Buffer.from([0x1f, 0x8b, 8]) }
/** Maximum number of places in a part at which no frame starts although it has the first bytes. */
const MAX_FALSE_STARTS = 1000
const NEWLINE = 10
const GZIP_TRAILER = 8

/** @typedef {import('./part.mjs').DamagedRange} DamagedRange */

/** A part has damage that was not looked for yet. */
export class DamagedPart extends Error {}

/** The damaged ranges of the parts that were looked at. */
export class Damage {
  #ranges = /** @type {Map<import('./part.mjs').Part, DamagedRange[]>} */ (new Map())

  has(part) {
    return this.#ranges.has(part)
  }

  /** The damaged ranges of a part in order. */
  of(part) {
    return this.#ranges.get(part) ?? []
  }

  /**
   * Finds the damaged ranges of a part by reading all of it.
   *
   * @param {import('./part.mjs').Part} part
   * @param {import('./store/input.mjs').Input} input
   * @param {import('./options.mjs').Content} content
   */
  async look(part, input, content) {
    this.#ranges.set(part, [])
    if (part.codec === undefined && part.rows !== 'parquet') return
    const ranges =
      part.rows === 'parquet' ? await damagedGroups(part, input, content) : await damagedFrames(part, input, content)
    const { end } = part
    const { failure } = ranges.at(-1)?.end === end ? {} : await tailOf(part, input, content)
    if (failure !== undefined) ranges.push({ start: end, end, rows: 1, failure })
    this.#ranges.set(
      part,
      ranges.map((range) => described(range, part)),
    )
  }

  /**
   * What is read of a part: the ranges between those that are damaged. With `isCut`, the last row
   * is left out unless it ends in the range; otherwise it ends before `until`, if that is set.
   *
   * @param {import('./part.mjs').Part} part
   * @param {import('./store/input.mjs').Input} input
   * @param {import('./options.mjs').Content} content
   * @returns {Promise<(import('./part.mjs').Part & { isCut?: boolean, until?: number })[]>}
   */
  async piecesOf(part, input, content) {
    const ranges = this.of(part)
    if (content.onError === 'fail') return [part]
    if (ranges.length > 0 && isWhole(part)) return []
    const isCut = ranges.at(-1)?.end === part.end
    const { until, failure } = isCut ? { until: undefined, failure: undefined } : await tailOf(part, input, content)
    if (failure !== undefined) throw new DamagedPart()
    const starts = [part.start, ...ranges.map(({ end }) => end)]
    return starts
      .map((start, index) => ({
        ...part,
        ...{ start, end: ranges[index]?.start ?? part.end, isCut: index < ranges.length, until },
        ...(start > part.start && { offset: undefined }),
      }))
      .filter(({ start, end }) => start < end)
  }
}

/** Whether damage anywhere makes all of a part unreadable. */
const isWhole = ({ rows }) => rows === 'files' || rows === 'csv'

/**
 * The range with a failure that names it.
 *
 * @param {DamagedRange} range
 * @param {import('./part.mjs').Part} part
 * @returns {DamagedRange}
 */
function described({ start, end, rows, failure }, part) {
  const { rows: unit, codec } = part
  const name = unit === 'parquet' ? 'row group' : codec === 'gzip' ? 'member' : 'frame'
  const count =
    unit === 'parquet' ? `${rows} rows` : rows === undefined ? 'an unknown number of rows' : `about ${rows} rows`
  const range = isWhole(part) ? 'the whole file' : `the ${name} in bytes ${start} to ${end}`
  const what = start === end ? `the row before byte ${start}` : unit === 'files' ? range : `${range}, with ${count},`
  const reason = `${failure.reason ?? failure.message}; ${what} is left out`
  return { start, end, rows, failure: new Failure(bareCode(failure), reason) }
}

/** The row groups of a part that cannot be read. */
async function damagedGroups(part, input, content) {
  const { damagedRowGroups } = await import('./table.mjs')
  const ranges = []
  for await (const range of damagedRowGroups(part, input, content)) ranges.push(range)
  return ranges
}

/**
 * The ranges of a part from the start of a damaged frame to the next frame; the whole part if no
 * other is of use then.
 *
 * @param {import('./part.mjs').Part} part
 * @param {any} input
 * @param {{ maxRatio?: number }} content
 * @returns {Promise<DamagedRange[]>}
 */
async function damagedFrames(part, input, { maxRatio }) {
  const { codec, start, end } = part
  const read = codec === 'gzip' ? readMember : readFrames
  const ranges = []
  let falseStarts = 0
  let range
  /** The line feeds of the intact frames, and their compressed bytes. */
  const intact = { lines: 0, bytes: 0 }
  for (let at = start; at < end; ) {
    const { complete, lines, bytes, rest, failure } = await read(input, at, end, new Ratio(maxRatio))
    intact.lines += lines
    intact.bytes += complete - at
    if (complete > at) range = undefined
    if (failure === undefined) {
      at = complete
      continue
    }
    falseStarts += Number(range !== undefined)
    at = falseStarts > MAX_FALSE_STARTS ? end : await nextStart(input, complete + 1, end, codec)
    if (range === undefined) ranges.push((range = { start: complete, end: at, failure, lines: 0, bytes: 0 }))
    range.end = at
    range.lines += rest
    range.bytes += bytes
  }
  const found = ranges.map((one) => ({ ...one, rows: rowsOf(one, intact, part) }))
  if (found.length === 0 || !isWhole(part)) return found
  const isKnown = part.rows === 'csv' && found.every(({ rows }) => rows !== undefined)
  const rows = isKnown ? found.reduce((sum, one) => sum + one.rows, intact.lines) : undefined
  return [{ start, end, rows, failure: found[0].failure }]
}

/**
 * Estimates the rows that a damaged range makes unreadable, from the line feeds in the compressed
 * bytes of intact frames, or else of what was read of it; `undefined` if there are none.
 */
function rowsOf({ start, end, lines, bytes }, intact, part) {
  const known = intact.lines > 0 ? intact : { lines, bytes }
  if (known.lines === 0 || known.bytes <= 0) return undefined
  const inside = Math.max(lines, Math.round((known.lines / known.bytes) * (end - start)))
  if (isWhole(part)) return inside
  // With the row that starts in it, the row that ends in it is lost; at the start of a part that
  // row belongs to the part before. No row starts at the end of the file.
  const isOwn = start > part.start || start === 0
  return Math.max(1, inside + Number(isOwn) - Number(end === part.size))
}

/**
 * Reads the frames after a part in which its last row ends, which belong to the next part.
 *
 * @param {import('./part.mjs').Part} part
 * @param {any} input
 * @param {{ maxRatio?: number }} content
 * @returns {Promise<{ until?: number, failure?: any }>} `until` is their end
 */
async function tailOf({ codec, end, size, rows: unit }, input, { maxRatio }) {
  if (codec === undefined || unit === 'files') return {}
  const read = codec === 'gzip' ? readMember : readFrames
  for (let at = end; at < size; ) {
    const { complete, lines, failure } = await read(input, at, size, new Ratio(maxRatio), true)
    if (failure !== undefined) return { failure }
    if (lines > 0) return { until: complete }
    at = complete
  }
  return {}
}

/**
 * The chunks of a range, so small that it is known what of them was decompressed. Ever more is
 * read at once, because a member is often short.
 */
async function* slicesOf(input, start, end) {
  for (let [at, size] = [start, FIRST_BYTES]; at < end; at += size, size *= 2)
    for await (const chunk of input.chunks(at, Math.min(at + size, end)))
      for (let from = 0; from < chunk.length; from += SLICE_BYTES) yield chunk.subarray(from, from + SLICE_BYTES)
}

/**
 * What was read of frames.
 *
 * @typedef {object} ReadFrames
 * @property {number} complete the end of the last frame that is intact
 * @property {number} lines the line feeds of those that are intact
 * @property {number} rest the line feeds of what was decompressed of the damaged one
 * @property {number} bytes its compressed bytes
 * @property {any} [failure]
 */

/**
 * Reads frames of Zstandard up to the first that is damaged.
 *
 * @returns {Promise<ReadFrames>}
 */
async function readFrames(input, start, end, ratio, isOne = false) {
  /** The line feeds of intact frames, and behind them. */
  let [complete, lines, rest] = [start, 0, 0]
  let first
  const onFrame = (position) => {
    complete = start + position
    lines += rest
    rest = 0
    first ??= { complete, lines, rest, bytes: 0 }
  }
  try {
    for await (const chunk of decompressed(slicesOf(input, start, end), ratio, onFrame)) {
      rest += linesIn(chunk)
      if (isOne && first !== undefined) return first
    }
    return isOne && first !== undefined ? first : { complete: end, lines: lines + rest, rest: 0, bytes: 0 }
  } catch (failure) {
    const bytes = start + (failure.position ?? 0) - complete
    return isOne && first !== undefined ? first : { complete, lines, rest, bytes: Math.max(0, bytes), failure }
  }
}

/** Reads a member of gzip, as `readFrames` does. */
async function readMember(input, start, end, ratio) {
  const inflate = zlib.createInflateRaw({ chunkSize: 1 << 18 })
  let [lines, crc, length] = [0, 0, 0]
  const ended = (complete, failure) => {
    const counts = failure === undefined ? { lines, rest: 0 } : { lines: 0, rest: lines }
    return { complete, ...counts, bytes: inflate.bytesWritten, failure }
  }
  const damaged = (reason) => ended(start, new Failure('DECOMPRESS', `its gzip data is damaged: ${reason}`))
  const header = await readHeader(input, start)
  // Tapes pad files with zeros.
  if (header === undefined) return (await isZero(input, start, end)) ? ended(end) : damaged('no member starts there')
  async function* counted() {
    for await (const slice of slicesOf(input, start + header, end)) {
      ratio.read(slice.length)
      yield slice
    }
  }
  pipeline(Readable.from(counted(), { objectMode: false }), inflate, () => {})
  try {
    for await (const chunk of inflate) {
      ratio.make(chunk.length)
      crc = crc32(chunk, crc)
      length += chunk.length
      lines += linesIn(chunk)
    }
  } catch (failure) {
    return failure.code?.startsWith('Z_') ? damaged(failure.message) : ended(start, failure)
  }
  const complete = start + header + inflate.bytesWritten + GZIP_TRAILER
  const trailer = await input.read(complete - GZIP_TRAILER, GZIP_TRAILER)
  const isIntact = complete <= end && trailer.readUInt32LE(0) === crc && trailer.readUInt32LE(4) === length % 2 ** 32
  return isIntact ? ended(complete) : damaged('its checksum or its length is wrong')
}

/** As `gzipHeader`. Few members have a long name or comment. */
async function readHeader(input, start) {
  const bytes = await input.read(start, HEADER_BYTES)
  const isLong = bytes.length === HEADER_BYTES && bytes.subarray(0, 3).equals(MAGIC.gzip)
  return gzipHeader(bytes) ?? (isLong ? gzipHeader(await input.read(start, SEARCH_BYTES)) : undefined)
}

/** The length of the header of a member; `undefined` if there is none. */
function gzipHeader(bytes) {
  if (bytes.length < 18 || !bytes.subarray(0, 3).equals(MAGIC.gzip) || bytes[3] > 31) return undefined
  const [hasCrc, hasExtra, hasName, hasComment] = [2, 4, 8, 16].map((bit) => (bytes[3] & bit) !== 0)
  let at = hasExtra ? 12 + bytes.readUInt16LE(10) : 10
  for (const isThere of [hasName, hasComment]) {
    if (!isThere) continue
    const zero = bytes.indexOf(0, at)
    if (zero === -1) return undefined
    at = zero + 1
  }
  return at + (hasCrc ? 2 : 0)
}

async function isZero(input, start, end) {
  for await (const chunk of input.chunks(start, end)) if (chunk.some((byte) => byte !== 0)) return false
  return true
}

/** The position of the next first bytes of a frame; `end` if there are none. */
async function nextStart(input, from, end, codec) {
  const magic = MAGIC[codec]
  for (let at = from; at < end; at += SEARCH_BYTES) {
    const bytes = await input.read(at, Math.min(SEARCH_BYTES + magic.length - 1, input.size - at))
    if (bytes.length === 0) throw inputChanged(input.path, `it ends at byte ${at}`)
    const found = bytes.indexOf(magic)
    if (found !== -1) return Math.min(at + found, end)
  }
  return end
}

function linesIn(chunk) {
  let count = 0
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) count += 1
  return count
}
