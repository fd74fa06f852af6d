// The tokenizer that a name stands for: a file, a bundled encoding, an OpenAI model, or a
// repository of the Hugging Face Hub.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

import { Failure } from './failure.mjs'
import { statIfThere } from './stat.mjs'

const require = createRequire(import.meta.url)
const { nearestOf } = require('../errors.js')
const { encodings: models, findEncoding } = require('../models.js')
const { fileFormat } = require('../internals.js')
const { CONFIGS, JSON_TOKENIZERS, RANKS, SENTENCEPIECE, VOCABULARIES, ggufHint } = require('../model/folder.js')

const { Tokenizer, encodings } = /** @type {typeof import('../../index.js')} */ (require('../tokenizer.js'))

export { encodings }

/** The names of the bundled encodings, and of the models of OpenAI. */
export const tokenizerNames = () => [...encodings(), ...Object.values(models).flat()]

/** Names that can only be those of files. */
const FILE = /^(?:[.~/\\]|\w:[/\\])|\.(?:json|tiktoken|model|spm|bpe|gguf)$|[/\\]$/

/** Files in the folder of a model that need others. */
const PARTS = [...SENTENCEPIECE, ...VOCABULARIES, ...RANKS]

/** `owner/name` on the hub; a branch, a tag or a commit may follow an `@`. */
const REPOSITORY = /^(\w[\w.-]*\/[\w.-]+)(?:@(.+))?$/

/**
 * Loads a tokenizer by name.
 *
 * @param {string} name
 * @param {string} [encoding] for a rank file
 * @returns {Promise<import('../../index.js').Tokenizer>}
 */
export async function loadTokenizer(name, encoding) {
  const source = sourceOf(name, encoding)
  if (source.repository !== undefined) return Tokenizer.fromPretrained(source.repository, { revision: source.revision })
  return source.file === undefined ? Tokenizer.fromEncoding(source.encoding) : loadFile(source.file, source.encoding)
}

/**
 * Resolves a name to a file, a bundled encoding, or a repository of the hub.
 *
 * @param {string} name
 * @param {string} [encoding] for a rank file
 * @returns {{ file?: string, encoding?: string, repository?: string, revision?: string }}
 */
export function sourceOf(name, encoding) {
  const file = fileOf(name)
  if (encoding !== undefined && file === undefined)
    throw new Failure('USAGE', `'--encoding' is for rank files, but ${name} is not a file`)
  if (file !== undefined) return { file, encoding }
  if (FILE.test(name)) throw new Failure('FILE_NOT_FOUND', 'there is no such file', { place: name })
  const bundled = encodingOf(name)
  if (bundled !== undefined) return { encoding: bundled }
  const onHub = repositoryOf(name)
  if (onHub !== undefined) return onHub
  const known = `the encodings are ${encodings().join(', ')}`
  const near = nearestOf(name, tokenizerNames())
  const hint = near === undefined ? '' : `; did you mean '${near}'?`
  throw new Failure(
    'UNKNOWN_TOKENIZER',
    `there is no tokenizer '${name}': it is neither a file, an encoding, a model of OpenAI nor OWNER/NAME on the Hugging Face Hub (${known})${hint}`,
  )
}

/** Returns the repository of the hub that a name stands for; `undefined` if it is no such name. */
export function repositoryOf(name) {
  const [, repository, revision] = REPOSITORY.exec(name) ?? []
  return repository === undefined ? undefined : { repository, revision }
}

/** Returns the files of a tokenizer that is loaded from a file or a folder. */
export function tokenizerFiles(name) {
  const places = [name, ...[...JSON_TOKENIZERS, ...PARTS, ...CONFIGS].map((one) => path.join(name, one))]
  return places.filter((place) => statIfThere(place)?.isFile()).map((file) => ({ name: file, file }))
}

/** Returns a file or a folder that exists. Tokenizer.fromFile reads the files of a folder. */
function fileOf(name) {
  const stat = statIfThere(name)
  if (!stat?.isDirectory()) return stat === undefined ? undefined : name
  const known = [...JSON_TOKENIZERS, ...PARTS]
  const isTokenizer = (one) => known.includes(one) || one.endsWith('.spm')
  const names = namesIn(name)
  if (names?.some(isTokenizer) ?? true) return name
  const reason = `this folder has no ${known.join(' and no ')}${ggufHint(name, names)}`
  throw new Failure('FILE_NOT_FOUND', reason, { place: name })
}

/** The names in a folder, or undefined if it cannot be listed, which loading reports. */
function namesIn(folder) {
  try {
    return fs.readdirSync(folder)
  } catch {
    return undefined
  }
}

export async function loadFile(name, encoding) {
  try {
    return await Tokenizer.fromFile(name, encoding === undefined ? undefined : { encoding })
  } catch (error) {
    if (error.code !== 'ERR_TOKENLANE_PATTERN_MISSING') throw error
    const message = `${name}: a rank file does not define how text is split: name its encoding with '--encoding'`
    throw new Failure('PATTERN_MISSING', message, { cause: error })
  }
}

/**
 * Loads the tokenizer of a corpus job from the file that was found for it, as each of its threads
 * and machines does. The threads of a process share it.
 *
 * @param {{ file?: string, encoding?: string, hasConfigs?: boolean, repository?: string }} source
 * @returns {Promise<import('../../index.js').Tokenizer>}
 */
export async function openTokenizer({ file, encoding, hasConfigs, repository }) {
  if (file === undefined) return Tokenizer.fromEncoding(encoding)
  if (repository !== undefined) {
    // The class can depend on the name. The folder in the cache is named after the commit.
    const revision = path.basename(path.dirname(file))
    return Tokenizer.fromPretrained(repository, { revision, localFilesOnly: true })
  }
  return loadFile(hasConfigs ? path.dirname(file) : file, encoding)
}

/** Returns the bundled encoding with a name, or that of a model. */
export const encodingOf = (name) => (encodings().includes(name) ? name : findEncoding(name))

/**
 * What is done with special tokens that a file spells out. With ranks, the library rejects them by
 * default; a file may contain them, so they are encoded as text.
 */
export const usualSpecialTokens = (tokenizer) =>
  fileFormat(tokenizer) === 'tokenizer.json' && !tokenizer.source.splitsSpecialTokens ? 'parse' : 'text'
