// What is compressed is told by its first bytes, not by its name; neither gzip nor Zstandard starts like UTF-8 can.

import { Readable, pipeline } from 'node:stream'
import zlib from 'node:zlib'

import { Failure } from '../failure.mjs'

const isGzip = (head) => head[0] === 0x1f && head[1] === 0x8b
/** A frame, or one that is to be skipped. */
const isZstd = (head) => head.length >= 4 && (head.readUInt32LE(0) === 0xfd2fb528 || head.readUInt32LE(0) >>> 4 === 0x184d2a5)

/** The bytes that chunks of bytes stand for. */
export async function* decompressed(chunks) {
  const { head, all } = await peek(chunks[Symbol.asyncIterator](), 4)
  if (isGzip(head)) yield* through(zlib.createGunzip({ chunkSize: 1 << 18 }), all, 'gzip')
  else if (!isZstd(head)) yield* all
  // Node has Zstandard since 22.15.
  else if (zlib.createZstdDecompress) yield* through(zlib.createZstdDecompress({ chunkSize: 1 << 18 }), all, 'Zstandard')
  else yield* unzstd(all)
}

/** The first bytes, and all chunks, those included. */
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
    yield* first
    if (!ended) yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { head: Buffer.concat(first), all: all() }
}

async function* through(transform, chunks, format) {
  const source = Readable.from(chunks, { objectMode: false })
  // An error of one of the two ends the loop below.
  pipeline(source, transform, () => {})
  try {
    yield* transform
  } catch (error) {
    throw damaged(format, error, /^(Z_|ERR_ZSTD|ZSTD_)/.test(error.code))
  }
}

async function* unzstd(chunks) {
  const { Decompress } = await fzstd()
  let made = []
  const stream = new Decompress((chunk) => made.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)))
  const push = (chunk, isLast) => {
    try {
      stream.push(chunk, isLast)
    } catch (error) {
      throw damaged('Zstandard', error, true)
    }
    return made.splice(0)
  }
  for await (const chunk of chunks) yield* push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length), false)
  yield* push(new Uint8Array(0), true)
}

async function fzstd() {
  try {
    return await import('fzstd')
  } catch (error) {
    const message = 'it is compressed with Zstandard, for which this Node needs a package that is not installed: run "npm install fzstd", or use Node 22.15 or newer'
    throw new Failure('PACKAGE_MISSING', message, { cause: error })
  }
}

const damaged = (format, error, isFormat) => (isFormat ? new Failure('DECOMPRESS', `its ${format} data is damaged: ${error.message}`, { cause: error }) : error)
