'use strict'

// What becomes of encodings when there is no post-processor: they are cut, put together and filled up.

const { copyOf, mergeEncodings } = require('./encoding.js')
const { inTheirWords } = require('./settings.js')

function postProcess(encoding, pair, truncation, padding) {
  const parts = [encoding, pair].filter(Boolean).map(copyOf)
  if (truncation) cut(parts, truncation)
  const made = parts.length === 2 ? mergeEncodings(parts) : parts[0]
  if (padding) {
    const { to, multipleOf, ...rest } = padding
    const length = to === 'longest' ? made.getLength() : to
    made.pad(Math.ceil(length / multipleOf) * multipleOf, rest)
  }
  return made
}

/** Cuts one text or two to `maxLength` together. */
function cut(parts, { maxLength, stride, strategy, direction }) {
  const lengths = parts.map((part) => part.getLength())
  const excess = lengths.reduce((a, b) => a + b, 0) - maxLength
  if (excess <= 0) return
  const keep = {
    longest_first: () => longestFirst(lengths, maxLength),
    only_first: () => [lengths[0] - excess, lengths[1]],
    only_second: () => [lengths[0], lengths[1] - excess],
  }
  if (strategy === 'only_second' && parts.length === 1) throw inTheirWords({ code: 'ERR_TOKENLANE_TRUNCATION_NO_SECOND_TEXT' })
  const kept = keep[strategy]()
  if (strategy !== 'longest_first' && kept.some((length) => length <= 0)) {
    throw inTheirWords({ code: 'ERR_TOKENLANE_TRUNCATION_TOO_SHORT' })
  }
  parts.forEach((part, index) => part.truncate(kept[index], stride, direction))
}

/** The longer of two gives first; then both have half, the second one more where that is odd. */
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
