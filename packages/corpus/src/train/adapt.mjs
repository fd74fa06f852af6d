// Changes the vocabulary of a tokenizer to fit texts: more tokens, or only those that are used.

import { loadTokenizer } from 'tokenlane/internal/files.mjs'
import { native, componentsOf, Tokenizer, endsSoon } from 'tokenlane/internal/corpus.js'
import { wrongType } from '../errors.mjs'
import { checkExtendOptions, checkPruneOptions } from './options.mjs'
import { withCounts } from './train.mjs'

/**
 * @param {any} base see ./index.d.ts
 * @param {object} options
 */
export async function extendTokenizer(base, options) {
  const checked = checkExtendOptions(options)
  const { skipped: _, ...result } = await endsSoon(() => extended(base, checked), checked.signal)
  return result
}

/**
 * @param {any} base see ./index.d.ts
 * @param {object} options
 */
export async function pruneTokenizer(base, options) {
  const checked = checkPruneOptions(options)
  const { skipped: _, ...result } = await endsSoon(() => pruned(base, checked), checked.signal)
  return result
}

/** Like `extendTokenizer`, with checked options, and with the number of skipped texts. */
export async function extended(base, options) {
  const tokenizer = await tokenizerOf(base)
  const file = tokenizer.toBuffer()
  const extend = (entry, training) => native.extend(entry, training, file, JSON.stringify(options.extending))
  const { made, skipped } = await withCounts(options, componentsOf(tokenizer), extend)
  return {
    tokenizer: await Tokenizer.fromBuffer(made.file),
    newTokens: made.tokens.map((token, index) => ({ id: made.ids[index], token })),
    effect: effectOf(made.effect),
    skipped,
  }
}

/** Like `pruneTokenizer`, with checked options, and with the number of skipped texts. */
export async function pruned(base, options) {
  const tokenizer = await tokenizerOf(base)
  const file = tokenizer.toBuffer()
  const prune = (entry, training) => native.prune(entry, training, file)
  const { made, skipped } = await withCounts(options, componentsOf(tokenizer), prune)
  const ids = new Map()
  for (let index = 0; index < made.ids.length; index += 2) ids.set(made.ids[index], made.ids[index + 1])
  return { tokenizer: await Tokenizer.fromBuffer(made.file), ids, effect: effectOf(made.effect), skipped }
}

/** @returns {Promise<any>} */
async function tokenizerOf(base) {
  if (base instanceof Tokenizer) return base
  if (typeof base !== 'string' || base === '') throw wrongType('base', 'the name of a tokenizer, or a Tokenizer', base)
  return loadTokenizer(base)
}

const effectOf = ([bytes, tokensBefore, vocabularyBefore, tokensAfter, vocabularyAfter]) => ({
  bytes,
  tokensBefore,
  tokensAfter,
  vocabularyBefore,
  vocabularyAfter,
})
