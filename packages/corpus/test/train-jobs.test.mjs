// Counting words as a corpus job: shards on this machine or on workers, resumed after anything, and
// the tokenizer of one machine in memory.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'

import { createWorker, verifyCorpus, extendTokenizer, trainTokenizer } from '@tokenlane/corpus'
import { runIn, startIn } from '../../../__test__/support/cli.mjs'
import { hashes, leftovers, scratch, stems, temporaryIn, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { TestS3 } from './support/s3.mjs'

const skip = { skip: missing, timeout: 240_000 }
const at = scratch()
writeCorpus(at('data'), 3, 80)
const OPTIONS = { inputs: at('data'), vocabSize: 600 }
const fileOf = (tokenizer) => Buffer.from(tokenizer.toBuffer()).toString()
const expected = fileOf(await trainTokenizer(OPTIONS))
/** Options of a job with several shards. */
const inShards = (name, more = {}) => ({ ...OPTIONS, workDir: at(name), shardSize: 20_000, ...more })
const fails = (options, code, message) =>
  assert.rejects(trainTokenizer(options), (error) => {
    assert.equal(error.code, code, error.message)
    assert.match(error.message, message)
    return true
  })
/** The shards that a training counted, and those that it kept. */
function counted() {
  const shards = { isNew: 0, kept: 0 }
  const onEvent = ({ event, isNew }) => event === 'shard' && shards[isNew ? 'isNew' : 'kept']++
  return { shards, onEvent }
}
/** @type {TestRedis} */
let redis
const children = []

before(async () => {
  if (!missing) redis = await TestRedis.start()
})

after(async () => {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  await redis?.end()
})

function start(args) {
  const run = startIn(at(), args)
  children.push(run.child)
  return run
}

async function until(isSo, what) {
  for (let round = 0; round < 4000; round++) {
    if (isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.fail(`${what} did not happen`)
}

test('a job gives the tokenizer of one run in memory, and its counts are used again', async () => {
  const states = []
  const first = counted()
  const options = inShards('job', { onEvent: first.onEvent, onProgress: (state) => states.push(state) })
  assert.equal(fileOf(await trainTokenizer(options)), expected)
  const all = stems(at('job')).length
  assert.ok(all > 5, `${all} shards`)
  assert.deepEqual(first.shards, { isNew: all, kept: 0 })
  const last = states.findLast(({ phase }) => phase === 'count')
  assert.deepEqual([last.bytes, last.texts], [last.allBytes, 240])
  assert.equal((await verifyCorpus(at('job'))).isWhole, true)

  // Another vocabulary of the same words, and of a shard that is lost.
  const [lost] = Object.keys(hashes(at('job')))
  const before = hashes(at('job'))
  fs.rmSync(at('job', lost))
  const second = counted()
  const smaller = await trainTokenizer(inShards('job', { vocabSize: 400, onEvent: second.onEvent }))
  assert.equal(fileOf(smaller), fileOf(await trainTokenizer({ ...OPTIONS, vocabSize: 400 })))
  assert.deepEqual(second.shards, { isNew: 1, kept: all - 1 })
  assert.deepEqual(hashes(at('job')), before)
})

test('rows that are skipped, other models, and extending', async () => {
  fs.writeFileSync(at('rows.jsonl'), `{"text":"a b"}\n{"none":1}\n{"text":"b c"}\n`.repeat(30))
  const inputs = at('rows.jsonl')
  const options = { inputs, model: 'wordlevel', onError: 'skip' }
  const states = []
  const inJob = { workDir: at('skipped'), shardSize: 300, onProgress: (state) => states.push(state) }
  assert.equal(fileOf(await trainTokenizer({ ...options, ...inJob })), fileOf(await trainTokenizer(options)))
  assert.equal(states.findLast(({ phase }) => phase === 'count').skipped, 30)
  await fails({ inputs, workDir: at('fails') }, 'ERR_TOKENLANE_FIELD', /rows\.jsonl, line 2/)

  const more = { inputs: at('data'), newTokens: 20 }
  const [here, there] = [
    await extendTokenizer('r50k_base', more),
    { ...more, workDir: at('extended'), shardSize: 50_000 },
  ]
  assert.deepEqual((await extendTokenizer('r50k_base', there)).newTokens, here.newTokens)
})

test('a folder of another job, inputs that change, a base that was changed', async () => {
  await fails(inShards('job', { like: 'r50k_base' }), 'ERR_TOKENLANE_CORPUS_MISMATCH', /the SHA-256 of the tokenizer/)
  if (process.platform === 'linux') await fails(inShards('../../proc/none'), 'ERR_TOKENLANE_FILE_NOT_FOUND', /proc/)
  await fails(inShards('job', { shardSize: 30_000 }), 'ERR_TOKENLANE_CORPUS_MISMATCH', /shardSize/)
  fs.cpSync(at('job'), at('copy'), { recursive: true })
  fs.writeFileSync(at('copy', 'base.json'), '{}')
  fs.writeFileSync(at('copy', 'shard-00000001.words'), 'x')
  assert.equal(fileOf(await trainTokenizer(inShards('copy'))), expected)
  writeCorpus(at('changing'), 2, 40)
  const changing = inShards('changed', { inputs: at('changing') })
  await trainTokenizer(changing)
  fs.appendFileSync(at('changing', 'part-1.jsonl'), '{"text":"more"}\n')
  await fails(changing, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED', /part-1/)
})

test('options that need a folder', async () => {
  const refused = (options, message) => fails({ ...OPTIONS, ...options }, 'ERR_TOKENLANE_ARGUMENT_TYPE', message)
  await refused({ queue: 'redis://localhost' }, /queue needs workDir/)
  await refused({ shardSize: 3 }, /shardSize needs workDir/)
  await refused({ workDir: at('x'), queueName: 'a' }, /queueName needs the option queue/)
  await refused({ workDir: 3 }, /workDir/)
  await refused({ inputs: undefined, texts: ['a'], workDir: at('x') }, /workDir is for files/)
  await fails({ ...OPTIONS, workDir: at('x'), shardSize: 0 }, 'ERR_TOKENLANE_ARGUMENT_VALUE', /shardSize/)
  const { status, stderr } = runIn(at())(['train', 'data', '--work-dir', 'x', '--held-out', '9', '-o', 'x.json'])
  assert.deepEqual([status, fs.existsSync(at('x'))], [2, false])
  assert.match(stderr, /--held-out/)
})

const ARGS = ['train', 'data', '--vocab-size', '600', '--shard-size', '20000', '-o', 'tokenizer.json', '--quiet']

test('kill -9 while shards are counted: the next run counts the rest', { timeout: 240_000 }, async () => {
  const { child, ended } = start([...ARGS, '--work-dir', 'killed', '--concurrency', '1'])
  await until(() => fs.existsSync(at('killed')) && stems(at('killed')).length > 1, 'a shard')
  child.kill('SIGKILL')
  await ended
  const { status, stderr } = runIn(at())([...ARGS, '--work-dir', 'killed'])
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  assert.equal(fs.readFileSync(at('tokenizer.json'), 'utf8'), expected)
  assert.deepEqual(hashes(at('killed')), hashes(at('job')))
  assert.deepEqual(leftovers(at('killed')), [])
})

test('workers of a queue, one of them killed -9', skip, async () => {
  const worker = () => {
    const options = ['--queue', redis.url, '--allow', at(), '--concurrency', '1', '--lock-time', '4']
    return start(['worker', ...options, '--json'])
  }
  const [killed, other] = [worker(), worker()]
  const planner = start([...ARGS, '--work-dir', 'queued', '--queue', redis.url])
  await until(() => killed.written.stdout.includes('"event":"shard"'), 'a shard of a worker')
  killed.child.kill('SIGKILL')
  const { status, stderr } = await planner.ended
  assert.equal(status, 0, stderr)
  assert.equal(fs.readFileSync(at('tokenizer.json'), 'utf8'), expected)
  assert.deepEqual(hashes(at('queued')), hashes(at('job')))
  other.child.kill('SIGTERM')
  assert.equal((await other.ended).status, 0)
})

test('from S3, with the counts in S3', skip, async () => {
  const s3 = await TestS3.start(['lake'])
  const environment = { ...process.env }
  Object.assign(process.env, s3.env)
  try {
    for (const name of fs.readdirSync(at('data'))) s3.put(`lake/raw/${name}`, fs.readFileSync(at('data', name)))
    const queue = { queue: redis.url, queueName: 's3' }
    const worker = await createWorker({ ...queue, allow: 's3://lake', concurrency: 2 })
    const options = { ...inShards('', queue), inputs: 's3://lake/raw/', workDir: 's3://lake/counts' }
    assert.equal(fileOf(await trainTokenizer(options)), expected)
    assert.ok(s3.names('lake/counts/').some((name) => name.endsWith('/base.json')))
    await worker.close()
  } finally {
    process.env = environment
    await s3.stop()
  }
})

test('nothing is left in the temporary folder', () => {
  const folder = path.join(at(), 'tmp')
  fs.mkdirSync(folder)
  const { status } = runIn(at())([...ARGS, '--work-dir', 'tidy'], { env: temporaryIn(folder) })
  assert.equal(status, 0)
  assert.deepEqual(fs.readdirSync(folder), [])
})
