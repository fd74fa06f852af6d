// The options of training: checked, and with their names in the addon.

import { checkKnown, checkNames, checkObject, signalOption } from 'tokenlane/internal/corpus.js'
import { defaultConcurrency } from '../concurrency.mjs'
import { CHOICES, SHARD_SIZE, checkContent, choice, listener, queueName, queueProblem, whole } from '../options.mjs'
import { MIN_MEMORY, defaultMemory } from '../count-words.mjs'
import { contradiction, wrongType, wrongValue } from '../errors.mjs'

/** The trainers of the addon by the names of the models. */
const TRAINERS = {
  bpe: 'BpeTrainer',
  wordpiece: 'WordPieceTrainer',
  wordlevel: 'WordLevelTrainer',
  unigram: 'UnigramTrainer',
}

export const MODELS = Object.keys(TRAINERS)

/** Parts of a tokenizer.json, with their names there. */
export const PARTS = {
  normalizer: 'normalizer',
  preTokenizer: 'pre_tokenizer',
  decoder: 'decoder',
  postProcessor: 'post_processor',
}

/** Options of reading inputs. */
const INPUT_OPTIONS = ['filesFrom', 'rows', 'field', 'maxRow', 'maxRatio']

/** The largest whole number that the addon takes. */
const MAX_INT32 = 2 ** 31 - 1
/** Characters of a piece: the limit of the trainer, whose time is proportional to it. */
const MAX_PIECE_LENGTH = 256

const number = (least, most) => (name, value) => {
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw wrongValue(name, `a whole number from ${least} to ${most}`, value)
}

function fraction(name, value) {
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  if (value > 0 && value < 1) return value
  throw wrongValue(name, 'a number between 0 and 1', value)
}

function string(name, value) {
  if (typeof value !== 'string') throw wrongType(name, 'a string', value)
  if (value.isWellFormed()) return value
  throw wrongValue(name, 'a string without half of a surrogate pair', value)
}

function tokenText(name, value) {
  if (string(name, value) !== '') return value
  throw wrongValue(name, 'a string that is not empty', value)
}

function strings(name, value) {
  if (!Array.isArray(value)) throw wrongType(name, 'an array of strings', value)
  return value.map((one, index) => string(`${name}[${index}]`, one))
}

const TOKEN_FLAGS = { singleWord: 'single_word', lstrip: 'lstrip', rstrip: 'rstrip', normalized: 'normalized' }

function specialTokens(name, value) {
  if (!Array.isArray(value)) throw wrongType(name, 'an array of tokens', value)
  return value.map((token, index) => specialToken(`${name}[${index}]`, token))
}

function specialToken(name, token) {
  if (typeof token === 'string') return specialToken(name, { content: token })
  checkObject(token, name, 'a string, or an object with content')
  checkNames(token, ['content', ...Object.keys(TOKEN_FLAGS)], name)
  const content = tokenText(`${name}.content`, token.content)
  const flags = Object.entries(TOKEN_FLAGS).map(([flag, spelled]) => {
    const value = token[flag] ?? false
    if (typeof value !== 'boolean') throw wrongType(`${name}.${flag}`, 'a boolean', value)
    return [spelled, value]
  })
  return { content, ...Object.fromEntries(flags) }
}

/**
 * The options of the trainers: the check of each, its name in the addon, and the models it is for.
 */
const OF_TRAINERS = /** @type {Record<string, [(name: string, value: any) => any, string, string[]]>} */ ({
  vocabSize: [number(1, MAX_INT32), 'vocab_size', MODELS],
  minFrequency: [number(0, Number.MAX_SAFE_INTEGER), 'min_frequency', ['bpe', 'wordpiece', 'wordlevel']],
  specialTokens: [specialTokens, 'special_tokens', MODELS],
  limitAlphabet: [number(0, MAX_INT32), 'limit_alphabet', ['bpe', 'wordpiece']],
  initialAlphabet: [strings, 'initial_alphabet', ['bpe', 'wordpiece', 'unigram']],
  continuingSubwordPrefix: [string, 'continuing_subword_prefix', ['bpe', 'wordpiece']],
  endOfWordSuffix: [string, 'end_of_word_suffix', ['bpe', 'wordpiece']],
  maxTokenLength: [number(1, MAX_INT32), 'max_token_length', ['bpe']],
  shrinkingFactor: [fraction, 'shrinking_factor', ['unigram']],
  maxPieceLength: [number(1, MAX_PIECE_LENGTH), 'max_piece_length', ['unigram']],
  nSubIterations: [number(1, 1000), 'n_sub_iterations', ['unigram']],
  seedSize: [number(1, MAX_INT32), 'seed_size', ['unigram']],
  unkToken: [tokenText, 'unk_token', MODELS],
})

/** Options of what is counted, and how. */
const COUNT_OPTIONS = ['inputs', 'texts', ...INPUT_OPTIONS, 'onError', 'memory', 'onProgress', 'signal']

/** Options of counting in a job. All but the first one need it. */
const JOB_OPTIONS = [
  ...['workDir', 'shardSize', 'concurrency', 'resumeCheck'],
  ...['queue', 'queueName', 'giveUpSeconds', 'onEvent'],
]
COUNT_OPTIONS.push(...JOB_OPTIONS)

/** The names of the options of `trainTokenizer`. */
const NAMES = [...COUNT_OPTIONS, 'model', 'like', ...Object.keys(PARTS), ...Object.keys(OF_TRAINERS)]

/** The options of `extendTokenizer`, with their names in the addon. */
const OF_EXTENDING = {
  newTokens: [number(1, MAX_INT32), 'new_tokens'],
  minFrequency: [number(0, Number.MAX_SAFE_INTEGER), 'min_frequency'],
  maxTokenLength: [number(1, MAX_INT32), 'max_token_length'],
}

/**
 * @typedef {object} CountOptions the checked options of what is counted, and how
 * @property {string[]} inputs
 * @property {string} [filesFrom]
 * @property {Iterable<string> | AsyncIterable<string>} [texts]
 * @property {import('../options.mjs').Content & { keepsLineEnds: true }} content how inputs
 *   are read
 * @property {string[]} [exclude] the real paths of files that folders and patterns do not name
 * @property {number} memory in bytes
 * @property {JobOptions} [job]
 * @property {(progress: object) => void} [onProgress]
 * @property {AbortSignal} [signal]
 */

/**
 * @typedef {object} JobOptions
 * @property {string} workDir
 * @property {number} shardSize in bytes
 * @property {number} tableMemory in bytes
 * @property {number} concurrency
 * @property {'sha256' | 'size'} resumeCheck
 * @property {string} [queue]
 * @property {string} queueName
 * @property {number} [giveUpSeconds]
 * @property {(event: object) => void} onEvent
 */

/**
 * @typedef {object} TrainerOptions
 * @property {string} [model]
 * @property {string | import('tokenlane').Tokenizer} [like]
 * @property {Record<string, object | null>} parts of a tokenizer.json, by their names there
 * @property {Record<string, any>} given the options of trainers that are given, checked
 */

/** @typedef {CountOptions & TrainerOptions} Options the checked options of training */

/**
 * Checks the options of `trainTokenizer`.
 *
 * @param {any} options
 * @returns {Options}
 */
export function checkOptions(options) {
  checkKnown(options, NAMES)
  const { model, like } = options
  if (model !== undefined && typeof model !== 'string') throw wrongType('model', oneOf(MODELS), model)
  if (model !== undefined && !MODELS.includes(model)) throw wrongValue('model', oneOf(MODELS), model)
  if (like === '') throw wrongValue('like', 'the name of a tokenizer', like)
  return { ...countOptions(options), model, like, parts: partsOf(options), given: trainerOptions(options) }
}

/**
 * Checks the options of `extendTokenizer`.
 *
 * @param {any} options
 * @returns {CountOptions & { extending: Record<string, number> }}
 */
export function checkExtendOptions(options) {
  checkKnown(options, [...COUNT_OPTIONS, ...Object.keys(OF_EXTENDING)])
  /** @type {Record<string, number>} */
  const extending = {}
  for (const [name, [check, spelled]] of Object.entries(OF_EXTENDING))
    if (options[name] !== undefined)
      extending[/** @type {string} */ (spelled)] = /** @type {any} */ (check)(name, options[name])
  return { ...countOptions(options), extending }
}

/**
 * Checks the options of `pruneTokenizer`.
 *
 * @param {any} options
 * @returns {CountOptions}
 */
export function checkPruneOptions(options) {
  checkKnown(options, COUNT_OPTIONS)
  return countOptions(options)
}

/** @returns {CountOptions} */
function countOptions(options) {
  const inputs = inputsOf(options.inputs)
  const texts = textsOf(options.texts)
  if (inputs.length === 0 && options.filesFrom === undefined && texts === undefined)
    throw contradiction('there is nothing to train on: give inputs or texts')
  if (texts !== undefined) {
    for (const name of ['inputs', ...INPUT_OPTIONS, ...JOB_OPTIONS])
      if (options[name] !== undefined) throw contradiction(`${name} is for files, so it cannot go with texts`)
  }
  const { filesFrom, rows, field, onError, maxRow, maxRatio, onProgress } = options
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw wrongType('onProgress', 'a function', onProgress)
  if (filesFrom !== undefined) string('filesFrom', filesFrom)
  const memory = options.memory === undefined ? defaultMemory() : number(MIN_MEMORY, 2 ** 50)('memory', options.memory)
  return {
    inputs,
    filesFrom,
    texts,
    content: { ...checkContent({ rows, field, onError, maxRow, maxRatio, shardSize: 2 ** 40 }), keepsLineEnds: true },
    memory,
    job: jobOptions(options, memory),
    onProgress,
    signal: signalOption(options.signal),
  }
}

/** @returns {JobOptions | undefined} */
function jobOptions(options, tableMemory) {
  const { workDir, queue, onEvent } = options
  if (workDir === undefined) {
    const other = JOB_OPTIONS.find((name) => options[name] !== undefined)
    if (other === undefined) return undefined
    throw contradiction(`${other} needs workDir, the folder that the counts of shards are written to`)
  }
  if (string('workDir', workDir) === '') throw wrongValue('workDir', 'a folder', workDir)
  if (queue !== undefined && string('queue', queue) === '') throw wrongValue('queue', 'a URL', queue)
  const conflict = queueProblem(options)
  if (conflict !== undefined) throw contradiction(conflict)
  return {
    workDir,
    tableMemory,
    shardSize: whole(options, 'shardSize', 1, 2 ** 40) ?? SHARD_SIZE,
    concurrency: whole(options, 'concurrency', 1, 256) ?? defaultConcurrency(),
    resumeCheck: /** @type {any} */ (choice(options, 'resumeCheck', CHOICES.resumeCheck)) ?? 'sha256',
    queue,
    queueName: queueName(options.queueName),
    giveUpSeconds: whole(options, 'giveUpSeconds', 1, 86_400),
    onEvent: listener(onEvent),
  }
}

const oneOf = (names) => names.map((name) => `'${name}'`).join(' or ')

function inputsOf(value) {
  const inputs = typeof value === 'string' ? [value] : (value ?? [])
  if (Array.isArray(inputs) && inputs.every((name) => typeof name === 'string' && name !== '')) return inputs
  throw wrongType('inputs', 'a path or an array of paths', value)
}

function textsOf(texts) {
  if (texts === undefined) return undefined
  const isIterable =
    typeof texts === 'object' &&
    texts !== null &&
    (typeof texts[Symbol.iterator] === 'function' || typeof texts[Symbol.asyncIterator] === 'function')
  if (!isIterable) throw wrongType('texts', 'an iterable or an async iterable of strings', texts)
  return texts
}

/**
 * The parts of a tokenizer.json that are given. `null` is a part that the tokenizer does not have.
 */
function partsOf(options) {
  const parts = {}
  for (const [name, spelled] of Object.entries(PARTS)) {
    const part = options[name]
    if (part === undefined) continue
    if (part !== null) checkPart(name, part)
    parts[spelled] = part
  }
  return parts
}

/** Throws unless a value can be a part of a tokenizer.json. */
function checkPart(name, part) {
  const expected = 'a part of a tokenizer.json (an object), or null'
  checkObject(part, name, expected)
  try {
    JSON.stringify(part)
  } catch {
    // It contains itself, or a BigInt.
    throw wrongType(name, expected, part)
  }
}

/** Checks the options of trainers that are given. */
function trainerOptions(options) {
  const given = {}
  for (const [name, [check]] of Object.entries(OF_TRAINERS))
    if (options[name] !== undefined) given[name] = check(name, options[name])
  return given
}

/**
 * The trainer of a model, as the addon reads it. Options that belong to other models are errors.
 *
 * @param {string} model
 * @param {Record<string, any>} given the checked options
 */
export function trainerOf(model, given) {
  const trainer = { type: TRAINERS[model] }
  for (const [name, value] of Object.entries(given)) {
    const [, spelled, models] = OF_TRAINERS[name]
    if (!models.includes(model))
      throw contradiction(
        `${name} is for the ${models.length > 1 ? 'models' : 'model'} ${models.join(', ')}, and this is ${model}`,
      )
    // The unknown token of other models is a part of the model.
    if (name !== 'unkToken' || model === 'unigram') trainer[spelled] = value
  }
  return trainer
}
