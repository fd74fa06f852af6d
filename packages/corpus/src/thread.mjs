// The module of a thread that processes shards: it reads, parses, converts and writes. The threads
// of the addon encode the texts.

import { parentPort, workerData } from 'node:worker_threads'

import { openTokenizer } from 'tokenlane/internal/files.mjs'
import { doShard, doneRecord } from './shard.mjs'
import { Allowed } from './store/allowed.mjs'
import { openStore } from './store/store.mjs'
import { readBase } from './words.mjs'

/** Minimum time in milliseconds between two messages about progress. */
const PROGRESS_INTERVAL_MS = 100

/** The memory for a large row of the shard. The main thread grants it. */
class RowMemory {
  #reserved = 0

  /**
   * Waits until the main thread grants memory for a row of `bytes` bytes. The memory of an earlier
   * call is released first: otherwise two shards could wait for each other.
   */
  async reserve(bytes) {
    if (this.#reserved >= bytes) return
    this.release()
    this.#reserved = bytes
    await new Promise((resolve) => {
      // No other message arrives while a shard is processed.
      parentPort.once('message', resolve)
      parentPort.postMessage({ reserve: bytes })
    })
  }

  release() {
    if (this.#reserved > 0) parentPort.postMessage({ isReleased: true })
    this.#reserved = 0
  }
}

// Messages to the main thread have no stacks, and recording them takes most of the time of a row
// that is skipped.
Error.stackTraceLimit = 0

const memory = new RowMemory()
const { source, content, ids, hooks: hooksFile, output, allowedPlaces, running } = workerData
const { threads, tableMemory, scratch } = workerData
const shards = () => Atomics.load(/** @type {Int32Array} */ (running), 0)
const hooks = hooksFile && (await (await import('./hooks.mjs')).loadHooks(hooksFile, content.hooksSha256))
const allowed = allowedPlaces === undefined ? undefined : new Allowed(allowedPlaces)
const store = output === undefined ? undefined : await openStore(output, allowed)
const [tokenizer, base] =
  source.kind === 'base' ? [undefined, await readBase(store, source.sha256)] : [await openTokenizer(source), undefined]

/**
 * Processes a shard, unless it is done.
 *
 * @param {any} request
 * @param {(progress: object) => void} report
 */
export async function work(request, report) {
  let last = performance.now()
  const onProgress = (progress) => {
    const now = performance.now()
    if (now - last < PROGRESS_INTERVAL_MS) return
    last = now
    report(progress)
  }
  try {
    const found = store === undefined ? undefined : await doneRecord(request, { store, allowed, content })
    const resources = { threads, memory, tableMemory, scratch, shards }
    const context = { tokenizer, base, content, ids, hooks, store, allowed, ...resources, onProgress }
    return { record: found ?? (await doShard(request, context)), isNew: found === undefined }
  } finally {
    memory.release()
  }
}
