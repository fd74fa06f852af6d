// Jobs of a hostile queue, and hostile files in the folders that a worker allows. Most cases are
// given to the code that a worker runs for a job; those of BullMQ need Redis.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { Queue } from 'bullmq'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'

import { createWorker, tokenizeCorpus, verifyCorpus, writeReport } from '@tokenlane/corpus'
import { Jobs, checkData, isPermanent } from '../src/queue/jobs.mjs'
import { Allowed } from '../src/store/allowed.mjs'
import { LocalInput } from '../src/store/local-input.mjs'
import { rowGroups } from '../src/table.mjs'
import { valueAt } from '../../../lib/files/json-rows.mjs'
import { ValidJob } from './hostile/job-cases.mjs'
import { inChild } from './hostile/jobs.mjs'
import { scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { bytesOf, tiny } from '../../../__test__/support/tiny.mjs'

const skip = { skip: process.platform === 'win32' && 'links and pipes need privileges on Windows' }
const at = scratch()
const code = (name) => `ERR_TOKENLANE_${name}`

fs.mkdirSync(at('outside', 'tok'), { recursive: true })
fs.writeFileSync(at('outside', 'tok', 'tokenizer.json'), `${JSON.stringify(tiny())}\n`)
fs.writeFileSync(at('outside', 'secret.jsonl'), '{"text":"hello"}\n'.repeat(50))
writeCorpus(at('valid', 'data'), 2, 20)
fs.mkdirSync(at('valid', 'tok'))
fs.writeFileSync(at('valid', 'tok', 'tokenizer.json'), bytesOf(tiny()))

/** Makes the job of the folder `valid`, whose paths are those of `allowed`. */
async function prepare() {
  fs.cpSync(at('valid'), at('allowed'), { recursive: true })
  const options = { format: 'jsonl', shardSize: 6000, concurrency: 1, inputs: at('allowed', 'data') }
  await tokenizeCorpus({ ...options, tokenizer: at('allowed', 'tok'), output: at('allowed', 'tokens') })
  fs.cpSync(at('allowed'), at('valid'), { recursive: true })
}

/** A new copy of the job; without `isDone` its first shard has to be processed. */
function validJob({ isDone = false } = {}) {
  fs.rmSync(at('allowed'), { recursive: true, force: true })
  fs.cpSync(at('valid'), at('allowed'), { recursive: true })
  const job = new ValidJob(at('allowed'), at('outside'))
  if (!isDone) fs.rmSync(at('allowed', 'tokens', 'shard-00000000.json'))
  return job
}

const newJobs = (allowed = [at('allowed')]) =>
  new Jobs({ allowed: new Allowed(allowed), allowHub: false, concurrency: 2 })

async function run({ data: { name, ...data } }) {
  checkData(name, data)
  const jobs = newJobs()
  try {
    return await (name === 'manifest' ? jobs.manifest(data) : jobs.shard(data, () => {}))
  } finally {
    await jobs.end()
  }
}

/** Asserts that a job is refused. */
async function refused(job, name, message = /./, what = '') {
  const error = await failure(() => run(job))
  assert.equal(error.code, code(name), `${what}: ${error.stack}`)
  assert.match(error.message, message, what)
  return error
}

/** Puts a link in the place of a file. */
function linkTo(target, ...place) {
  fs.rmSync(at(...place), { recursive: true, force: true })
  fs.symlinkSync(target, at(...place))
}

const outsideNames = () => fs.readdirSync(at('outside'), { recursive: true }).map(String).sort()

test.before(prepare)

test('a valid job has the files of one machine', skip, async () => {
  const files = () => fs.readFileSync(at('allowed', 'tokens', 'shard-00000000.jsonl'), 'utf8')
  const job = validJob()
  const before = files()
  fs.rmSync(at('allowed', 'tokens', 'shard-00000000.jsonl'))
  assert.equal((await run(job)).isNew, true)
  assert.equal(files(), before)
  assert.equal((await run(job)).isNew, false)
})

test('random changes of a job, its record, its plan and its files', skip, () => {
  const { failed, totals } = inChild(20_261_125, 100)
  assert.ok(!failed, 'what was wrong is printed above')
  assert.ok(totals.jobs === 100 && totals.refused > 50 && totals.done > 5, JSON.stringify(totals))
})

test('ranges and shards are compared with the plan before they are used', skip, async () => {
  const { to } = validJob().data
  for (const [change, name] of [
    [{ to: 3e9 }, 'CORPUS_DAMAGED'],
    [{ from: 0, to: 2 ** 53 - 1 }, 'CORPUS_DAMAGED'],
    [{ from: to, to }, 'CORPUS_DAMAGED'],
    [{ from: 5, to }, 'CORPUS_DAMAGED'],
    [{ to: to + 10 }, 'CORPUS_DAMAGED'],
    [{ shard: 1 }, 'CORPUS_MISMATCH'],
    [{ shard: 2 ** 40 }, 'CORPUS_MISMATCH'],
    ...[-1, 0.5, null, '1', 1e300, undefined].map((from) => [{ from }, 'CORPUS_QUEUE']),
    [{ name: 'other' }, 'CORPUS_QUEUE'],
    [{ output: 'relative' }, 'CORPUS_QUEUE'],
    [{ output: `${at('allowed')}\0` }, 'CORPUS_QUEUE'],
    [{ id: 'x'.repeat(1000) }, 'CORPUS_QUEUE'],
    [{ tokenlane: '9'.repeat(1000) }, 'CORPUS_QUEUE'],
  ]) {
    const job = validJob()
    Object.assign(job.data, change)
    const error = await refused(job, name, /./, JSON.stringify(change))
    assert.ok(isPermanent(error), 'no other worker tries it')
  }
})

test('a job.json that was changed is not the one that the queue names', skip, async () => {
  const job = validJob()
  const file = { ...job.file, options: { ...job.file.options, field: 'other' } }
  fs.writeFileSync(at('allowed', 'tokens', 'job.json'), JSON.stringify(file))
  await refused(job, 'CORPUS_MISMATCH', /job\.json was changed/)
})

test('options of a job that this worker cannot use', skip, async () => {
  for (const [options, name] of [
    [{ field: Array(33).fill('a').join('.') }, 'CORPUS_MISMATCH'],
    [{ groupBy: 'x'.repeat(1025) }, 'CORPUS_MISMATCH'],
    [{ format: 'megatron' }, 'CORPUS_MISMATCH'],
    [{ format: 'npy', type: 'u8' }, 'CORPUS_MISMATCH'],
    [{ maxRow: 2 ** 32 - 1, onError: 'skip' }, undefined],
    [{ pack: -1 }, 'CORPUS_MISMATCH'],
    [{ shuffle: 0.5 }, 'CORPUS_MISMATCH'],
    [{ specialTokens: undefined }, 'CORPUS_MISMATCH'],
  ]) {
    const job = validJob()
    job.forge(JSON.parse(JSON.stringify({ ...job.file, options: { ...job.file.options, ...options } })))
    if (name !== undefined) await refused(job, name, /./, JSON.stringify(options))
    else await run(job).catch((error) => assert.equal(error.code, code('CORPUS_MISMATCH')))
  }
})

test('a field of 32 names is found, and each row costs one look for each name', () => {
  const names = Array.from({ length: 32 }, (_, index) => `n${index}`)
  const nested = names.reduceRight((value, name) => ({ [name]: value }), 'found')
  assert.equal(valueAt(nested, names.join('.')), 'found')
  assert.equal(valueAt({ 'a.b': { c: 1 }, a: { 'b.c': 2 } }, 'a.b.c'), 2)
  assert.equal(valueAt({ 'a.b': { c: 1 } }, 'a.b.c'), 1)
  assert.equal(valueAt({}, '__proto__.constructor.name'), undefined)
  let looks = 0
  const counted = new Proxy({}, { getOwnPropertyDescriptor: () => void (looks += 1) })
  assert.equal(valueAt(counted, names.join('.')), undefined)
  assert.equal(looks, 32)
})

test('a tokenizer is what its kind says: no path, no repository, and no request', skip, async () => {
  const asked = []
  const hub = http.createServer((request, response) => asked.push(request.headers) && response.writeHead(404).end())
  await new Promise((listening) => hub.listen(0, '127.0.0.1', () => listening(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (hub.address())
  const before = { ...process.env }
  Object.assign(process.env, { HF_ENDPOINT: `http://127.0.0.1:${port}`, HF_TOKEN: 'hf_x', HF_HOME: at('home') })
  try {
    for (const [change, name] of [
      ...[
        at('outside', 'secret.jsonl'),
        '../outside/secret.jsonl',
        'openai-community/gpt2',
        'gpt-4o',
        '__proto__',
        at('allowed', 'tok'),
      ].map((encoding) => [{ kind: 'encoding', encoding }, 'UNKNOWN_ENCODING']),
      [{ kind: 'hub', name: 'openai-community/gpt2' }, 'CORPUS_MISMATCH'],
      [{ kind: 'hub', name: at('outside', 'tok', 'tokenizer.json') }, 'CORPUS_MISMATCH'],
      [{ kind: 'other', name: 'openai-community/gpt2' }, 'CORPUS_MISMATCH'],
      [{ kind: 'constructor' }, 'CORPUS_MISMATCH'],
      [{ kind: 'file', name: 'openai-community/gpt2' }, 'FILE_NOT_FOUND'],
      [{ kind: 'file', name: 'r50k_base' }, 'FILE_NOT_FOUND'],
      [{ kind: 'file', name: at('outside', 'tok') }, 'CORPUS_NOT_ALLOWED'],
      [{ kind: 'file', name: '../outside/tok/tokenizer.json' }, 'CORPUS_NOT_ALLOWED'],
      [{ kind: 'file', name: '../outside/nothing' }, 'CORPUS_NOT_ALLOWED'],
      [{ sha256: '0'.repeat(64) }, 'CORPUS_MISMATCH'],
      [{ eos: -1 }, 'CORPUS_MISMATCH'],
    ]) {
      const job = validJob()
      job.forge({ ...job.file, tokenizer: { ...job.file.tokenizer, ...change } })
      const { message } = await refused(job, name, /./, JSON.stringify(change))
      assert.doesNotMatch(message, /tmp\/tokenlane-tokenizer/)
    }
  } finally {
    process.env = before
    hub.close()
  }
  assert.deepEqual(asked, [])
  assert.equal(fs.existsSync(at('home')), false)
})

test('links that lead outside are not followed, wherever a file is expected', skip, async () => {
  const names = outsideNames()
  for (const [target, ...place] of [
    [at('outside', 'secret.jsonl'), 'allowed', 'tokens', 'job.json'],
    [at('outside', 'secret.jsonl'), 'allowed', 'tokens', 'plan.jsonl'],
    [at('outside', 'secret.jsonl'), 'allowed', 'tokens', 'shard-00000000.json'],
    [at('outside', 'nothing'), 'allowed', 'tokens', 'shard-00000000.json'],
    [at('outside', 'tok', 'tokenizer.json'), 'allowed', 'tok', 'tokenizer.json'],
    [at('outside', 'secret.jsonl'), 'allowed', 'tok', 'tokenizer_config.json'],
    [at('outside', 'tok'), 'allowed', 'tok'],
    [at('outside', 'secret.jsonl'), 'allowed', 'data', 'part-0.jsonl'],
    [at('outside'), 'allowed', 'data'],
    [at('outside'), 'allowed', 'tokens'],
    ['/dev/zero', 'allowed', 'data', 'part-0.jsonl'],
    ['/dev/zero', 'allowed', 'tokens', 'job.json'],
  ]) {
    const job = validJob()
    linkTo(target, ...place)
    await refused(job, 'CORPUS_NOT_ALLOWED', /is not below a folder that this worker allows/, place.join('/'))
  }
  const job = validJob({ isDone: true })
  const [{ name }] = job.record.files
  fs.copyFileSync(at('allowed', 'tokens', name), at('outside', name))
  linkTo(at('outside', name), 'allowed', 'tokens', name)
  await refused(job, 'CORPUS_NOT_ALLOWED')
  fs.rmSync(at('outside', name))
  assert.deepEqual(outsideNames(), names)
})

test('links within the allowed folders are followed', skip, async () => {
  const job = validJob()
  fs.renameSync(at('allowed', 'data'), at('allowed', 'moved'))
  linkTo(at('allowed', 'moved'), 'allowed', 'data')
  fs.renameSync(at('allowed', 'tok'), at('allowed', 'moved-tok'))
  linkTo(at('allowed', 'moved-tok'), 'allowed', 'tok')
  assert.equal((await run(job)).isNew, true)
})

test('pipes, folders and devices are refused, and never waited for', skip, async () => {
  for (const [name, ...place] of [
    ['NOT_A_FILE', 'tokens', 'job.json'],
    ['NOT_A_FILE', 'tokens', 'plan.jsonl'],
    ['NOT_A_FILE', 'tokens', 'shard-00000000.json'],
    ['NOT_A_FILE', 'tok', 'tokenizer.json'],
    ['NOT_A_FILE', 'tok', 'vocab.json'],
    ['NOT_A_FILE', 'data', 'part-0.jsonl'],
  ]) {
    for (const make of [(pipe) => spawnSync('mkfifo', [pipe]), (folder) => fs.mkdirSync(folder)]) {
      const job = validJob()
      fs.rmSync(at('allowed', ...place), { force: true })
      make(at('allowed', ...place))
      await refused(job, name, /it is a (?:pipe|directory|folder)/, place.join('/'))
    }
  }
  const job = validJob()
  fs.rmSync(at('allowed', 'tok'), { recursive: true })
  spawnSync('mkfifo', [at('allowed', 'tok')])
  await refused(job, 'NOT_A_FILE')
})

test('a file that is too large is refused before it is read', skip, async () => {
  const grow = (size, ...place) => fs.truncateSync(at('allowed', ...place), size)
  for (const [name, ...place] of [
    ['FILE_TOO_LARGE', 'tokens', 'job.json'],
    ['FILE_TOO_LARGE', 'tok', 'tokenizer.json'],
  ]) {
    const job = validJob()
    grow(3 * 2 ** 30, ...place)
    await refused(job, name, /./, place.join('/'))
  }
  // A record that is too large is none, and is replaced.
  const job = validJob({ isDone: true })
  grow(3 * 2 ** 30, 'tokens', 'shard-00000000.json')
  assert.equal((await run(job)).isNew, true)
  const long = validJob()
  fs.writeFileSync(at('allowed', 'tokens', 'plan.jsonl'), '{}\n'.repeat(100_000))
  long.data.to = 300_000
  await refused(long, 'CORPUS_DAMAGED')
})

test('a record that is not that of its shard does not count', skip, async () => {
  for (const change of [
    { files: [{ name: '../../outside/secret.jsonl', bytes: 1, sha256: '0'.repeat(64) }] },
    { files: [{ name: 'job.json', bytes: 1, sha256: '0'.repeat(64) }] },
    { files: null },
    { job: 'another' },
    { shard: 1 },
    { tokens: -1 },
    { tokens: '5' },
    { skipped: null },
    { sources: { a: null } },
    { lengths: [1e300] },
    { started: 'yesterday' },
    { seconds: null },
  ]) {
    const job = validJob({ isDone: true })
    const text = JSON.stringify({ ...job.record, ...change })
    fs.writeFileSync(at('allowed', 'tokens', 'shard-00000000.json'), text)
    job.data.name = 'manifest'
    await refused(job, 'CORPUS_DAMAGED', /the record of shard 0 is missing/, text)
    job.data.name = 'shard'
    assert.equal((await run(job)).isNew, true, text)
  }
})

test('verify and report do not believe a number of shards', async () => {
  const job = validJob({ isDone: true })
  job.forge({ ...job.file, plan: { ...job.file.plan, shards: 2 ** 50, parts: 2 ** 50, bytes: 2 ** 52 } })
  const of = (call) => failure(call).then((error) => error.code)
  assert.equal(await of(() => verifyCorpus(at('allowed', 'tokens'))), code('CORPUS_MISMATCH'))
  assert.equal(await of(() => writeReport(at('allowed', 'tokens'), at('x.html'))), code('CORPUS_MISMATCH'))
})

test('two workers with the same shard write the same files', skip, async () => {
  const job = validJob()
  const pools = [newJobs(), newJobs()]
  const { name, ...data } = job.data
  const all = [...pools, ...pools].map((jobs) => jobs.shard(data, () => {}))
  const results = await Promise.all(all)
  assert.equal(new Set(results.map(({ tokens }) => tokens)).size, 1)
  for (const jobs of pools) await jobs.end()
  assert.equal((await run(job)).isNew, false)
  assert.deepEqual(
    fs.readdirSync(at('allowed', 'tokens')).filter((one) => one.startsWith('.')),
    [],
  )
})

/** Exchanges a file, or a folder, for a link to another one and back, until it is killed. */
const SWAP = `
  const fs = require('node:fs')
  const [place, own, outside] = process.argv.slice(1)
  const link = place + '.link'
  const file = () => {
    fs.symlinkSync(outside, link)
    fs.renameSync(link, place)
    fs.linkSync(own, link)
    fs.renameSync(link, place)
  }
  const folder = () => {
    fs.renameSync(place, own)
    fs.symlinkSync(outside, place)
    pause(0.1)
    fs.unlinkSync(place)
    fs.renameSync(own, place)
    pause(1)
  }
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const pause = (milliseconds) => Atomics.wait(cell, 0, 0, milliseconds)
  const swap = fs.existsSync(own) ? file : folder
  process.stdin.on('end', () => process.exit()).resume()
  const turn = () => {
    for (let round = 0; round < 200; round++) swap()
    setImmediate(turn)
  }
  turn()`

/**
 * Processes a shard of the folder `race` while a place in it is exchanged: at least `rounds` times,
 * and until both a result and an error were seen. Returns the codes of errors.
 */
async function whileSwapped(data, place, outside, rounds, judge) {
  const tokens = fs.openSync(at('race', 'tokens'), 'r')
  const child = spawn(process.execPath, ['-e', SWAP, place, `${place}.own`, outside], { stdio: ['pipe', 'ignore', 2] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const codes = new Set()
  let done = 0
  let jobs = newJobs([at('race')])
  try {
    for (let round = 0; round < rounds || done === 0 || codes.size === 0; round++) {
      assert.equal(child.exitCode, null, 'the other process still exchanges')
      assert.ok(round < 1000, `${done} done, ${[...codes]}`)
      // The folder itself may be a link at this moment.
      fs.rmSync(`/proc/self/fd/${tokens}/shard-00000000.json`, { force: true })
      try {
        await jobs.shard(data, () => {})
        done += 1
        judge(`/proc/self/fd/${tokens}`)
      } catch (error) {
        if (!error.code?.startsWith('ERR_TOKENLANE_')) throw error
        codes.add(error.code)
      }
      if (place !== at('race', 'tokens')) continue
      // A worker opens the output folder once.
      await jobs.end()
      jobs = newJobs([at('race')])
    }
  } finally {
    await jobs.end()
    child.kill('SIGKILL')
    await ended
    fs.closeSync(tokens)
  }
  return codes
}

test('places that are exchanged for links while a job runs', { skip: process.platform !== 'linux' }, async () => {
  // The files have the same size and the same ends, so the plan is right about both.
  const own = Array(12_000).fill('{"text":"world"}\n')
  const other = own.with(6000, '{"text":"hello"}\n')
  fs.mkdirSync(at('race', 'data'), { recursive: true })
  fs.writeFileSync(at('race', 'data', 'big.jsonl'), own.join(''))
  fs.writeFileSync(at('outside', 'big.jsonl'), other.join(''))
  fs.cpSync(at('valid', 'tok'), at('race', 'tok'), { recursive: true })
  await tokenizeCorpus({
    ...{ format: 'jsonl', inputs: at('race', 'data'), output: at('race', 'tokens'), concurrency: 1 },
    tokenizer: at('race', 'tok', 'tokenizer.json'),
  })
  fs.cpSync(at('race', 'tokens'), at('outside', 'tokens'), { recursive: true })
  fs.rmSync(at('outside', 'tokens', 'shard-00000000.json'))
  const tokens = fs.readFileSync(at('race', 'tokens', 'shard-00000000.jsonl'), 'utf8')
  const stateOf = () => outsideNames().map((name) => [name, fs.statSync(at('outside', name)).mtimeMs])
  const outside = stateOf()
  const judge = (folder) => assert.equal(fs.readFileSync(`${folder}/shard-00000000.jsonl`, 'utf8'), tokens)
  const input = at('race', 'data', 'big.jsonl')
  fs.linkSync(input, `${input}.own`)
  const { data } = new ValidJob(at('race'), at('outside'))
  const codes = await whileSwapped(data, input, at('outside', 'big.jsonl'), 60, judge)
  assert.ok(codes.has(code('CORPUS_NOT_ALLOWED')), String([...codes]))
  // The other process may have been killed while the input was the link.
  fs.rmSync(input)
  fs.linkSync(`${input}.own`, input)
  await whileSwapped(data, at('race', 'tokens'), at('outside', 'tokens'), 12, judge)
  assert.deepEqual(stateOf(), outside)
})

/** A Parquet file of one column of texts. */
function parquet(name, texts) {
  const writer = new ByteWriter()
  const column = { name: 'text', data: texts, type: /** @type {const} */ ('STRING') }
  const file = new ParquetWriter({
    writer,
    schema: [
      { name: 'root', num_children: 1 },
      { name: 'text', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
    ],
  })
  file.write({ columnData: [column], rowGroupSize: 1 << 20 })
  file.finish()
  fs.writeFileSync(at(name), writer.getBytes())
  return at(name)
}

test('rows of Parquet count, not only their bytes', async () => {
  const input = parquet('empty.parquet', new Array(1_750_000).fill(''))
  assert.ok(fs.statSync(input).size < 100_000)
  const options = { inputs: input, tokenizer: 'r50k_base', dryRun: true, concurrency: 1 }
  assert.equal((await failure(() => tokenizeCorpus(options))).code, code('DECOMPRESS_LIMIT'))
})

test('skipped rows of compressed inputs count: the rest is left out', async () => {
  fs.writeFileSync(at('skipped.jsonl.gz'), zlib.gzipSync('1\n'.repeat(600_000)))
  const options = { inputs: at('skipped.jsonl.gz'), tokenizer: 'r50k_base', dryRun: true, concurrency: 1 }
  const { skipped } = await tokenizeCorpus({ ...options, onError: 'skip' })
  assert.ok(skipped > 100_000 && skipped < 500_000, String(skipped))
})

test('metadata of Parquet: long lists, nesting, and row groups that share their pages', async () => {
  const varint = (value) => [...[0, 7, 14, 21].map((shift) => ((value >> shift) & 127) | 128), value >>> 28]
  const footers = {
    'a list of 2^25 elements': [0x29, 0xfc, ...varint(1 << 25), 0],
    'lists in lists': [0x29, ...Array.from({ length: 2000 }, () => [0xf9, ...varint(1 << 25)]).flat()],
    'a list of -1 elements': [0x29, 0xfc, ...varint(-1), 0],
    'structures in structures': [...Array(100_000).fill(0x1c), 0],
    'a text of 2^31 bytes': [0x18, ...varint(2 ** 31 - 1), 0],
  }
  const read = async (bytes) => {
    fs.writeFileSync(at('metadata.parquet'), bytes)
    const input = await LocalInput.open(at('metadata.parquet'))
    return rowGroups(input).finally(() => input.close())
  }
  for (const [what, footer] of Object.entries(footers)) {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(footer.length)
    const error = await failure(() =>
      read(Buffer.concat([Buffer.from('PAR1'), Buffer.from(footer), length, Buffer.from('PAR1')])),
    )
    assert.equal(error.code, code('PARQUET'), what)
    assert.match(error.message, /its metadata is damaged/, what)
  }
})

test('BullMQ: a bad job fails once, and the worker goes on', {
  ...skip,
  ...(missing && { skip: missing }),
}, async () => {
  const redis = await TestRedis.start()
  const queue = new Queue('bad', { connection: { port: redis.port, maxRetriesPerRequest: null } })
  const client = redis.client()
  const failed = []
  const { data } = validJob()
  const { name, ...good } = data
  const worker = await createWorker({
    ...{ queue: redis.url, queueName: 'bad', allow: at('allowed'), concurrency: 2 },
    onEvent: (event) => event.event === 'failed' && failed.push(event),
  })
  try {
    const opts = { attempts: 100, backoff: { type: 'fixed', delay: 1 } }
    const jobs = await queue.addBulk(
      [
        { ...good, to: 3e9 },
        { ...good, from: -1 },
        { ...good, id: '0'.repeat(32) },
        { ...good, shard: 5 },
        [],
        'text',
        { toString: 1, shard: { toString: 1 } },
        JSON.parse('{"__proto__":{"shard":1}}'),
      ].map((bad) => ({ name, data: bad, opts })),
    )
    // What no client of BullMQ writes.
    await client.hset('bull:bad:raw', { name: 'shard', data: '{', opts: '[', timestamp: 'x', attempts: '1e9' })
    await client.lpush('bull:bad:wait', 'raw', 'nothing')
    const last = await queue.add('shard', good)
    for (let round = 0; !(await last.isCompleted()); round++) {
      assert.ok(round < 2000, 'the valid job is done')
      assert.equal(await last.isFailed(), false)
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    for (const job of jobs) {
      assert.equal(await job.getState(), 'failed')
      assert.equal((await queue.getJob(job.id)).attemptsMade, 1)
    }
    // The jobs that no client wrote fail too.
    assert.ok(failed.length >= jobs.length, JSON.stringify(failed))
    assert.ok(failed.every((event) => /^ERR_TOKENLANE_/.test(event.code) && event.attempt === 1))
  } finally {
    client.disconnect()
    await worker.close()
    await queue.close()
    await redis.end()
  }
})

test('a job.json with an option of another type is refused as one of another version', async () => {
  const { readJob } = await import('../src/job-file.mjs')
  const hash = '0'.repeat(64)
  const tokenizer = { name: 'gpt2', kind: 'encoding', encoding: 'gpt2', sha256: hash, vocabSize: 9 }
  const plan = { shards: 1, parts: 1, bytes: 1, sha256: hash }
  const read = (options) => {
    const text = JSON.stringify({ version: 1, id: '0'.repeat(32), tokenlane: '1', tokenizer, options, plan })
    return readJob(/** @type {any} */ ({ readText: async () => text, where: (name) => name }))
  }
  assert.equal((await read({ format: 'bin', type: 'u16' })).options.type, 'u16')
  for (const wrong of [[null], {}, 1, 'u8', null])
    for (const name of ['type', 'rows', 'packing', 'pack', 'chat', 'format', 'maxRow'])
      await assert.rejects(read({ format: 'bin', [name]: wrong === 1 ? -1 : wrong }), { code: /^ERR_TOKENLANE_/ }, name)
})
