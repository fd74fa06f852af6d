'use strict'

// Checks the arguments of fromPretrained.

const { chatOption } = require('../chat/chat.js')
const { wrongType, wrongValue } = require('../errors.js')
const { pathOfUrl } = require('../file-url.js')
const { KNOWN, boolean, checkKnown, loadOptions, signalOption } = require('../options.js')
const { isUrl } = require('../realm.js')

const HUB_OPTIONS = [
  'revision',
  'file',
  'token',
  'cacheDir',
  'localFilesOnly',
  'maxFileBytes',
  'maxTemplates',
  'signal',
  'onProgress',
]
const NAME_PART = /^(?!.*(?:--|\.\.))\w(?:[\w.-]{0,94}\w)?$/

/** Returns { request, loading }: the request for the hub, and the options of the loader. */
function pretrainedOptions(repo, options = {}) {
  checkKnown(options, [...HUB_OPTIONS, ...KNOWN.loadFolder])
  const {
    revision = 'main',
    file,
    token,
    cacheDir,
    localFilesOnly,
    maxFileBytes,
    maxTemplates,
    signal,
    onProgress,
    configs,
    ...others
  } = options
  /** @type {any} */
  const loading = { ...others, configs }
  checkRepo(repo)
  checkPath('revision', revision, 'the name of a branch or a tag, or a commit')
  if (file !== undefined) checkPath('file', file, 'the path of a file in the repository')
  if (token !== undefined && token !== false && typeof token !== 'string')
    throw wrongType('token', 'a string or false', token)
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw wrongType('onProgress', 'a function', onProgress)
  const request = {
    repo,
    revision,
    file,
    token,
    cacheDir: folder(cacheDir),
    localFilesOnly: boolean('localFilesOnly', localFilesOnly, false),
    maxFileBytes: limit('maxFileBytes', maxFileBytes, Number.MAX_SAFE_INTEGER),
    maxTemplates: limit('maxTemplates', maxTemplates, 1000),
    configs: boolean('configs', configs, true),
    signal: signalOption(signal),
    onProgress,
  }
  // Invalid options of the loader are errors before anything is downloaded.
  loadOptions(loading, KNOWN.loadFolder)
  chatOption(loading)
  return { request, loading }
}

function checkRepo(repo) {
  const expected =
    "the name of a repository, such as 'Qwen/Qwen2.5-7B' (a file on this machine is loaded by Tokenizer.fromFile)"
  if (typeof repo !== 'string') throw wrongType('repo', expected, repo)
  const parts = repo.split('/')
  if (parts.length > 2 || !parts.every((part) => NAME_PART.test(part))) throw wrongValue('repo', expected, repo)
}

/** The parts become path components on this machine, and must not lead out of the cache. */
function checkPath(name, value, expected) {
  if (typeof value !== 'string') throw wrongType(name, expected, value)
  const isSafe = value
    .split('/')
    .every((part) => /^[^\0-\x1f\\:*?"<>|#%]{1,200}$/.test(part) && part !== '.' && part !== '..')
  if (!isSafe || value.length > 400) throw wrongValue(name, expected, value)
}

function limit(name, value, most) {
  if (value === undefined) return undefined
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  if (!Number.isSafeInteger(value) || value < 0 || value > most)
    throw wrongValue(name, `a whole number from 0 to ${most}`, value)
  return value
}

function folder(value) {
  if (isUrl(value)) return pathOfUrl('cacheDir', value)
  if (value !== undefined && typeof value !== 'string')
    throw wrongType('cacheDir', 'a path (a string) or a file: URL', value)
  if (value === '') throw wrongValue('cacheDir', 'a path', value)
  return value
}

module.exports = { pretrainedOptions }
