// Eight workers at the same time, while the main thread never loads the addon.
const path = require('node:path')
const { Worker, isMainThread, parentPort } = require('node:worker_threads')

if (isMainThread) {
  const workers = Array.from({ length: 8 }, () => new Worker(__filename))
  const lengths = workers.map((worker) => new Promise((done, failed) => worker.on('error', failed).on('message', done)))
  Promise.all(lengths).then((all) => console.log(all.join(' ')))
} else {
  const { Tokenizer } = require(path.join(__dirname, '../../../index.js'))
  const gpt = Tokenizer.fromEncodingSync('r50k_base')
  const rows = Array.from({ length: 200 }, (_, i) => `row ${i} ` + 'and so on '.repeat(100))
  gpt.encodeBatch(rows).then((batch) => parentPort.postMessage(batch.length))
}
