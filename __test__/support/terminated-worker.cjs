// Terminates workers while their batches run and wait, and then uses the queue.
const path = require('node:path')
const { Worker, isMainThread, parentPort } = require('node:worker_threads')
const { Tokenizer } = require(path.join(__dirname, '../../index.js'))

const rows = Array.from({ length: 2000 }, (_, i) => `the row number ${i}, ${'and so on '.repeat(300)}`)

if (isMainThread) {
  ;(async () => {
    for (let round = 0; round < 4; round++) {
      const worker = new Worker(__filename)
      await new Promise((started) => worker.once('message', started))
      await worker.terminate()
    }
    const gpt = await Tokenizer.fromEncoding('r50k_base')
    const batches = await Promise.all([1, 2, 3].map(() => gpt.encodeBatch(rows.slice(0, 10))))
    console.log(`encoded ${batches.length}`)
  })()
} else {
  const gpt = Tokenizer.fromEncodingSync('r50k_base')
  for (let i = 0; i < 6; i++) gpt.encodeBatch(rows)
  parentPort.postMessage('started')
}
