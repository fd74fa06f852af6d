'use strict'

// Post-processing without a post-processor: truncates, merges and pads encodings.

const { copyOf, mergeEncodings } = require('./encoding.js')
const { truncationError } = require('./settings.js')

function postProcess(encoding, pair, truncation, padding) {
  const parts = [encoding, pair].filter(Boolean).map(copyOf)
  if (truncation) truncate(parts, truncation)
  const merged = parts.length === 2 ? mergeEncodings(parts) : parts[0]
  if (padding) {
    const { to, multipleOf, ...rest } = padding
    const length = to === 'longest' ? merged.getLength() : to
    merged.pad(Math.ceil(length / multipleOf) * multipleOf, rest)
  }
  return merged
}

/** Truncates one encoding or two so that they have at most `maxLength` tokens together. */
function truncate(parts, { maxLength, stride, strategy, direction }) {
  const lengths = parts.map((part) => part.getLength())
  const excess = lengths.reduce((a, b) => a + b, 0) - maxLength
  if (excess <= 0) return
  if (maxLength === 0) {
    for (const part of parts) part.truncate(0)
    return
  }
  const keep = {
    longest_first: () => longestFirst(lengths, maxLength),
    only_first: () => [lengths[0] - excess, lengths[1]],
    only_second: () => [lengths[0], lengths[1] - excess],
  }
  if (strategy === 'only_second' && parts.length === 1) throw truncationError('ERR_TOKENLANE_TRUNCATION_NO_SECOND_TEXT')
  const kept = keep[strategy]()
  if (strategy !== 'longest_first' && kept.some((length) => length <= 0)) {
    throw truncationError('ERR_TOKENLANE_TRUNCATION_TOO_SHORT')
  }
  parts.forEach((part, index) => part.truncate(kept[index], stride, direction))
}

/**
 * The lengths that are kept. The longer encoding loses tokens first. If that is not enough, both
 * keep half of `maxLength`, and for an odd `maxLength` the longer one keeps one more.
 */
function longestFirst(lengths, maxLength) {
  if (lengths.length === 1) return [maxLength]
  const isSwapped = lengths[0] > lengths[1]
  let [short, long] = isSwapped ? [lengths[1], lengths[0]] : lengths
  long = short > maxLength ? short : Math.max(short, maxLength - short)
  if (short + long > maxLength) {
    short = Math.floor(maxLength / 2)
    long = short + (maxLength % 2)
  }
  return isSwapped ? [long, short] : [short, long]
}

module.exports = { postProcess }
