#!/usr/bin/env node
// Runs corpus jobs on a server for S3 or an emulator of Google Cloud Storage or Azure Blob Storage.
//
//   cargo install s3s-fs --features binary && mkdir -p /tmp/store/lake
//   s3s-fs --port 9124 --access-key KEY --secret-key SECRET /tmp/store
//   AWS_ACCESS_KEY_ID=KEY AWS_SECRET_ACCESS_KEY=SECRET AWS_ENDPOINT_URL=http://127.0.0.1:9124 \
//     node tools/compare/corpus/stores-check.mjs s3://lake
//
//   pip install gcp-storage-emulator && gcp-storage-emulator start --port 9123 --in-memory
//   STORAGE_EMULATOR_HOST=http://127.0.0.1:9123 \
//     node tools/compare/corpus/stores-check.mjs gs://lake
//
//   npm install azurite && azurite-blob --silent --skipApiVersionCheck
//   AZURE_STORAGE_CONNECTION_STRING='UseDevelopmentStorage=true' \
//     node tools/compare/corpus/stores-check.mjs az://lake
//
// The bucket has to exist; that of Azure is made. This script uploads inputs, of which one is
// larger than a block of an upload, and so many small ones that a listing has several pages. It
// tokenizes them from the store to the store. A run is killed, and two different jobs start on one
// new folder. The output must equal that of the same job on a disk.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import zlib from 'node:zlib'

import { parquetWriteBuffer } from 'hyparquet-writer'

import { tokenizeCorpus, verifyCorpus } from '../../../lib/corpus/index.js'
import { ObjectInput } from '../../../lib/corpus/store/object-input.mjs'
import { objectsOf } from '../../../lib/corpus/store/objects.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { mib: { type: 'string', default: '20' }, races: { type: 'string', default: '10' } },
})
const bucket = positionals[0]?.replace(/\/$/, '')
if (bucket === undefined) throw new Error('name a bucket, such as s3://lake, gs://lake or az://lake')
const MAIN = fileURLToPath(new URL('../../../cli/main.mjs', import.meta.url))
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-stores-'))
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
const at = (...names) => path.join(folder, ...names)
const run = `${bucket}/run-${process.pid}`
const JOB = { tokenizer: 'r50k_base', shardSize: 4 << 20, eos: true }

if (bucket.startsWith('az://')) {
  const { BlobServiceClient } = await import('@azure/storage-blob')
  const service = BlobServiceClient.fromConnectionString(process.env.AZURE_STORAGE_CONNECTION_STRING)
  await service.getContainerClient(bucket.slice('az://'.length)).createIfNotExists()
}
const objects = await objectsOf(run)

let state = 1
const random = (count) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % count
const text = (words) => Array.from({ length: words }, () => (random(1e9) + 1e4).toString(36)).join(' ')
const rows = (count) =>
  Array.from({ length: count }, (_, id) => `${JSON.stringify({ id, text: text(100) })}\n`).join('')
const many = (name, count) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}/${index}.jsonl`, Buffer.from(rows(2))]))
const data = Array.from({ length: 300 }, () => text(80))
const inputs = {
  'large.jsonl': Buffer.from(rows(Math.round((Number(values.mib) * 2 ** 20) / 700))),
  'a b/é#?%41.jsonl': Buffer.from(rows(50)),
  'c.jsonl.gz': zlib.gzipSync(rows(400)),
  'd.parquet': Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'text', data, type: 'STRING' }] })),
  'empty.jsonl': Buffer.alloc(0),
  ...many('pages', 1100),
  ...many('small', 40),
}
for (const [name, bytes] of Object.entries(inputs)) {
  fs.mkdirSync(path.dirname(at('raw', name)), { recursive: true })
  fs.writeFileSync(at('raw', name), bytes)
  await objects.uploadFile(`${run}/raw/${name}`, at('raw', name), bytes.length)
  const input = await ObjectInput.open(`${run}/raw/${name}`)
  const read = []
  for await (const chunk of input.chunks(0, input.size)) read.push(chunk)
  assert.ok(Buffer.concat(read).equals(bytes), name)
}
console.log(`${Object.keys(inputs).length} inputs uploaded and read`)

const large = `${run}/raw/large.jsonl`
const input = await ObjectInput.open(large, 1 << 20)
assert.ok((await input.read(5 << 20, 70_000)).equals(inputs['large.jsonl'].subarray(5 << 20, (5 << 20) + 70_000)))
assert.equal(await objects.head(`${run}/raw/nothing`), undefined)
await assert.rejects(ObjectInput.open(`${run}/raw/nothing`), { code: 'ERR_TOKENLANE_FILE_NOT_FOUND' })
assert.equal(await objects.create(`${run}/once`, Buffer.from('1')), true)
// The emulator of Google's store on PyPI ignores preconditions: data/stores judges them.
const isConditional = !(await objects.create(`${run}/once`, Buffer.from('1')))
const first = await objects.head(`${run}/once`)
assert.equal((await objects.range(first, 0, 1)).toString(), '1')
await objects.put(`${run}/once`, Buffer.from('3'))
if (isConditional) await assert.rejects(objects.range(first, 0, 1), { code: 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED' })
await objects.remove(`${run}/once`)
assert.equal(await objects.head(`${run}/once`), undefined)
if (isConditional) {
  const creations = Array.from({ length: 20 }, () => objects.create(`${run}/race`, Buffer.from('x')))
  assert.equal((await Promise.all(creations)).filter(Boolean).length, 1)
}
console.log(
  `versions and ranges hold${isConditional ? ', and conditional writes' : '; the store has no conditional writes'}`,
)

await tokenizeCorpus({ ...JOB, inputs: at('raw'), output: at('reference') })
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')
const reference = Object.fromEntries(
  fs
    .readdirSync(at('reference'))
    .filter((name) => /\.(?:bin|idx)$/.test(name))
    .map((name) => [name, sha256(fs.readFileSync(at('reference', name)))]),
)

/** The SHA-256 of the files of shards of an output. */
async function stored(output) {
  const found = {}
  for await (const key of objects.keysBelow(`${output}/shard-`)) {
    if (!/\.(?:bin|idx)$/.test(key)) continue
    const file = await ObjectInput.open(`${bucket}/${key}`)
    const hash = createHash('sha256')
    for await (const chunk of file.chunks(0, file.size)) hash.update(chunk)
    found[key.split('/').at(-1)] = hash.digest('hex')
  }
  return found
}

const args = [
  'corpus',
  `${run}/raw/`,
  '-o',
  `${run}/tokens`,
  '-t',
  'r50k_base',
  '--eos',
  '--shard-size',
  '4M',
  '--json',
]
const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
const exited = once(child, 'exit')
for await (const chunk of child.stdout) if (String(chunk).includes('"event":"shard"')) child.kill('SIGKILL')
assert.deepEqual(await exited, [null, 'SIGKILL'])
const result = await tokenizeCorpus({ ...JOB, inputs: `${run}/raw/`, output: `${run}/tokens` })
assert.deepEqual(await stored(`${run}/tokens`), reference)
assert.equal((await verifyCorpus(`${run}/tokens`)).isWhole, true)
assert.equal((await verifyCorpus(`${run}/tokens`, { readAll: true })).isWhole, true)
assert.equal((await tokenizeCorpus({ ...JOB, inputs: `${run}/raw/`, output: `${run}/tokens` })).kept, result.shards)
console.log(
  `after a kill: ${result.shards} shards, ${result.tokens} tokens, ${result.kept} kept: equal to those on a disk`,
)

for (let race = 0; isConditional && race < Number(values.races); race++) {
  const jobs = [{ eos: true }, { eos: false }].map((more) =>
    tokenizeCorpus({ ...JOB, ...more, inputs: `${run}/raw/small/`, output: `${run}/race-${race}` }),
  )
  const ended = await Promise.allSettled(jobs)
  const refused = ended.filter(({ status }) => status === 'rejected').map((one) => /** @type {any} */ (one).reason.code)
  assert.deepEqual(refused, ['ERR_TOKENLANE_CORPUS_MISMATCH'])
  assert.equal((await verifyCorpus(`${run}/race-${race}`)).isWhole, true)
}
if (isConditional) console.log(`two jobs on one new folder, ${values.races} times: one is refused each time`)
