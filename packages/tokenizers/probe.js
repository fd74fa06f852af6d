'use strict'

// Runs one component alone: builds a tokenizer that has only this component and a model with one
// token for each byte, and reads the component's output from the result.

const { EMPTY_FILE, Tokenizer } = require('tokenlane/internal/tokenizers.js')

const BYTES = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)

const file = (parts, tokens, model) => ({
  ...EMPTY_FILE,
  ...parts,
  model: { type: 'BPE', vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges: [], ...model },
})

const load = (json) => Tokenizer.fromBufferSync(Buffer.from(JSON.stringify(json)))
const ofBytes = (parts) => load(file(parts, BYTES, { byte_fallback: true }))
const textOf = (ids) => Buffer.from(ids).toString()

function normalize(json, text) {
  return textOf(ofBytes({ normalizer: json }).encode(text).ids)
}

/** Returns the words with their offsets, in code points. */
function preTokenize(json, text) {
  const { ids, offsets, wordIds } = ofBytes({ pre_tokenizer: json }).encode(text, { offsets: 'codepoint' })
  const words = []
  for (let at = 0; at < ids.length; at++) {
    const word = (words[wordIds[at]] ??= { bytes: [], start: Infinity, end: 0 })
    word.bytes.push(ids[at])
    word.start = Math.min(word.start, offsets[2 * at])
    word.end = Math.max(word.end, offsets[2 * at + 1])
  }
  return words.map(({ bytes, start, end }) => [textOf(bytes), [start, end]])
}

function decode(json, tokens) {
  const all = [...new Set(tokens)]
  return load(file({ decoder: json }, all)).decode(tokens.map((token) => all.indexOf(token)))
}

module.exports = { normalize, preTokenize, decode }
