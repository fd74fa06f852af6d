// The corpus jobs of a worker.
//
// Neither the data from the queue nor the output folder is trusted. Everything that a job names is
// opened through `Allowed`, which checks what was opened; numbers are compared with the files
// before they are used; and job.json must be the one whose hash the queue names.

import os from 'node:os'
import path from 'node:path'

import { repositoryOf } from 'tokenlane/internal/files.mjs'
import { encodings, VERSION } from 'tokenlane/internal/corpus.js'
import { checkChat } from '../chats.mjs'
import { error, otherJob } from '../errors.mjs'
import { MAX_COMPARED_SHARDS, comparedShards } from '../compare-shards.mjs'
import { parquetWriterVersion } from '../formats/parquet.mjs'
import { hashOfHooks } from '../hooks.mjs'
import { idOf, readJob } from '../job-file.mjs'
import { JOB, JOB_ID_LENGTH } from '../layout.mjs'
import { writeManifest } from '../manifest.mjs'
import { FORMATS, ROW_FORMATS } from '../formats/names.mjs'
import { WORDS, checkContent, conflictOf } from '../options.mjs'
import { readSlice } from '../plan.mjs'
import { stemOf } from '../record.mjs'
import { permutation } from '../shuffle.mjs'
import { isAddress } from '../store/address.mjs'
import { openStore } from '../store/store.mjs'
import { Threads } from '../threads.mjs'
import { identify } from '../tokenizer.mjs'
import { isObject, isSize, isText } from '../values.mjs'
import { defaultMemory } from '../count-words.mjs'
import { CopiedTokenizer } from './copied-tokenizer.mjs'

/** Number of jobs whose threads are kept. */
const MAX_JOBS = 2
const MAX_PATH_LENGTH = 4096
/** Memory that a row takes, in bytes for each of its bytes. */
const MEMORY_PER_ROW_BYTE = 16

/** Codes of errors that do not depend on the worker or the time. */
const PERMANENT = codes(
  'CORPUS_QUEUE',
  'CORPUS_MISMATCH',
  'ARGUMENT_TYPE',
  'ARGUMENT_VALUE',
  'UNKNOWN_ENCODING',
  'UNSUPPORTED',
)
/** The same for what a job consists of: its files were complete before it was in the queue. */
const PERMANENT_IN_JOB = codes('NOT_A_FILE', 'FILE_TOO_LARGE', 'CORPUS_DAMAGED')

function codes(...names) {
  return names.map((name) => `ERR_TOKENLANE_${name}`)
}

/** Marks the error of a job that another machine may be able to process. */
const ofThisHost = (failure) => Object.assign(failure, { isOfHost: true })

/**
 * Marks the error of a file of a job that is missing or cannot be read. The planner had it, so that
 * is so on this machine.
 */
const absenceOfHost = (failure) =>
  ['ERR_TOKENLANE_FILE', 'ERR_TOKENLANE_FILE_NOT_FOUND'].includes(failure.code) ? ofThisHost(failure) : failure

/** Whether a job would fail again, so that no worker has to try it. */
export const isPermanent = (failure) =>
  failure.isOfHost !== true && (failure.isPermanent === true || PERMANENT.includes(failure.code))

/** Waits for the files of a job, and marks failures that are permanent. */
async function opened(files) {
  try {
    return await files
  } catch (failure) {
    failure.isPermanent = PERMANENT_IN_JOB.includes(failure.code)
    throw failure
  }
}

/**
 * Data from a queue.
 *
 * @typedef {object} ShardData
 * @property {string} id of the corpus job
 * @property {string} tokenlane version
 * @property {string} output an absolute path or an address
 * @property {string} base the folder that paths in the plan are relative to
 * @property {number} shard
 * @property {number} from the first byte of the shard's lines in the plan
 * @property {number} to
 * @property {'sha256' | 'size'} [check] how the files of an earlier run are compared
 * @property {boolean} [trustsInputs] whether the inputs of a shard that is done are not compared
 */

/**
 * Throws if something from a queue is not a job of tokenlane.
 *
 * @param {unknown} name
 * @param {any} data
 */
export function checkData(name, data) {
  const isJob =
    isObject(data) &&
    isText(data.id, JOB_ID_LENGTH) &&
    typeof data.tokenlane === 'string' &&
    /^\d+\.\d+\.\d+[\w.+-]{0,40}$/.test(data.tokenlane) &&
    isText(data.output, MAX_PATH_LENGTH) &&
    (path.isAbsolute(data.output) || isAddress(data.output)) &&
    isText(data.base, MAX_PATH_LENGTH) &&
    path.isAbsolute(data.base)
  const isShard =
    [data?.shard, data?.from, data?.to].every(isSize) &&
    [undefined, 'size'].includes(data?.check) &&
    [undefined, true].includes(data?.trustsInputs)
  const isRange =
    [data?.first, data?.end].every(isSize) &&
    data.first < data.end &&
    data.end - data.first <= MAX_COMPARED_SHARDS &&
    [undefined, true].includes(data.readsAll)
  const isTask = { shard: isShard, manifest: true, compare: isRange, compared: true }[String(name)] === true
  if (!isJob || !isTask)
    throw error('ERR_TOKENLANE_CORPUS_QUEUE', 'the queue holds something that is not a job of tokenlane')
}

export class Jobs {
  #options
  /** @type {Map<string, Promise<Job>>} */
  #jobs = new Map()
  #ending = new AbortController()

  /**
   * @param {{ allowed: import('../store/allowed.mjs').Allowed, allowHub: boolean, hooks?: string,
   *   concurrency: number, threads?: number }} options
   */
  constructor(options) {
    this.#options = options
  }

  /**
   * Throws an error with `isFatal` if a job is one of another version, which this worker cannot
   * process and others may.
   */
  async checkVersion({ tokenlane, output }) {
    if (tokenlane === VERSION) return
    // A job outside of the allowed folders is no job of this installation.
    await (await openStore(output, this.#options.allowed)).close()
    const message = `the job is one of tokenlane ${tokenlane}, but this worker is ${VERSION}: install the same version on all machines`
    throw Object.assign(otherJob(message), { isFatal: true })
  }

  /**
   * Processes a shard, unless it is done.
   *
   * @param {ShardData} data
   * @param {(progress: object) => void} onProgress
   */
  async shard(data, onProgress) {
    const job = await this.#job(data)
    return job.shard(data, onProgress)
  }

  /**
   * Writes the manifest.
   *
   * @param {Omit<ShardData, 'shard' | 'from' | 'to'>} data
   */
  async manifest(data) {
    const { job, store } = await this.#job(data)
    const totals = await writeManifest(store, job)
    await store.finish()
    return totals
  }

  /**
   * Compares the files of some shards with their records.
   *
   * @param {{ id: string, output: string, first: number, end: number, readsAll?: boolean }} data
   */
  async compare({ id, output, first, end, readsAll = false }) {
    const { allowed } = this.#options
    const { job, store } = await opened(openJob({ id, output }, allowed))
    const started = performance.now()
    try {
      if (end > job.plan.shards) throw otherJob(`the job has ${job.plan.shards} shards, and the queue shard ${end - 1}`)
      const sums = { documents: 0, tokens: 0, bytes: 0 }
      const problems = []
      const range = { first, end, allowedPlaces: allowed.places, signal: this.#ending.signal }
      for await (const one of comparedShards({ store, job, readsAll, concurrency: 1, ...range })) {
        problems.push(...one.problems.map((problem) => ({ shard: one.shard, ...problem })))
        sums.documents += one.record?.documents ?? 0
        sums.tokens += one.record?.tokens ?? 0
        for (const { bytes } of one.record?.files ?? []) sums.bytes += bytes
      }
      const seconds = (performance.now() - started) / 1000
      return { first, end, problems, ...sums, seconds, host: os.hostname(), isNew: true }
    } finally {
      await store.close()
    }
  }

  async end() {
    this.#ending.abort()
    for (const known of this.#jobs.values()) {
      const job = await known.catch(() => undefined)
      await job?.end()
    }
  }

  /** A corpus job. It is kept, with threads that loaded the tokenizer. */
  #job({ id, output, base }) {
    const key = JSON.stringify([id, output, base])
    let known = this.#jobs.get(key)
    this.#jobs.delete(key)
    known ??= opened(Job.open({ id, output, base }, this.#options))
    this.#jobs.set(key, known)
    known.catch(() => this.#jobs.delete(key))
    this.#forgetOldest()
    return known
  }

  #forgetOldest() {
    for (const [key, known] of this.#jobs) {
      if (this.#jobs.size <= MAX_JOBS) return
      this.#jobs.delete(key)
      known.then((job) => job.endWhenIdle()).catch(() => {})
    }
  }
}

const wasChanged = (store) => otherJob(`${store.where(JOB)} was changed: its id is not that of its content`)

/** Opens a folder. Throws unless it holds the job that the queue names. */
async function openJob({ id, output }, allowed) {
  const store = await openStore(output, allowed).catch((failure) => Promise.reject(absenceOfHost(failure)))
  try {
    const job = await readJob(store)
    if (job === undefined) {
      const none = otherJob(`${output} holds no job`)
      // An empty folder can be that of a disk that is not mounted on this machine.
      throw (await store.names()).length === 0 ? ofThisHost(none) : none
    }
    if (job.id !== id) throw otherJob(`${output} holds another job`)
    if (idOf(job) !== id) throw wasChanged(store)
    return { job, store }
  } catch (failure) {
    await store.close()
    throw absenceOfHost(failure)
  }
}

/** A corpus job that a worker has opened, with its threads. */
class Job {
  /** The shards in progress. */
  #running = new Set()
  #threads
  #tokenizer
  #base
  #order

  constructor({ job, store, base, tokenizer, threads, content }) {
    this.job = job
    this.store = store
    this.#base = base
    this.#tokenizer = tokenizer
    this.#threads = threads
    const { shuffle } = content
    this.#order = shuffle === undefined ? (shard) => shard : permutation(`shards ${shuffle}`, job.plan.shards)
  }

  /** Opens a job. Throws unless the folder holds the job that the queue names. */
  static async open({ id, output, base }, options) {
    const { allowed, concurrency, threads, hooks } = options
    const { job, store } = await openJob({ id, output }, allowed)
    let tokenizer
    try {
      if (job.tokenlane !== VERSION) throw wasChanged(store)
      const content = contentOf(job)
      await checkHooks(content, hooks)
      if ((content.format === WORDS) !== (job.tokenizer.kind === 'base'))
        throw otherJob(`${store.where('job.json')} has a tokenizer that its format does not take`)
      tokenizer = await tokenizerOf(job.tokenizer, base, options)
      await store.prepare()
      const { bos, eos } = job.tokenizer
      const data = {
        source: tokenizer.source,
        content,
        ids: { bos, eos },
        hooks: content.hooksSha256 && hooks,
        output,
        allowedPlaces: allowed.places,
        threads,
        tableMemory: Math.floor(defaultMemory() / concurrency),
      }
      return new Job({ job, store, base, tokenizer, content, threads: new Threads(data, concurrency) })
    } catch (failure) {
      tokenizer?.remove()
      await store.close()
      throw absenceOfHost(failure)
    }
  }

  /** @param {ShardData} data */
  async shard({ shard, from, to, check = 'sha256', trustsInputs }, onProgress) {
    const { job, store } = this
    const parts = await opened(readSlice(store, from, to))
    const [{ shard: planned }] = parts
    if (planned >= job.plan.shards || this.#order(planned) !== shard)
      throw otherJob(`the plan has shard ${planned} in bytes ${from} to ${to}, and the queue shard ${shard}`)
    this.#running.add(shard)
    try {
      const request = { shard, parts, job: job.id, base: this.#base, check, trustsInputs }
      const { record, isNew } = await this.#threads.run(request, onProgress)
      const { documents, tokens, skipped, seconds } = record
      const bytes = parts.reduce((sum, part) => sum + part.end - part.start, 0)
      return { shard, isNew, documents, tokens, bytes, skipped: skipped.rows, seconds, host: os.hostname() }
    } catch (failure) {
      failure.message = this.#tokenizer.named(String(failure.message))
      throw failure
    } finally {
      this.#running.delete(shard)
    }
  }

  async end() {
    const stems = [...this.#running].map(stemOf)
    await this.#threads.end()
    await this.store.abandon(stems)
    await this.store.close()
    this.#tokenizer.remove()
  }

  async endWhenIdle() {
    await this.#threads.idle()
    await this.end()
  }
}

/** The options of a job that this worker can process. */
function contentOf({ options }) {
  const content = JSON.parse(JSON.stringify(checkContent(options, [...FORMATS, WORDS])))
  const writer = content.format === 'parquet' ? parquetWriterVersion() : undefined
  if (options.writer !== writer)
    throw ofThisHost(otherJob(`the job writes Parquet files with ${options.writer}, but this worker has ${writer}`))
  const hasType = content.type !== undefined || ROW_FORMATS.includes(content.format)
  const isComplete = content.format === WORDS || (hasType && content.specialTokens !== undefined)
  const conflict = conflictOf(content, { output: '.' }, ['.'], false)
  const hasChat = (content.messages === undefined) === (content.chat === undefined)
  if (!isComplete || !hasChat || conflict !== undefined)
    throw otherJob(`the options of the job are not complete, or contradict each other: ${conflict ?? 'type'}`)
  if (content.chat !== undefined) checkChat(content)
  const memory = Math.min(os.totalmem(), process.constrainedMemory?.() || Infinity)
  if (content.maxRow !== undefined && content.maxRow * MEMORY_PER_ROW_BYTE > memory)
    throw ofThisHost(
      otherJob(`the job allows rows of ${content.maxRow} bytes, for which this worker has too little memory`),
    )
  return content
}

/** Throws unless this worker was started with the hooks of a job: a job never names a module. */
async function checkHooks({ hooksSha256 }, hooks) {
  if (hooksSha256 === undefined) return
  const found = hooks === undefined ? 'none' : await hashOfHooks(hooks)
  if (found === hooksSha256) return
  throw ofThisHost(
    otherJob(
      `the job uses hooks with the SHA-256 ${hooksSha256}, and this worker has ${found}: start it with hooks (--hooks FILE)`,
    ),
  )
}

/**
 * The tokenizer of a job, with the SHA-256 that the job names. A name is only used as what its kind
 * says: an encoding is one of the bundled ones, and never a path or a repository.
 *
 * @returns {Promise<{ source: object, named: (message: string) => string, remove: () => void }>}
 */
async function tokenizerOf({ name, kind, encoding, sha256 }, base, { allowed, allowHub }) {
  // The threads read the base from the folder of the job, and compare its hash.
  if (kind === 'base') return { source: { name, kind, sha256 }, named: (message) => message, remove() {} }
  const copy = kind === 'file' ? await CopiedTokenizer.of(path.resolve(base, name), allowed) : undefined
  const found = { named: copy?.named ?? ((message) => message), remove: () => copy?.remove() }
  try {
    const source = await identify(name, copy === undefined ? bundledOrHub() : { file: copy.place, encoding })
    if (source.sha256 === sha256) return { ...found, source }
    throw ofThisHost(otherJob(`the tokenizer ${name} has the SHA-256 ${source.sha256} here, but ${sha256} in the job`))
  } catch (failure) {
    found.remove()
    failure.message = found.named(String(failure.message))
    throw failure
  }

  function bundledOrHub() {
    if (kind === 'encoding') {
      if (encodings().includes(encoding)) return { encoding }
      throw error('ERR_TOKENLANE_UNKNOWN_ENCODING', `the job uses the encoding ${encoding}, which is not bundled`)
    }
    const repository = repositoryOf(name)
    if (repository === undefined) throw otherJob(`the job uses ${name}, which is not the name of a repository`)
    if (allowHub) return repository
    throw ofThisHost(
      otherJob(
        `the job uses ${name} of the Hugging Face Hub, but this worker does not allow that: set allowHub (--allow-hub)`,
      ),
    )
  }
}
