'use strict'

// The content of the modules under js-tiktoken/ranks: the first argument of the Tiktoken
// constructor.

const { rankModule } = require('tokenlane/internal/dropins/bundled.js')
const registry = require('@tokenlane/tiktoken/registry.json')

/** Maps a ranks object to the name of its bundled encoding, so that encoders share a vocabulary. */
const BUNDLED = new WeakMap()

const found = new Map()

/** @returns {{ pat_str: string, special_tokens: Record<string, number>, bpe_ranks: string }} */
function ranks(name) {
  if (!found.has(name)) {
    const { explicit_n_vocab, pat_str, special_tokens } = registry[name]
    const fields = { pat_str: forJavaScript(pat_str), special_tokens: { ...special_tokens } }
    const value = rankModule(name, explicit_n_vocab === undefined ? fields : { explicit_n_vocab, ...fields })
    BUNDLED.set(value, name)
    found.set(name, value)
  }
  return found.get(name)
}

/** A pattern without `(?i:…)`, which old versions of JavaScript do not have. */
const forJavaScript = (pattern) =>
  pattern.replace(/\(\?i:([^)]*)\)/g, (_, alternatives) => `(${alternatives.split('|').flatMap(spellings).join('|')})`)

/** A text with each of its letters in lower case and in upper case. */
function spellings(text) {
  if (text === '') return ['']
  const letters = [...new Set([text[0], text[0].toUpperCase()])]
  return letters.flatMap((letter) => spellings(text.slice(1)).map((rest) => letter + rest))
}

module.exports = { BUNDLED, ranks }
