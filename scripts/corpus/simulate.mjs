#!/usr/bin/env node
// A corpus job with very many shards and workers on a real Redis: the planner of tokenlane fills
// the queue, and workers of BullMQ take the shards and do nothing with them. It shows how fast jobs
// are added and handed out, their memory in Redis and in the planner, and what is busy first.
//
//   node scripts/corpus/simulate.mjs [--shards 1000000] [--workers 1000] [--processes 2]

import { fork, spawn } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'

import { runOnQueue } from '../../lib/corpus/queue/planner.mjs'

const { values } = parseArgs({
  options: {
    shards: { type: 'string', default: '1000000' },
    workers: { type: 'string', default: '1000' },
    processes: { type: 'string', default: '2' },
    child: { type: 'string' },
  },
})
const NAME = 'simulation'
const VERSION = JSON.parse(fs.readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
const number = (value) => Math.round(value).toLocaleString('en')
const mib = (bytes) => `${number(bytes / 2 ** 20)} MiB`

if (values.child !== undefined) startWorkers(Number(values.child))
else await main()

/** Workers of one process, with the settings of tokenlane's own. */
function startWorkers(port) {
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null }
  let done = 0
  const work = async (job) => {
    if (job.name === 'manifest') return undefined
    done += 1
    const { shard } = job.data
    return { shard, isNew: true, documents: 0, tokens: 0, bytes: 0, skipped: 0, seconds: 0, host: os.hostname() }
  }
  const settings = { connection, concurrency: 1, lockDuration: 15_000, stalledInterval: 7500, maxStalledCount: 2 }
  const workers = Array.from({ length: Number(values.workers) }, () => new Worker(NAME, work, settings))
  for (const worker of workers) worker.on('error', ({ message }) => process.send({ error: message }))
  Promise.all(workers.map((worker) => worker.waitUntilReady())).then(() => process.send({ ready: workers.length }))
  setInterval(() => process.send({ done, cpu: process.cpuUsage(), rss: process.memoryUsage().rss }), 1000)
  process.on('disconnect', () => process.exit())
}

/** A plan with a small part in each shard. */
async function writePlan(file, shards) {
  const out = fs.createWriteStream(file)
  const sample = 'a'.repeat(64)
  for (let shard = 0; shard < shards; shard++) {
    const name = `data/part-${String(shard >> 10).padStart(6, '0')}.jsonl`
    const start = (shard & 1023) * 2 ** 28
    const part = { shard, path: name, rows: 'json', start, end: start + 2 ** 28, size: 2 ** 38, sample }
    if (!out.write(`${JSON.stringify(part)}\n`))
      await new Promise((resolve) => out.once('drain', () => resolve(undefined)))
  }
  await new Promise((resolve) => out.end(() => resolve(undefined)))
}

async function main() {
  const [shards, workers, processes] = [values.shards, values.workers, values.processes].map(Number)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-simulation-'))
  const port = await new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const address = /** @type {net.AddressInfo} */ (server.address())
      server.close(() => resolve(address.port))
    })
  })
  const options = ['--port', port, '--dir', folder, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes']
  const redis = spawn('redis-server', options.map(String), { stdio: 'ignore' })
  const children = []
  process.on('exit', () => {
    redis.kill('SIGKILL')
    for (const child of children) child.kill()
    fs.rmSync(folder, { recursive: true, force: true })
  })
  const client = new Redis({ port, maxRetriesPerRequest: null, retryStrategy: () => 50 })
  client.on('error', () => {})
  await client.ping()
  const memory = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))[1])
  const cpu = async () => {
    const text = await client.info('cpu')
    return ['user', 'sys'].reduce(
      (sum, name) => sum + Number(new RegExp(`used_cpu_${name}:([\\d.]+)`).exec(text)[1]),
      0,
    )
  }
  const empty = await memory()
  const planFile = path.join(folder, 'plan.jsonl')
  await writePlan(planFile, shards)
  const job = { id: '0'.repeat(32), tokenlane: VERSION, plan: { shards, bytes: shards * 2 ** 28 }, options: {} }

  const started = performance.now()
  const since = () => (performance.now() - started) / 1000
  let isAdded = (_value) => {}
  const added = new Promise((resolve) => (isAdded = resolve))
  let mostRss = 0
  const watch = setInterval(() => (mostRss = Math.max(mostRss, process.memoryUsage().rss)), 200)
  const planner = runOnQueue({
    queue: `redis://127.0.0.1:${port}`,
    queueName: NAME,
    output: '/shared/tokens',
    planFile,
    job,
    onEvent: ({ event, shards: count }) => event === 'queued' && count === shards && isAdded(undefined),
  })
  planner.catch(isAdded)
  await added
  const filled = since()
  const full = await memory()
  const busy = await cpu()
  console.log(
    `added: ${number(shards)} jobs in ${number(filled)} s, ${number(shards / filled)} a second; Redis ${number(busy)} CPU seconds, ${mib(full - empty)}, ${number((full - empty) / shards)} bytes a job; planner RSS ${mib(mostRss)}`,
  )
  const queue = new Queue(NAME, { connection: { port } })
  const [first] = await queue.getWaiting(0, 0)
  const key = queue.toKey(first.id)
  const bytes = Object.entries(await client.hgetall(key))
    .flat()
    .reduce((sum, text) => sum + Buffer.byteLength(text), key.length)
  console.log(
    `a job: ${number(bytes)} bytes of text, ${number(Number(await client.call('MEMORY', 'USAGE', key)))} bytes in Redis`,
  )

  const states = Array.from({ length: processes }, () => ({
    done: 0,
    ready: false,
    cpu: { user: 0, system: 0 },
    rss: 0,
  }))
  const errors = new Map()
  for (const state of states) {
    const each = Math.ceil(workers / processes)
    const child = fork(fileURLToPath(import.meta.url), ['--child', String(port), '--workers', String(each)])
    children.push(child)
    child.on('message', (/** @type {any} */ said) => {
      Object.assign(state, said)
      // Jobs have numbers; what happened to them is counted together.
      const kind = said.error?.replace(/[0-9a-f]{32}-[\d-]+/, '…')
      if (kind) errors.set(kind, (errors.get(kind) ?? 0) + 1)
    })
  }
  const begun = since()
  const sum = () => states.reduce((total, { done }) => total + done, 0)
  let shown = 0
  const show = setInterval(() => {
    const done = sum()
    if (done - shown < shards / 10) return
    shown = done
    console.log(`${number(done)} done, ${number(done / (since() - begun))} a second`)
  }, 1000)
  await planner
  clearInterval(show)
  const taken = since() - begun
  const used = (await cpu()) - busy
  const own = states.reduce((total, { cpu: { user, system } }) => total + (user + system) / 1e6, 0)
  console.log(
    `done: ${number(shards / taken)} shards a second by ${number(workers)} workers in ${number(taken)} s; Redis ${number(used)} CPU seconds (${number((used / shards) * 1e6)} µs a shard), workers ${number(own)} CPU seconds (${number((own / shards) * 1e6)} µs a shard), ${mib(Math.max(...states.map(({ rss }) => rss)))} a process; Redis ${mib((await memory()) - empty)} at the end; planner RSS ${mib(mostRss)}`,
  )
  for (const [message, count] of errors) console.log(`${count} times: ${message}`)
  clearInterval(watch)
  process.exit(0)
}
