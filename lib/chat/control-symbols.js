'use strict'

// The control symbols of a SentencePiece model, such as <s>. Its library never finds them in text,
// but chat templates write them.

/**
 * The tokenizer with its control symbols as added tokens; itself if it has none.
 *
 * @param {any} tokenizer
 */
function withControlSymbols(tokenizer) {
  const known = tokenizer.specialTokens
  const other = firstOfText(tokenizer)
  if (other === undefined) return tokenizer
  const without = tokenizer.decode([other, other])
  const stream = tokenizer.decodeStream()
  stream.push(other)
  const addedTokens = []
  // Only they decode to nothing between two others. At the start of a text, a space does, too; in a
  // stream, which is faster, a part of a character does.
  for (const [id, content] of tokenizer.tokens())
    if (stream.push(id) === '' && tokenizer.decode([other, id, other]) === without && !known.has(content))
      addedTokens.push({ content, special: true })
  return addedTokens.length === 0 ? tokenizer : tokenizer.with({ addedTokens })
}

/** The first id that decodes to text. */
function firstOfText(tokenizer) {
  for (const [id] of tokenizer.tokens()) if (tokenizer.decode([id]) !== '') return id
  return undefined
}

module.exports = { withControlSymbols }
