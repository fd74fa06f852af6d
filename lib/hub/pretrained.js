'use strict'

// Finds the files of a tokenizer by the name of its repository: in the cache if they are up to
// date, else on the hub.

const path = require('node:path')

const { CONFIGS, JSON_TOKENIZERS, RANKS, SENTENCEPIECE } = require('../model/folder.js')
const { optional } = require('../optional.js')
const { COMMIT, RepoCache } = require('./cache.js')
const { download } = require('./download.js')
const { isUnreachable, limitExceeded, noFile, notCached, unexpected } = require('./errors.js')
const { Gate } = require('./gate.js')
const { MAX_CHAT_BYTES, MAX_CONCURRENT_FILES, MAX_NAME_LENGTH } = require('./limits.js')
const { retry } = require('./retry.js')
const { settings } = require('./settings.js')
const { shared } = require('./shared.js')
const { Transport } = require('./transport.js')

const RESOLVE_ATTEMPTS = 3
const TOKENIZERS = [...JSON_TOKENIZERS, ...SENTENCEPIECE, 'vocab.json', 'vocab.txt', ...RANKS]
const CONFIG = 'tokenizer_config.json'
const TEMPLATE = 'chat_template.jinja'
const MORE_TEMPLATES = 'additional_chat_templates'
// Template names become file names in the cache. Windows reserves some names.
const TEMPLATE_NAME = /^(?!(?:con|prn|aux|nul|com\d|lpt\d)\.)[\w-][\w.-]*\.jinja$/i
// ETags become file names too, and must not look like partial files.
const ETAG = /^(?!.*\.(?:incomplete|lock|tokenlane))[\w-][\w.-]{0,199}$/i

/**
 * Bundlers leave the optional package out if it is not installed, because the failure is handled
 * here.
 */
const importHub = () =>
  import(/* webpackIgnore: true */ /* turbopackIgnore: true */ '@huggingface/hub').catch((failure) => {
    throw failure
  })

/** Each download needs a socket and a few file descriptors. */
const gate = new Gate(MAX_CONCURRENT_FILES)

/**
 * @typedef {{ repo: string, revision: string, file?: string, configs?: boolean }} Place
 * @typedef {Place & import('./settings.js').Options & import('./shared.js').Run} Request
 */

/**
 * Finds or downloads a tokenizer, with its config and its templates. Returns its path in the cache.
 *
 * @param {Request} request
 * @returns {Promise<string>}
 */
async function pretrainedFile({ signal, onProgress, ...request }) {
  const { repo, revision, file, configs } = request
  const known = await settings(request)
  const resolved = { ...request, ...known }
  // Calls with the same values share one download.
  return shared(JSON.stringify({ repo, revision, file, configs, ...known }), { signal, onProgress }, (run) =>
    new Search(resolved, run).file(),
  )
}

class Search {
  #request
  #run
  #cache
  #hub
  /** The names of tokenizer files to try, and their folder in the repository. */
  #names
  #folder
  /** Bytes of the config and the templates that the hub has announced so far. */
  #chatBytes = 0

  constructor(request, run) {
    this.#request = request
    this.#run = run
    this.#cache = new RepoCache(request.cache, request.repo)
    this.#names = request.file === undefined ? TOKENIZERS : [request.file]
    this.#folder = this.#names[0].slice(0, this.#names[0].lastIndexOf('/') + 1)
  }

  async file() {
    const { revision, offline } = this.#request
    const known = await this.#cache.commitOf(revision)
    const isFixed = COMMIT.test(revision)
    const cached = known && (await this.#cached(known))
    if (cached && (offline || (isFixed && (await this.#isComplete(known, cached))))) return cached
    if (offline) throw notCached(this.#names.join(' or '), this.#request)
    this.#hub = await optional(importHub, '@huggingface/hub', 'Tokenizer.fromPretrained')
    return this.#current(cached)
  }

  /** The current file of the hub, or the cached one if the hub is unreachable. */
  async #current(cached) {
    const { revision } = this.#request
    let first
    try {
      first = await this.#probe(this.#names[0], revision, cached ? 1 : RESOLVE_ATTEMPTS)
    } catch (failure) {
      if (cached && isUnreachable(failure)) return cached
      throw failure
    }
    const commit = COMMIT.test(revision) ? revision : (first.commit ?? (await this.#commitOf(revision)))
    if (typeof commit !== 'string' || !COMMIT.test(commit))
      throw unexpected('the commit of a file is missing', this.#request.endpoint)
    await this.#fetchAll(commit, first)
    await this.#cache.noteRevision(revision, commit)
    return this.#cached(commit)
  }

  /**
   * Downloads the missing files. The tokenizer itself is linked last, so that its presence implies
   * the other files.
   */
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
      found = await this.#probe(name, commit, RESOLVE_ATTEMPTS)
    }
    if (found.missing) throw noFile(this.#names.join(' or '), this.#request)
    return found
  }

  /** The commit of a revision, for mirrors that do not send it with a file. */
  #commitOf(revision) {
    const { repo, endpoint } = this.#request
    const ask = async ({ fetchJson: fetch }) => {
      const { sha } = await this.#hub.modelInfo({
        name: repo,
        revision,
        additionalFields: ['sha'],
        hubUrl: endpoint,
        fetch,
      })
      return sha
    }
    return retry(() => this.#with(this.#names[0], revision, ask), RESOLVE_ATTEMPTS, this.#run.signal)
  }

  /** Downloads an optional file, or records that the repository does not have it. */
  async #get(commit, file) {
    if ((await this.#cache.find(commit, file)) || (await this.#cache.isAbsent(commit, file))) return
    const found = await this.#probe(file, commit, RESOLVE_ATTEMPTS)
    if (found.missing) return this.#cache.noteAbsent(commit, file)
    this.#chatBytes += found.size
    if (this.#chatBytes > MAX_CHAT_BYTES) {
      throw limitExceeded(
        `the config and the chat templates of '${this.#request.repo}' have more than`,
        MAX_CHAT_BYTES,
        'bytes together',
      )
    }
    await this.#download(found)
    await this.#cache.link(commit, file, found.etag)
  }

  /** Looks up a file. Returns { file, revision, missing, commit, etag, size, linked, info }. */
  #probe(file, revision, attempts) {
    const { repo, endpoint } = this.#request
    const { signal } = this.#run
    return retry(
      () =>
        this.#with(file, revision, async (transport) => {
          const info = await this.#hub.fileDownloadInfo({
            repo,
            path: file,
            revision,
            hubUrl: endpoint,
            fetch: transport.probe,
          })
          const commit = transport.headers['x-repo-commit']
          if (info === null) return { file, revision, missing: true, commit }
          const etag = info.etag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1')
          if (!Number.isSafeInteger(info.size) || info.size < 0)
            throw unexpected('the size of a file is not a number', endpoint)
          if (!ETAG.test(etag)) throw unexpected('the ETag of a file is not valid', endpoint)
          return {
            file,
            revision,
            commit,
            etag,
            size: info.size,
            linked: transport.headers['x-linked-etag'] !== undefined,
            info,
          }
        }),
      attempts,
      signal,
    )
  }

  async #download(found) {
    const { file: name, etag, size, linked } = found
    const { repo, maxFileBytes } = this.#request
    if (size > maxFileBytes) {
      throw limitExceeded(
        `${name} of '${repo}' has ${size} bytes, and the limit is`,
        maxFileBytes,
        'bytes: allow more with the option maxFileBytes',
      )
    }
    const source = { name, etag, size, linked, read: (start) => this.#read(found, start) }
    await download(source, this.#cache, this.#run)
  }

  /**
   * Yields the bytes of a file from `start` on. If the server sends the whole file instead, yields
   * `undefined` first.
   */
  async *#read({ file, revision, size, etag, info }, start) {
    const { repo, endpoint, stallTimeout } = this.#request
    const transport = this.#transport(file, revision)
    let part = true
    const get = async (url, init) => {
      const response = await transport.fetch(url, init)
      part = response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${start}-`)
      return response
    }
    try {
      const downloadInfo = { url: info.url, size, etag }
      const blob = await this.#hub.downloadFile({
        repo,
        path: file,
        revision,
        hubUrl: endpoint,
        fetch: get,
        xet: false,
        downloadInfo,
      })
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

  /**
   * Lists the templates in separate files. Servers that cannot list a folder count as having none.
   */
  async #templateNames(commit) {
    const { repo, endpoint, maxTemplates } = this.#request
    const folder = this.#folder + MORE_TEMPLATES
    if (await this.#cache.isAbsent(commit, folder)) return []
    const list = () =>
      this.#with(folder, commit, async (transport) => {
        const names = []
        const entries = this.#hub.listFiles({
          repo,
          path: folder,
          revision: commit,
          hubUrl: endpoint,
          fetch: transport.fetchJson,
        })
        for await (const { path } of entries) names.push(path)
        return names
      })
    const refusedIsNone = (failure) => {
      const isRefused = failure.code === 'ERR_TOKENLANE_HUB_SERVER' && failure.status < 500
      if (isRefused || failure.code === 'ERR_TOKENLANE_HUB_FILE_NOT_FOUND') return []
      throw failure
    }
    const names = await retry(list, RESOLVE_ATTEMPTS, this.#run.signal).catch(refusedIsNone)
    const isTemplate = (name) =>
      typeof name === 'string' && name.startsWith(`${folder}/`) && TEMPLATE_NAME.test(name.slice(folder.length + 1))
    const templates = [...new Set(names.filter(isTemplate))]
    if (templates.length > maxTemplates) {
      throw limitExceeded(
        `'${repo}' has ${templates.length} chat templates, and the limit is`,
        maxTemplates,
        'templates: allow more with the option maxTemplates',
      )
    }
    if (templates.some((name) => name.length > folder.length + 1 + MAX_NAME_LENGTH)) {
      throw limitExceeded(`'${repo}' has a chat template whose name has more than`, MAX_NAME_LENGTH, 'characters')
    }
    return templates
  }

  /**
   * Runs tasks with limited concurrency. The first failure aborts the others, and is thrown when
   * all have ended.
   */
  async #together(tasks) {
    const controller = new AbortController()
    const { signal } = this.#run
    const stop = () => controller.abort(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    this.#run = { ...this.#run, signal: controller.signal }
    try {
      const run = (task) =>
        gate.run(task, controller.signal).catch((failure) => {
          // Only the first failure is thrown.
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
    return new Transport(this.#request, { repo: this.#request.repo, revision, path }, this.#run.signal)
  }

  /**
   * Calls `ask` with a transport. A response that @huggingface/hub does not understand becomes an
   * error of the server.
   */
  async #with(path, revision, ask) {
    const transport = this.#transport(path, revision)
    try {
      return await ask(transport)
    } catch (failure) {
      if (transport.failure !== undefined) throw transport.failure
      if (failure.code !== undefined) throw failure
      const { endpoint, token } = this.#request
      throw unexpected(failure.message, endpoint, { cause: failure, token })
    } finally {
      transport.close()
    }
  }

  /** The path of the tokenizer of a commit, or undefined if the cache does not have it. */
  async #cached(commit) {
    const places = await Promise.all(this.#names.map((name) => this.#cache.find(commit, name)))
    return places.find((place) => place !== undefined)
  }

  /** The files that belong to a tokenizer, apart from templates by name. */
  #beside(file) {
    const name = path.posix.basename(file)
    const isWhole = this.#request.file !== undefined || !TOKENIZERS.includes(name)
    const isAlone = isWhole || (JSON_TOKENIZERS.includes(name) && this.#request.configs === false)
    const merges = name === 'vocab.json' && !isWhole ? ['merges.txt'] : []
    const configs = isAlone ? [] : CONFIGS.filter((config) => config !== CONFIG)
    return [CONFIG, TEMPLATE, ...configs, ...merges].map((one) => this.#folder + one)
  }

  /**
   * Whether the cache has each file of a commit, or records that it does not exist. `place` is the
   * tokenizer in the cache; files that would come before it must be recorded as missing.
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
