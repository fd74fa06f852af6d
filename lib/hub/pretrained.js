'use strict'

// The files of a tokenizer by the name of its repository: from the cache where they are up to date, else from the hub.

const path = require('node:path')

const { CONFIGS, SENTENCEPIECE } = require('../model/folder.js')
const { optional } = require('../optional.js')
const { COMMIT, RepoCache } = require('./cache.js')
const { download } = require('./download.js')
const { isOutOfReach, limitExceeded, noFile, notCached, strange } = require('./errors.js')
const { Gate } = require('./gate.js')
const { MAX_CHAT_BYTES, MAX_CONCURRENT_FILES, MAX_NAME_LENGTH } = require('./limits.js')
const { retry } = require('./retry.js')
const { settings } = require('./settings.js')
const { shared } = require('./shared.js')
const { Transport } = require('./transport.js')

const ATTEMPTS = 3
const WHOLE = ['tokenizer.json', 'tekken.json']
const TOKENIZERS = [...WHOLE, ...SENTENCEPIECE, 'vocab.json', 'vocab.txt']
const CONFIG = 'tokenizer_config.json'
const TEMPLATE = 'chat_template.jinja'
const MORE_TEMPLATES = 'additional_chat_templates'
// They become names in the cache, where Windows reserves some.
const TEMPLATE_NAME = /^(?!(?:con|prn|aux|nul|com\d|lpt\d)\.)[\w-][\w.-]*\.jinja$/i
// An ETag becomes one too, and must not be taken for an unfinished file.
const ETAG = /^(?!.*\.(?:incomplete|lock|tokenlane))[\w-][\w.-]{0,199}$/i

/** Each file takes a socket and a few file descriptors while it is downloaded. */
const gate = new Gate(MAX_CONCURRENT_FILES)

/**
 * The place of the tokenizer in the cache, with its config and its templates beside it. `request` is { repo, revision, file,
 * token, cacheDir, localFilesOnly, signal, onProgress }.
 */
async function pretrainedFile({ signal, onProgress, ...request }) {
  const told = { ...request, ...(await settings(request)) }
  const key = JSON.stringify(['repo', 'revision', 'file', 'endpoint', 'cache', 'token', 'offline', 'maxFileBytes', 'maxTemplates'].map((name) => told[name] ?? null))
  return shared(key, { signal, onProgress }, (run) => new Search(told, run).file())
}

class Search {
  #told
  #run
  #cache
  #hub
  /** The names to try for the tokenizer itself, and the folder in the repository that it is in. */
  #names
  #folder
  /** Bytes of the config and the templates that the hub announced so far. */
  #chatBytes = 0

  constructor(told, run) {
    this.#told = told
    this.#run = run
    this.#cache = new RepoCache(told.cache, told.repo)
    this.#names = told.file === undefined ? TOKENIZERS : [told.file]
    this.#folder = this.#names[0].slice(0, this.#names[0].lastIndexOf('/') + 1)
  }

  async file() {
    const { revision, offline } = this.#told
    const known = await this.#cache.commitOf(revision)
    const isFixed = COMMIT.test(revision)
    const cached = known && (await this.#cached(known))
    if (cached && (offline || (isFixed && (await this.#isComplete(known, cached))))) return cached
    if (offline) throw notCached(this.#names.join(' or '), this.#told)
    this.#hub = await optional(() => import('@huggingface/hub'), '@huggingface/hub', 'Tokenizer.fromPretrained')
    return this.#current(cached)
  }

  /** The file as the hub has it now; that of the cache where it is out of reach. */
  async #current(cached) {
    const { revision } = this.#told
    let first
    try {
      first = await this.#probe(this.#names[0], revision, cached ? 1 : ATTEMPTS)
    } catch (failure) {
      if (cached && isOutOfReach(failure)) return cached
      throw failure
    }
    const commit = COMMIT.test(revision) ? revision : (first.commit ?? (await this.#commitOf(revision)))
    if (typeof commit !== 'string' || !COMMIT.test(commit)) throw strange('it does not say which commit a file is of', this.#told.endpoint)
    await this.#fetchAll(commit, first)
    await this.#cache.noteRevision(revision, commit)
    return this.#cached(commit)
  }

  /** Gets what is not there yet; the tokenizer itself comes last, so that where it is, the rest is too. */
  async #fetchAll(commit, first) {
    const cached = await this.#cached(commit)
    if (cached && (await this.#isComplete(commit, cached))) return
    const main = await this.#findMain(commit, first)
    const templates = await this.#templateNames(commit)
    const rest = [...this.#beside(main.file), ...templates]
    await this.#together([() => this.#download(main), ...rest.map((file) => () => this.#get(commit, file))])
    await this.#cache.noteListed(commit, this.#folder + MORE_TEMPLATES)
    await this.#cache.link(commit, main.file, main.etag)
  }

  async #findMain(commit, first) {
    let found = first
    for (const name of this.#names.slice(1)) {
      if (!found.missing) break
      await this.#cache.noteAbsent(commit, found.file)
      found = await this.#probe(name, commit, ATTEMPTS)
    }
    if (found.missing) throw noFile(this.#names.join(' or '), this.#told)
    return found
  }

  /** The commit that a revision is, from mirrors that do not say it with a file. */
  #commitOf(revision) {
    const { repo, endpoint } = this.#told
    const ask = async ({ fetchJson: fetch }) => {
      const { sha } = await this.#hub.modelInfo({ name: repo, revision, additionalFields: ['sha'], hubUrl: endpoint, fetch })
      return sha
    }
    return retry(() => this.#with(this.#names[0], revision, ask), ATTEMPTS, this.#run.signal)
  }

  /** A file that a repository may have or not. */
  async #get(commit, file) {
    if ((await this.#cache.find(commit, file)) || (await this.#cache.isAbsent(commit, file))) return
    const found = await this.#probe(file, commit, ATTEMPTS)
    if (found.missing) return this.#cache.noteAbsent(commit, file)
    this.#chatBytes += found.size
    if (this.#chatBytes > MAX_CHAT_BYTES) {
      throw limitExceeded(`the config and the chat templates of '${this.#told.repo}' have more than`, MAX_CHAT_BYTES, 'bytes together')
    }
    await this.#download(found)
    await this.#cache.link(commit, file, found.etag)
  }

  /** What the hub says of a file: { file, revision, missing, commit, etag, size, linked, info }. */
  #probe(file, revision, attempts) {
    const { repo, endpoint } = this.#told
    const { signal } = this.#run
    return retry(() => this.#with(file, revision, async (transport) => {
      const info = await this.#hub.fileDownloadInfo({ repo, path: file, revision, hubUrl: endpoint, fetch: transport.probe })
      const commit = transport.said['x-repo-commit']
      if (info === null) return { file, revision, missing: true, commit }
      const etag = info.etag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1')
      if (!Number.isSafeInteger(info.size) || info.size < 0) throw strange('it gives a file a size that is no number', endpoint)
      if (!ETAG.test(etag)) throw strange('it gives a file an ETag that is no name', endpoint)
      return { file, revision, commit, etag, size: info.size, linked: transport.said['x-linked-etag'] !== undefined, info }
    }), attempts, signal)
  }

  async #download(found) {
    const { file: name, etag, size, linked } = found
    const { repo, maxFileBytes } = this.#told
    if (size > maxFileBytes) {
      throw limitExceeded(`${name} of '${repo}' has ${size} bytes, and the limit is`, maxFileBytes, 'bytes: allow more with the option maxFileBytes')
    }
    const source = { name, etag, size, linked, read: (start) => this.#read(found, start) }
    await download(source, this.#cache, this.#run)
  }

  /** The bytes of a file from a place on, or `undefined` and all of them. */
  async *#read({ file, revision, size, etag, info }, start) {
    const { repo, endpoint, stallTimeout } = this.#told
    const transport = this.#transport(file, revision)
    let part = true
    const get = async (url, init) => {
      const response = await transport.fetch(url, init)
      part = response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${start}-`)
      return response
    }
    try {
      const downloadInfo = { url: info.url, size, etag }
      const blob = await this.#hub.downloadFile({ repo, path: file, revision, hubUrl: endpoint, fetch: get, xet: false, downloadInfo })
      const reader = (start > 0 ? blob.slice(start, size) : blob).stream().getReader()
      try {
        let isFirst = true
        for await (const chunk of transport.paced(reader, stallTimeout)) {
          if (isFirst && start > 0 && !part) yield undefined
          isFirst = false
          yield chunk
        }
        if (isFirst && start > 0 && !part) yield undefined
      } finally {
        reader.cancel().catch(() => {})
      }
    } catch (failure) {
      throw transport.failure ?? transport.explain(failure)
    } finally {
      transport.close()
    }
  }

  /** Templates that have files of their own. Servers that cannot list a folder are taken to have none. */
  async #templateNames(commit) {
    const { repo, endpoint, maxTemplates } = this.#told
    const folder = this.#folder + MORE_TEMPLATES
    if (await this.#cache.isAbsent(commit, folder)) return []
    const list = () => this.#with(folder, commit, async (transport) => {
      const names = []
      const entries = this.#hub.listFiles({ repo, path: folder, revision: commit, hubUrl: endpoint, fetch: transport.fetchJson })
      for await (const { path } of entries) names.push(path)
      return names
    })
    const refusedIsNone = (failure) => {
      if (failure.code === 'ERR_TOKENLANE_HUB_FILE_NOT_FOUND' || failure.status < 500) return []
      throw failure
    }
    const names = await retry(list, ATTEMPTS, this.#run.signal).catch(refusedIsNone)
    const isTemplate = (name) => typeof name === 'string' && name.startsWith(`${folder}/`) && TEMPLATE_NAME.test(name.slice(folder.length + 1))
    const templates = [...new Set(names.filter(isTemplate))]
    if (templates.length > maxTemplates) {
      throw limitExceeded(`'${repo}' has ${templates.length} chat templates, and the limit is`, maxTemplates, 'templates: allow more with the option maxTemplates')
    }
    if (templates.some((name) => name.length > folder.length + 1 + MAX_NAME_LENGTH)) {
      throw limitExceeded(`'${repo}' has a chat template whose name has more than`, MAX_NAME_LENGTH, 'characters')
    }
    return templates
  }

  /** Runs tasks, a few at once. The first that fails stops the others, and is thrown when they have ended. */
  async #together(tasks) {
    const controller = new AbortController()
    const { signal } = this.#run
    const stop = () => controller.abort(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    this.#run = { ...this.#run, signal: controller.signal }
    try {
      const run = (task) => gate.run(task, controller.signal).catch((failure) => {
        // Only the first one counts.
        controller.abort(failure)
      })
      await Promise.all(tasks.map(run))
      if (controller.signal.aborted) throw controller.signal.reason
    } finally {
      signal.removeEventListener('abort', stop)
      this.#run = { ...this.#run, signal }
    }
  }

  #transport(path, revision) {
    return new Transport(this.#told, { repo: this.#told.repo, revision, path }, this.#run.signal)
  }

  /** Calls `ask` with a fetch; what @huggingface/hub does not understand is a strange answer. */
  async #with(path, revision, ask) {
    const transport = this.#transport(path, revision)
    try {
      return await ask(transport)
    } catch (failure) {
      if (transport.failure !== undefined) throw transport.failure
      if (failure.code !== undefined) throw failure
      throw strange(failure.message, this.#told.endpoint, failure)
    } finally {
      transport.close()
    }
  }

  /** The tokenizer of a commit, if the cache has it. */
  async #cached(commit) {
    const places = await Promise.all(this.#names.map((name) => this.#cache.find(commit, name)))
    return places.find((place) => place !== undefined)
  }

  /** The files that belong to a tokenizer, apart from templates by name. */
  #beside(file) {
    const name = path.posix.basename(file)
    const isWhole = this.#told.file !== undefined || !TOKENIZERS.includes(name) || WHOLE.includes(name)
    const merges = name === 'vocab.json' && !isWhole ? ['merges.txt'] : []
    return [CONFIG, TEMPLATE, ...(isWhole ? [] : CONFIGS.filter((config) => config !== CONFIG)), ...merges].map((one) => this.#folder + one)
  }

  /**
   * Whether the cache knows of every file of a commit where it is, or that it is not. `place` is the tokenizer in the cache;
   * files that come before it must be known to be absent.
   */
  async #isComplete(commit, place) {
    const name = this.#names.find((one) => path.basename(one) === path.basename(place))
    const isAbsent = (file) => this.#cache.isAbsent(commit, file)
    const isKnown = async (file) => (await this.#cache.find(commit, file)) !== undefined || isAbsent(file)
    const before = this.#names.slice(0, this.#names.indexOf(name))
    const known = [...this.#beside(name).map(isKnown), ...before.map(isAbsent), isAbsent(this.#folder + MORE_TEMPLATES)]
    return (await Promise.all(known)).every(Boolean)
  }
}

module.exports = { pretrainedFile }
