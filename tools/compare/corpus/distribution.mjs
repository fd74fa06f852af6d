#!/usr/bin/env node
// Measures the cost of a queue: runs a corpus job on this machine, and then the same shards with a
// worker through Redis.
//
//   node tools/compare/corpus/distribution.mjs --corpus FOLDER [--mib 1024] [--shard-size 64MiB]
//                                        [--rounds 3] [--tokenizer NAME]
//
// FOLDER has *.txt files, from which documents of 200 to 8,000 characters are cut in turn. Needs
// redis-server. The two kinds of run alternate. The worker starts before the clock does; its start
// is printed separately. The command measures the user and system time of each process, and the
// wall time of each run, which is only meaningful on a quiet machine.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'

import { Redis } from 'ioredis'

import { TestRedis } from '../../../__test__/support/redis.mjs'
import { root } from '../../setup.mjs'
import { writeDocuments } from './documents.mjs'

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    mib: { type: 'string', default: '1024' },
    'shard-size': { type: 'string', default: '64MiB' },
    rounds: { type: 'string', default: '3' },
    tokenizer: { type: 'string', default: 'o200k_base' },
  },
})
if (values.corpus === undefined) throw new Error('name a folder of texts with --corpus')

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-distribution-'))
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
const at = (name) => path.join(folder, name)
// Each process writes its CPU time when it ends, and when it gets SIGUSR2.
fs.writeFileSync(
  at('usage.cjs'),
  `const write = () => {
  const { user, system } = process.cpuUsage()
  require('fs').writeFileSync(process.env.USAGE_FILE, String((user + system) / 1e6))
}
if (require('worker_threads').isMainThread) process.on('exit', write).on('SIGUSR2', write)
`,
)

/**
 * Starts tokenlane with these arguments. `used` returns the CPU seconds so far; `end` waits for the
 * end of the process.
 */
function start(name, args) {
  const file = at(`${name}.usage`)
  fs.rmSync(file, { force: true })
  const env = { ...process.env, USAGE_FILE: file }
  const command = ['--require', at('usage.cjs'), path.join(root, 'cli', 'main.mjs'), ...args]
  const child = spawn(process.execPath, command, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const used = async () => {
    if (child.exitCode === null) {
      fs.rmSync(file, { force: true })
      child.kill('SIGUSR2')
    }
    while (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') === '')
      await new Promise((resolve) => setTimeout(resolve, 10))
    return Number(fs.readFileSync(file, 'utf8'))
  }
  const end = async () => {
    const [status] = await ended
    if (status !== 0) throw new Error(`${name} ended with ${status}`)
  }
  return { child, used, end }
}

const seconds = async (work) => {
  const before = performance.now()
  await work()
  return (performance.now() - before) / 1000
}

const JOB = ['corpus', 'corpus.jsonl', '-t', values.tokenizer, '--eos', '--quiet', '--shard-size', values['shard-size']]

async function alone() {
  fs.rmSync(at('alone'), { recursive: true, force: true })
  const job = start('job', [...JOB, '-o', 'alone'])
  const wall = await seconds(job.end)
  return { wall, 'all processes': await job.used() }
}

async function queued() {
  fs.rmSync(at('queued'), { recursive: true, force: true })
  const redis = await TestRedis.start()
  const client = new Redis(redis.url)
  const ofRedis = async () => {
    const info = await client.info('cpu')
    const [system, user] = ['sys', 'user'].map((kind) =>
      Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(info)?.[1]),
    )
    return system + user
  }
  const worker = start('worker', ['worker', '--queue', redis.url, '--allow', folder, '--json'])
  try {
    while (!/cmd=bzpopmin/.test(String(await client.client('LIST'))))
      await new Promise((resolve) => setTimeout(resolve, 50))
    const before = [await worker.used(), await ofRedis()]
    const planner = start('planner', [...JOB, '-o', 'queued', '--queue', redis.url])
    const wall = await seconds(planner.end)
    const [ofWorker, redisUsed] = [(await worker.used()) - before[0], (await ofRedis()) - before[1]]
    const ofPlanner = await planner.used()
    return {
      wall,
      'all processes': ofWorker + redisUsed + ofPlanner,
      worker: ofWorker,
      planner: ofPlanner,
      redis: redisUsed,
      'start of the worker, not counted': before[0],
    }
  } finally {
    worker.child.kill('SIGTERM')
    await worker.end().catch(() => {})
    client.disconnect()
    await redis.end()
  }
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1]

const documents = writeDocuments(values.corpus, at('corpus.jsonl'), Number(values.mib))
console.log(`${documents.toLocaleString('en')} documents, ${values.mib} MiB`)
const found = { alone: [], queued: [] }
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [name, run] of Object.entries({ alone, queued })) {
    const figures = await run()
    found[name].push(figures)
    const shown = Object.entries(figures).map(([what, value]) => `${what} ${value.toFixed(2)} s`)
    console.log(`${name}: ${shown.join(', ')}`)
  }
}
for (const what of ['wall', 'all processes']) {
  const [one, many] = [found.alone, found.queued].map((list) => median(list.map((figures) => figures[what])))
  const percent = ((many / one - 1) * 100).toFixed(1)
  console.log(`${what}: ${one.toFixed(2)} s alone, ${many.toFixed(2)} s through the queue: ${percent} %`)
}
const [one, worker] = [median(found.alone.map((f) => f['all processes'])), median(found.queued.map((f) => f.worker))]
console.log(`worker against the job alone: ${((worker / one - 1) * 100).toFixed(1)} % of CPU time`)
