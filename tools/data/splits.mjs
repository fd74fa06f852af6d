// Computes for each token of a rank file the two tokens from which BPE merges it.
// crates/core/src/load/splits.rs reads the result and documents the format.

/** No merge makes the token. */
const NOT_MERGED = 0
/** The right part has this many bytes or more, which do not fit into four bits. */
const LONG_RIGHT_PART = 15

/**
 * @param {Buffer} ranks a rank file, in the order of the ranks
 * @returns {Buffer} the file of its splits
 */
export function splitsFile(ranks) {
  const tokens = tokensOf(ranks)
  const lengths = [...tokens.keys()].map((token) => Math.min(rightLength(token, tokens), LONG_RIGHT_PART))
  const nibbles = Buffer.alloc(Math.ceil(lengths.length / 2))
  lengths.forEach((length, place) => (nibbles[place >> 1] |= length << ((place & 1) * 4)))
  const head = Buffer.alloc(8)
  head.writeBigUInt64LE(checksum(ranks))
  return Buffer.concat([head, nibbles])
}

/**
 * The tokens of a rank file, a character for each byte, with their ranks, in the order of the file.
 *
 * @param {Buffer} ranks
 * @returns {Map<string, number>}
 */
export function tokensOf(ranks) {
  const tokens = new Map()
  for (const line of ranks.toString('latin1').split('\n').filter(Boolean)) {
    const [base64, rank] = line.split(' ')
    tokens.set(Buffer.from(base64, 'base64').toString('latin1'), Number(rank))
  }
  return tokens
}

/**
 * Merges the bytes of a token until two parts are left. Returns the length of the right part, or 0
 * if no merge makes the token.
 */
export function rightLength(token, ranks) {
  const parts = [...token]
  while (parts.length > 2) {
    let [first, lowest] = [-1, Infinity]
    for (let at = 0; at + 1 < parts.length; at += 1) {
      const rank = ranks.get(parts[at] + parts[at + 1]) ?? Infinity
      if (rank < lowest) [first, lowest] = [at, rank]
    }
    if (first < 0) return NOT_MERGED
    parts.splice(first, 2, parts[first] + parts[first + 1])
  }
  return parts.length < 2 ? NOT_MERGED : parts[1].length
}

function checksum(bytes) {
  const padded = Buffer.concat([bytes, Buffer.alloc(8 - (bytes.length % 8))])
  let sum = BigInt(bytes.length)
  for (let at = 0; at < padded.length; at += 8) {
    sum = BigInt.asUintN(64, (sum ^ padded.readBigUInt64LE(at)) * 0x9e3779b97f4a7c15n)
    sum = BigInt.asUintN(64, sum << 29n) | (sum >> 35n)
  }
  return sum
}
