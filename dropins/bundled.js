'use strict'

// The bundled encodings for the drop-ins: with the names of other libraries, and with additional
// special tokens.

const native = require('../lib/native.js')
const { encodingPath } = require('../lib/package-root.js')
const fs = require('node:fs')

const { Tokenizer } = require('../lib/tokenizer.js')

/** The rank files of GPT-2 and r50k_base have the same tokens with the same ids. */
const ALIASES = { gpt2: 'r50k_base' }

const tokenizers = new Map()

/** Returns the pattern, the special tokens and the path of the rank file of an encoding. */
function definition(name) {
  const { file, pattern, specialTokens } = native.encodingDefinition(ALIASES[name] ?? name)
  return { pattern, specialTokens, file: encodingPath(file) }
}

/**
 * Returns a tokenizer of an encoding with exactly these special tokens. Equal arguments return the
 * same tokenizer, so that drop-in objects share one vocabulary.
 */
function withSpecialTokens(name, specialTokens) {
  const { file, pattern } = definition(name)
  const key = JSON.stringify([file, specialTokens])
  if (!tokenizers.has(key)) tokenizers.set(key, Tokenizer.fromFileSync(file, { pattern, specialTokens }))
  return tokenizers.get(key)
}

/** Returns the content of an encoding's rank file: one line of base64 and rank for each token. */
const ranksOf = (name) => fs.readFileSync(definition(name).file, 'latin1')

module.exports = { definition, withSpecialTokens, ranksOf }
