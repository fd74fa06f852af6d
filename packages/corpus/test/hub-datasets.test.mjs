// @tokenlane/corpus with datasets of the hub as inputs, against a hub on loopback with its CDN.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { after, before, beforeEach, test } from 'node:test'
import zlib from 'node:zlib'

import { parquetWriteBuffer } from 'hyparquet-writer'

import { createWorker, tokenizeCorpus, trainTokenizer } from '@tokenlane/corpus'
import { Allowed, realPlace } from '../src/store/allowed.mjs'
import { ObjectInput } from '../src/store/object-input.mjs'
import { inputFiles } from '../src/walk.mjs'
import { withoutPackage } from '../../../__test__/support/cli.mjs'
import { documents, hashes, jsonl, scratch } from '../../../__test__/support/corpus.mjs'
import { COMMIT, startHub } from '../../../__test__/support/hub.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { stored } from '../../../__test__/support/zstd.mjs'

const at = scratch()
const OLD = 'beef'.padEnd(40, '1')
const NAME = 'datasets/org/texts'
const BASE = { tokenizer: 'r50k_base', shardSize: 30_000, eos: true }
const TOKEN = 'hf_secretToken123'
let hub
let trouble = (_entry) => undefined
const repos = {}
const rows = (seed, count = 60) => Buffer.from(jsonl(documents(count, seed)))
const texts = documents(40, 9).map(({ text }) => text)
const parquet = Buffer.from(
  parquetWriteBuffer({ columnData: [{ name: 'text', data: texts, type: 'STRING' }], rowGroupSize: [20] }),
)
const FILES = {
  'README.md': Buffer.from('# no data\n'),
  '.gitattributes': Buffer.from('x\n'),
  'dataset_infos.json': Buffer.from('{}'),
  'data/b #1.jsonl': rows(2),
  'data/a.parquet': parquet,
  'data/c.jsonl.gz': zlib.gzipSync(rows(3)),
  'data/d.jsonl.zst': stored(rows(4)),
  'data/nested/e.jsonl': Buffer.concat([rows(5, 700)]),
  'z.jsonl': rows(1),
}
const DATA = Object.keys(FILES).filter((name) => /^data\/|^z/.test(name))

before(async () => {
  hub = await startHub(repos, (entry) => trouble(entry))
  Object.assign(process.env, { HF_ENDPOINT: hub.url, HF_TOKEN: TOKEN })
  for (const name of DATA) {
    fs.mkdirSync(at('raw', name, '..'), { recursive: true })
    fs.writeFileSync(at('raw', name), FILES[name])
  }
  await tokenizeCorpus({ ...BASE, inputs: at('raw'), output: at('reference') })
})
after(() => hub.close())

beforeEach(() => {
  trouble = () => undefined
  hub.requests.length = 0
  repos[NAME] = { files: { ...FILES }, lfs: ['data/a.parquet', 'data/nested/e.jsonl'], page: 3, token: TOKEN }
})

const job = (output, more = {}) => tokenizeCorpus({ ...BASE, inputs: `hf://${NAME}`, output: at(output), ...more })

async function walk(...names) {
  const found = []
  for await (const one of inputFiles(names, undefined)) found.push(one)
  return found
}

const below = (names, commit = COMMIT) => names.map((name) => `hf://${NAME}@${commit}/${name}`)

test('a dataset becomes the same files as a folder; the token goes to the hub alone', async () => {
  const { plan } = await job('tokens')
  assert.deepEqual(hashes(at('tokens')), hashes(at('reference')))
  const planned = fs.readFileSync(at('tokens', 'plan.jsonl'), 'utf8').trim().split('\n')
  assert.equal(planned.length, plan.parts)
  const paths = [...new Set(planned.map((line) => JSON.parse(line).path))]
  assert.deepEqual(paths, below(DATA.toSorted()))
  assert.deepEqual(JSON.parse(fs.readFileSync(at('tokens', 'job.json'), 'utf8')).commits, {
    [`hf://${NAME}@main`]: COMMIT,
  })
  for (const { kind, authorization } of hub.requests)
    assert.equal(authorization, kind === 'cdn' ? undefined : `Bearer ${TOKEN}`, kind)
  assert.ok(hub.requests.some(({ kind }) => kind === 'cdn'))
  assert.ok(hub.requests.filter(({ kind }) => kind === 'tree').length >= 3, 'a listing has pages')
  assert.doesNotMatch(fs.readFileSync(at('tokens', 'job.json'), 'utf8'), /hf_secret/)
})

test('names: a revision, a folder, a file, patterns', async () => {
  repos[NAME].tags = ['v1', 'refs/convert/parquet', 'a/b']
  const all = below(DATA.toSorted())
  for (const revision of ['', '@main', '@v1', '@refs/convert/parquet', '@a%2Fb', `@${COMMIT}`])
    assert.deepEqual(await walk(`hf://${NAME}${revision}`), all, revision)
  assert.deepEqual(await walk(`hf://${NAME}/data/nested`), below(['data/nested/e.jsonl']))
  assert.deepEqual(await walk(`hf://${NAME}/data/nested/`), below(['data/nested/e.jsonl']))
  assert.deepEqual(await walk(`hf://${NAME}/data/b #1.jsonl`), below(['data/b #1.jsonl']))
  assert.deepEqual(await walk(`hf://${NAME}/*.jsonl`, `hf://${NAME}/**/*.{gz,parquet}`), [
    ...below(['z.jsonl', 'data/a.parquet', 'data/c.jsonl.gz']),
  ])
  assert.deepEqual(await walk(`hf://${NAME}/README.md`), below(['README.md']))
  assert.equal(hub.requests.filter(({ kind }) => kind === 'info').length > 5, true)
  for (const name of ['nothing', 'nothing/', '*.csv', 'data/x.jsonl'])
    assert.equal((await failure(() => walk(`hf://${NAME}/${name}`))).code, 'ERR_TOKENLANE_FILE_NOT_FOUND', name)
  for (const name of [
    'hf://',
    'hf://datasets/x',
    'hf://org/texts',
    `hf://${NAME}@`,
    `hf://${NAME}/../x`,
    `hf://${NAME}@a@b`,
    `hf://${NAME}@..`,
    `hf://${NAME}@%ff`,
    `hf://${NAME}@%2e%2e%2fx`,
  ])
    assert.equal((await failure(() => walk(name))).code, 'ERR_TOKENLANE_ARGUMENT_VALUE', name)
})

test('a branch that moves: a rerun reads the old commit, a new job and append the new one', async () => {
  repos[NAME].commit = OLD
  const { shards } = await job('moves')
  const before = hashes(at('moves'))
  const files = { ...FILES, 'z.jsonl': rows(7), 'zz.jsonl': rows(8) }
  repos[NAME] = { ...repos[NAME], commit: COMMIT, older: { [OLD]: FILES }, files }
  fs.rmSync(at('moves', 'shard-00000000.json'))
  assert.equal((await job('moves')).kept, shards - 1)
  assert.deepEqual(hashes(at('moves')), before)
  const appended = await job('moves', { append: true })
  assert.ok(appended.shards > shards)
  const more = fs.readFileSync(at('moves', 'plan-0001.jsonl'), 'utf8')
  assert.match(more, /zz\.jsonl/)
  assert.doesNotMatch(more, /\/z\.jsonl|data\//)
  assert.equal((await job('moves', { append: true })).kept, appended.shards)
  await job('new')
  assert.notDeepEqual(hashes(at('new')), before)
})

test('faults: bodies that are cut, a busy hub, too many requests, files sent as a whole', async () => {
  const seen = new Map()
  const once = (entry) => {
    const key = `${entry.kind} ${entry.path}`
    seen.set(key, (seen.get(key) ?? 0) + 1)
    return seen.get(key) === 1
  }
  trouble = (entry) => {
    if (!once(entry)) return entry.path === 'z.jsonl' ? { whole: true } : undefined
    if (entry.kind === 'cdn') return { cut: 700 }
    if (entry.path === 'data/c.jsonl.gz') return { status: 429, headers: { 'retry-after': '0' } }
    if (entry.path === 'z.jsonl') return { whole: true }
    return entry.kind === 'info' ? undefined : { status: 503 }
  }
  await job('faults')
  assert.deepEqual(hashes(at('faults')), hashes(at('reference')))
})

test('what a hub refuses is an error that says why', async () => {
  const codeOf = async (inputs) => (await failure(() => job('none', { inputs }))).code
  assert.equal(await codeOf(`hf://${NAME}@v9`), 'ERR_TOKENLANE_HUB_REVISION_NOT_FOUND')
  assert.equal(await codeOf('hf://datasets/org/other'), 'ERR_TOKENLANE_HUB_REPO_NOT_FOUND')
  repos['datasets/org/gated'] = { files: FILES, gated: true, token: 'other' }
  const gated = await failure(() => job('none', { inputs: 'hf://datasets/org/gated' }))
  assert.equal(gated.code, 'ERR_TOKENLANE_HUB_GATED')
  assert.match(gated.message, /\/datasets\/org\/gated/)
  process.env.HF_TOKEN = 'wrong'
  try {
    assert.equal(await codeOf(`hf://${NAME}`), 'ERR_TOKENLANE_HUB_ACCESS')
  } finally {
    process.env.HF_TOKEN = TOKEN
  }
  trouble = () => ({ status: 429, headers: { 'retry-after': '0' } })
  assert.equal(await codeOf(`hf://${NAME}`), 'ERR_TOKENLANE_HUB_RATE_LIMIT')
  trouble = () => ({ status: 429, headers: { 'retry-after': '3600' } })
  assert.equal(await codeOf(`hf://${NAME}`), 'ERR_TOKENLANE_HUB_RATE_LIMIT')
  const written = await failure(() => tokenizeCorpus({ ...BASE, inputs: at('raw'), output: `hf://${NAME}/tokens` }))
  assert.equal(written.code, 'ERR_TOKENLANE_UNSUPPORTED')
})

test('a file that differs at its commit is refused; ranges have the bytes of the file', async () => {
  const address = `hf://${NAME}@${COMMIT}/data/nested/e.jsonl`
  const input = await ObjectInput.open(address, 1000)
  const bytes = FILES['data/nested/e.jsonl']
  assert.equal(input.size, bytes.length)
  assert.ok(bytes.length > 300_000)
  assert.deepEqual(await input.read(1000, 500), bytes.subarray(1000, 1500))
  assert.deepEqual(await input.read(bytes.length - 10, 500), bytes.subarray(-10))
  repos[NAME].files['data/nested/e.jsonl'] = Buffer.alloc(bytes.length, 'x')
  assert.equal((await failure(() => input.read(200_000, 50))).code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
  assert.equal((await failure(() => ObjectInput.open(`hf://${NAME}/z.jsonl`))).code, 'ERR_TOKENLANE_UNSUPPORTED')
  repos[NAME].files['empty.jsonl'] = Buffer.alloc(0)
  assert.equal((await ObjectInput.open(`hf://${NAME}@${COMMIT}/empty.jsonl`)).size, 0)
})

test('a worker reads a dataset below --allow', { skip: missing, timeout: 120_000 }, async () => {
  const redis = await TestRedis.start()
  try {
    const queue = { queue: redis.url, queueName: 'hub' }
    const worker = await createWorker({ ...queue, allow: [at(), `hf://${NAME}`], concurrency: 2 })
    await job('queue', queue)
    assert.deepEqual(hashes(at('queue')), hashes(at('reference')))
    await worker.close()
  } finally {
    await redis.end()
  }
  const allows = (place, address) => {
    try {
      new Allowed([realPlace(place)]).checkAddress(address)
    } catch (failure) {
      return /** @type {any} */ (failure).code
    }
    return undefined
  }
  const file = `hf://${NAME}@${COMMIT}/data/x`
  for (const place of [`hf://${NAME}`, `hf://${NAME}/data`, `hf://${NAME}@${COMMIT}/`])
    assert.equal(allows(place, file), undefined, place)
  for (const place of ['hf://datasets/org/text', `hf://${NAME}@main`, `hf://${NAME}/dat`, 's3://lake'])
    assert.equal(allows(place, file), 'ERR_TOKENLANE_CORPUS_NOT_ALLOWED', place)
})

test('training reads a dataset; without the package the error names it', async () => {
  const options = { vocabSize: 300 }
  const trained = await trainTokenizer({ ...options, inputs: `hf://${NAME}/z.jsonl` })
  const local = await trainTokenizer({ ...options, inputs: at('raw', 'z.jsonl') })
  assert.deepEqual(trained.toJSON(), local.toJSON())
  const name = '@huggingface/hub'
  const { status, stderr } = withoutPackage(name)(['corpus', `hf://${NAME}`, '--dry-run'])
  assert.equal(status, 1)
  assert.match(stderr, new RegExp(`needs the package ${name}.*npm install ${name}.*ERR_TOKENLANE_PACKAGE_MISSING`))
})
