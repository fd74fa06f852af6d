// Writes SentencePiece models and charsmaps, also malformed ones.

const varint = (number) => (number < 128 ? [number] : [(number & 127) | 128, ...varint(Math.floor(number / 128))])
const bytes = (field, content) => {
  const all = Buffer.from(content)
  return Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(all.length)]), all])
}
const number = (field, value) => Buffer.from([...varint(field << 3), ...varint(value)])
const float = (field, value) => {
  const all = Buffer.alloc(5)
  all[0] = (field << 3) | 5
  all.writeFloatLE(value, 1)
  return all
}
const piece = ([text, score, kind]) =>
  bytes(1, Buffer.concat([bytes(1, text), float(2, score), ...(kind ? [number(3, kind)] : [])]))

/**
 * A Unigram model. `pieces` are [text, score, type]; an unknown piece is added as the first. With
 * `removesSpaces`, extra white space is removed.
 */
export function sentencePieceModel(pieces, { charsmap = Buffer.alloc(0), removesSpaces = false } = {}) {
  const flags = [number(3, 0), number(4, removesSpaces ? 1 : 0), number(5, 0)]
  return Buffer.concat([
    ...[['<unk>', 0, 2], ...pieces].map(piece),
    bytes(2, number(3, 1)),
    bytes(3, Buffer.concat([bytes(2, charsmap), ...flags])),
  ])
}

/** A charsmap from the units of its trie, by index, and the text of its replacements. */
export function charsmapOf(units, replacements) {
  const words = Math.max(...units.keys()) + 1
  const trie = Buffer.alloc(4 + 4 * words)
  trie.writeUInt32LE(4 * words)
  for (const [at, unit] of units) trie.writeUInt32LE(unit >>> 0, 4 + 4 * at)
  return Buffer.concat([trie, Buffer.from(replacements)])
}

/** A unit for the byte `label` at index `at`, whose children are at `base ^ byte`. */
export const unit = (label, at, base, isKey = false) => [at, label | (isKey ? 1 << 8 : 0) | ((at ^ base) << 10)]
/** The value of the key that ends at the node with this base. */
export const valueAt = (base, value) => [base, value | (1 << 31)]
