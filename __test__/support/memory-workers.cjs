// Eight workers encode batches and end. Prints the counters of the pool before and after.
const path = require('node:path')
const { Worker, isMainThread } = require('node:worker_threads')
const { setTimeout: sleep } = require('node:timers/promises')

const { Tokenizer, memory } = require(path.join(__dirname, '../../index.js'))

async function encode(batches) {
  const gpt = await Tokenizer.fromEncoding('r50k_base')
  const rows = Array.from({ length: 200 }, (_, i) => `${i} ${'some words '.repeat(300)}`)
  for (let i = 0; i < batches; i++) await gpt.encodeBatch(rows)
  return gpt
}

;(async () => {
  if (!isMainThread) return void (await encode(25))
  const gpt = await encode(2)
  const before = memory.stats()
  const rss = process.memoryUsage().rss
  const workers = Array.from({ length: 8 }, () => new Worker(__filename))
  await Promise.all(workers.map((worker) => new Promise((resolve) => worker.on('exit', resolve))))
  gpt.count('still there')
  // Threads return their memory while they end, which can be after their workers ended.
  const isBack = ({ outstanding, external, mapped, free }) =>
    outstanding <= before.outstanding && external <= before.external && mapped <= before.mapped && free === 0
  for (let tries = 0; !isBack(memory.stats()) && tries < 1000; tries++) await sleep(10)
  console.log(JSON.stringify({ before, after: memory.stats(), grown: process.memoryUsage().rss - rss }))
})()
