// Measures memory: encodes a corpus repeatedly in a process of its own, and prints the result as a
// line of JSON.
//
//   usage: npm run maintain -- bench-memory TASK
//
// TASK is JSON: {"corpus": file, "tokenizer": file or absent, "threads": n, "batches": n, "mode":
// …}. TOKENLANE_POOL chooses the pool, NAPI_RS_NATIVE_LIBRARY_PATH another build. On a machine with
// other processes, variants run in turn and the median of several runs counts.
//
// `mode` is `async` (each result is dropped, and the event loop turns), `sync` (a loop that never
// yields), `workers` (eight worker threads, which then end) or `idle workers` (the same threads
// read the texts but encode nothing, to measure how much memory Node itself keeps).

const fs = require('node:fs')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const { setImmediate: turn, setTimeout: sleep } = require('node:timers/promises')
const { Worker, isMainThread, workerData } = require('node:worker_threads')

const { Tokenizer, memory } = require(path.join(__dirname, '../../index.js'))

const MIN_DOCUMENT_BYTES = 6500
const BUFFER_BYTES = 1 << 18
const WORKER_COUNT = 8
const task = isMainThread ? JSON.parse(process.argv[2]) : workerData

const mib = (bytes) => bytes / 2 ** 20
const rss = () => mib(process.memoryUsage().rss)
const faults = () => process.resourceUsage().minorPageFault
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]

/**
 * Reads the corpus as documents of at least MIN_DOCUMENT_BYTES bytes that end with a line. The file
 * is read in pieces, so that only the texts stay in memory.
 */
function documents() {
  const file = fs.openSync(task.corpus, 'r')
  const buffer = Buffer.alloc(BUFFER_BYTES)
  const texts = []
  let held = 0
  for (let read; (read = fs.readSync(file, buffer, held, BUFFER_BYTES - held, null)) > 0; ) {
    held += read
    let at = 0
    for (let line; (line = buffer.indexOf(10, at + MIN_DOCUMENT_BYTES)) >= 0 && line < held; at = line + 1) {
      texts.push(buffer.toString('utf8', at, line + 1))
    }
    if (at === 0 && held === BUFFER_BYTES)
      throw new Error(`${task.corpus} has a line of more than ${BUFFER_BYTES - MIN_DOCUMENT_BYTES} bytes`)
    buffer.copyWithin(0, at, held)
    held -= at
  }
  if (held > 0) texts.push(buffer.toString('utf8', 0, held))
  fs.closeSync(file)
  return { texts, bytes: fs.statSync(task.corpus).size }
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
  if (!isMainThread) {
    const read = documents()
    return task.mode === 'idle workers' ? undefined : void (await batches(await load(), read))
  }
  const start = rss()
  const read = documents()
  const texts = rss()
  const tokenizer = await load()
  const loaded = rss()
  let result
  if (task.mode.endsWith('workers')) {
    result = await batches(tokenizer, read)
    const before = rss()
    const all = Array.from({ length: WORKER_COUNT }, () => new Worker(__filename, { workerData: task }))
    await Promise.all(
      all.map((worker) => new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject))),
    )
    await sleep(100)
    result = { before, after: rss(), outstanding: memory.stats().outstanding }
  } else {
    result = await batches(tokenizer, read)
  }
  const peak = process.resourceUsage().maxRSS / 1024
  const { tableBytes, cacheBytes } = tokenizer.stats()
  const heap = mib(process.memoryUsage().heapTotal)
  const parts = { start, texts, loaded, heap, tables: mib(tableBytes), caches: mib(cacheBytes) }
  console.log(JSON.stringify({ ...result, parts, rss: rss(), peak, memory: memory.stats() }))
}

main()
