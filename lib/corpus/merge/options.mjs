// The options of `mergeCorpora`.

import { createRequire } from 'node:module'

import { typeError, wrongType, wrongValue } from '../errors.mjs'
import { FORMATS, MAX_ROW_IDS, choice, listener, whole } from '../options.mjs'

const require = createRequire(import.meta.url)
const { checkKnown, signalOption } = require('../../options.js')

/** Default number of tokens of a file. */
const TOKENS_PER_FILE = 1 << 26
/** Maximum number of uses of a document. */
const MAX_EPOCHS = 1000

const NAMES = [
  'inputs',
  'output',
  'tokensPerFile',
  'tokens',
  'shuffle',
  'format',
  'pack',
  'concurrency',
  'resumeCheck',
  'signal',
  'onEvent',
]

/**
 * @typedef {object} MergeInput
 * @property {string} path
 * @property {number} epochs how often each document is used; a fraction is the share of documents
 * @property {number} [weight] the share of the tokens, relative to the other inputs
 */

/** Checks the options; everything that is not given has its default, apart from `format`. */
export function checkMerge(options) {
  checkKnown(options, NAMES)
  const { inputs: given, output } = options
  if (!Array.isArray(given)) throw wrongType('inputs', 'an array of folders', given)
  if (given.length === 0) throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', 'there are no inputs: name folders of jobs')
  if (typeof output !== 'string' || output === '') throw wrongType('output', 'a folder', output)
  const inputs = given.map(inputOf)
  const tokens = whole(options, 'tokens', 1, Number.MAX_SAFE_INTEGER)
  const weighted = inputs.filter(({ weight }) => weight !== undefined).length
  if (weighted > 0 && weighted < inputs.length)
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', 'give all inputs a weight, or none')
  if (weighted > 0 && tokens === undefined)
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', 'weights are shares of a number of tokens: give the option tokens')
  return {
    inputs,
    output,
    tokens,
    tokensPerFile: whole(options, 'tokensPerFile', 1, Number.MAX_SAFE_INTEGER) ?? TOKENS_PER_FILE,
    shuffle: whole(options, 'shuffle', 0, Number.MAX_SAFE_INTEGER),
    format: choice(options, 'format', FORMATS),
    pack: whole(options, 'pack', 1, MAX_ROW_IDS),
    concurrency: whole(options, 'concurrency', 1, 64) ?? 2,
    resumeCheck: choice(options, 'resumeCheck', ['sha256', 'size']) ?? 'sha256',
    signal: signalOption(options.signal),
    onEvent: listener(options.onEvent),
  }
}

/** @returns {MergeInput} */
function inputOf(given, index) {
  const name = `inputs[${index}]`
  const input = typeof given === 'string' ? { path: given } : given
  checkKnown(input, ['path', 'epochs', 'weight'])
  const { path, epochs, weight } = input
  if (typeof path !== 'string' || path === '') throw wrongType(`${name}.path`, 'a folder', path)
  if (epochs !== undefined && weight !== undefined)
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', `${name} has epochs and a weight: give one of them`)
  return {
    path,
    epochs: amount(`${name}.epochs`, epochs) ?? 1,
    ...(weight !== undefined && { weight: amount(`${name}.weight`, weight) }),
  }
}

function amount(name, value) {
  if (value === undefined) return undefined
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  if (!(value > 0 && value <= MAX_EPOCHS)) throw wrongValue(name, `a number above 0, at most ${MAX_EPOCHS}`, value)
  return value
}
