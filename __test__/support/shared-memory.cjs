// Prints the memory of the process in MiB with one tokenizer, and with the same one in four more
// workers.
const path = require('node:path')
const { Worker, isMainThread, parentPort } = require('node:worker_threads')
const { Tokenizer } = require(path.join(__dirname, '../../index.js'))

const rss = () => {
  globalThis.gc?.()
  return Math.round(process.memoryUsage().rss / 2 ** 20)
}

if (isMainThread) {
  ;(async () => {
    // The baseline has workers without tokenizers, to exclude the memory of the workers themselves.
    const workers = [1, 2, 3, 4].map(() => new Worker(__filename))
    const answer = (worker) => new Promise((done, failed) => worker.once('message', done).once('error', failed))
    await Promise.all(workers.map(answer))
    const mine = Tokenizer.fromEncodingSync('o200k_base')
    const before = rss()
    for (const worker of workers) {
      worker.postMessage('load')
      await answer(worker)
    }
    console.log(before, rss())
    mine.count('still in use')
    for (const worker of workers) await worker.terminate()
  })()
} else {
  let kept
  parentPort.on('message', () => {
    kept = Tokenizer.fromEncodingSync('o200k_base')
    parentPort.postMessage(kept.vocabSize())
  })
  parentPort.postMessage('ready')
}
