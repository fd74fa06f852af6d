'use strict'

// The bundled encodings for the drop-ins: with the names of other libraries, and with additional
// special tokens.

const { utf8Of } = require('./bytes.js')
const { Tokenizer, encodingDefinition, openFile, readFile } = require('./rank-files.js')
const { withAnyIds } = require('./special-ids.js')

/** The rank files of GPT-2 and r50k_base have the same tokens with the same ids. */
const ALIASES = { gpt2: 'r50k_base' }

const tokenizers = new Map()

/** Returns the pattern, the special tokens and the name of the rank file of an encoding. */
const definition = (name) => encodingDefinition(ALIASES[name] ?? name)

/**
 * Returns a tokenizer of an encoding with exactly these special tokens, and the stand-ins of those
 * that share an id. Equal arguments return the same tokenizer, so that drop-in objects share one
 * vocabulary.
 */
function withSpecialTokens(name, specialTokens) {
  const { file, pattern } = definition(name)
  return withAnyIds((own) => {
    const key = JSON.stringify([file, own])
    if (!tokenizers.has(key)) tokenizers.set(key, openFile(file, { pattern, specialTokens: own }))
    return tokenizers.get(key)
  }, specialTokens)
}

/** The same for ranks that the caller has: lines of base64 and rank. */
function ofRanks(ranks, pattern, specialTokens) {
  const bytes = utf8Of(ranks)
  return withAnyIds((own) => Tokenizer.fromBufferSync(bytes, { pattern, specialTokens: own }), specialTokens)
}

/** Returns the content of an encoding's rank file: one line of base64 and rank for each token. */
const ranksOf = (name) => readFile(definition(name).file)

/** The form of the originals' modules: a line `! RANK TOKEN TOKEN …` for consecutive ranks. */
function compressedRanksOf(name) {
  const lines = []
  let next
  for (const line of ranksOf(name).split('\n')) {
    if (line === '') continue
    const [token, rank] = line.split(' ')
    if (Number(rank) !== next) lines.push(['!', rank])
    lines.at(-1).push(token)
    next = Number(rank) + 1
  }
  return lines.map((line) => line.join(' ')).join('\n')
}

/**
 * The modules of the originals that have the ranks of an encoding, with their other fields. The
 * ranks are read on first use: an encoder of these ranks does not need them as text.
 */
function rankModule(name, fields) {
  let ranks
  return Object.defineProperty({ ...fields }, 'bpe_ranks', {
    get: () => (ranks ??= compressedRanksOf(name)),
    enumerable: true,
  })
}

module.exports = { definition, ofRanks, rankModule, ranksOf, withSpecialTokens }
