// @tokenlane/corpus on machines that do not fit, that go away, or that start before Redis.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { after, before, describe, test } from 'node:test'

import { Queue } from 'bullmq'

import { createWorker, tokenizeCorpus } from '@tokenlane/corpus'
import { isOfHost } from '../src/queue/host-failure.mjs'
import { startIn } from '../../../__test__/support/cli.mjs'
import { hashes, scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const skip = { skip: missing, timeout: 240_000 }
const at = scratch()
writeCorpus(at('data'), 3, 30)
fs.mkdirSync(at('elsewhere'))
const BASE = { inputs: at('data'), tokenizer: 'r50k_base', shardSize: 20_000, format: 'npy' }
/** @type {TestRedis} */
let redis

before(async () => {
  if (!missing) redis = await TestRedis.start()
})
after(() => redis?.end())

/** Starts a worker, and kills it when it has a shard. */
async function preempt(args, queue) {
  const { child, ended } = startIn(at(), args, {})
  while ((await queue.getActiveCount()) === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  child.kill('SIGKILL')
  await ended
  // The lock of the shard expires now, and not after its time.
  const client = redis.client()
  for (const { id } of await queue.getActive()) await client.del(queue.toKey(`${id}:lock`))
  client.disconnect()
}

// Most of their time is waiting, so they run together.
describe('machines', { concurrency: 8 }, () => {
  test('a worker that does not fit pauses and fails no shard; the planner says why', skip, async () => {
    const queue = { queue: redis.url, queueName: 'bad-host' }
    const paused = []
    const onEvent = (event) => paused.push(event)
    const bad = await createWorker({ ...queue, allow: at('elsewhere'), concurrency: 4, onEvent })
    const refused = []
    let start = () => {}
    const isRefused = new Promise((resolve) => (start = () => resolve(undefined)))
    const job = tokenizeCorpus({
      ...BASE,
      ...queue,
      output: at('fits'),
      onEvent: (event) => {
        if (event.event !== 'refused') return
        refused.push(event)
        start()
      },
    })
    await isRefused
    const good = await createWorker({ ...queue, allow: at(), concurrency: 2 })
    await job
    await Promise.all([bad.close(), good.close()])
    assert.deepEqual(
      paused.filter(({ event }) => event === 'failed'),
      [],
    )
    assert.ok(paused.some(({ event, code }) => event === 'paused' && code === 'ERR_TOKENLANE_CORPUS_NOT_ALLOWED'))
    assert.match(refused[0].message, /is not below a folder that this worker allows/)
    await tokenizeCorpus({ ...BASE, output: at('alone') })
    assert.deepEqual(hashes(at('fits')), hashes(at('alone')))
  })

  test('a shard that a worker hands back does not wait for as long as its clock is ahead', skip, async () => {
    const queue = { queue: redis.url, queueName: 'clock' }
    const ahead = 'const now = Date.now; Date.now = () => now() + 7_200_000'
    const clock = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(ahead)}` }
    const args = ['worker', '--queue', redis.url, '--queue-name', 'clock', '--allow', at('elsewhere')]
    const { child, ended } = startIn(at(), args, clock)
    let start = () => {}
    const isRefused = new Promise((resolve) => (start = () => resolve(undefined)))
    const onEvent = ({ event }) => event === 'refused' && start()
    const job = tokenizeCorpus({ ...BASE, ...queue, output: at('clock'), onEvent })
    await isRefused
    child.kill('SIGKILL')
    await ended
    const good = await createWorker({ ...queue, allow: at(), concurrency: 2 })
    await job
    await good.close()
  })

  test('hooks: a worker has the module of the job, or hands the shard back', skip, async () => {
    const queue = { queue: redis.url, queueName: 'hooks' }
    for (const name of ['own', 'other'])
      fs.writeFileSync(at(`${name}.mjs`), `export const map = ({ text }) => text + '${name === 'own' ? '!' : '?'}'`)
    let start = () => {}
    const isRefused = new Promise((resolve) => (start = () => resolve(undefined)))
    const refused = []
    const bad = await createWorker({ ...queue, allow: at(), hooks: at('other.mjs') })
    const job = tokenizeCorpus({
      ...BASE,
      ...queue,
      hooks: at('own.mjs'),
      output: at('hooked'),
      onEvent: (event) => {
        if (event.event !== 'refused') return
        refused.push(event.message)
        start()
      },
    })
    await isRefused
    const good = await createWorker({ ...queue, allow: at(), hooks: at('own.mjs') })
    await job
    await Promise.all([bad.close(), good.close()])
    assert.match(refused[0], /hooks with the SHA-256 [0-9a-f]{64}, and this worker has [0-9a-f]{64}.*--hooks FILE/)
    await tokenizeCorpus({ ...BASE, hooks: at('own.mjs'), output: at('hooked-alone') })
    assert.deepEqual(hashes(at('hooked')), hashes(at('hooked-alone')))
  })

  test('the same inputs to two outputs on one queue: both are written', skip, async () => {
    const queue = { queue: redis.url, queueName: 'two-outputs' }
    const worker = await createWorker({ ...queue, allow: at() })
    for (const output of ['oA', 'oB']) await tokenizeCorpus({ ...BASE, ...queue, output: at(output) })
    await worker.close()
    assert.deepEqual(hashes(at('oB')), hashes(at('oA')))
    assert.ok(fs.existsSync(at('oB', 'manifest.json')))
  })

  test('without a worker the planner says so, and gives up if that was asked for', skip, async () => {
    const args = [
      'corpus',
      at('data'),
      '-t',
      'r50k_base',
      '-o',
      at('nobody'),
      '--queue-name',
      'nobody',
      '--give-up',
      '4',
    ]
    const { ended } = startIn(at(), args, { TOKENLANE_QUEUE: redis.url })
    const { status, stderr } = await ended
    assert.equal(status, 1, stderr)
    assert.match(stderr, /^tokenlane: no worker takes shards from the queue: start "tokenlane worker"/m)
    assert.match(stderr, /gave up after 4 seconds \(ERR_TOKENLANE_CORPUS_SHARDS_FAILED\)/)
  })

  test('a shard whose workers are killed is done; --max-stalls puts it aside', skip, async () => {
    const where = { queue: redis.url, queueName: 'preempted' }
    const queue = new Queue('preempted', { connection: { port: redis.port, maxRetriesPerRequest: null } })
    fs.mkdirSync(at('one'))
    fs.writeFileSync(at('one', 'big.jsonl'), `${JSON.stringify({ text: 'a b c '.repeat(40) })}\n`.repeat(100_000))
    const args = ['worker', '--queue', redis.url, '--queue-name', 'preempted', '--allow', at(), '--lock-time', '4']
    const base = { ...BASE, inputs: at('one'), shardSize: 2 ** 40, ...where }
    const events = []
    const job = tokenizeCorpus({ ...base, output: at('killed'), onEvent: ({ event }) => events.push(event) })
    for (let times = 0; times < 3; times++) await preempt(args, queue)
    const worker = await createWorker({ ...where, allow: at(), lockSeconds: 4 })
    await job
    await worker.close()
    assert.ok(events.filter((event) => event === 'stalled').length >= 1, String(events))
    const lost = failure(() => tokenizeCorpus({ ...base, eos: true, output: at('aside') }))
    await preempt([...args, '--max-stalls', '0'], queue)
    const last = await createWorker({ ...where, allow: at(), lockSeconds: 4, maxStalls: 0 })
    const { code, message } = await lost
    await last.close()
    await queue.close()
    assert.equal(code, 'ERR_TOKENLANE_CORPUS_SHARDS_FAILED')
    assert.match(message, /too many workers ended while they had it.*--max-stalls/)
  })

  test('which failures are those of a machine', async () => {
    const code = (name) => `ERR_TOKENLANE_${name}`
    fs.mkdirSync(at('mount'))
    const ofDisks = 'EDQUOT EIO EMFILE ENFILE ENODEV ENOMEM ENOSPC EROFS ESTALE'
    const ofNetworks = 'EHOSTDOWN EHOSTUNREACH ENOTCONN ETIMEDOUT'
    for (const system of `${ofDisks} ${ofNetworks}`.split(' '))
      assert.equal(await isOfHost({ code: code('FILE'), system, place: 's3://lake/a' }, at()), true, system)
    for (const name of ['TOO_MANY_FILES', 'HUB_SERVER'])
      assert.equal(await isOfHost({ code: code(name) }, at()), true, name)
    for (const system of ['ENOENT', 'EISDIR', 'EACCES'])
      assert.equal(await isOfHost({ code: code('FILE'), system, place: 's3://lake/a' }, at()), false, system)
    for (const [error, expected] of [
      [{ code: code('CORPUS_NOT_ALLOWED') }, true],
      [{ code: code('PACKAGE_MISSING') }, true],
      [{ code: code('FILE'), system: 'ENOSPC', place: 'data/x' }, true],
      [{ code: code('FILE'), cause: { code: 'ESTALE' }, place: 'data/x' }, true],
      [{ code: code('FILE_NOT_FOUND'), place: 'data/gone.jsonl' }, false],
      [{ code: code('FILE_NOT_FOUND'), place: 'mount/a.jsonl' }, true],
      [{ code: code('FILE_NOT_FOUND'), place: 'nowhere/a.jsonl' }, true],
      [{ code: code('FILE_NOT_FOUND'), place: 's3://lake/a' }, false],
      [{ code: code('CORPUS_STORE'), isOfHost: true }, true],
      [{ code: code('CORPUS_STORE'), isOfHost: false }, false],
      [{ code: code('JSON') }, false],
      [{ code: code('OUT_OF_MEMORY') }, false],
      [{ code: code('CORPUS_INPUT_CHANGED') }, false],
      [new Error('any'), false],
    ])
      assert.equal(await isOfHost(error, at()), expected, JSON.stringify(error))
  })

  test('a worker that starts before Redis waits for it', skip, async () => {
    const early = await TestRedis.start()
    await early.stop()
    const messages = []
    const waiting = createWorker({
      queue: early.url,
      allow: at(),
      waitSeconds: 60,
      onEvent: ({ message }) => messages.push(message),
    })
    while (messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    await early.start()
    const worker = await waiting
    assert.match(messages[0], /cannot be used: .*ECONNREFUSED.*; trying again/)
    await worker.close()
    await early.end()
    const { code } = await failure(() => createWorker({ queue: 'redis://127.0.0.1:1', allow: at(), waitSeconds: 0 }))
    assert.equal(code, 'ERR_TOKENLANE_CORPUS_QUEUE')
  })
})
