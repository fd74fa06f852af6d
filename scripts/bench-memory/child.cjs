// One measurement in a process of its own: encodes a corpus again and again, and prints what that took as a line of JSON.
//
//   usage: node child.cjs '{"corpus": file, "tokenizer": file or undefined, "threads": n, "batches": n, "mode": …}'
//
// `mode` is `async` (each result is dropped, the event loop goes round), `sync` (a loop that never yields) or `workers` (eight
// worker threads, which then end).

const fs = require('node:fs')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const { setImmediate: turn, setTimeout: sleep } = require('node:timers/promises')
const { Worker, isMainThread, workerData } = require('node:worker_threads')

const { Tokenizer, memory } = require(path.join(__dirname, '../../index.js'))

const DOCUMENT = 6500
const WORKERS = 8
const task = isMainThread ? JSON.parse(process.argv[2]) : workerData

const mib = (bytes) => bytes / 2 ** 20
const rss = () => mib(process.memoryUsage().rss)
const faults = () => process.resourceUsage().minorPageFault
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]

function documents() {
  const text = fs.readFileSync(task.corpus, 'utf8')
  const texts = []
  for (let at = 0; at < text.length; at += DOCUMENT) texts.push(text.slice(at, at + DOCUMENT))
  return { texts, bytes: Buffer.byteLength(text) }
}

function load() {
  return task.tokenizer === undefined ? Tokenizer.fromEncoding('r50k_base') : Tokenizer.fromFile(task.tokenizer)
}

async function batches(tokenizer, { texts, bytes }) {
  const options = { addSpecialTokens: false, threads: task.threads }
  const walls = []
  const cpus = []
  const missed = []
  const resident = []
  for (let i = 0; i < task.batches; i++) {
    const [cpu, start, faulted] = [process.cpuUsage(), performance.now(), faults()]
    if (task.mode === 'sync') tokenizer.encodeBatchSync(texts, options)
    else await tokenizer.encodeBatch(texts, options)
    walls.push(mib(bytes) / ((performance.now() - start) / 1e3))
    const used = process.cpuUsage(cpu)
    cpus.push(mib(bytes) / ((used.user + used.system) / 1e6))
    missed.push(faults() - faulted)
    resident.push(rss())
    if (task.mode !== 'sync') await turn()
  }
  const steady = (values) => median(values.slice(values.length >> 1))
  return {
    wall: steady(walls),
    cpu: steady(cpus),
    faults: steady(missed),
    lastTen: resident.at(-1) - resident[Math.max(0, resident.length - 11)],
    resident,
  }
}

async function main() {
  if (!isMainThread) return void (await batches(await load(), documents()))
  const start = rss()
  const read = documents()
  const tokenizer = await load()
  const loaded = rss()
  let result
  if (task.mode === 'workers') {
    result = await batches(tokenizer, { ...read, texts: read.texts })
    const before = rss()
    const all = Array.from({ length: WORKERS }, () => new Worker(__filename, { workerData: { ...task, mode: 'async' } }))
    await Promise.all(all.map((worker) => new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject))))
    await sleep(100)
    result = { before, after: rss(), lent: memory.stats().lent }
  } else {
    result = await batches(tokenizer, read)
  }
  const peak = process.resourceUsage().maxRSS / 1024
  console.log(JSON.stringify({ ...result, start, loaded, rss: rss(), peak, memory: memory.stats() }))
}

main()
