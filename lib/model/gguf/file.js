'use strict'

// Reads the metadata of a GGUF file on disk. Only its first bytes are read, however large it is.

const { readStart, readStartSync } = require('../../regular-file.js')
const { step } = require('../../steps.js')
const { MAX_BYTES, isGguf, metadataOf, unended } = require('./metadata.js')

/** Bytes of the first read, and how many times as much the next one reads. */
const FIRST_BYTES = 4 * 2 ** 20
const GROWTH = 4
const MAGIC_BYTES = 4

/** @typedef {import('./metadata.js').Metadata} Metadata */

/** The first bytes of a file; undefined for one that cannot be read. */
function* startOf(file, length) {
  try {
    return yield step(
      () => readStartSync(file, length),
      () => readStart(file, length),
    )
  } catch {
    return undefined
  }
}

/**
 * The metadata of a GGUF file with its bytes, as work of lib/steps.js; undefined for another file,
 * and for one that cannot be read.
 *
 * @returns {Generator<any, (Metadata & { bytes: Uint8Array }) | undefined, any>}
 */
function* ggufOf(file) {
  const magic = yield* startOf(file, MAGIC_BYTES)
  if (magic === undefined || !isGguf(magic)) return undefined
  for (let wanted = FIRST_BYTES; ; wanted = Math.min(wanted * GROWTH, MAX_BYTES)) {
    const bytes = yield* startOf(file, wanted)
    if (bytes === undefined) return undefined
    const metadata = isGguf(bytes) ? yield* metadataOf(bytes) : undefined
    if (metadata !== undefined) return { ...metadata, bytes: bytes.subarray(0, metadata.length) }
    if (bytes.length < wanted || wanted === MAX_BYTES) throw unended(bytes.length)
  }
}

module.exports = { ggufOf }
