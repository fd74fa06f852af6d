'use strict'

// The content of the modules under js-tiktoken/ranks: the first argument of the Tiktoken
// constructor.

const { definition, ranksOf } = require('../bundled.js')

/** Maps a ranks object to the name of its bundled encoding, so that encoders share a vocabulary. */
const BUNDLED = new WeakMap()

const found = new Map()

function ranks(name) {
  if (!found.has(name)) {
    const { pattern, specialTokens } = definition(name)
    let bpe_ranks
    const value = {
      pat_str: pattern,
      special_tokens: specialTokens,
      // Read on first use: an encoder of these ranks does not need them as text.
      get bpe_ranks() {
        bpe_ranks ??= compressed(ranksOf(name))
        return bpe_ranks
      },
    }
    BUNDLED.set(value, name)
    found.set(name, value)
  }
  return found.get(name)
}

/** The form of js-tiktoken: a line `! RANK TOKEN TOKEN …` for consecutive ranks. */
function compressed(text) {
  const lines = []
  let next
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [token, rank] = line.split(' ')
    if (Number(rank) !== next) lines.push(['!', rank])
    lines.at(-1).push(token)
    next = Number(rank) + 1
  }
  return lines.map((line) => line.join(' ')).join('\n')
}

module.exports = { BUNDLED, ranks }
