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
  if (isGzip(head)) yield* gunzip(all)
  else if (isZstd(head)) yield* unzstd(all)
  else yield* all
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

async function* gunzip(chunks) {
  const stream = zlib.createGunzip({ chunkSize: 1 << 18 })
  // An error of one of the two ends the loop below.
  pipeline(Readable.from(chunks, { objectMode: false }), stream, () => {})
  try {
    yield* stream
  } catch (error) {
    throw error.code?.startsWith('Z_') ? damaged('gzip', error) : error
  }
}

/** Node has a decompressor of its own since 22.15, but that one stops behind the first of several frames, without a word. */
async function* unzstd(chunks) {
  const { Decompress } = await fzstd()
  const made = []
  const stream = new Decompress((chunk) => made.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)))
  const push = (chunk, isLast) => {
    try {
      stream.push(chunk, isLast)
    } catch (error) {
      throw damaged('Zstandard', error)
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
    const message = 'it is compressed with Zstandard, which needs the package fzstd, and that is not installed: run "npm install fzstd"'
    throw new Failure('PACKAGE_MISSING', message, { cause: error })
  }
}

const damaged = (format, error) => new Failure('DECOMPRESS', `its ${format} data is damaged: ${error.message}`, { cause: error })
