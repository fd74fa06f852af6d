// Parts of compressed files. A file is cut between its frames, wherever they end: within a row or
// within a character. A row belongs to the part in which the line feed before it lies, so each part
// leaves out what comes before its first line feed, and reads on after its end to the next one.
// Thus no row is lost, none is read twice, and a part needs to know nothing about the others.
//
// Positions of rows are those in the decompressed file if the frames before the part say how many
// bytes they have. Otherwise (pzstd) they are counted from the start of the part.

import { codecOf, Failure } from 'tokenlane/internal/files.mjs'
import { framesOf, seekTable } from './frames.mjs'

const NEWLINE = 10

/**
 * A piece of a file that can be in one part.
 *
 * @typedef {object} Piece
 * @property {number} end the byte after it
 * @property {number} weight bytes of text
 */

/**
 * Yields the pieces of a compressed input: its frames, and the rest. Frames without content belong
 * to the piece after them.
 *
 * @param {any} input of a plan
 * @param {'gzip' | 'zstd'} codec
 * @param {number} ratio estimated bytes of text per compressed byte
 * @returns {AsyncGenerator<Piece & { content?: number }>} `content` is the exact number of bytes,
 *   if the frame says so
 */
export async function* piecesOf(input, codec, ratio) {
  const { size } = input
  /** The end of the last frame, and of the last piece. */
  let [complete, start] = [0, 0]
  let last
  for await (const { end, content } of await frames(input, codec)) {
    complete = end
    if (content === 0) continue
    if (last !== undefined) yield last
    last = { end, weight: content ?? (end - start) * ratio, content }
    start = end
  }
  // A rest that cannot be read alone, such as zeros after a gzip file, belongs to the last piece.
  const isAlone = last === undefined || (complete < size && (await startsWith(input, start, codec)))
  if (last !== undefined) yield isAlone ? last : { ...last, end: size }
  if (isAlone) yield { end: size, weight: (size - start) * ratio }
}

const startsWith = async (input, position, codec) => codecOf(await input.read(position, 4)) === codec

/** The frames of an input. A store in which each read is a request only has the table. */
async function frames(given, codec) {
  const input = 'opened' in given ? await given.opened() : given
  const table = codec === 'zstd' ? await seekTable(input.size, (from, length) => input.read(from, length)) : undefined
  if (table !== undefined) return table
  return input.readNow === undefined ? [] : framesOf(codec, input.size, (from, buffer) => input.readNow(from, buffer))
}

/** Throws if a part does not start with a frame, because the table of the file is wrong. */
export async function checkFrame(input, start, codec) {
  if (await startsWith(input, start, codec)) return
  const reason = `${input.path}: its table of frames is wrong: there is no frame at byte ${start}`
  throw new Failure('DECOMPRESS', `${reason}; compress it again`)
}

/**
 * The decompressed bytes of the rows that belong to a part.
 *
 * @param {import('./part.mjs').Part & { isCut?: boolean, until?: number }} part see `piecesOf` of
 *   Damage
 * @param {(start: number, end: number) => AsyncIterable<Buffer>} decompressed the decompressed
 *   bytes of a range. A chunk is valid until the next one is requested
 * @returns {Promise<{ chunks: AsyncIterable<Buffer>, position: number }>} `position` is that of the
 *   first byte in the decompressed file, or in the part if its `offset` is not known
 */
export async function ownBytes({ start, end, size, offset = 0, isCut, until = size }, decompressed) {
  const inside = decompressed(start, end)[Symbol.asyncIterator]()
  let position = offset
  let first = Buffer.alloc(0)
  let isFound = start === 0
  while (!isFound) {
    const { value, done } = await inside.next()
    if (done) return { chunks: nothing(), position }
    const newline = value.indexOf(NEWLINE)
    isFound = newline !== -1
    first = value.subarray(isFound ? newline + 1 : value.length)
    position += value.length - first.length
  }
  async function* chunks() {
    if (first.length > 0) yield first
    yield* { [Symbol.asyncIterator]: () => inside }
    if (end < size && !isCut) yield* throughNewline(decompressed(end, until))
  }
  return { chunks: isCut ? withoutLastRow(chunks()) : chunks(), position }
}

async function* nothing() {}

/** Yields chunks up to the last line feed. */
async function* withoutLastRow(chunks) {
  let row = []
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > 0) {
      yield* row
      row = []
      yield chunk.subarray(0, end)
    }
    // A chunk is valid until the next one is requested.
    row.push(Buffer.from(chunk.subarray(end)))
  }
}

async function* throughNewline(chunks) {
  for await (const chunk of chunks) {
    const newline = chunk.indexOf(NEWLINE)
    yield newline === -1 ? chunk : chunk.subarray(0, newline + 1)
    if (newline !== -1) return
  }
}
