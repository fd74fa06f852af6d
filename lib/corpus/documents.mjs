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
 * @param {{ onRead: (chunk: Buffer, bytes?: number) => void, onSkip: (place:
 *   import('./document-batch.mjs').Place, error: Error) => void }} hooks `onRead` gets the bytes as
 *   they lie on the disk, or a hash of them and their number; `onSkip` throws if rows are not to be
 *   skipped
 * @returns {AsyncGenerator<import('./document-batch.mjs').DocumentBatch>}
 */
export async function* documentsOf(parts, base, content, hooks) {
  const reader = new DocumentReader(content, hooks.onSkip)
  for (const part of parts) {
    reader.startPart(part)
    for await (const rows of rowsOfPart(part, base, content, hooks)) {
      reader.load(rows)
      for (let batch = reader.nextBatch(); batch !== undefined; batch = reader.nextBatch()) yield batch
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
    yield* part.rows === 'files' ? wholeFile(chunks, most, part) : lineBlocks(chunks, most, part.start)
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

async function* wholeFile(chunks, most, { path }) {
  const row = new Gatherer(most, tooLong)
  let isTooLong = false
  for await (const chunk of chunks) {
    isTooLong ||= row.length + chunk.length > most
    if (isTooLong) row.take()
    else row.push(chunk)
  }
  yield [{ path, bytes: isTooLong ? undefined : row.take(), at: 0, line: 1 }]
}
