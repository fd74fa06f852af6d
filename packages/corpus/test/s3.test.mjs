// @tokenlane/corpus with s3:// inputs and outputs, against a small server with faults.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { after, before, beforeEach, test } from 'node:test'

import { tokenizeCorpus, verifyCorpus, writeReport } from '@tokenlane/corpus'
import { endsSoon } from 'tokenlane/internal/corpus.js'
import { ObjectInput } from '../src/store/object-input.mjs'
import { ObjectStore } from '../src/store/object-store.mjs'
import { inputFiles } from '../src/walk.mjs'
import { startIn, withoutPackage } from '../../../__test__/support/cli.mjs'
import { hashes, scratch, temporaryIn, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestS3 } from './support/s3.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
const temporary = at('temporary')
fs.mkdirSync(temporary)
/** @type {TestS3} */
let s3
const BASE = { tokenizer: 'r50k_base', shardSize: 40_000, eos: true }

before(async () => {
  s3 = await TestS3.start(['lake', 'lake2'])
  Object.assign(process.env, s3.env, { ...temporaryIn(temporary), TOKENLANE_S3_TIMEOUT: '2' })
  writeCorpus(at('raw'), 3, 120)
  await tokenizeCorpus({ ...BASE, inputs: at('raw'), output: at('reference') })
})

after(() => s3.stop())

beforeEach(() => {
  s3.objects.clear()
  s3.uploads.clear()
  s3.requests.length = 0
  s3.page = 1000
  s3.fault = () => undefined
  for (const name of fs.readdirSync(at('raw'))) s3.put(`lake/raw/${name}`, fs.readFileSync(at('raw', name)))
})

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')
/** The SHA-256 of the files of shards below a prefix but the records, which hold times. */
const stored = (prefix) =>
  Object.fromEntries(
    s3
      .names(`${prefix}shard-`)
      .filter((name) => !/shard-\d+\.json$/.test(name))
      .map((name) => [path.posix.basename(name), sha256(s3.get(name))]),
  )
const job = (more = {}) => tokenizeCorpus({ ...BASE, inputs: 's3://lake/raw/', output: 's3://lake/tokens', ...more })
const leftOnDisk = () => fs.readdirSync(temporary, { recursive: true }).filter((name) => String(name).endsWith('.part'))

test('objects become the same files as files do, in S3 and on a disk; the next run finds all done', async () => {
  const reference = hashes(at('reference'))
  const result = await job()
  assert.deepEqual(stored('lake/tokens/'), reference)
  assert.deepEqual(
    s3.names('lake/tokens/').filter((name) => !name.includes('shard-')),
    ['lake/tokens/job.json', 'lake/tokens/manifest.json', 'lake/tokens/plan.jsonl'],
  )
  assert.equal((await verifyCorpus('s3://lake/tokens')).isWhole, true)
  assert.equal((await job()).kept, result.shards)
  assert.equal((await job({ resumeCheck: 'size' })).kept, result.shards)
  s3.requests.length = 0
  assert.equal((await job({ trustPlan: true })).kept, result.shards)
  assert.deepEqual(requestsFor('lake/raw/'), [])
  await tokenizeCorpus({ ...BASE, inputs: 's3://lake/raw/', output: at('from-s3') })
  assert.deepEqual(hashes(at('from-s3')), reference)
  await job({ inputs: at('raw'), output: 's3://lake/to-s3/' })
  assert.deepEqual(stored('lake/to-s3/'), reference)
  assert.equal((await writeReport('s3://lake/tokens', at('s3.html'))).tokens, result.tokens)
  assert.deepEqual(leftOnDisk(), [])
})

/** The requests for names that start with a prefix since the last call, by method. */
function requestsFor(prefix) {
  const found = s3.requests.splice(0).filter(({ name }) => name.startsWith(prefix))
  return found.map(
    ({ method, name, query }) => `${method} ${name.slice(prefix.length)}${query.has('list-type') ? '?' : ''}`,
  )
}

test('a small object is read with one request for the plan and one for its shard; intact files are not read', async () => {
  requestsFor('')
  const { shards } = await job({ shardSize: 1 << 20 })
  assert.equal(shards, 1)
  const twice = fs.readdirSync(at('raw')).flatMap((name) => [`GET ${name}`, `GET ${name}`])
  assert.deepEqual(requestsFor('lake/raw/').sort(), twice.sort())
  assert.equal((await verifyCorpus('s3://lake/tokens')).isWhole, true)
  const ofFiles = () => requestsFor('lake/tokens/shard-00000000').filter((request) => !request.endsWith('.json'))
  assert.deepEqual(ofFiles(), ['HEAD .bin', 'HEAD .idx'])
  assert.equal((await verifyCorpus('s3://lake/tokens', { readAll: true })).isWhole, true)
  assert.ok(ofFiles().includes('GET .bin'))
  // Another upload of the same bytes has another ETag, and is read.
  const name = 'lake/tokens/shard-00000000.bin'
  s3.objects.set(name, { ...s3.objects.get(name), etag: '"other"' })
  assert.equal((await verifyCorpus('s3://lake/tokens')).isWhole, true)
  s3.put(name, Buffer.alloc(s3.get(name).length))
  const { listed } = await verifyCorpus('s3://lake/tokens')
  assert.deepEqual(
    listed.map(({ file }) => file),
    ['shard-00000000.bin'],
  )
})

test('a dry run reads objects, and writes nothing', async () => {
  const { tokens } = await tokenizeCorpus({ ...BASE, inputs: 's3://lake/raw/', dryRun: true })
  assert.ok(tokens > 0)
  assert.ok(s3.requests.every(({ method }) => method === 'GET' || method === 'HEAD'))
})

/** The names that inputs stand for. */
async function walk(...names) {
  const found = []
  for await (const one of inputFiles(names, undefined, { exclude: ['s3://lake/raw/tokens/'] })) found.push(one)
  return found
}

test('listing: pages, patterns, one object, hidden names, and the output folder', async () => {
  s3.objects.clear()
  s3.page = 3
  const keys = [
    'a.txt',
    'b/',
    'b/1.md',
    'b/10.txt',
    'b/2.txt',
    'b/c/d.txt',
    '.hidden/x.txt',
    'b/.dot',
    'tokens/x.bin',
    'z&<é>.txt',
  ]
  for (const key of keys) s3.put(`lake/raw/${key}`, 'x')
  s3.put('lake/rawness/x.txt', 'x')
  const below = (list) => list.map((key) => `s3://lake/raw/${key}`)
  const all = ['a.txt', 'b/1.md', 'b/10.txt', 'b/2.txt', 'b/c/d.txt', 'z&<é>.txt']
  assert.deepEqual(await walk('s3://lake/raw/'), below(all))
  assert.ok(s3.requests.filter(({ query }) => query.has('continuation-token')).length >= 3)
  assert.deepEqual(await walk('s3://lake/raw'), below(all))
  assert.deepEqual(await walk('s3://lake/raw/**/*.txt'), below(all.filter((key) => key.endsWith('.txt'))))
  assert.deepEqual(await walk('s3://lake/raw/b/?.{md,txt}'), below(['b/1.md', 'b/2.txt']))
  assert.deepEqual(await walk('s3://lake/raw/b/1*'), below(['b/1.md', 'b/10.txt']))
  assert.deepEqual(await walk('s3://lake/raw/a.txt', 's3://lake/raw/b/c'), below(['a.txt', 'b/c/d.txt']))
  assert.equal((await failure(() => walk('s3://lake/raw/tokens/x.bin'))).code, 'ERR_TOKENLANE_OUTPUT_IS_INPUT')
  for (const name of ['s3://lake/nothing', 's3://lake/raw/*.csv', 's3://nothing/'])
    assert.equal((await failure(() => walk(name))).code, 'ERR_TOKENLANE_FILE_NOT_FOUND', name)
  for (const name of ['s3://lake/raw/../x', 's3://lake/./x', 's3://lake/raw/%2e%2E/x', 's3://lake/raw%2f..%2fx/'])
    assert.equal((await failure(() => walk(name))).code, 'ERR_TOKENLANE_ARGUMENT_VALUE', name)
})

test('faults: 503, bodies that are cut, and servers that stop in the middle', { timeout: 120_000 }, async () => {
  const reference = hashes(at('reference'))
  let faults = 0
  s3.fault = ({ method, name, count }) => {
    if (count > 2) return undefined
    faults += 1
    if (method === 'GET' && name.includes('/raw/')) return count === 1 ? { cut: 700 } : undefined
    return count === 1 ? 503 : undefined
  }
  await job()
  assert.ok(faults > 20, `${faults} faults`)
  assert.deepEqual(stored('lake/tokens/'), reference)
  let stalls = 0
  s3.fault = ({ method, name }) => {
    if (method !== 'GET' || !name.endsWith('part-1.jsonl') || stalls >= 2) return undefined
    stalls += 1
    return { stall: 1000 }
  }
  await job({ output: 's3://lake/slow' })
  assert.equal(stalls, 2)
  assert.deepEqual(stored('lake/slow/'), reference)
})

test('a store that fails for good ends the job, which goes on when it is back', { timeout: 120_000 }, async () => {
  process.env.AWS_MAX_ATTEMPTS = '2'
  try {
    s3.fault = ({ method, name }) => (method === 'PUT' && name.endsWith('00004.idx') ? 503 : undefined)
    const error = await failure(job)
    assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_STORE')
    assert.match(error.message, /^s3:\/\/lake\/tokens\/shard-00000004\.idx: SlowDown/)
    assert.equal(s3.get('lake/tokens/shard-00000004.json'), undefined)
    assert.equal(s3.get('lake/tokens/manifest.json'), undefined)
    s3.fault = () => undefined
    assert.ok((await job()).kept > 0)
    assert.deepEqual(stored('lake/tokens/'), hashes(at('reference')))
    s3.fault = ({ name }) => (name.endsWith('part-2.jsonl') ? 403 : undefined)
    const denied = await failure(() => job({ output: 's3://lake/denied' }))
    assert.match(denied.message, /^s3:\/\/lake\/raw\/part-2\.jsonl: permission denied/)
  } finally {
    delete process.env.AWS_MAX_ATTEMPTS
  }
})

/** A store whose files are uploaded in parts, and such a file. */
async function largeFile(name) {
  const store = await ObjectStore.open('s3://lake/large')
  const file = await store.create(name)
  const bytes = Buffer.alloc(20 << 20, 'some bytes ')
  await file.write(bytes)
  await file.rewriteStart(Buffer.from('START'))
  bytes.write('START')
  const { sha256: hash } = await file.complete()
  assert.equal(hash, sha256(bytes))
  return { store, file, bytes }
}

test('large files are uploaded in parts, and have their name when all parts are there', async () => {
  const { file, bytes } = await largeFile('shard-00000000.bin')
  let seen = 0
  s3.fault = ({ method, query }) => {
    if (method !== 'PUT' || !query.has('partNumber')) return undefined
    seen += 1
    assert.equal(s3.get('lake/large/shard-00000000.bin'), undefined)
    return seen === 2 ? 503 : undefined
  }
  await file.rename()
  assert.equal(seen, 4)
  assert.ok(s3.get('lake/large/shard-00000000.bin').equals(bytes))
  assert.equal(s3.uploads.size, 0)
  assert.deepEqual(leftOnDisk(), [])
})

test('an upload that fails is removed; one that another process removed is started again', async () => {
  const first = await largeFile('shard-00000001.bin')
  s3.fault = ({ method, query }) => (method === 'PUT' && query.get('partNumber') === '2' ? 403 : undefined)
  assert.equal((await failure(() => first.file.rename())).code, 'ERR_TOKENLANE_CORPUS_STORE')
  await until(() => s3.uploads.size === 0)
  await first.file.discard()
  const second = await largeFile('shard-00000002.bin')
  let removed = false
  s3.fault = ({ method, query }) => {
    if (!removed && method === 'PUT' && query.get('partNumber') === '3') {
      removed = true
      s3.uploads.clear()
    }
    return undefined
  }
  await second.file.rename()
  assert.equal(removed, true)
  assert.ok(s3.get('lake/large/shard-00000002.bin').equals(second.bytes))
  assert.equal(s3.uploads.size, 0)
})

async function until(isSo) {
  for (let round = 0; !isSo(); round++) {
    if (round === 400) assert.fail('it did not happen')
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

test('uploads of dead processes are removed: old ones at the start, all of the job at its end', async () => {
  const day = 25 * 3600 * 1000
  s3.leave('lake/tokens/shard-00000001.bin', new Date(Date.now() - 1000))
  s3.leave('lake/tokens/shard-00000002.bin', new Date(Date.now() - day))
  s3.leave('lake/tokens/notes.txt', new Date(Date.now() - day))
  s3.leave('lake/other/shard-00000001.bin', new Date(Date.now() - day))
  let atStart
  await job({
    onEvent: ({ event }) => event === 'plan' && (atStart = [...s3.uploads.values()].map(({ name }) => name)),
  })
  assert.deepEqual(atStart, [
    'lake/tokens/shard-00000001.bin',
    'lake/tokens/notes.txt',
    'lake/other/shard-00000001.bin',
  ])
  assert.deepEqual(
    [...s3.uploads.values()].map(({ name }) => name),
    ['lake/tokens/notes.txt', 'lake/other/shard-00000001.bin'],
  )
})

test('an AbortSignal ends the job and its uploads; a role that may not list uploads does no harm', async () => {
  const controller = new AbortController()
  const reason = new Error('enough')
  let done = 0
  s3.fault = ({ method, query }) => (method === 'GET' && query.has('uploads') ? 403 : undefined)
  const onEvent = ({ event }) => event === 'shard' && (done += 1) === 3 && controller.abort(reason)
  assert.equal(await failure(() => job({ signal: controller.signal, onEvent })), reason)
  assert.deepEqual(leftOnDisk(), [])
  assert.equal(s3.get('lake/tokens/manifest.json'), undefined)
  assert.ok((await job()).kept >= 3)
  assert.deepEqual(stored('lake/tokens/'), hashes(at('reference')))
})

test('after an AbortSignal the uploads of shards that were ended are removed, and no others', async () => {
  const controller = new AbortController()
  const reason = new Error('enough')
  const others = ['lake/tokens/notes.txt', 'lake/other/shard-00000000.bin']
  for (const name of [...others, 'lake/tokens/shard-00000000.bin']) s3.leave(name, new Date())
  const store = await ObjectStore.open('s3://lake/tokens')
  const interrupted = async () => {
    controller.abort(reason)
    await store.abandon(['shard-00000000'])
    throw reason
  }
  // A job has five seconds for this, which a busy machine may exceed.
  const limit = 2 ** 30
  assert.equal(await failure(() => endsSoon(interrupted, controller.signal, limit)), reason)
  assert.deepEqual(
    [...s3.uploads.values()].map(({ name }) => name),
    others,
  )
})

test('kill -9 at random moments: the next run does what is missing', { timeout: 180_000 }, async () => {
  const reference = hashes(at('reference'))
  let state = 5
  const random = (count) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % count
  const args = [
    'corpus',
    's3://lake/raw/',
    '-t',
    'r50k_base',
    '--eos',
    '--shard-size',
    '40000',
    '-o',
    's3://lake/tokens',
    '--json',
  ]
  let kills = 0
  for (let round = 0; round < 4; round++) {
    const { child, ended } = startIn(at(), args, { ...s3.env, ...temporaryIn(temporary) })
    const target = s3.requests.length + 10 + random(60)
    s3.fault = () => {
      if (s3.requests.length >= target) child.kill('SIGKILL')
      return undefined
    }
    const { status, stderr } = await ended
    if (status !== null) {
      assert.equal(status, 0, stderr)
      break
    }
    kills += 1
    const files = stored('lake/tokens/')
    for (const [name, hash] of Object.entries(files)) assert.equal(hash, reference[name], name)
  }
  s3.fault = () => undefined
  assert.ok(kills > 0)
  await job()
  assert.deepEqual(stored('lake/tokens/'), reference)
  assert.deepEqual(leftOnDisk(), [])
})

test('an object that changes is refused: after planning, while it is read, after its shard', async () => {
  const name = 'lake/raw/part-1.jsonl'
  const text = s3.get(name).toString()
  const grown = await failure(() =>
    job({ onEvent: ({ event }) => event === 'plan' && s3.put(name, `${text}{"text":"x"}\n`) }),
  )
  assert.equal(grown.code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
  assert.match(
    grown.message,
    new RegExp(`it had ${Buffer.byteLength(text)} bytes and has ${Buffer.byteLength(text) + 13}`),
  )
  s3.put(name, text)
  await job()
  const edited = Buffer.from(text)
  edited[text.indexOf('"text":"', text.length >> 1) + 9] ^= 1
  s3.put(name, edited)
  s3.objects.get(name).modified = new Date(Date.now() + 5000)
  const error = await failure(job)
  assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
  s3.put('lake/raw/reading.txt', 'x'.repeat(300_000))
  const input = await ObjectInput.open('s3://lake/raw/reading.txt')
  s3.put('lake/raw/reading.txt', 'y'.repeat(300_000))
  assert.match((await failure(() => input.read(200_000, 50_000))).message, /it was written to while it was read/)
})

test('credentials are in no output, also if the store says them', async () => {
  const said = []
  const args = ['corpus', 's3://lake/raw/', '-o', 's3://lake/tokens', '-t', 'r50k_base']
  const run = async (env) => said.push(await startIn(at(), args, { ...s3.env, AWS_MAX_ATTEMPTS: '1', ...env }).ended)
  await run({})
  s3.fault = () => 500
  await run({})
  s3.fault = () => 403
  await run({})
  await run({ AWS_ENDPOINT_URL: 'http://user:S3CRETPASS@127.0.0.1:1' })
  await run({ AWS_ENDPOINT_URL: 'http://127.0.0.1:1' })
  await run({
    AWS_ACCESS_KEY_ID: '',
    AWS_SECRET_ACCESS_KEY: '',
    AWS_CONFIG_FILE: '/nothing',
    AWS_SHARED_CREDENTIALS_FILE: '/nothing',
  })
  assert.deepEqual(
    said.map(({ status }) => status),
    [0, 1, 1, 1, 1, 1],
  )
  for (const { stdout, stderr } of said) assert.doesNotMatch(stdout + stderr, /S3CRET/)
  for (const { stderr } of said.slice(1)) assert.match(stderr, /\(ERR_TOKENLANE_CORPUS_STORE\)/)
  for (const [name, { bytes }] of s3.objects) assert.doesNotMatch(bytes.toString('latin1'), /S3CRET/, name)
})

test('without the package of the client the error names it', () => {
  const name = '@aws-sdk/client-s3'
  const { status, stderr } = withoutPackage(name)(['corpus', 's3://lake/raw/', '--dry-run'], s3.env)
  assert.equal(status, 1)
  assert.match(stderr, new RegExp(`needs the package ${name}.*npm install ${name}.*ERR_TOKENLANE_PACKAGE_MISSING`))
})

test('the scratch folder is of this user alone', { skip: process.platform === 'win32' }, async () => {
  await job()
  const [name] = fs.readdirSync(temporary)
  assert.equal(fs.statSync(path.join(temporary, name)).mode & 0o777, 0o700)
  fs.chmodSync(path.join(temporary, name), 0o777)
  const error = await failure(() => job({ output: 's3://lake/again' }))
  assert.match(error.message, /is not a folder that only this user can access/)
  fs.chmodSync(path.join(temporary, name), 0o700)
})
