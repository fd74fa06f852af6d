// The documents of the parts of a shard. Rows that cannot be read are errors, or are skipped and
// counted.

import { Failure } from '../files/failure.mjs'
import { decompressed } from '../files/decompress.mjs'
import { Gatherer } from '../files/gather.mjs'
import { DocumentReader, mostOf } from './document-reader.mjs'
import { inputChanged } from './errors.mjs'
import { lineBlocks, tooLong } from './lines.mjs'
import { openInput } from './store/store.mjs'
import { tableRows } from './table.mjs'

/**
 * The memory for a large row of a shard: one at a time.
 *
 * @typedef {object} RowMemory
 * @property {(bytes: number) => Promise<void>} reserve resolves when a row of so many bytes may be
 *   read
 * @property {() => void} release
 */

/**
 * `onRead` gets the bytes as they lie on the disk, or a hash of them and their number; `onSkip`
 * throws if rows are not to be skipped. The caller releases the memory of a batch that `isLarge`.
 *
 * @typedef {object} Hooks
 * @property {(chunk: Buffer, bytes?: number) => void} onRead
 * @property {(place: import('./document-batch.mjs').Place, error: Error) => void} onSkip
 * @property {RowMemory} [memory]
 */

/** Rows with more bytes are large. */
const LARGE = 4 << 20

/**
 * Errors of an input as a whole that `onError: 'skip'` leaves out: the rest of the input cannot be
 * read.
 */
const OF_INPUTS = ['DECOMPRESS', 'DECOMPRESS_LIMIT', 'PARQUET'].map((code) => `ERR_TOKENLANE_${code}`)

/** Where a document is, for messages. */
export const placeOf = ({ path, at, line, row }) =>
  `${path}, ${row !== undefined ? `row ${row}` : line === undefined ? `byte ${at}` : `line ${line}`}`

/**
 * The documents of parts, in batches.
 *
 * @param {import('./part.mjs').Part[]} parts
 * @param {string | undefined} base the folder that their paths are relative to
 * @param {import('./options.mjs').Content} content
 * @param {Hooks} hooks
 * @returns {AsyncGenerator<import('./document-batch.mjs').DocumentBatch>}
 */
export async function* documentsOf(parts, base, content, hooks) {
  const reader = new DocumentReader(content, hooks.onSkip)
  for (const part of parts) {
    reader.startPart(part)
    for await (const rows of rowsOfPart(part, base, content, hooks)) {
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
  const batch = reader.lastBatch()
  if (batch !== undefined) yield batch
}

/**
 * The rows of a part, as blocks of lines or as arrays. They are valid until the next ones are
 * requested.
 */
async function* rowsOfPart(part, base, content, hooks) {
  const input = await openPart(part, base)
  try {
    if (part.rows === 'parquet') {
      yield* tableRows(part, input, content, hooks.onRead)
      await input.checkUnchanged()
      return
    }
    const raw = input.chunks(part.start, part.end, { onRead: hooks.onRead, isReused: part.codec === undefined })
    const chunks = part.codec === undefined ? raw : decompressed(raw, content.maxRatio)
    const most = mostOf(part, content)
    const longest = part.codec === undefined ? Math.min(most, part.end - part.start) : most
    const large = { from: LARGE, reserve: () => hooks.memory?.reserve(longest) }
    yield* part.rows === 'files' ? wholeFile(chunks, most, part, large) : lineBlocks(chunks, most, part.start, large)
    await input.checkUnchanged()
  } catch (failure) {
    if (!OF_INPUTS.includes(failure.code) && !(failure.code === 'ERR_TOKENLANE_FIELD' && part.rows === 'parquet'))
      throw failure
    hooks.onSkip(
      { path: part.path, at: 0, line: undefined },
      new Failure(failure.code.slice('ERR_TOKENLANE_'.length), failure.message),
    )
  } finally {
    await input.close()
  }
}

/** Opens an input and compares it with the plan. */
async function openPart(part, base) {
  const input = await openInput(part.path, base, part.start)
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

async function* wholeFile(chunks, most, { path }, { from, reserve }) {
  const row = new Gatherer(most, tooLong)
  let isTooLong = false
  let isLarge = false
  for await (const chunk of chunks) {
    isTooLong ||= row.length + chunk.length > most
    if (isTooLong) {
      row.take()
      continue
    }
    if (!isLarge && row.length + chunk.length > from) {
      isLarge = true
      await reserve()
    }
    row.push(chunk)
  }
  yield Object.assign([{ path, bytes: isTooLong ? undefined : row.take(), at: 0, line: 1 }], { isLarge })
}
