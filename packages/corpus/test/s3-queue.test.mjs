// @tokenlane/corpus on many machines with S3: workers, and what they are allowed to use.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { after, before, test } from 'node:test'

import { Queue } from 'bullmq'

import { createWorker, tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { hashes, scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { TestS3 } from './support/s3.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const skip = { skip: missing, timeout: 300_000 }
const VERSION = JSON.parse(fs.readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version
const at = scratch()
const BASE = { tokenizer: 'r50k_base', shardSize: 30_000, eos: true, shuffle: 2, format: 'npy', idField: 'id' }
/** @type {TestRedis} */
let redis
/** @type {TestS3} */
let s3

before(async () => {
  if (missing) return
  redis = await TestRedis.start()
  s3 = await TestS3.start(['lake', 'lake2'])
  Object.assign(process.env, s3.env)
  writeCorpus(at('raw'), 2, 120)
  for (const name of fs.readdirSync(at('raw'))) {
    s3.put(`lake/raw/${name}`, fs.readFileSync(at('raw', name)))
    s3.put(`lake2/raw/${name}`, fs.readFileSync(at('raw', name)))
  }
})

after(async () => {
  await redis?.end()
  await s3?.stop()
})

/** The numbers of a shard's files, which do not name the inputs. */
const arrays = (all) => Object.fromEntries(Object.entries(all).filter(([name]) => name.endsWith('.npy')))

test('workers do the shards of a job in S3; the output is that of one machine', skip, async () => {
  const queue = { queue: redis.url, queueName: 's3' }
  const workers = await Promise.all([1, 2].map(() => createWorker({ ...queue, allow: 's3://lake', concurrency: 2 })))
  const kept = await tokenizeCorpus({ ...BASE, ...queue, inputs: 's3://lake/raw/', output: 's3://lake/tokens' })
  assert.equal(kept.kept, 0)
  await tokenizeCorpus({ ...BASE, inputs: at('raw'), output: at('alone') })
  for (const name of s3.names('lake/tokens/')) {
    fs.mkdirSync(at('copy'), { recursive: true })
    fs.writeFileSync(at('copy', name.split('/').at(-1)), s3.get(name))
  }
  assert.deepEqual(arrays(hashes(at('copy'))), arrays(hashes(at('alone'))))
  assert.equal((await verifyCorpus('s3://lake/tokens/')).isWhole, true)
  await Promise.all(workers.map((worker) => worker.close()))
})

test('a worker uses what is below --allow only: prefixes, other buckets, dots, and a disk', skip, async () => {
  const name = { queue: redis.url, queueName: 'allow' }
  const run = async (inputs, output, index) => {
    const own = { ...name, queueName: `allow-${index}` }
    const worker = await createWorker({ ...own, allow: ['s3://lake/raw', 's3://lake/out/'], concurrency: 8 })
    const error = await failure(() => tokenizeCorpus({ ...BASE, ...own, giveUpSeconds: 8, inputs, output }))
    await worker.close()
    return error
  }
  s3.put('lake/rawness/x.jsonl', '{"id":"1","text":"x"}\n')
  const outside = [
    ['s3://lake/raw/', 's3://lake/other'],
    ['s3://lake/raw/', 's3://lake2/out/'],
    ['s3://lake/raw/', 's3://lake/outside'],
    ['s3://lake/rawness/', 's3://lake/out/1'],
    ['s3://lake2/raw/', 's3://lake/out/2'],
    [at('raw'), 's3://lake/out/3'],
    ['s3://lake/raw/', at('local')],
  ]
  const errors = await Promise.all(outside.map(([inputs, output], index) => run(inputs, output, index)))
  errors.forEach(({ code, message }, index) => {
    assert.equal(code, 'ERR_TOKENLANE_CORPUS_SHARDS_FAILED')
    assert.match(message, /is not below a folder that this worker allows/, String(outside[index]))
  })
  assert.deepEqual(
    s3.names('lake/').filter((one) => one.includes('/shard-') && !one.startsWith('lake/tokens/')),
    [],
  )
})

test('a job that is forged reaches nothing outside', skip, async () => {
  const name = { queue: redis.url, queueName: 'forged' }
  const events = []
  const worker = await createWorker({
    ...name,
    allow: 's3://lake/out/',
    concurrency: 16,
    onEvent: (event) => events.push(event),
  })
  const queue = new Queue('forged', { connection: { port: redis.port, maxRetriesPerRequest: null } })
  const before = s3.requests.length
  const outputs = [
    's3://lake2/out/',
    's3://lake/outside/',
    's3://lake/out/../tokens/',
    's3://lake/out/%2e%2e/tokens/',
    's3://lake/out/..%2Ftokens/',
    's3://lake//out/',
    's3:///lake/out/',
    'S3://lake/out/',
    's3://LAKE/out/',
    's3://lake\u0000/out/',
    's3://user@lake/out/',
    'https://lake/out/',
    'file:///etc',
  ]
  for (const output of outputs) {
    const data = { id: 'x', tokenlane: VERSION, output, base: '/', shard: 0, from: 0, to: 9 }
    await queue.add('shard', data, { attempts: 1 })
  }
  for (
    let round = 0;
    events.filter(({ event }) => event === 'failed' || event === 'paused').length < outputs.length;
    round++
  ) {
    assert.ok(round < 400, JSON.stringify(events))
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.equal(s3.requests.length, before, 'no request was sent')
  await queue.close()
  await worker.close()
  for (const allow of ['s3://', 's3://lake/../x', 'ftp://lake/'])
    assert.match((await failure(() => createWorker({ ...name, allow }))).code, /ARGUMENT_VALUE|UNSUPPORTED/)
})
