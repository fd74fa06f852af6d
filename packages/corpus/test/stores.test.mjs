// @tokenlane/corpus with gs:// and az:// inputs and outputs, by the packages of Google and Azure,
// against small servers with faults.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { after, before, beforeEach, describe, test } from 'node:test'

import { tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { ObjectInput } from '../src/store/object-input.mjs'
import { ObjectStore } from '../src/store/object-store.mjs'
import { objectsOf } from '../src/store/objects.mjs'
import { inputFiles } from '../src/walk.mjs'
import { startIn, withoutPackage } from '../../../__test__/support/cli.mjs'
import { hashes, scratch, temporaryIn, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestAzure, TestGcs } from './support/stores.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
const temporary = at('temporary')
fs.mkdirSync(temporary)
Object.assign(process.env, { ...temporaryIn(temporary), TOKENLANE_STORE_TIMEOUT: '2' })
const BASE = { tokenizer: 'r50k_base', shardSize: 40_000, eos: true }
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

before(async () => {
  writeCorpus(at('raw'), 2, 100)
  await tokenizeCorpus({ ...BASE, inputs: at('raw'), output: at('reference') })
})

for (const { scheme, Server, name } of [
  { scheme: 'gs', Server: TestGcs, name: '@google-cloud/storage' },
  { scheme: 'az', Server: TestAzure, name: '@azure/storage-blob' },
])
  describe(`${scheme}://`, () => {
    const place = `${scheme}://lake`
    /** @type {TestGcs | TestAzure} */
    let store

    before(async () => {
      store = await Server.start()
      Object.assign(process.env, store.env)
    })
    after(() => store.stop())
    beforeEach(() => {
      store.reset()
      for (const file of fs.readdirSync(at('raw'))) store.put(`lake/raw/${file}`, fs.readFileSync(at('raw', file)))
    })

    const job = (more = {}) => tokenizeCorpus({ ...BASE, inputs: `${place}/raw/`, output: `${place}/tokens`, ...more })
    const stored = (prefix) =>
      Object.fromEntries(
        store
          .names(`${prefix}shard-`)
          .filter((one) => !/shard-\d+\.json$/.test(one))
          .map((one) => [one.slice(prefix.length), sha256(store.get(one))]),
      )

    test('objects become the same files as files do; the next run and verify find all done', async () => {
      const { shards } = await job()
      assert.deepEqual(stored('lake/tokens/'), hashes(at('reference')))
      assert.equal((await verifyCorpus(`${place}/tokens`)).isWhole, true)
      assert.equal((await job()).kept, shards)
      store.requests.length = 0
      await verifyCorpus(`${place}/tokens`)
      const isRead = ({ method, name: one, query }) =>
        method === 'GET' && /\.(?:bin|idx)$/.test(one) && (scheme === 'az' || query.get('alt') === 'media')
      assert.deepEqual(store.requests.filter(isRead), [], 'objects of a known version are not read')
      store.put('lake/tokens/shard-00000000.bin', Buffer.alloc(store.get('lake/tokens/shard-00000000.bin').length))
      const { listed } = await verifyCorpus(`${place}/tokens`)
      assert.deepEqual(
        listed.map(({ file }) => file),
        ['shard-00000000.bin'],
      )
      assert.equal(store.names('lake/tokens/claim').length, 0)
    })

    test('listing: pages, patterns, one object, hidden names', async () => {
      store.objects.clear()
      store.page = 2
      for (const key of ['a b#?.txt', 'b/1.md', 'b/2.txt', 'b/.dot', '.hidden/x', 'é&<.txt'])
        store.put(`lake/raw/${key}`, 'x')
      store.put('lake/rawness', 'x')
      const walk = async (...names) => {
        const found = []
        for await (const one of inputFiles(names, undefined)) found.push(one.slice(`${place}/raw/`.length))
        return found
      }
      assert.deepEqual(await walk(`${place}/raw`), ['a b#?.txt', 'b/1.md', 'b/2.txt', 'é&<.txt'])
      assert.deepEqual(await walk(`${place}/raw/**/*.txt`), ['a b#?.txt', 'b/2.txt', 'é&<.txt'])
      assert.deepEqual(await walk(`${place}/raw/a b#?.txt`, `${place}/raw/b/`), ['a b#?.txt', 'b/1.md', 'b/2.txt'])
      for (const one of [`${place}/nothing`, `${place}/raw/*.csv`, `${scheme}://nothing/`, `${scheme}://nothing/x`])
        assert.equal((await failure(() => walk(one))).code, 'ERR_TOKENLANE_FILE_NOT_FOUND', one)
      for (const one of [`${scheme}://`, `${scheme}:///x`, `${scheme}://UP/x`, `${place}/raw/../x`])
        assert.equal((await failure(() => walk(one))).code, 'ERR_TOKENLANE_ARGUMENT_VALUE', one)
    })

    test('faults: 503, and bodies that are cut', { timeout: 120_000 }, async () => {
      let faults = 0
      store.fault = ({ method, name: one, count }) => {
        if (count > 1 || !/raw\/part|tokens\/shard-0000000[01]/.test(one)) return undefined
        faults += 1
        return method === 'GET' && one.includes('/raw/') && faults % 2 === 0 ? { cut: 700 } : 503
      }
      await job()
      assert.ok(faults >= 4, `${faults} faults`)
      assert.deepEqual(stored('lake/tokens/'), hashes(at('reference')))
    })

    test('conditional writes: one of many wins, and of two different jobs one is refused', async () => {
      const objects = await objectsOf(place)
      const creations = Array.from({ length: 8 }, () => objects.create(`${place}/once`, Buffer.from('x')))
      assert.equal((await Promise.all(creations)).filter(Boolean).length, 1)
      const jobs = [{ eos: true }, { eos: false }].map((more) => job(more))
      const refused = (await Promise.allSettled(jobs)).filter(({ status }) => status === 'rejected')
      assert.deepEqual(
        refused.map((one) => /** @type {any} */ (one).reason.code),
        ['ERR_TOKENLANE_CORPUS_MISMATCH'],
      )
      assert.equal((await verifyCorpus(`${place}/tokens`)).isWhole, true)
    })

    test('an object that is written to while it is read is refused; empty objects have no bytes', async () => {
      store.put('lake/reading', Buffer.alloc(300_000, 'x'))
      const input = await ObjectInput.open(`${place}/reading`, 1000)
      assert.equal(input.size, 300_000)
      assert.equal(input.mtime, 1e12)
      assert.equal((await input.read(299_990, 100)).length, 10)
      store.put('lake/reading', Buffer.alloc(300_000, 'y'))
      const changed = await failure(() => input.read(200_000, 50))
      assert.equal(changed.code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
      store.put('lake/empty', '')
      assert.equal((await ObjectInput.open(`${place}/empty`)).size, 0)
    })

    test('a large file is uploaded in parts, and has its name when it is complete', async () => {
      const output = await ObjectStore.open(`${place}/large`)
      const file = await output.create('shard-00000000.bin')
      const bytes = Buffer.alloc(20 << 20, 'some bytes ')
      await file.write(bytes)
      await file.complete()
      const late = []
      store.fault = ({ method }) => {
        if (store.get('lake/large/shard-00000000.bin') !== undefined) late.push(method)
        return undefined
      }
      await file.rename()
      assert.deepEqual(
        late.filter((method) => method !== 'GET'),
        [],
      )
      assert.ok(store.requests.filter(({ method }) => method === 'PUT').length >= (scheme === 'az' ? 4 : 1))
      assert.ok(store.get('lake/large/shard-00000000.bin').equals(bytes))
      const etag = file.etag
      assert.equal((await output.hashOf('shard-00000000.bin', bytes.length, etag)).sha256, undefined)
      assert.equal((await output.hashOf('shard-00000000.bin')).sha256, sha256(bytes))
    })

    test('what a store refuses is an error with the address, without credentials', async () => {
      store.fault = () => 403
      const { status, stderr, stdout } = await startIn(at(), ['corpus', `${place}/raw/`, '--dry-run'], {
        ...store.env,
        ...temporaryIn(temporary),
      }).ended
      assert.equal(status, 1)
      assert.match(stderr, new RegExp(`${place}/raw/: permission denied .*ERR_TOKENLANE_CORPUS_STORE`))
      assert.doesNotMatch(stdout + stderr, /S3CRET|QVotUzNDUkVUL/)
    })

    test('without the package the error names it', () => {
      const { status, stderr } = withoutPackage(name)(['corpus', `${place}/raw/`, '--dry-run'], store.env)
      assert.equal(status, 1)
      assert.match(stderr, new RegExp(`needs the package ${name}.*npm install ${name}.*ERR_TOKENLANE_PACKAGE_MISSING`))
    })
  })
