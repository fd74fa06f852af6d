// Reads the documents of the parts of a shard. A row that cannot be read is an error, or is skipped
// and counted.

import { Failure, Gatherer, Ratio, bareCode, decompressed, isOfRow, notForeign } from 'tokenlane/internal/files.mjs'
import { ownBytes } from './compressed.mjs'
import { csvRows } from './csv.mjs'
import { Damage, DamagedPart } from './damage.mjs'
import { DocumentReader, maxRowBytes } from './document-reader.mjs'
import { inputChanged } from './errors.mjs'
import { lineBlocks, tooLong } from './lines.mjs'
import { openInput } from './store/store.mjs'

/**
 * Memory is reserved for rows of more bytes before they are read: first for a medium row and, if
 * the row is still longer, for the longest row. So several medium rows can be read at a time.
 */
const SMALL_ROW_BYTES = 1 << 20
const MEDIUM_ROW_BYTES = 4 << 20

/**
 * Bytes that a skipped row counts in the limit of decompressed bytes. Skipping a row takes about as
 * long as reading this many bytes of text.
 */
const SKIPPED_ROW_BYTES = 512

/**
 * Codes of errors after which the rest of an input cannot be read. `onError: 'skip'` leaves the
 * rest out.
 */
const INPUT_ERRORS = ['DECOMPRESS', 'DECOMPRESS_LIMIT', 'PARQUET'].map((code) => `ERR_TOKENLANE_${code}`)

/** Whether a failure is one of the input of a part, so that other inputs can be read. */
export const isOfInput = ({ code, isForeign: isOther }, { rows }) =>
  isOther === true ||
  INPUT_ERRORS.includes(code) ||
  (code === 'ERR_TOKENLANE_FIELD' && ['parquet', 'csv'].includes(rows))

/** Where a document is, for messages. */
export const placeOf = ({ path, at, from, line, row }) =>
  `${path}, ${row !== undefined ? `row ${row}` : line === undefined ? `byte ${at}${startOf(from)}` : `line ${line}`}`

const startOf = (from) => (from === undefined ? '' : ` of what the frames from byte ${from} on decompress to`)

/**
 * Yields the documents of parts in batches.
 *
 * @param {import('./part.mjs').Part[]} parts
 * @param {import('./store/allowed.mjs').Origin | undefined} origin
 * @param {import('./options.mjs').Content} content
 * @param {import('./document-reader.mjs').Hooks} hooks
 * @returns {AsyncGenerator<import('./document-batch.mjs').DocumentBatch>}
 */
export async function* documentsOf(parts, origin, content, hooks) {
  const reader = new DocumentReader(content, hooks)
  try {
    yield* batchesOf(reader, parts, origin, content, hooks)
  } catch (failure) {
    // The documents before the row that fails may fail too, when they are encoded.
    const before = isOfRow(failure) ? reader.lastBatch() : undefined
    if (before !== undefined) yield before
    throw failure
  }
  const batch = reader.lastBatch()
  if (batch !== undefined) yield batch
}

/** Yields all full batches. */
async function* batchesOf(reader, parts, origin, content, hooks) {
  for (const part of parts) {
    for await (const rows of rowsOfPart(part, origin, content, hooks, reader)) {
      reader.load(rows)
      let isReserved = 'isLarge' in rows && rows.isLarge === true
      for (let batch = reader.nextBatch(); batch !== undefined; batch = reader.nextBatch()) {
        batch.isLarge = isReserved
        isReserved = false
        yield batch
      }
      // The row was skipped, or its document is small.
      if (isReserved) hooks.memory?.release()
    }
  }
}

/**
 * Yields the rows of a part, as blocks of lines or as arrays. They are valid until the next ones
 * are requested.
 */
async function* rowsOfPart(part, origin, content, hooks, reader) {
  const input = await openPart(part, origin)
  hooks.onOpen?.(input.mtime)
  const isSkipping = content.onError === 'skip'
  const damage = hooks.damage ?? new Damage()
  const skip = (place, failure) => {
    hooks.onSkip(
      { path: part.path, line: undefined, ...place },
      new Failure(bareCode(failure), failure.reason ?? failure.message),
    )
    hooks.onDamage()
  }
  try {
    if (isSkipping && hooks.damage === undefined) await damage.look(part, input, content)
    for (const { start, rows, failure } of damage.of(part)) skip({ at: start, rows }, failure)
    const ratio = new Ratio(content.maxRatio)
    for (const piece of await damage.piecesOf(part, input, content)) {
      reader.startPart(piece)
      yield* rowsOfPiece(piece, input, content, { hooks, gatherer: reader.gatherer, ratio })
    }
    await input.checkUnchanged()
  } catch (failure) {
    if (!isOfInput(failure, part)) throw failure
    // Memory may be reserved for a row that was not read to its end.
    hooks.memory?.release()
    if (isSkipping && hooks.damage !== undefined && !damage.has(part)) throw new DamagedPart()
    skip({ at: 0 }, failure)
  } finally {
    await input.close()
  }
}

/** Yields the rows of a part, or of a piece of a damaged part. */
async function* rowsOfPiece(part, input, content, { hooks, gatherer, ratio }) {
  if (part.rows === 'parquet') {
    const { tableRows } = await import('./table.mjs')
    const limits = limitsOf(maxRowBytes(part, content), Infinity, hooks.memory)
    for await (const rows of charged(tableRows(part, input, content, hooks.onRead, ratio), ratio, hooks))
      yield* separated(rows, limits)
    return
  }
  const { chunks, position } = await chunksOf(part, input, hooks, ratio)
  const longest = part.codec === undefined ? part.end - part.start : Infinity
  const limits = limitsOf(maxRowBytes(part, content), longest, hooks.memory)
  if (part.rows === 'csv') {
    for await (const rows of csvRows(chunks, part, content, limits.most)) yield* separated(rows, limits)
    return
  }
  const keepsLineEnds = part.rows === 'lines' && content.keepsLineEnds
  yield* part.rows === 'files'
    ? wholeFile(chunks, part, limits)
    : lineBlocks(chunks, position, gatherer, limits, keepsLineEnds)
}

/**
 * Looks for all damage in the parts of a shard.
 *
 * @param {import('./part.mjs').Part[]} parts
 * @param {import('./store/allowed.mjs').Origin | undefined} origin
 * @param {import('./options.mjs').Content} content
 * @param {Damage} damage to which it is added
 */
export async function lookForDamage(parts, origin, content, damage) {
  for (const part of parts) {
    const input = await openPart(part, origin)
    try {
      await damage.look(part, input, content)
    } finally {
      await input.close()
    }
  }
}

/** The bytes of a part's rows, and the position of the first one in the decompressed file. */
async function chunksOf(part, input, hooks, ratio) {
  const { start, end, codec } = part
  const { onRead } = hooks
  if (codec === undefined)
    return { chunks: input.chunks(start, end, { onRead, isReused: part.rows !== 'csv' }), position: start }
  // The hash of the shard's input has only the bytes of the part.
  const { chunks, position } = await ownBytes(part, (from, to) =>
    decompressed(input.chunks(from, to, from === start ? { onRead } : {}), ratio),
  )
  const own = start === 0 ? notForeign(part.path, chunks) : chunks
  return { chunks: charged(own, ratio, hooks), position }
}

/**
 * Yields chunks or pages, and charges the rows that were skipped in them: a few compressed bytes
 * can stand for millions of rows.
 */
async function* charged(chunks, ratio, { skippedRows = () => 0 }) {
  let before = skippedRows()
  for await (const chunk of chunks) {
    yield chunk
    const now = skippedRows()
    ratio.make((now - before) * SKIPPED_ROW_BYTES)
    before = now
  }
}

/** Opens the input of a part and checks that it has not changed since it was planned. */
async function openPart(part, origin) {
  const input = await openInput(part.path, origin, part.start)
  try {
    if (input.size !== part.size) throw inputChanged(part.path, `it had ${part.size} bytes and has ${input.size}`)
    const sample = await input.sample(part.start, part.end)
    if (sample !== part.sample) {
      throw inputChanged(
        part.path,
        `the ends of bytes ${part.start} to ${part.end} had the SHA-256 ${part.sample} and have ${sample}`,
      )
    }
    return input
  } catch (failure) {
    await input.close()
    throw failure
  }
}

/**
 * The limits of rows of at most `most` bytes. A row of the part has at most `longest` bytes.
 *
 * @returns {import('./part.mjs').RowLimits}
 */
function limitsOf(most, longest, memory) {
  const reserve = async (length) => {
    const largest = Math.min(longest, most)
    const bytes = length > MEDIUM_ROW_BYTES ? largest : Math.min(largest, MEDIUM_ROW_BYTES)
    await memory?.reserve(bytes)
    return bytes
  }
  return { most, unreserved: SMALL_ROW_BYTES, reserve }
}

/**
 * Yields the rows of a page of a Parquet file: large rows one by one, each when there is memory for
 * it, and the rows between them together.
 */
async function* separated(rows, { most, unreserved, reserve }) {
  let first = 0
  for (let index = 0; index < rows.length; index++) {
    const size = rows[index].value?.length
    // A longer row is an error, which needs no memory.
    if (!(size > unreserved && size <= most)) continue
    if (first < index) yield rows.slice(first, index)
    await reserve(size)
    yield Object.assign([rows[index]], { isLarge: true })
    first = index + 1
  }
  if (first < rows.length) yield first === 0 ? rows : rows.slice(first)
}

/** Yields a file as one row. */
async function* wholeFile(chunks, { path }, { most, unreserved, reserve }) {
  const row = new Gatherer(most, tooLong)
  let isTooLong = false
  let allowed = unreserved
  for await (const chunk of chunks) {
    const length = row.length + chunk.length
    isTooLong ||= length > most
    if (isTooLong) {
      row.take()
      continue
    }
    if (length > allowed) {
      allowed = await reserve(length)
      row.reserve(allowed)
    }
    row.push(chunk)
  }
  const bytes = isTooLong ? undefined : row.take()
  yield Object.assign([{ path, bytes, at: 0, line: 1 }], { isLarge: allowed > unreserved })
}
