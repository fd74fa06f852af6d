'use strict'

// What the files under tiktoken/encoders hold: all that the constructor of Tiktoken takes.

const { definition, ranksOf } = require('../bundled.js')

function encoder(name) {
  const { pattern, specialTokens } = definition(name)
  return { pat_str: pattern, special_tokens: specialTokens, bpe_ranks: ranksOf(name) }
}

module.exports = { encoder }
