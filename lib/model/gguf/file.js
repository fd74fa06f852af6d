'use strict'

// Reads the metadata of a GGUF file on disk. Only its first bytes are read, however large it is.

const { error } = require('../../errors.js')
const { readStart, readStartSync } = require('../../regular-file.js')
const { MAX_BYTES, cut, isGguf, metadataOf } = require('./metadata.js')

/** Bytes of the first read, and how many times as much the next one reads. */
const FIRST_BYTES = 4 * 2 ** 20
const GROWTH = 4
const MAGIC_BYTES = 4

/** @typedef {{ values: Map<string, any>, bytes: Uint8Array }} Gguf */

/**
 * Yields how many of the first bytes of a file are needed, is sent them, and returns the metadata
 * with its bytes, or undefined if it is no GGUF file.
 *
 * @returns {Generator<number, Gguf | undefined, Uint8Array>}
 */
function* metadataSteps() {
  if (!isGguf(yield MAGIC_BYTES)) return undefined
  for (let wanted = FIRST_BYTES; ; wanted = Math.min(wanted * GROWTH, MAX_BYTES)) {
    const bytes = yield wanted
    const metadata = isGguf(bytes) ? metadataOf(bytes) : undefined
    if (metadata !== undefined) return { values: metadata.values, bytes: bytes.subarray(0, metadata.length) }
    if (bytes.length < wanted) throw cut()
    if (wanted === MAX_BYTES) {
      const message = `the metadata of the GGUF file has more than ${MAX_BYTES} bytes`
      throw error('ERR_TOKENLANE_TOO_LARGE', message)
    }
  }
}

/** The metadata of a GGUF file; undefined for another file, and for one that cannot be read. */
async function ggufOf(file) {
  const steps = metadataSteps()
  let step = steps.next()
  while (!step.done) {
    const bytes = await readStart(file, step.value).catch(() => undefined)
    if (bytes === undefined) return undefined
    step = steps.next(bytes)
  }
  return step.value
}

/** Like ggufOf, but synchronous. */
function ggufOfSync(file) {
  const steps = metadataSteps()
  let step = steps.next()
  while (!step.done) {
    let bytes
    try {
      bytes = readStartSync(file, step.value)
    } catch {
      return undefined
    }
    step = steps.next(bytes)
  }
  return step.value
}

module.exports = { ggufOf, ggufOfSync }
