'use strict'

// The bundled encodings as the drop-ins need them: under the names of other libraries, and with more special tokens.

const fs = require('node:fs')
const path = require('node:path')

const native = require('../lib/native.js')
const { Tokenizer } = require('../lib/tokenizer.js')

/** GPT-2's own file has the tokens of r50k_base under the same ids. */
const ALIASES = { gpt2: 'r50k_base' }

const made = new Map()

/** Pattern, special tokens and rank file of an encoding. */
function definition(name) {
  const { file, pattern, specialTokens } = native.encodingDefinition(ALIASES[name] ?? name)
  return { pattern, specialTokens, file: path.join(__dirname, '..', 'encodings', file) }
}

/** A tokenizer of an encoding with exactly these special tokens; the same one for the same tokens. */
function withSpecialTokens(name, specialTokens) {
  const { file, pattern } = definition(name)
  const key = JSON.stringify([file, specialTokens])
  if (!made.has(key)) made.set(key, Tokenizer.fromFileSync(file, { pattern, specialTokens }))
  return made.get(key)
}

/** The rank file of an encoding: lines of base64 and rank. */
const ranksOf = (name) => fs.readFileSync(definition(name).file, 'latin1')

module.exports = { definition, withSpecialTokens, ranksOf }
