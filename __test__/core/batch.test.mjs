import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { inspect } from 'node:util'

import { Batch, Tokenizer } from '../../index.mjs'
import { texts } from '../support/texts.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const gpt = Tokenizer.fromEncodingSync('o200k_base')
const small = Tokenizer.fromBufferSync(bytesOf(tiny()))
const rows = texts(300, 2000)
const expected = rows.map((row) => gpt.encode(row).ids)

test('a batch has the ids of its rows, in order', async () => {
  for (const batch of [await gpt.encodeBatch(rows), gpt.encodeBatchSync(rows)]) {
    assert.ok(batch instanceof Batch)
    assert.equal(batch.length, rows.length)
    assert.deepEqual([...batch], expected)
    assert.deepEqual(batch.row(17), expected[17])
    assert.equal(batch.rowOffsets.length, rows.length + 1)
    assert.equal(batch.rowOffsets[rows.length], batch.ids.length)
    assert.equal(batch.offsets, undefined)
  }
})

test('rows are views of one buffer', async () => {
  const batch = await gpt.encodeBatch(rows)
  assert.strictEqual(batch.row(3).buffer, batch.ids.buffer)
  assert.strictEqual(batch.rowOffsets.buffer, batch.ids.buffer)
})

test('the number of threads does not change the result', async () => {
  for (const threads of [1, 2, 3, 16]) {
    assert.deepEqual([...(await gpt.encodeBatch(rows, { threads }))], expected)
    assert.deepEqual([...gpt.encodeBatchSync(rows, { threads })], expected)
  }
})

test('empty batches and empty rows', async () => {
  const none = await gpt.encodeBatch([])
  assert.equal(none.length, 0)
  assert.deepEqual([...none], [])
  assert.deepEqual([...none.rowOffsets], [0])
  const empty = await gpt.encodeBatch(['', 'a', '', new Uint8Array()])
  assert.deepEqual([...empty.rowOffsets], [0, 0, 1, 1, 1])
})

test('strings and bytes can be mixed', async () => {
  const mixed = rows.slice(0, 20).map((row, i) => (i % 3 === 0 ? new TextEncoder().encode(row) : row))
  assert.deepEqual([...(await gpt.encodeBatch(mixed))], expected.slice(0, 20))
})

test('options apply to every row', async () => {
  assert.deepEqual([...(await small.encodeBatch(['hello', 'hell'])).ids], [14, 11, 15, 14, 10, 15])
  assert.deepEqual([...(await small.encodeBatch(['hello', 'hell'], { addSpecialTokens: false })).ids], [11, 10])
  const parsed = await gpt.encodeBatch(['<|endoftext|>'], { specialTokens: 'parse' })
  assert.deepEqual([...parsed.ids], [199999])
})

test('offsets equal those of single calls', async () => {
  for (const offsets of ['utf16', 'codepoint', 'byte']) {
    const some = rows.slice(0, 40)
    const batch = await gpt.encodeBatch(some, { offsets })
    assert.equal(batch.offsets.length, 2 * batch.ids.length)
    some.forEach((row, i) =>
      assert.deepEqual(batch.offsetsOf(i), gpt.encode(row, { offsets }).offsets, `${offsets} ${i}`),
    )
  }
})

test('counts equal the lengths of the rows', async () => {
  assert.deepEqual(
    await gpt.countBatch(rows),
    Uint32Array.from(expected, (ids) => ids.length),
  )
  assert.deepEqual(await gpt.countBatch([]), new Uint32Array())
})

test('an error names the first row that fails', async () => {
  const broken = [...rows.slice(0, 60), new Uint8Array([0x61, 0xff]), 'fine', '<|endoftext|>']
  await assert.rejects(gpt.encodeBatch(broken), { name: 'Error', code: 'ERR_TOKENLANE_INVALID_UTF8', row: 60 })
  assert.throws(() => gpt.encodeBatchSync(broken), { code: 'ERR_TOKENLANE_INVALID_UTF8', row: 60 })
  await assert.rejects(gpt.countBatch(['a', '<|endoftext|>']), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN', row: 1 })
})

test('changes of the texts after the call change nothing', async () => {
  const calls = Array.from({ length: 5 }, () => {
    const mine = [...rows]
    mine[0] = new TextEncoder().encode(rows[0])
    const promise = gpt.encodeBatch(mine)
    mine[0].fill(0)
    mine.length = 1
    return promise
  })
  for (const batch of await Promise.all(calls)) assert.deepEqual([...batch], expected)
})

test('a disposed batch has empty views, and reports that it is disposed', async () => {
  const batch = await gpt.encodeBatch(rows, { offsets: 'byte' })
  const views = [batch.ids, batch.rowOffsets, batch.row(0), batch.offsets, batch.offsetsOf(0)]
  batch.dispose()
  for (const view of views) assert.equal(view.length, 0)
  assert.equal(batch.length, 0)
  assert.deepEqual([...batch], [])
  assert.throws(() => batch.row(0), { code: 'ERR_TOKENLANE_DISPOSED' })
  await assert.rejects(gpt.decodeBatch(batch), { code: 'ERR_TOKENLANE_DISPOSED' })
  batch.dispose()
  const tiny = await gpt.encodeBatch(['a'])
  const { ids } = tiny
  tiny[Symbol.dispose ?? Symbol.for('nodejs.dispose')]()
  assert.equal(ids.length, 0)
})

test('a batch whose memory was transferred has no rows and says so, and prints', async () => {
  const options = { offsets: 'utf16', columns: ['typeIds'] }
  const [batch, other] = [await gpt.encodeBatch(['a b', 'c'], options), await gpt.encodeBatch(['a b', 'c'], options)]
  const code = { name: 'TypeError', code: 'ERR_TOKENLANE_BUFFER', message: /transferred/ }
  structuredClone(batch.ids, { transfer: [batch.ids.buffer] })
  assert.equal(batch.length, 0)
  assert.deepEqual([...batch], [])
  for (const call of ['row', 'offsetsOf']) assert.throws(() => batch[call](0), code)
  assert.throws(() => batch.tensor('int64'), code)
  assert.throws(() => JSON.stringify(batch), code)
  assert.match(inspect(batch), /disposed/)
  batch.dispose()
  assert.throws(() => batch.row(0), { code: 'ERR_TOKENLANE_DISPOSED' })
  // A column has memory of its own.
  for (const column of [other.offsets, other.typeIds]) structuredClone(column, { transfer: [column.buffer] })
  assert.deepEqual(other.row(1), gpt.encode('c').ids)
  assert.throws(() => other.offsetsOf(0), code)
  assert.throws(() => other.tensor('int32', 'typeIds'), code)
  assert.throws(() => JSON.stringify(other), code)
  assert.match(inspect(other), /Batch\(2\)/)
  const empty = gpt.encodeBatchSync([''], options)
  assert.deepEqual(JSON.parse(JSON.stringify(empty)), { ids: [[]], offsets: [[]], typeIds: [[]] })
})

test('a batch is not copied as an empty object, and an encoding whose ids are gone says so', async () => {
  const batch = await gpt.encodeBatch(['a'])
  assert.throws(() => structuredClone(batch), { name: 'DataCloneError', message: /send ids, rowOffsets/ })
  assert.deepEqual(structuredClone(batch.ids), batch.ids)
  const encoding = gpt.encode('a b')
  assert.deepEqual([...encoding], [...encoding.ids])
  structuredClone(encoding.ids, { transfer: [encoding.ids.buffer] })
  for (const call of [() => [...encoding], () => JSON.stringify(encoding)])
    assert.throws(call, { name: 'TypeError', code: 'ERR_TOKENLANE_BUFFER', message: /transferred/ })
  assert.deepEqual([...gpt.encode('')], [])
})

test('a row index out of range is an error', async () => {
  const batch = await gpt.encodeBatch(['a', 'b'])
  for (const index of [-1, 2, 0.5, NaN]) {
    assert.throws(() => batch.row(index), { name: 'RangeError', code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  }
  assert.throws(() => batch.row('0'), { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})

test('a million rows', async () => {
  const many = Array.from({ length: 1_000_000 }, (_, i) => String(i % 1000))
  const batch = await gpt.encodeBatch(many)
  assert.equal(batch.length, many.length)
  assert.deepEqual(batch.row(999_999), gpt.encode('999').ids)
})

test('RAYON_NUM_THREADS sets the number of threads, if it is a positive number', {
  skip: process.platform !== 'linux' && 'this needs /proc, and threads with names',
}, () => {
  // The thread of the call works too. Threads have names.
  const script = `
    const fs = require('node:fs')
    const { Tokenizer } = require('tokenlane')
    Tokenizer.fromEncodingSync('r50k_base').encodeBatchSync(Array(64).fill('some words of a text '.repeat(400)))
    const names = fs.readdirSync('/proc/self/task').map((id) => fs.readFileSync('/proc/self/task/' + id + '/comm', 'utf8'))
    console.log(names.filter((name) => name.startsWith('tokenlane-')).length)`
  const helpers = (threads) => {
    const env = { ...process.env, RAYON_NUM_THREADS: threads }
    const cwd = new URL('..', import.meta.url)
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { cwd, env, encoding: 'utf8' })
    assert.equal(stderr, '')
    return Number(stdout)
  }
  assert.deepEqual(['1', ' 5 '].map(helpers), [0, 4])
  assert.equal(helpers('0'), helpers('x'))
})
