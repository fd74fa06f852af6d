// Decompresses gzip and Zstandard. The first bytes decide, not the name: no valid UTF-8 starts with
// the magic number of either format.

import { createRequire } from 'node:module'
import { Readable, pipeline } from 'node:stream'
import zlib from 'node:zlib'

import { Failure } from './failure.mjs'
import { codecOf } from './magic.mjs'
import { Ratio } from './ratio.mjs'
import { Xxhash64 } from './xxhash64.mjs'
import { ZstdGuard } from './zstd-guard.mjs'

const { importOptional } = createRequire(import.meta.url)('../optional.js')

/**
 * The number of compressed bytes in one call of the Zstandard decompressor, which keeps the whole
 * output of a call in memory and recurses for each frame.
 */
const SLICE_BYTES = 1 << 14

/**
 * Yields the decompressed bytes of chunks. Throws if a checksum of the data is wrong.
 *
 * @param {AsyncIterable<Buffer>} chunks
 * @param {Ratio} [ratio] the limit
 * @param {(position: number) => void} [onFrame] with Zstandard, receives the end of each frame
 *   whose bytes were yielded and are intact
 */
export async function* decompressed(chunks, ratio = new Ratio(), onFrame = () => {}) {
  const { head, all } = await peek(chunks[Symbol.asyncIterator](), 4)
  const codec = codecOf(head)
  if (codec === 'gzip') yield* gunzip(all, ratio)
  else if (codec === 'zstd') yield* unzstd(all, ratio, onFrame)
  else yield* all
}

/**
 * Returns the first bytes, and all chunks including those bytes. Whoever stops before the end of
 * the chunks closes their source.
 */
async function peek(iterator, length) {
  const first = []
  let bytes = 0
  let ended = false
  while (bytes < length && !ended) {
    const { value, done } = await iterator.next()
    ended = done
    if (!done) bytes += first.push(value) && value.length
  }
  async function* all() {
    try {
      yield* first
      if (!ended) yield* { [Symbol.asyncIterator]: () => iterator }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: Buffer.concat(first), all: all() }
}

async function* gunzip(chunks, ratio) {
  let bytes = 0
  /** The end of the bytes without the zeros at their end: tapes pad files with zeros. */
  let end = 0
  async function* counted() {
    for await (const chunk of chunks) {
      ratio.read(chunk.length)
      const last = chunk.findLastIndex((byte) => byte !== 0)
      if (last !== -1) end = bytes + last + 1
      bytes += chunk.length
      yield chunk
    }
  }
  const stream = zlib.createGunzip({ chunkSize: 1 << 18 })
  // An error of either stream ends the loop below.
  pipeline(Readable.from(counted(), { objectMode: false }), stream, () => {})
  try {
    for await (const chunk of stream) {
      ratio.make(chunk.length)
      yield chunk
    }
  } catch (error) {
    throw error.code?.startsWith('Z_') ? damaged('gzip', error.message, error) : error
  }
  // The decompressor ignores bytes that start no member.
  const rest = end - stream.bytesWritten
  if (rest > 0) throw damaged('gzip', `${rest} bytes at its end start no member`)
}

/**
 * Decompresses Zstandard. The decompressor of Node.js (since 22.15) is not used, because it stops
 * after the first of several frames without an error.
 */
async function* unzstd(chunks, ratio, onFrame) {
  const { Decompress } = await fzstd()
  const guard = new ZstdGuard()
  const output = []
  let position = 0
  /** The decompressor of the current frame, and the hash and the length of its output. */
  let frame
  const newFrame = () => {
    const hash = new Xxhash64()
    const stream = new Decompress((chunk) => {
      // Thrown through `push`, so that no more of the slice is decompressed.
      ratio.make(chunk.length)
      if (chunk.length === 0) return
      frame.length += chunk.length
      hash.update(chunk)
      output.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    })
    return { stream, hash, length: 0 }
  }
  const push = (slice, isLast) => {
    frame ??= newFrame()
    try {
      frame.stream.push(slice, isLast)
    } catch (error) {
      throw error instanceof Failure ? error : Object.assign(damaged('Zstandard', error.message, error), { position })
    }
    return output.splice(0)
  }
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
      const slice = new Uint8Array(chunk.buffer, chunk.byteOffset + from, Math.min(SLICE_BYTES, chunk.length - from))
      ratio.read(slice.length)
      for (let at = 0; at < slice.length; ) {
        const { to, ended } = guard.push(slice, at)
        yield* push(slice.subarray(at, to), ended !== undefined)
        position += to - at
        at = to
        if (ended === undefined) continue
        const { hash, length } = frame
        frame = undefined
        const { content = length, checksum = hash.digestLow() } = ended
        const isIntact = content === length && checksum === hash.digestLow()
        if (!isIntact)
          throw Object.assign(damaged('Zstandard', 'the checksum or the length of a frame is wrong'), { position })
        onFrame(position)
      }
    }
  }
  if (frame !== undefined) yield* push(new Uint8Array(0), true)
}

async function fzstd() {
  try {
    return await importOptional('fzstd', () => import('fzstd'))
  } catch (error) {
    const message = 'it is compressed with Zstandard, which needs the package fzstd; run "npm install fzstd"'
    throw new Failure('PACKAGE_MISSING', message, { cause: error })
  }
}

const damaged = (format, reason, cause = undefined) =>
  new Failure('DECOMPRESS', `its ${format} data is damaged: ${reason}`, cause && { cause })
