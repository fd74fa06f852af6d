// @tokenlane/corpus: workers of a queue compare the files of a job.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { after, before, test } from 'node:test'

import { Queue } from 'bullmq'

import { createWorker, tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { Jobs, checkData } from '../src/queue/jobs.mjs'
import { Allowed } from '../src/store/allowed.mjs'
import { startIn } from '../../../__test__/support/cli.mjs'
import { scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const skip = { skip: missing, timeout: 240_000 }
const at = scratch()
/** @type {TestRedis} */
let redis

before(async () => {
  writeCorpus(at('data'))
  const options = { inputs: at('data'), output: at('tokens'), tokenizer: 'r50k_base', format: 'mds' }
  await tokenizeCorpus({ ...options, shardSize: 1500 })
  if (!missing) redis = await TestRedis.start()
})

after(() => redis?.end())

/** The number of jobs in a queue, whatever their states are. */
async function jobsIn(name) {
  const queue = new Queue(name, { connection: { port: redis.port, maxRetriesPerRequest: null } })
  const counts = await queue.getJobCounts()
  await queue.close()
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

test('workers find what one machine finds, and leave nothing in the queue', skip, async () => {
  const queue = { queue: redis.url, queueName: 'found' }
  const compared = []
  const onEvent = (event) => event.event === 'compared' && compared.push(event)
  const workers = await Promise.all(
    [1, 2].map(() => createWorker({ ...queue, allow: at('tokens'), concurrency: 1, onEvent })),
  )
  const whole = await verifyCorpus(at('tokens'), queue)
  assert.deepEqual(whole, await verifyCorpus(at('tokens')))
  assert.equal(whole.isWhole, true)
  assert.ok(whole.shards > 64, `${whole.shards} shards are those of several jobs`)
  assert.deepEqual(
    compared.map(({ first, end }) => [first, end]).sort(([a], [b]) => a - b),
    Array.from({ length: Math.ceil(whole.shards / 64) }, (_, job) => [
      job * 64,
      Math.min((job + 1) * 64, whole.shards),
    ]),
  )

  const file = (name) => at('tokens', name)
  fs.appendFileSync(file('shard-00000003.mds'), 'x')
  const bytes = fs.readFileSync(file('shard-00000066.mds'))
  bytes[bytes.length - 1] ^= 1
  fs.writeFileSync(file('shard-00000066.mds'), bytes)
  fs.rmSync(file('shard-00000065.mds'))
  fs.rmSync(file('shard-00000064.json'))
  fs.rmSync(file('index.json'))
  const events = []
  const damaged = await verifyCorpus(at('tokens'), { ...queue, onEvent: (event) => events.push(event) })
  assert.deepEqual(damaged, await verifyCorpus(at('tokens')))
  assert.deepEqual(
    damaged.listed.map((problem) => problem.file),
    [
      'shard-00000003.mds',
      'shard-00000064.json',
      'shard-00000065.mds',
      'shard-00000066.mds',
      'manifest.json',
      'index.json',
    ],
  )
  assert.deepEqual(
    events.filter(({ event }) => event === 'problem').map(({ event: _event, ...problem }) => problem),
    damaged.listed,
  )
  const shards = events.filter(({ event }) => event === 'verified').map(({ shard }) => shard)
  assert.deepEqual(
    shards.sort((a, b) => a - b),
    Array.from({ length: whole.shards }, (_, shard) => shard),
  )
  const command = await startIn(at(), ['corpus', 'verify', 'tokens', '--queue', redis.url, '--queue-name', 'found'])
    .ended
  assert.equal(command.status, 1, command.stderr)
  assert.match(command.stdout, /shard-00000065\.mds: it is missing\n[^]*6 problems\n$/)
  await Promise.all(workers.map((worker) => worker.close()))
  assert.equal(await jobsIn('found'), 0)
})

test(
  'a worker that may not read the folder hands the shards back; who stops waiting takes the jobs away',
  skip,
  async () => {
    const queue = { queue: redis.url, queueName: 'stopped' }
    fs.mkdirSync(at('other'))
    const worker = await createWorker({ ...queue, allow: at('other'), concurrency: 1 })
    const refusal = new AbortController()
    const refused = []
    const onEvent = (event) => {
      if (event.event !== 'refused') return
      refused.push(event.code)
      // The shard is in the queue again when the worker is closed.
      worker.close().then(() => refusal.abort())
    }
    const given = await failure(() => verifyCorpus(at('tokens'), { ...queue, signal: refusal.signal, onEvent }))
    assert.equal(given.name, 'AbortError')
    assert.ok(refused.includes('ERR_TOKENLANE_CORPUS_NOT_ALLOWED'))
    assert.equal(await jobsIn('stopped'), 0)
    const idle = await failure(() => verifyCorpus(at('tokens'), { ...queue, giveUpSeconds: 1 }))
    assert.equal(idle.code, 'ERR_TOKENLANE_CORPUS_SHARDS_FAILED')
    assert.equal(await jobsIn('stopped'), 0)

    const controller = new AbortController()
    const stopped = failure(() => verifyCorpus(at('tokens'), { ...queue, signal: controller.signal }))
    for (let round = 0; round < 4000 && (await jobsIn('stopped')) === 0; round++)
      await new Promise((resolve) => setTimeout(resolve, 25))
    controller.abort()
    assert.equal((await stopped).name, 'AbortError')
    assert.equal(await jobsIn('stopped'), 0)
  },
)

const links = { skip: process.platform === 'win32' && 'links need privileges on Windows' }

test('a worker compares what is below its folders only, and only the job that the queue names', links, async () => {
  const output = at('linked')
  const options = { inputs: at('data'), output, tokenizer: 'r50k_base', shardSize: 20_000 }
  const { id, shards } = await tokenizeCorpus(options)
  const compare = async (data) => {
    const jobs = new Jobs({ allowed: new Allowed([fs.realpathSync(output)]), allowHub: false, concurrency: 1 })
    try {
      return await jobs.compare({ id, output: fs.realpathSync(output), first: 0, end: shards, ...data })
    } finally {
      await jobs.end()
    }
  }
  assert.deepEqual((await compare({})).problems, [])
  const refused = async (data, code) =>
    assert.equal((await failure(() => compare(data))).code, `ERR_TOKENLANE_${code}`, JSON.stringify(data))
  await refused({ id: 'other' }, 'CORPUS_MISMATCH')
  await refused({ end: shards + 1 }, 'CORPUS_MISMATCH')
  await refused({ output: fs.realpathSync(at('data')) }, 'CORPUS_NOT_ALLOWED')
  fs.writeFileSync(at('secret'), 'secret')
  fs.rmSync(`${output}/shard-00000001.bin`)
  fs.symlinkSync(at('secret'), `${output}/shard-00000001.bin`)
  await refused({}, 'CORPUS_NOT_ALLOWED')
  fs.rmSync(`${output}/shard-00000001.json`)
  fs.symlinkSync(at('secret'), `${output}/shard-00000001.json`)
  await refused({}, 'CORPUS_NOT_ALLOWED')
  // The id is that of the content of job.json.
  const job = JSON.parse(fs.readFileSync(`${output}/job.json`, 'utf8'))
  fs.writeFileSync(`${output}/job.json`, JSON.stringify({ ...job, options: { ...job.options, format: 'npy' } }))
  await refused({}, 'CORPUS_MISMATCH')
})

test('options of a queue that contradict each other, and jobs that are none, are refused', async () => {
  for (const [options, code] of /** @type {any} */ ([
    [{ queueName: 'x' }, 'ARGUMENT_TYPE'],
    [{ giveUpSeconds: 1 }, 'ARGUMENT_TYPE'],
    [{ queue: 'redis://h', concurrency: 2 }, 'ARGUMENT_TYPE'],
    [{ queue: 7 }, 'ARGUMENT_TYPE'],
    [{ queue: 'http://h' }, 'ARGUMENT_VALUE'],
    [{ queue: 'redis://127.0.0.1:1' }, 'CORPUS_QUEUE'],
  ])) {
    const error = await failure(() => verifyCorpus(at('tokens'), options))
    assert.equal(error.code, `ERR_TOKENLANE_${code}`, JSON.stringify(options))
  }
  const data = { id: 'a', tokenlane: '1.0.0', output: '/o', base: '/b', first: 0, end: 64 }
  checkData('compare', data)
  checkData('compared', data)
  for (const wrong of [{ end: 65 }, { end: 0 }, { first: -1 }, { first: '0' }, { readsAll: 1 }, { output: 'o' }])
    assert.throws(() => checkData('compare', { ...data, ...wrong }), { code: 'ERR_TOKENLANE_CORPUS_QUEUE' })
  for (const name of ['__proto__', 'constructor', 'other', undefined])
    assert.throws(() => checkData(name, data), { code: 'ERR_TOKENLANE_CORPUS_QUEUE' })
})
