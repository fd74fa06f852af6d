// Loads the addon in six workers, one after the other, and never in the main thread.
const path = require('node:path')
const { Worker, isMainThread, workerData, parentPort } = require('node:worker_threads')

if (isMainThread) {
  ;(async () => {
    const done = []
    for (let number = 1; number <= 6; number++) {
      await new Promise((ended, failed) => {
        const worker = new Worker(__filename, { workerData: number })
        worker
          .on('message', (said) => done.push(said))
          .on('error', failed)
          .on('exit', ended)
      })
    }
    console.log(done.join(' '))
  })()
} else {
  const { Tokenizer } = require(path.join(__dirname, '../../index.js'))
  ;(async () => {
    const gpt = await Tokenizer.fromEncoding('r50k_base')
    const batch = await gpt.encodeBatch(Array.from({ length: 500 }, (_, i) => `row ${i} of the worker ${workerData}`))
    if (gpt.decode(batch.row(7)) !== `row 7 of the worker ${workerData}`) throw new Error('wrong ids')
    parentPort.postMessage(workerData)
  })()
}
