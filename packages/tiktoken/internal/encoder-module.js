'use strict'

// The content of the modules under tiktoken/encoders: the arguments of the Tiktoken constructor.

const { rankModule } = require('tokenlane/internal/dropins/bundled.js')
const registry = require('../registry.json')

/** @returns {{ pat_str: string, special_tokens: Record<string, number>, bpe_ranks: string }} */
function encoder(name) {
  const { explicit_n_vocab, pat_str, special_tokens } = registry[name]
  const fields = { pat_str, special_tokens: { ...special_tokens } }
  return rankModule(name, explicit_n_vocab === undefined ? fields : { explicit_n_vocab, ...fields })
}

module.exports = { encoder }
