// The options of a corpus job. There are three groups: those that determine the bytes of the output
// (they are in job.json and equal on all machines), those that say where inputs and output are, and
// those that control this process.

import { MAX_RATIO, fieldProblem } from 'tokenlane/internal/files.mjs'
import { SPECIAL_TOKEN_MODES, checkKnown, checkNames, signalOption } from 'tokenlane/internal/corpus.js'
import { contradiction, wrongType, wrongValue } from './errors.mjs'
import { FORMATS, ROW_FORMATS } from './formats/names.mjs'
import { isHash, isObject } from './values.mjs'

/** The format of a job that counts words, from which a tokenizer is trained. */
export const WORDS = 'words'
/** The values of options that are one of a few; the commands take theirs from here. */
export const CHOICES = {
  type: ['u16', 'u32'],
  rows: ['json', 'lines', 'files'],
  packing: ['sequential', 'best-fit'],
  onError: ['fail', 'skip'],
  specialTokens: SPECIAL_TOKEN_MODES,
  maskBy: ['generation', 'origin'],
  maskTurns: ['all', 'last'],
  resumeCheck: ['sha256', 'size'],
}
/** Options of jobs whose documents are chats. */
const OF_CHATS = ['completion', 'tools', 'template', 'maskBy', 'maskTurns', 'maskRoles', 'withoutReasoning', 'date']
const MAX_ROLES = 32

/** Default size of a shard in bytes of text. */
export const SHARD_SIZE = 256 << 20
const MAX_SHARD_SIZE = 2 ** 40
/** Maximum number of ids in a row. Row lengths in Megatron's index have 31 bits. */
export const MAX_ROW_IDS = 2 ** 31 - 1
/** Maximum length of rows of best fit: tables with a bit for each length are in memory. */
const MAX_BEST_FIT = 1 << 20
export const MAX_CONCURRENCY = 256
export const QUEUE_NAME = 'tokenlane-corpus'

/**
 * @typedef {object} Options the checked options, with all defaults except those that depend on the
 *   tokenizer
 * @property {string[]} inputs
 * @property {string} [filesFrom]
 * @property {string} [output]
 * @property {string} [queue]
 * @property {string} queueName
 * @property {number} [giveUpSeconds]
 * @property {string} tokenizer
 * @property {string} [base] what cuts texts into words, if the job counts words
 * @property {string[]} [exclude] the real paths of more files that folders and patterns do not name
 * @property {number} [tableMemory] bytes for the words of a shard
 * @property {string} [encoding]
 * @property {string} [template] a file with a chat template
 * @property {boolean} dryRun
 * @property {'sha256' | 'size'} resumeCheck
 * @property {boolean} trustPlan
 * @property {boolean} append
 * @property {string} [hooks] the path of a module
 * @property {number} [concurrency] `undefined`: what a shard needs, see concurrency.mjs
 * @property {number} [threads]
 * @property {{ port: number, host: string }} [metrics]
 * @property {AbortSignal} [signal]
 * @property {(event: object) => void} onEvent
 * @property {Content} content
 */

/**
 * What renders chats: templates with the special tokens of the tokenizer, or the format of gpt-oss.
 *
 * @typedef {{ templates: string | Record<string, string>, tokens: Record<string, string> } |
 *   { isHarmony: true }} ChatParts
 */

/**
 * The options that, with the inputs and the tokenizer, determine the bytes of the output.
 *
 * @typedef {object} Content
 * @property {string} format
 * @property {'u16' | 'u32'} [type]
 * @property {'json' | 'lines' | 'files'} [rows]
 * @property {string} field
 * @property {string} [idField]
 * @property {string} [groupBy]
 * @property {boolean | string} bos
 * @property {boolean | string} eos
 * @property {number} [pack]
 * @property {'sequential' | 'best-fit'} [packing]
 * @property {string} [hooksSha256] of the module of hooks
 * @property {number} [shuffle]
 * @property {'skip' | 'fail'} onError
 * @property {[number, number]} [sample] a range of the hashes of documents, from 0 to 1
 * @property {number} [maxTokens]
 * @property {'parse' | 'text' | 'throw'} [specialTokens]
 * @property {string} [messages] the field with the messages of chats, which are the documents
 * @property {string} [completion] the field with the messages that follow them, which are learned
 * @property {string} [tools]
 * @property {'generation' | 'origin'} [maskBy]
 * @property {'all' | 'last'} [maskTurns] the turns that the loss mask has
 * @property {string[]} [maskRoles]
 * @property {true} [withoutReasoning]
 * @property {string} [date] the day that templates write
 * @property {ChatParts} [chat] what renders chats; only in a complete job
 * @property {number} [maxRow]
 * @property {number} [maxRatio]
 * @property {number} shardSize
 * @property {boolean} [keepsLineEnds] whether texts that are lines have their line ends; only for
 *   training
 * @property {string} [writer] the package that writes Parquet files, with its version
 */

/**
 * Checks the options of `tokenizeCorpus`.
 *
 * @param {any} options
 * @returns {Options}
 */
export function checkOptions(options) {
  checkKnown(options, NAMES)
  const given = options
  const inputs = typeof given.inputs === 'string' ? [given.inputs] : (given.inputs ?? [])
  if (!Array.isArray(inputs) || inputs.some((name) => typeof name !== 'string' || name === '')) {
    throw wrongType('inputs', 'a path or an array of paths', given.inputs)
  }
  const content = checkContent(given)
  const process = processOptions(given)
  const conflict = conflictOf(content, given, inputs, process.dryRun)
  if (conflict !== undefined) throw contradiction(conflict)
  return /** @type {any} */ ({ inputs, ...process, content })
}

/** Where the output is, and what controls this process. */
const processOptions = (given) => ({
  filesFrom: text(given, 'filesFrom'),
  output: text(given, 'output'),
  queue: text(given, 'queue'),
  queueName: queueName(given.queueName),
  giveUpSeconds: whole(given, 'giveUpSeconds', 1, 86_400),
  tokenizer: text(given, 'tokenizer') ?? 'o200k_base',
  encoding: text(given, 'encoding'),
  template: text(given, 'template'),
  dryRun: flag(given, 'dryRun'),
  resumeCheck: choice(given, 'resumeCheck', CHOICES.resumeCheck) ?? 'sha256',
  trustPlan: flag(given, 'trustPlan'),
  append: flag(given, 'append'),
  hooks: text(given, 'hooks'),
  concurrency: whole(given, 'concurrency', 1, MAX_CONCURRENCY),
  threads: whole(given, 'threads', 1, 256),
  metrics: metricsOption(given.metrics),
  signal: signalOption(given.signal),
  onEvent: listener(given.onEvent),
})

/**
 * Checks the options that determine the bytes of the output, from a call or from a job.json.
 *
 * @param {any} given
 * @param {string[]} [formats]
 * @returns {Content}
 */
export function checkContent(given, formats = FORMATS) {
  const format = choice(given, 'format', formats) ?? 'megatron'
  /** @type {any} */
  const content = {
    format,
    ...(format === WORDS && { keepsLineEnds: true }),
    type: choice(given, 'type', CHOICES.type),
    rows: choice(given, 'rows', CHOICES.rows),
    field: fieldPath(given, 'field') ?? 'text',
    idField: fieldPath(given, 'idField'),
    groupBy: fieldPath(given, 'groupBy'),
    bos: token(given, 'bos'),
    eos: token(given, 'eos'),
    pack: whole(given, 'pack', 1, MAX_ROW_IDS),
    packing: choice(given, 'packing', CHOICES.packing),
    hooksSha256: hash(given, 'hooksSha256'),
    shuffle: whole(given, 'shuffle', 0, Number.MAX_SAFE_INTEGER),
    onError: choice(given, 'onError', CHOICES.onError) ?? 'fail',
    sample: range(given, 'sample'),
    maxTokens: whole(given, 'maxTokens', 1, MAX_ROW_IDS),
    specialTokens: choice(given, 'specialTokens', CHOICES.specialTokens),
    messages: fieldPath(given, 'messages'),
    completion: fieldPath(given, 'completion'),
    tools: fieldPath(given, 'tools'),
    maskBy: choice(given, 'maskBy', CHOICES.maskBy),
    maskTurns: choice(given, 'maskTurns', CHOICES.maskTurns),
    maskRoles: roles(given, 'maskRoles'),
    withoutReasoning: flag(given, 'withoutReasoning') || undefined,
    date: day(given, 'date'),
    chat: chatParts(given.chat),
    maxRow: whole(given, 'maxRow', 1, 2 ** 32 - 1),
    maxRatio: whole(given, 'maxRatio', 1, 1_000_000) ?? MAX_RATIO,
    shardSize: whole(given, 'shardSize', 1, MAX_SHARD_SIZE) ?? SHARD_SIZE,
  }
  return content
}

/** Options that only a job.json has. */
const OF_JOB_FILES = ['hooksSha256', 'chat']
const NAMES = ['inputs', ...Object.keys(processOptions({})), ...Object.keys(checkContent({}))].filter(
  (name) => !OF_JOB_FILES.includes(name),
)

/** The message for options that contradict each other; `undefined` if they do not. */
export function conflictOf(content, given, inputs, dryRun) {
  if (inputs.length === 0 && given.filesFrom === undefined)
    return 'there are no inputs: give inputs, or a list of them as filesFrom'
  if (given.output === undefined && !dryRun) return 'there is no output: name a folder'
  if (given.output !== undefined && dryRun) return 'a dry run writes nothing, so it takes no output'
  if (given.queue !== undefined && dryRun) return 'a dry run happens on this machine alone, so it takes no queue'
  if (content.messages !== undefined && (given.hooks ?? content.hooksSha256) !== undefined)
    return 'hooks are for texts, and messages for chats: give one of them'
  if (given.append && (dryRun || given.queue !== undefined || given.trustPlan))
    return 'append lists the inputs on this machine: it takes no dry run, no queue and no trusted plan'
  if (given.trustPlan && dryRun) return 'a dry run makes its own plan, so it trusts none: leave out trustPlan'
  const noQueue = queueProblem(given)
  if (noQueue !== undefined) return noQueue
  if (content.idField !== undefined && ['megatron', 'llmc'].includes(content.format))
    return `the format ${content.format} cannot store idField: use npy, bin, mds, jsonl or parquet`
  const noRows = rowsProblem(content)
  if (noRows !== undefined) return noRows
  const own = { ...content, field: given.field }
  const ofJson = ['idField', 'groupBy', 'field', 'messages'].find((name) => own[name] !== undefined)
  if (ofJson !== undefined && !['json', undefined].includes(own.rows))
    return `${ofJson} is for rows of JSON and Parquet`
  if (content.messages !== undefined && given.field !== undefined)
    return 'field is the text of a document, and messages those of a chat: give one of them'
  for (const name of OF_CHATS)
    if (content.messages === undefined && (content[name] ?? (given[name] || undefined)) !== undefined)
      return `${name} needs the option messages`
  if (content.type !== undefined && ROW_FORMATS.includes(content.format))
    return 'type is for megatron, npy, bin, llmc and mds'
  return undefined
}

/** Why a format cannot have rows of a length, or of this packing; `undefined` if it can. */
export function rowsProblem({ format, pack, packing }) {
  if (format === 'llmc' && pack !== undefined) return 'the format llmc has tokens without rows, so it takes no pack'
  if (packing !== undefined && pack === undefined) return 'packing needs pack, the length of rows'
  if (packing !== 'best-fit') return undefined
  if (ROW_FORMATS.includes(format)) return 'packing best-fit is for megatron, npy, bin and mds'
  return pack > MAX_BEST_FIT ? `packing best-fit is for rows of at most ${MAX_BEST_FIT} tokens` : undefined
}

/** What is wrong with options of a queue; `undefined` if nothing is. */
export function queueProblem(given) {
  const name = ['queueName', 'giveUpSeconds'].find((one) => given[one] !== undefined)
  return given.queue === undefined && name !== undefined ? `${name} needs the option queue` : undefined
}

export function text(given, name) {
  const value = given[name]
  if (value !== undefined && typeof value !== 'string') throw wrongType(name, 'a string', value)
  if (value === '') throw wrongValue(name, 'a string that is not empty', value)
  return value
}

function fieldPath(given, name) {
  const value = text(given, name)
  const problem = value === undefined ? undefined : fieldProblem(value)
  if (problem !== undefined) throw wrongValue(name, problem, value)
  return value
}

/** A day as text, such as 2026-01-31. */
function day(given, name) {
  const value = text(given, name)
  if (value === undefined) return undefined
  const time = /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(value)
  if (!isDay) throw wrongValue(name, 'a day such as 2026-01-31', value)
  return value
}

/** A range of numbers from 0 to 1. */
function range(given, name) {
  const value = given[name]
  if (value === undefined) return undefined
  if (!Array.isArray(value) || value.length !== 2 || value.some((one) => typeof one !== 'number'))
    throw wrongType(name, 'an array of two numbers', value)
  const [from, to] = value
  if (!(from >= 0 && from < to && to <= 1)) throw wrongValue(name, 'two rising numbers from 0 to 1', value)
  return value
}

/** The roles whose messages are learned. */
function roles(given, name) {
  const value = given[name]
  if (value === undefined) return undefined
  if (!Array.isArray(value)) throw wrongType(name, 'an array of roles', value)
  if (value.length === 0 || value.length > MAX_ROLES || value.some((role) => typeof role !== 'string' || role === ''))
    throw wrongValue(name, `1 to ${MAX_ROLES} names of roles`, value)
  return value
}

/** The chat of a job.json, which a worker does not trust. */
function chatParts(value) {
  if (value === undefined) return undefined
  const isText = (one) => typeof one === 'string'
  const areTexts = (map) => isObject(map) && Object.values(map).every(isText)
  const isChat =
    isObject(value) &&
    (value.isHarmony === true || ((isText(value.templates) || areTexts(value.templates)) && areTexts(value.tokens)))
  if (!isChat) throw wrongValue('chat', 'the templates and tokens of a chat', 'something else')
  return value
}

function hash(given, name) {
  const value = given[name]
  if (value !== undefined && !isHash(value)) throw wrongValue(name, 'a SHA-256', value)
  return value
}

export function flag(given, name) {
  const value = given[name] ?? false
  if (typeof value !== 'boolean') throw wrongType(name, 'a boolean', value)
  return value
}

function token(given, name) {
  const value = given[name] ?? false
  if (typeof value !== 'boolean' && typeof value !== 'string') throw wrongType(name, 'a boolean or a token', value)
  if (value === '') throw wrongValue(name, 'a boolean or a token', value)
  return value
}

/** Checks an option that is one of some strings; `undefined` stays. */
export function choice(given, name, choices) {
  const value = given[name]
  const expected = choices.map((one) => `'${one}'`).join(' or ')
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw wrongType(name, expected, value)
  if (!choices.includes(value)) throw wrongValue(name, expected, value)
  return value
}

/** Checks an option that is a whole number; `undefined` stays. */
export function whole(given, name, least, most) {
  const value = given[name]
  if (value === undefined) return undefined
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  if (!Number.isSafeInteger(value) || value < least || value > most)
    throw wrongValue(name, `a whole number from ${least} to ${most}`, value)
  return value
}

/** Checks the option onEvent. */
export function listener(value) {
  if (value === undefined) return () => {}
  if (typeof value !== 'function') throw wrongType('onEvent', 'a function', value)
  return value
}

/** The address of a server that other machines cannot reach. */
const LOOPBACK = '127.0.0.1'

/**
 * Checks the option metrics.
 *
 * @param {any} value
 * @returns {{ port: number, host: string } | undefined}
 */
export function metricsOption(value) {
  if (value === undefined) return undefined
  if (!isObject(value)) throw wrongType('metrics', 'an object with a port', value)
  checkNames(value, ['port', 'host'], 'metrics')
  const port = whole({ 'metrics.port': value.port }, 'metrics.port', 0, 65_535)
  if (port === undefined) throw wrongType('metrics.port', 'a number', port)
  return { port, host: text({ 'metrics.host': value.host }, 'metrics.host') ?? LOOPBACK }
}

/** The name of a queue, which becomes a part of keys in Redis. */
export function queueName(value = QUEUE_NAME) {
  if (typeof value !== 'string') throw wrongType('queueName', 'a string', value)
  if (!/^[\w.-]{1,100}$/.test(value)) throw wrongValue('queueName', 'a name of letters, digits, _, . and -', value)
  return value
}
