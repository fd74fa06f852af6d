// The options of `mergeCorpora`.

import { checkKnown, signalOption } from 'tokenlane/internal/corpus.js'
import { contradiction, wrongType, wrongValue } from '../errors.mjs'
import { FORMATS } from '../formats/names.mjs'
import { CHOICES, MAX_ROW_IDS, choice, flag, listener, whole } from '../options.mjs'

/** Default number of tokens of a file. */
const TOKENS_PER_FILE = 1 << 26
/** Maximum number of uses of a document. */
const MAX_EPOCHS = 1000

/**
 * @typedef {object} MergeInput
 * @property {string} path
 * @property {number} epochs how often each document is used; a fraction is the share of documents
 * @property {number} [weight] the share of the tokens, relative to the other inputs
 * @property {number} [tokens] the number of tokens that the output has of it
 */

const ownOptions = (given) => ({
  tokens: whole(given, 'tokens', 1, Number.MAX_SAFE_INTEGER),
  tokensPerFile: whole(given, 'tokensPerFile', 1, Number.MAX_SAFE_INTEGER) ?? TOKENS_PER_FILE,
  tokensPerShard: whole(given, 'tokensPerShard', 1, Number.MAX_SAFE_INTEGER),
  shuffle: whole(given, 'shuffle', 0, Number.MAX_SAFE_INTEGER),
  dedup: flag(given, 'dedup'),
  format: choice(given, 'format', FORMATS),
  pack: whole(given, 'pack', 1, MAX_ROW_IDS),
  packing: choice(given, 'packing', CHOICES.packing),
  concurrency: whole(given, 'concurrency', 1, 64) ?? 2,
  resumeCheck: choice(given, 'resumeCheck', CHOICES.resumeCheck) ?? 'sha256',
  signal: signalOption(given.signal),
  onEvent: listener(given.onEvent),
})

const NAMES = ['inputs', 'output', ...Object.keys(ownOptions({}))]

/** Checks the options; everything that is not given has its default, apart from `format`. */
export function checkMerge(options) {
  checkKnown(options, NAMES)
  const { inputs: given, output } = options
  if (!Array.isArray(given)) throw wrongType('inputs', 'an array of folders', given)
  if (given.length === 0) throw contradiction('there are no inputs: name folders of jobs')
  if (typeof output !== 'string' || output === '') throw wrongType('output', 'a folder', output)
  const inputs = given.map(inputOf)
  const own = ownOptions(options)
  const { tokens, tokensPerShard, shuffle, dedup } = own
  const weighted = inputs.filter(({ weight }) => weight !== undefined).length
  if (weighted > 0 && weighted < inputs.length) throw contradiction('give all inputs a weight, or none')
  if (weighted > 0 && tokens === undefined)
    throw contradiction('weights are shares of a number of tokens: give the option tokens')
  const budgets = inputs.filter((input) => input.tokens !== undefined).length
  if (budgets > 0 && (tokens !== undefined || weighted > 0))
    throw contradiction('inputs have tokens of their own, so there are no weights and no tokens of the output')
  if (tokensPerShard !== undefined && (dedup || shuffle !== undefined || options.tokensPerFile !== undefined))
    throw contradiction(
      'tokensPerShard cuts tokens in their order: shuffle or dedup first, and merge the result with tokensPerShard alone',
    )
  return { inputs, output, ...own }
}

/** @returns {MergeInput} */
function inputOf(given, index) {
  const name = `inputs[${index}]`
  const input = typeof given === 'string' ? { path: given } : given
  checkKnown(input, ['path', 'epochs', 'weight', 'tokens'])
  const { path, epochs, weight } = input
  const tokens = whole(input, 'tokens', 1, Number.MAX_SAFE_INTEGER)
  if (typeof path !== 'string' || path === '') throw wrongType(`${name}.path`, 'a folder', path)
  if ([epochs, weight, tokens].filter((amount) => amount !== undefined).length > 1)
    throw contradiction(`${name}: give one of epochs, weight and tokens`)
  return {
    path,
    epochs: amount(`${name}.epochs`, epochs) ?? 1,
    ...(weight !== undefined && { weight: amount(`${name}.weight`, weight) }),
    ...(tokens !== undefined && { tokens }),
  }
}

function amount(name, value) {
  if (value === undefined) return undefined
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  if (!(value > 0 && value <= MAX_EPOCHS)) throw wrongValue(name, `a number above 0, at most ${MAX_EPOCHS}`, value)
  return value
}
