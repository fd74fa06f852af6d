#!/usr/bin/env node
// Runs corpus jobs on s3s-fs, an S3 server written in Rust that stores objects in a folder.
//
//   cargo install s3s-fs --features binary
//   node tools/compare/corpus/s3-check.mjs [--server s3s-fs] [--mib 40]
//
// This script makes the input, uploads it in parts, and tokenizes it from S3 to S3. The input has a
// file that is larger than a part of an upload, so many objects that a listing has several pages,
// and a Parquet file. Some runs are killed with SIGKILL, which leaves unfinished uploads. The
// output must equal that of the same job on a disk.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { parquetWriteBuffer } from 'hyparquet-writer'

const { values } = parseArgs({
  options: { server: { type: 'string', default: 's3s-fs' }, mib: { type: 'string', default: '40' } },
})
const MAIN = fileURLToPath(new URL('../../../cli/main.mjs', import.meta.url))
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-s3s-'))
const at = (...names) => path.join(folder, ...names)

const port = await new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const address = /** @type {net.AddressInfo} */ (server.address())
    server.close(() => resolve(address.port))
  })
})
const KEYS = { AWS_ACCESS_KEY_ID: 'AKEXAMPLE', AWS_SECRET_ACCESS_KEY: 'SKEXAMPLE' }
Object.assign(process.env, KEYS, { AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`, TMPDIR: at('tmp') })
for (const name of ['tmp', 'store/lake', 'raw']) fs.mkdirSync(at(name), { recursive: true })
const server = spawn(
  values.server,
  [
    ...['--host', '127.0.0.1', '--port', String(port), '--access-key', KEYS.AWS_ACCESS_KEY_ID],
    ...['--secret-key', KEYS.AWS_SECRET_ACCESS_KEY, at('store')],
  ],
  { stdio: ['ignore', fs.openSync(at('server.log'), 'w'), fs.openSync(at('server.err'), 'w')] },
)
server.on('error', ({ message }) => {
  console.error(`${values.server}: ${message}`)
  process.exit(1)
})
process.on('exit', () => {
  server.kill()
  fs.rmSync(folder, { recursive: true, force: true })
})

let state = 1
/** Text in which nothing occurs twice. */
function words(count) {
  const made = []
  for (let index = 0; index < count; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    made.push((state >>> 8).toString(36))
  }
  return made.join(' ')
}
const rowOf = (id) => ({ id: `row-${id}`, text: words(40 + (id % 400)) })

const large = fs.createWriteStream(at('raw', 'large.jsonl'))
let rows = 0
for (let bytes = 0; bytes < Number(values.mib) * 2 ** 20; rows++) {
  const line = `${JSON.stringify(rowOf(rows))}\n`
  bytes += line.length
  if (!large.write(line)) await new Promise((resolve) => large.once('drain', () => resolve(undefined)))
}
await new Promise((resolve) => large.end(() => resolve(undefined)))
fs.mkdirSync(at('raw', 'small'))
for (let file = 0; file < 1200; file++)
  fs.writeFileSync(at('raw', 'small', `${file}.jsonl`), `${JSON.stringify(rowOf(file))}\n`)
const table = Array.from({ length: 3000 }, (_, row) => rowOf(row))
fs.writeFileSync(
  at('raw', 'table.parquet'),
  Buffer.from(
    parquetWriteBuffer({
      columnData: ['id', 'text'].map((name) => ({ name, data: table.map((row) => row[name]), type: 'STRING' })),
      rowGroupSize: 500,
    }),
  ),
)

const { upload } = await import('../../../lib/corpus/store/s3-client.mjs')
const { tokenizeCorpus, verifyCorpus } = await import('../../../lib/corpus/index.js')
for (let round = 0; ; round++) {
  try {
    await new Promise((resolve, reject) => net.connect(port, '127.0.0.1').on('connect', resolve).on('error', reject))
    break
  } catch (failure) {
    if (round > 100) throw failure
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
for (const name of fs.readdirSync(at('raw'), { recursive: true }).map(String)) {
  if (fs.statSync(at('raw', name)).isDirectory()) continue
  const input = { Bucket: 'lake', Key: `raw/${name}`, Body: fs.createReadStream(at('raw', name)) }
  await upload(`s3://lake/raw/${name}`, input, 8 << 20)
}
console.log(`uploaded ${rows.toLocaleString('en')} rows as JSON Lines, 1,200 small objects and a Parquet file`)

/** The SHA-256 of the arrays of all shards. The tables differ, because they name the inputs. */
function hashes(output) {
  const names = fs.readdirSync(output).filter((name) => /^shard-.*\.npy$/.test(name))
  const of = (name) =>
    createHash('sha256')
      .update(fs.readFileSync(path.join(output, name)))
      .digest('hex')
  return Object.fromEntries(names.sort().map((name) => [name, of(name)]))
}
const JOB = {
  tokenizer: 'o200k_base',
  format: /** @type {const} */ ('npy'),
  idField: 'id',
  eos: true,
  shardSize: 8 << 20,
}
// Objects are read in the order of their keys, so `local` lists the files in this order.
const local = ['large.jsonl', 'small', 'table.parquet'].map((name) => at('raw', name))
await tokenizeCorpus({ ...JOB, inputs: local, output: at('local') })
const ARGS = ['corpus', 's3://lake/raw/', '-o', 's3://lake/tokens', '-f', 'npy', '--id-field', 'id', '--eos']
let kills = 0
for (const wait of [4000, 8000, 12_000]) {
  const child = spawn(process.execPath, [MAIN, ...ARGS, '--shard-size', '8M'], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.on('close', (_status, signal) => resolve(signal)))
  const timer = setTimeout(() => child.kill('SIGKILL'), wait)
  if ((await ended) === 'SIGKILL') kills += 1
  clearTimeout(timer)
}
const result = await tokenizeCorpus({ ...JOB, inputs: 's3://lake/raw/', output: 's3://lake/tokens' })
// The small files of a folder are sorted as the store sorts keys: by their bytes.
assert.deepEqual(hashes(at('store', 'lake', 'tokens')), hashes(at('local')))
assert.equal((await verifyCorpus('s3://lake/tokens')).isWhole, true)
const { send } = await import('../../../lib/corpus/store/s3-client.mjs')
const uploads = await send('s3://lake', 'ListMultipartUploadsCommand', { Bucket: 'lake' }).catch(() => ({}))
const { documents, tokens, shards, kept } = result
const number = (value) => value.toLocaleString('en')
console.log(
  `${number(documents)} documents, ${number(tokens)} tokens, ${shards} shards (${kept} of killed runs, ${kills} kills), unfinished uploads: ${uploads.Uploads?.length ?? 0}: equal to the output on a disk`,
)
process.exit(0)
