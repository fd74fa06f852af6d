#!/usr/bin/env node
// Simulates a corpus job with very many shards and workers on a real Redis. tokenlane's planner
// fills the queue; workers of BullMQ take the shards and do nothing with them. The script shows how
// fast jobs are added and taken, and how much memory and CPU time Redis, planner and workers use.
//
//   node tools/compare/corpus/simulate.mjs [--shards 1000000] [--workers 1000] [--processes 2]

import { fork, spawn } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'

import { processOnQueue } from '../../../lib/corpus/queue/planner.mjs'

const { values } = parseArgs({
  options: {
    shards: { type: 'string', default: '1000000' },
    workers: { type: 'string', default: '1000' },
    processes: { type: 'string', default: '2' },
    child: { type: 'string' },
  },
})
const NAME = 'simulation'
const VERSION = JSON.parse(fs.readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version
const number = (value) => Math.round(value).toLocaleString('en')
const mib = (bytes) => `${number(bytes / 2 ** 20)} MiB`

if (values.child !== undefined) startWorkers(Number(values.child))
else await main()

/** Starts the workers of one process, with the settings of tokenlane's own workers. */
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

/** Writes a plan in which each shard has one part of a file. */
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
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  const redis = await startRedis(folder)
  const before = await redis.usage()
  let plannerRss = 0
  const watch = setInterval(() => (plannerRss = Math.max(plannerRss, process.memoryUsage().rss)), 200)

  const planFile = path.join(folder, 'plan.jsonl')
  await writePlan(planFile, shards)
  const { planner, seconds } = await fillQueue(redis.port, planFile, shards)
  const filled = await redis.usage()
  const grown = filled.memory - before.memory
  console.log(
    `added: ${number(shards)} jobs in ${number(seconds)} s, ${number(shards / seconds)} a second; Redis ${number(filled.cpu)} CPU seconds, ${mib(grown)}, ${number(grown / shards)} bytes a job; planner RSS ${mib(plannerRss)}`,
  )
  await showJob(redis)

  const worked = await doShards({ port: redis.port, planner, shards, workers, processes })
  const after = await redis.usage()
  const used = after.cpu - filled.cpu
  console.log(
    `done: ${number(shards / worked.seconds)} shards a second by ${number(workers)} workers in ${number(worked.seconds)} s; Redis ${number(used)} CPU seconds (${number((used / shards) * 1e6)} µs a shard), workers ${number(worked.cpu)} CPU seconds (${number((worked.cpu / shards) * 1e6)} µs a shard), ${mib(worked.rss)} a process; Redis ${mib(after.memory - before.memory)} at the end; planner RSS ${mib(plannerRss)}`,
  )
  for (const [message, count] of worked.errors) console.log(`${count} times: ${message}`)
  clearInterval(watch)
  process.exit(0)
}

/** Starts a Redis that ends with this process. `usage` returns its memory and CPU seconds. */
async function startRedis(folder) {
  const port = await freePort()
  const options = ['--port', port, '--dir', folder, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes']
  // The server ends when this process has ended, however it ended: its standard input is closed.
  const guarded = 'redis-server "$@" >/dev/null 2>&1 & cat >/dev/null; kill -9 $!'
  spawn('sh', ['-c', guarded, 'sh', ...options.map(String)], { stdio: ['pipe', 'ignore', 'ignore'] })
  const client = new Redis({ port, maxRetriesPerRequest: null, retryStrategy: () => 50 })
  client.on('error', () => {})
  await client.ping()
  const usage = async () => {
    const [memory, cpu] = [await client.info('memory'), await client.info('cpu')]
    const seconds = (name) => Number(new RegExp(`used_cpu_${name}:([\\d.]+)`).exec(cpu)[1])
    return { memory: Number(/used_memory:(\d+)/.exec(memory)[1]), cpu: seconds('user') + seconds('sys') }
  }
  return { port, client, usage }
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const address = /** @type {net.AddressInfo} */ (server.address())
      server.close(() => resolve(address.port))
    })
  })
}

/** Starts the planner, and waits until all jobs are in the queue. `planner` settles at the end. */
async function fillQueue(port, planFile, shards) {
  const job = { id: '0'.repeat(32), tokenlane: VERSION, plan: { shards, bytes: shards * 2 ** 28 }, options: {} }
  const started = performance.now()
  let isAdded = (_value) => {}
  const added = new Promise((resolve) => (isAdded = resolve))
  const planner = processOnQueue({
    queue: `redis://127.0.0.1:${port}`,
    queueName: NAME,
    output: '/shared/tokens',
    planFile,
    job,
    onEvent: ({ event, shards: count }) => event === 'queued' && count === shards && isAdded(undefined),
  })
  planner.catch(isAdded)
  await added
  return { planner, seconds: (performance.now() - started) / 1000 }
}

/** Prints the size of one job. */
async function showJob({ port, client }) {
  const queue = new Queue(NAME, { connection: { port } })
  const [first] = await queue.getWaiting(0, 0)
  const key = queue.toKey(first.id)
  const bytes = Object.entries(await client.hgetall(key))
    .flat()
    .reduce((sum, text) => sum + Buffer.byteLength(text), key.length)
  console.log(
    `a job: ${number(bytes)} bytes of text, ${number(Number(await client.call('MEMORY', 'USAGE', key)))} bytes in Redis`,
  )
}

/**
 * Starts the processes of the workers, and waits for the end of the job. Returns the seconds it
 * took, and the CPU seconds, RSS and errors of the workers.
 */
async function doShards({ port, planner, shards, workers, processes }) {
  const states = Array.from({ length: processes }, () => ({ done: 0, cpu: { user: 0, system: 0 }, rss: 0 }))
  const errors = new Map()
  for (const state of states) {
    const each = Math.ceil(workers / processes)
    const child = fork(fileURLToPath(import.meta.url), ['--child', String(port), '--workers', String(each)])
    process.on('exit', () => child.kill())
    child.on('message', (/** @type {any} */ message) => {
      Object.assign(state, message)
      // Errors of different jobs are counted together, so their numbers are removed.
      const kind = message.error?.replace(/[0-9a-f]{32}-[\d-]+/, '…')
      if (kind) errors.set(kind, (errors.get(kind) ?? 0) + 1)
    })
  }
  const started = performance.now()
  const since = () => (performance.now() - started) / 1000
  let shown = 0
  const show = setInterval(() => {
    const done = states.reduce((total, state) => total + state.done, 0)
    if (done - shown < shards / 10) return
    shown = done
    console.log(`${number(done)} done, ${number(done / since())} a second`)
  }, 1000)
  await planner
  clearInterval(show)
  const cpu = states.reduce((total, state) => total + (state.cpu.user + state.cpu.system) / 1e6, 0)
  return { seconds: since(), cpu, rss: Math.max(...states.map(({ rss }) => rss)), errors }
}
