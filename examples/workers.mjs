// Worker threads: each worker loads the tokenizer, but the process has it in memory only once. A
// worker without an event loop to keep responsive uses the synchronous calls.

import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'

import { Tokenizer } from 'tokenlane'

if (isMainThread) {
  const texts = Array.from({ length: 1000 }, (_, index) => `Text number ${index}, which is not long.`)
  const parts = [texts.slice(0, 500), texts.slice(500)]
  const counted = parts.map(
    (part) =>
      new Promise((resolve, reject) => {
        new Worker(new URL(import.meta.url), { workerData: part }).on('message', resolve).on('error', reject)
      }),
  )
  const tokens = await Promise.all(counted)
  console.log(`${tokens.reduce((a, b) => a + b)} tokens in ${texts.length} texts`)
} else {
  const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
  const batch = tokenizer.encodeBatchSync(workerData, { threads: 1 })
  parentPort.postMessage(batch.ids.length)
}
