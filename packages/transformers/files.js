'use strict'

// Finds and reads the files of a tokenizer: in a folder, in the cache, or on the hub.

const fs = require('node:fs/promises')
const path = require('node:path')

const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const {
  Tokenizer: Engine,
  chatFilesBeside,
  isAbsence,
  readRegular,
  run,
  sources,
} = require('tokenlane/internal/transformers.js')
const { Backend } = require('./backend.js')
const { env } = require('./env.js')
const { Loaded } = require('./loaded.js')
const { findTensor } = require('./tensor.js')

const TOKENIZER = 'tokenizer.json'
const CONFIG = 'tokenizer_config.json'

// Limit of a tokenizer.json, in bytes. The largest real ones have some tens of mebibytes.
const MAX_BYTES = 2 ** 30

/**
 * Loads a tokenizer: { json, config }, the arguments of a constructor.
 *
 * @param {any} [options]
 */
async function load(name, options = {}) {
  if (typeof name !== 'string' || name === '')
    throw typeError('the name of a model, or the path of its folder, must be a string')
  const { progress_callback: onProgress = null } = options
  const progress = new Progress(name, onProgress)
  const [file] = await Promise.all([locate(name, options, progress), findTensor()])
  const [{ backend, size }, { config, templates }] = await Promise.all([backendOf(file), chatFilesOf(file)])
  progress.finish(TOKENIZER, size ?? (await sizeOf(file)))
  progress.finish(CONFIG, await sizeOf(path.join(path.dirname(file), CONFIG)))
  progress.finishStarted()
  return { json: new Loaded(backend(config), templates), config }
}

/** The path of a tokenizer, downloaded if necessary. */
async function locate(name, { cache_dir, local_files_only = false, revision = 'main' }, progress) {
  const folders = env.localModelPath === undefined ? [name] : [path.join(env.localModelPath, name), name]
  for (const folder of env.allowLocalModels ? folders : []) {
    if (await isFolder(folder)) return path.join(folder, TOKENIZER)
  }
  const isPath = path.isAbsolute(name) || name.startsWith('.') || name.split(/[/\\]/).length > 2
  if (isPath)
    throw error(
      'FILE_NOT_FOUND',
      `there is no folder ${folders.join(' or ')}${env.allowLocalModels ? '' : ' (env.allowLocalModels is false)'}`,
    )
  const { request } = sources.hubOptions.pretrainedOptions(name, {
    revision,
    cacheDir: cache_dir ?? env.cacheDir,
    localFilesOnly: local_files_only || !env.allowRemoteModels ? true : undefined,
    onProgress: (event) => progress.report(event),
  })
  return sources.hub.pretrainedFile(request)
}

async function isFolder(folder) {
  try {
    return (await fs.stat(folder)).isDirectory()
  } catch {
    return false
  }
}

async function sizeOf(file) {
  const stat = await fs.stat(file).catch(() => undefined)
  return stat?.size
}

/** { backend, size }: a function that makes the backend with its config, and the bytes read. */
async function backendOf(file) {
  if (path.basename(file) === TOKENIZER) {
    const bytes = await readRegular(file, MAX_BYTES).catch((failure) => {
      if (isAbsence(failure)) return undefined
      throw failure
    })
    if (bytes !== undefined) {
      const engine = await Engine.fromBuffer(bytes)
      return { backend: (config) => new Backend(engine, config), size: bytes.length }
    }
  }
  // Not a tokenizer.json: the loader knows which other files a folder can have.
  const engine = await Engine.fromFile(path.basename(file) === TOKENIZER ? path.dirname(file) : file)
  return { backend: (config) => new Backend(engine, config), size: undefined }
}

/** The config and the chat templates in the folder of a tokenizer. */
async function chatFilesOf(file) {
  try {
    const { config, templates } = await run(chatFilesBeside(file))
    const names = Object.keys(templates ?? {})
    return { config, templates: names.length === 1 && names[0] === 'default' ? templates.default : templates }
  } catch (cause) {
    if (cause.code?.startsWith('ERR_TOKENLANE_')) throw cause
    throw error('JSON', `cannot read the config next to ${file}: ${cause.message}`, { cause })
  }
}

/** Calls a progress_callback of @huggingface/transformers. */
class Progress {
  #name
  #callback
  #started = new Set()

  constructor(name, callback) {
    if (callback !== null && callback !== undefined && typeof callback !== 'function')
      throw typeError('progress_callback must be a function')
    this.#name = name
    this.#callback = callback
  }

  #emit(status, file, more) {
    this.#callback?.({ status, name: this.#name, file, ...more })
  }

  #start(file) {
    if (this.#started.has(file)) return
    this.#started.add(file)
    this.#emit('initiate', file)
    this.#emit('download', file)
  }

  report({ file, loaded, total }) {
    this.#start(file)
    this.#emit('progress', file, { progress: total > 0 ? (100 * loaded) / total : 100, loaded, total })
  }

  /**
   * Reports the end of a file, even if it was not downloaded. Without a size nothing is reported.
   */
  finish(file, size = undefined) {
    if (!this.#started.has(file)) {
      if (size === undefined) return
      this.report({ file, loaded: size, total: size })
    }
    this.#started.delete(file)
    this.#emit('done', file)
  }

  /** Reports the end of the files that were downloaded beside the tokenizer. */
  finishStarted() {
    for (const file of [...this.#started]) this.finish(file)
  }
}

module.exports = { load }
