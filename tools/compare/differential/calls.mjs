// Calls whose answers follow from `count` and `encode`. Each is compared with its definition, which
// takes quadratic time, so texts are short.

import { Buffer } from 'node:buffer'

import { comparedPieces, piecesByDefinition } from './pieces.mjs'

const MAX_UNITS = 60
const LIMITS = [0, 1, 2, 3, 5, 8, 13, 21]

/**
 * The calls whose answer differs from its definition, as messages.
 *
 * @param {any} tokenizer
 * @param {string} whole
 * @param {any} options those of `count`
 */
export function inconsistencies(tokenizer, whole, options) {
  const plain = tokenizer.with({ truncation: null, padding: null })
  const text = whole.slice(0, MAX_UNITS).toWellFormed()
  const encoded = tried(() => plain.encode(text, options).ids)
  if (encoded.code !== undefined) return [] // such as an unknown token that is missing
  const subject = { tokenizer, plain, text, options, ids: encoded.value }
  const limits = [...new Set([...LIMITS, subject.ids.length - 1, subject.ids.length])].filter((limit) => limit >= 0)
  const found = tokenizer.count(text, options) === subject.ids.length ? [] : ['count']
  for (const limit of limits) {
    found.push(...starts(subject, limit))
    if (tokenizer.isWithin(text, limit, options) !== subject.ids.length <= limit) found.push(`isWithin ${limit}`)
    if (limit > 0) found.push(...splits(subject, limit))
  }
  return found
}

function tried(call) {
  try {
    return { value: call() }
  } catch (error) {
    return { code: error.code ?? String(error) }
  }
}

/** Checks `truncate` and `encodeInto` of the text and of its bytes. */
function starts({ tokenizer, plain, text, options }, limit) {
  const canBeEmpty = tokenizer.count('', options) <= limit
  const pieces = piecesByDefinition(tokenizer, text, { ...options, maxTokens: limit }, true)
  const start = text.slice(0, pieces?.[0]?.end ?? 0)
  const bytes = Buffer.from(text)
  const found = []
  for (const [input, read] of [
    [text, start.length],
    [bytes, Buffer.byteLength(start)],
  ]) {
    const { value, code } = tried(() => Buffer.from(tokenizer.truncate(input, limit, options)).toString())
    const isRight = canBeEmpty ? value === start : code === 'ERR_TOKENLANE_LIMIT_TOO_SMALL'
    if (!isRight) found.push(`truncate ${limit}: ${JSON.stringify([value, code, start])}`)
    const ids = new Uint32Array(limit)
    const into = tokenizer.encodeInto(input, ids, options)
    const alone = (start === '' && text !== '') || !canBeEmpty ? [] : [...plain.encode(start, options).ids]
    const written = [...ids.subarray(0, into.written)]
    if (into.read !== read || String(written) !== String(alone))
      found.push(`encodeInto ${limit}: ${JSON.stringify([into, written, start, alone])}`)
  }
  return found
}

/** Checks `split` with several boundaries. */
function splits({ tokenizer, text, options }, maxTokens) {
  const cases = [{}, { boundary: 'sentence' }, { overlap: Math.min(2, maxTokens - 1) }]
  return cases.flatMap((limits) => {
    const all = { ...options, ...limits, maxTokens }
    const { found, expected } = comparedPieces(tokenizer, text, all)
    return JSON.stringify(found) === JSON.stringify(expected)
      ? []
      : [`split ${JSON.stringify({ ...limits, maxTokens, found, expected })}`]
  })
}
