// The tokenizers that a tokenizer would be with fewer tokens, for the curve of a report.

/** Parts of the vocabulary. */
const PARTS = [1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1]

/**
 * Yields tokenizers with the first tokens of a vocabulary. Those of BPE, WordPiece and WordLevel
 * are what training stops at with this size. For Unigram they are the pieces of the best scores,
 * which are close to it. Nothing for a tokenizer that a tokenizer.json cannot express.
 *
 * @param {import('tokenlane').Tokenizer} tokenizer
 * @returns {Generator<{ size: number, file: Buffer }>}
 */
export function* smallerOnes(tokenizer) {
  const json = jsonOf(tokenizer)
  if (json === undefined) return
  const { model } = json
  const all = Array.isArray(model.vocab) ? model.vocab.length : Object.keys(model.vocab).length
  const smallest = smallestOf(json)
  for (const part of PARTS) {
    const size = Math.round(all * part)
    if (size < smallest) continue
    const smaller = { ...json, post_processor: null, truncation: null, padding: null, model: cut(model, size) }
    yield { size, file: Buffer.from(JSON.stringify(smaller)) }
  }
}

function jsonOf(tokenizer) {
  try {
    return tokenizer.toJSON()
  } catch (failure) {
    if (failure.code !== 'ERR_TOKENLANE_SAVE') throw failure
    return undefined
  }
}

/** The size of an alphabet and of the added tokens, which stay. */
function smallestOf({ model, added_tokens: added }) {
  const tokens = Array.isArray(model.vocab) ? model.vocab.map(([token]) => token) : Object.keys(model.vocab)
  const isCharacter = (token) => [...token.replace(model.continuing_subword_prefix ?? '', '')].length <= 1
  return added.length + tokens.filter(isCharacter).length
}

function cut(model, size) {
  if (Array.isArray(model.vocab)) return { ...model, vocab: bestPieces(model, size) }
  const kept = Object.entries(model.vocab)
    .sort(([, a], [, b]) => a - b)
    .slice(0, size)
  const vocab = Object.fromEntries(kept)
  if (model.type !== 'BPE') return { ...model, vocab }
  const has = (token) => Object.hasOwn(vocab, token)
  const prefix = model.continuing_subword_prefix ?? ''
  const isKept = (pair) => {
    const [left, right] = typeof pair === 'string' ? pair.split(' ') : pair
    const joined = left + (prefix !== '' && right.startsWith(prefix) ? right.slice(prefix.length) : right)
    return has(left) && has(right) && has(joined)
  }
  return { ...model, vocab, merges: model.merges.filter(isKept) }
}

/** The single characters, and the pieces of the best scores, in their order. */
function bestPieces({ vocab, unk_id: unknown }, size) {
  const isNeeded = ([token], id) => id === unknown || [...token].length <= 1
  const needed = vocab.filter(isNeeded).length
  const scores = vocab.filter((entry, id) => !isNeeded(entry, id)).map(([, score]) => score)
  const least = scores.sort((a, b) => b - a)[Math.max(0, size - needed)] ?? -Infinity
  return vocab.filter((entry, id) => id <= (unknown ?? -1) || isNeeded(entry, id) || entry[1] > least)
}
