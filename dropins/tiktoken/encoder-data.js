'use strict'

// The content of the modules under tiktoken/encoders: the arguments of the Tiktoken constructor.

const { definition, ranksOf } = require('../bundled.js')

function encoder(name) {
  const { pattern, specialTokens } = definition(name)
  return { pat_str: pattern, special_tokens: specialTokens, bpe_ranks: ranksOf(name) }
}

module.exports = { encoder }
