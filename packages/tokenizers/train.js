'use strict'

// Training, as `Tokenizer.train` of the npm package tokenizers does it: on this thread, with the
// default trainer of the model.

const fs = require('node:fs')

const { native } = require('tokenlane/internal/tokenizers.js')

const TRAINERS = {
  BPE: 'BpeTrainer',
  WordPiece: 'WordPieceTrainer',
  WordLevel: 'WordLevelTrainer',
  Unigram: 'UnigramTrainer',
}
/** Bytes that are read at once. */
const BLOCK_BYTES = 4 << 20
const NEWLINE = 10

/**
 * Trains a tokenizer on the lines of files.
 *
 * @param {any} parts its tokenizer.json
 * @param {string[]} files
 * @returns {Uint8Array} the tokenizer.json with the new vocabulary
 */
function trained(parts, files) {
  const { vocab, merges, ...model } = parts.model
  const training = native.training(Buffer.from(JSON.stringify({ ...parts, model })))
  for (const file of files) for (const lines of blocksOf(file)) native.countLines(training, lines)
  try {
    return native.trainSync(training, JSON.stringify({ type: TRAINERS[model.type] }))
  } catch (failure) {
    if (failure.code !== 'ERR_TOKENLANE_TRAIN_NO_WORDS') throw failure
    return Buffer.from(JSON.stringify({ ...parts, model: withoutTokens(model) }))
  }
}

/** What the original makes of files without words. */
function withoutTokens(model) {
  if (model.type === 'Unigram') return { ...model, unk_id: null, vocab: [] }
  return { ...model, vocab: {}, ...(model.type === 'BPE' && { merges: [] }) }
}

/** Yields a file in blocks of whole lines. */
function* blocksOf(file) {
  const descriptor = open(file)
  try {
    let rest = []
    for (;;) {
      const block = Buffer.alloc(BLOCK_BYTES)
      const bytes = block.subarray(0, fs.readSync(descriptor, block, 0, BLOCK_BYTES, null))
      if (bytes.length === 0) break
      const end = bytes.lastIndexOf(NEWLINE) + 1
      if (end > 0) {
        yield Buffer.concat([...rest, bytes.subarray(0, end)])
        rest = []
      }
      if (end < bytes.length) rest.push(bytes.subarray(end))
    }
    if (rest.length > 0) yield Buffer.concat(rest)
  } finally {
    fs.closeSync(descriptor)
  }
}

function open(file) {
  try {
    return fs.openSync(file, 'r')
  } catch (cause) {
    if (cause.code !== 'ENOENT') throw cause
    throw Object.assign(new Error('No such file or directory (os error 2)', { cause }), {
      code: 'ERR_TOKENLANE_FILE_NOT_FOUND',
    })
  }
}

module.exports = { trained }
