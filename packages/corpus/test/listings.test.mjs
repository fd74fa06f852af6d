// @tokenlane/corpus: stores whose listings do not end, or name a key twice. Each is an error, after
// few requests, in every store.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { tokenizeCorpus } from '@tokenlane/corpus'
import { listedEntries, listedKeys, sortedKeys } from '../src/store/listing.mjs'
import { objectsOf } from '../src/store/objects.mjs'
import { inputFiles } from '../src/walk.mjs'
import { scratch } from '../../../__test__/support/corpus.mjs'
import { COMMIT, startHub } from '../../../__test__/support/hub.mjs'
import { TestS3 } from './support/s3.mjs'
import { TestAzure, TestGcs } from './support/stores.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
const KEYS = ['raw/a.txt', 'raw/b.txt', 'raw/c.txt', 'raw/d.txt', 'raw/é.txt']
/** Pages of a listing, with two keys each: what is wrong with them, and the error. */
const WRONG = {
  'one mark again and again': { change: (page) => ({ ...page, next: 'raw/b.txt' }), says: /where it has been before/ },
  'two marks in turn, without keys': {
    change: (_, count) => ({ shown: [], next: count % 2 === 0 ? 'raw/a.txt' : 'raw/b.txt' }),
    says: /where it has been before/,
  },
  'a key of the page before': {
    change: ({ shown, next }, count) => ({ shown: count === 1 ? ['raw/a.txt', ...shown] : shown, next }),
    says: /"raw\/a\.txt" is there twice/,
  },
  'a key twice in a page': {
    change: ({ shown, next }) => ({ shown: shown.flatMap((key) => [key, key]), next }),
    says: /"raw\/a\.txt" is there twice/,
  },
}

async function listed(...names) {
  const found = []
  for await (const one of inputFiles(names, undefined)) found.push(one)
  return found
}

for (const { scheme, start } of [
  { scheme: 's3', start: () => TestS3.start() },
  { scheme: 'gs', start: () => TestGcs.start() },
  { scheme: 'az', start: () => TestAzure.start() },
])
  describe(`${scheme}://`, () => {
    /** @type {any} */
    let store
    before(async () => {
      store = await start()
      Object.assign(process.env, store.env)
      store.page = 2
      for (const key of KEYS) store.put(`lake/${key}`, 'some text')
    })
    after(() => store.stop())

    test('all pages of a listing that ends', async () => {
      store.listing = (page) => page
      assert.deepEqual(
        await listed(`${scheme}://lake/raw/`),
        KEYS.map((key) => `${scheme}://lake/${key}`),
      )
      // Empty pages are allowed.
      let count = 0
      store.listing = (page) => (count++ === 0 ? { shown: [], next: 'raw/' } : page)
      assert.equal((await listed(`${scheme}://lake/raw/`)).length, KEYS.length)
    })

    for (const [what, { change, says }] of Object.entries(WRONG))
      test(what, async () => {
        let count = 0
        store.listing = (page) => change(page, count++)
        const error = await failure(() => listed(`${scheme}://lake/raw/`))
        assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_STORE')
        assert.match(error.message, says)
        assert.ok(count <= 6, `${count} requests`)
        count = 0
        const job = { inputs: `${scheme}://lake/raw/`, output: at(`${scheme} ${what}`), tokenizer: 'r50k_base' }
        assert.equal((await failure(() => tokenizeCorpus(job))).code, 'ERR_TOKENLANE_CORPUS_STORE')
      })

    if (scheme === 's3')
      test('a page that is not the last one, and does not say where the next one starts', async () => {
        store.listing = ({ shown }) => ({ shown, next: '' })
        const error = await failure(() => listed('s3://lake/raw/'))
        assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_STORE')
        assert.match(error.message, /goes on, and does not say where/)
      })

    if (scheme === 's3')
      test('unfinished uploads: markers that repeat end the listing', async () => {
        let count = 0
        store.hear = (_request, response) => {
          count += 1
          response.end(
            '<?xml version="1.0"?><ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker></ListMultipartUploadsResult>',
          )
        }
        const { removeUploads } = await objectsOf('s3://lake/tokens/')
        const error = await failure(() => removeUploads?.('s3://lake/tokens/', () => true))
        assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_STORE')
        assert.equal(count, 2)
      })
  })

describe('hf://', () => {
  const NAME = 'datasets/org/texts'
  const repos = { [NAME]: { files: Object.fromEntries(KEYS.map((key) => [key, Buffer.from('some text')])), page: 2 } }
  let hub
  let change = (page) => page
  let count = 0
  before(async () => {
    hub = await startHub(repos, ({ kind }) => {
      if (kind !== 'tree') return undefined
      return {
        answers(request, response) {
          const cursor = new URL(request.url, hub.url).searchParams.get('cursor') ?? ''
          const keys = KEYS.filter((key) => key > cursor)
          const first = keys.slice(0, 2)
          const { shown, next } = change({ shown: first, next: keys.length > 2 ? first.at(-1) : undefined }, count++)
          const tree = `${hub.url}/api/${NAME}/tree/${COMMIT}/raw?recursive=true`
          if (next) response.setHeader('link', `<${tree}&cursor=${encodeURIComponent(next)}>; rel="next"`)
          response.end(JSON.stringify(shown.map((path) => ({ type: 'file', path, size: 1 }))))
        },
      }
    })
    Object.assign(process.env, { HF_ENDPOINT: hub.url })
  })
  after(() => hub.close())

  test('all pages of a listing that ends', async () => {
    assert.deepEqual(
      await listed(`hf://${NAME}/raw/`),
      KEYS.map((key) => `hf://${NAME}@${COMMIT}/${key}`),
    )
  })

  for (const [what, wrong] of Object.entries(WRONG))
    test(what, async () => {
      change = wrong.change
      count = 0
      const error = await failure(() => listed(`hf://${NAME}/raw/`))
      assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_STORE')
      assert.match(error.message, wrong.says)
      assert.ok(count <= 6, `${count} requests`)
    })
})

async function all(entries) {
  const found = []
  for await (const one of entries) found.push(one)
  return found
}

test('a listing without an end, whose marks and keys are new each time', async () => {
  let count = 0
  const endless = async (mark = 0) => ({ entries: [`k${String((count += 1)).padStart(9, '0')}`], next: mark + 1 })
  const error = await failure(async () => {
    for await (const _ of listedKeys('s3://lake/k', endless));
  })
  assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_STORE')
  assert.match(error.message, /more than 100000 pages/)
  const empty = async (mark = 0) => ({ entries: [], next: mark + 1 })
  assert.match((await failure(() => all(listedEntries('s3://lake/k', empty)))).message, /1000 pages in a row are empty/)
  const limits = { pages: 4, emptyPages: 4, sortedKeys: 4 }
  for (const list of [listedKeys, sortedKeys]) {
    const pages =
      (most) =>
      async (mark = 0) => ({ entries: [`k${mark}`], next: mark + 1 < most ? mark + 1 : undefined })
    assert.deepEqual(await all(list('s3://lake/k', pages(4), limits)), ['k0', 'k1', 'k2', 'k3'])
    assert.match((await failure(() => all(list('s3://lake/k', pages(5), limits)))).message, /more than 4 pages/)
  }
  const many = async () => ({ entries: ['1', '2', '3', '4', '5'] })
  assert.match((await failure(() => all(sortedKeys('s3://lake/', many, limits)))).message, /more than 4 keys/)
})

test('the orders of stores are allowed, and keys that are not below the address are not', async () => {
  const page = (...entries) => all(listedKeys('s3://lake/', async () => ({ entries })))
  for (const keys of [
    ['a-b', 'a/b', 'a/c', 'ab'],
    ['a/b', 'a/c', 'a-b', 'ab'],
    ['\u{1f600}', '\uff5e'],
    ['\uff5e', '\u{1f600}'],
  ])
    assert.deepEqual(await page(...keys), keys)
  for (const keys of [
    ['b', 'a'],
    ['a/b', 'a-b', 'a/c'],
    ['a', 'a'],
    ['a', undefined],
  ])
    assert.equal((await failure(() => page(...keys))).code, 'ERR_TOKENLANE_CORPUS_STORE')
  const outside = () => all(listedKeys('s3://lake/raw/', async () => ({ entries: ['raw/a', 'secret'] })))
  assert.match((await failure(outside)).message, /"secret", which is not below/)
})
