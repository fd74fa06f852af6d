'use strict'

// The original's form of ranks: an array with the text of each token by its rank, or its bytes if
// they are not UTF-8.

const { definition, ranksOf } = require('tokenlane/internal/dropins/bundled.js')
const { base64Of, ofBase64, utf8Of } = require('tokenlane/internal/dropins/bytes.js')

// Does not return U+FEFF at the start of a token; the original has such tokens as bytes.
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Maps ranks to the name of their file, so that encodings of these ranks share a vocabulary. */
const BUNDLED = new WeakMap()

const found = new Map()

/** @returns {readonly (string | readonly number[])[]} */
function rawRanks(encoding) {
  const { file } = definition(encoding)
  if (!found.has(file)) {
    const ranks = []
    for (const line of ranksOf(encoding).split('\n')) {
      if (line === '') continue
      const [token, rank] = line.split(' ')
      ranks[Number(rank)] = textOrBytes(ofBase64(token))
    }
    BUNDLED.set(Object.freeze(ranks), file)
    found.set(file, ranks)
  }
  return found.get(file)
}

function textOrBytes(bytes) {
  try {
    const text = utf8.decode(bytes)
    if (utf8Of(text).length === bytes.length) return text
  } catch {}
  return [...bytes]
}

/** Whether these are the ranks of the bundled encoding. */
const areBundled = (ranks, encoding) => BUNDLED.get(ranks) === definition(encoding).file

/** Lines of base64 and rank. */
function linesOf(ranks) {
  const line = ([rank, token]) => `${base64Of(typeof token === 'string' ? utf8Of(token) : token)} ${rank}\n`
  return Object.entries(ranks).map(line).join('')
}

module.exports = { areBundled, linesOf, rawRanks }
