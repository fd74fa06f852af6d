// A thread that does shards: it reads, parses, converts and writes, and hands texts to the threads
// of the addon.

import { parentPort, workerData } from 'node:worker_threads'

import { packError } from './errors.mjs'
import { doShard, doneRecord } from './shard.mjs'
import { openStore } from './store/store.mjs'
import { openTokenizer } from './tokenizer.mjs'

/** Milliseconds between messages about progress. */
const INTERVAL = 100

const { source, content, ids, output, threads, check } = workerData
const tokenizer = await openTokenizer(source)
const store = output === undefined ? undefined : await openStore(output)

parentPort.on('message', async ({ request }) => {
  let last = performance.now()
  const onProgress = (progress) => {
    const now = performance.now()
    if (now - last < INTERVAL) return
    last = now
    parentPort.postMessage({ progress })
  }
  try {
    const found = store === undefined ? undefined : await doneRecord(request, { store, check, content })
    const record = found ?? (await doShard(request, { tokenizer, content, ids, store, threads, onProgress }))
    parentPort.postMessage({ record, isNew: found === undefined })
  } catch (failure) {
    parentPort.postMessage({ error: packError(failure) })
  }
})
parentPort.postMessage({ isReady: true })
