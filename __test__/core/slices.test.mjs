// The texts of a large batch are copied in slices, between which the event loop turns.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'

import { queue, Tokenizer } from '../../index.mjs'
import { failure, text, texts } from '../support/texts.mjs'

const require = createRequire(import.meta.url)
const native = require('../../lib/native.js')
const gpt = Tokenizer.fromEncodingSync('r50k_base')
const { copyTexts } = native

/** Lets each slice copy at most `rows()` rows, and calls `between` after each. */
async function inSlices(rows, run, between = () => {}) {
  let slices = 0
  native.copyTexts = (turn, second, words, array, from, to) => {
    slices++
    const next = copyTexts(turn, second, words, array, from, Math.min(to, from + rows()))
    if (next < to) between(slices)
    return next
  }
  try {
    return { result: await run(), slices }
  } finally {
    native.copyTexts = copyTexts
  }
}

let state = 1
/** A number from 0 to `below - 1`; the same sequence in every run. */
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

const bytes = (text) => new TextEncoder().encode(text)
const row = () => {
  const made = text(random(4) === 0 ? 3000 : random(60), 1 + random(1000))
  return random(5) === 0 ? bytes(made) : made
}
const rowsOf = (count) => Array.from({ length: count }, row)
const wordsOf = (count) => Array.from({ length: count }, () => rowsOf(random(4)))

const same = (batch, expected) => {
  assert.deepEqual(batch.rowOffsets, expected.rowOffsets)
  assert.deepEqual(batch.ids, expected.ids)
}

test('slices of any size give the ids of one copy', async () => {
  for (let round = 0; round < 40; round++) {
    const most = 1 + random(40)
    const rows = () => 1 + random(most)
    const count = random(200)
    const pretokenized = round % 2 === 1
    const make = pretokenized ? wordsOf : rowsOf
    const list = make(count)
    const pairs = round % 3 === 0 ? make(count) : undefined
    const options = { pairs, pretokenized }
    const { result, slices } = await inSlices(rows, () => gpt.encodeBatch(list, options))
    same(result, gpt.encodeBatchSync(list, options))
    assert.ok(slices >= count / most, `${slices} slices of at most ${most} of ${count} rows`)
    if (pretokenized) continue
    const counts = await inSlices(rows, () => gpt.countBatch(list))
    assert.deepEqual(counts.result, gpt.countBatchSync(list))
  }
})

test('a large batch has several slices, and the loop turns between them', async () => {
  const list = texts(64).map((row) => row.repeat(50))
  let turns = 0
  let running = true
  const turn = () => {
    turns++
    if (running) setImmediate(turn)
  }
  setImmediate(turn)
  const seen = []
  const run = () => gpt.encodeBatch(list)
  const { result, slices } = await inSlices(
    () => Infinity,
    run,
    () => seen.push(turns),
  )
  running = false
  assert.ok(slices > 2, `${slices} slices for ${list.length} rows of ${list[0].length} units`)
  const [, ...later] = seen
  assert.ok(
    later.every((turn, index) => index === 0 || turn > later[index - 1]),
    `turns at each slice: ${seen}`,
  )
  same(result, gpt.encodeBatchSync(list))
})

test('changes after the call have no effect', async () => {
  const [list, pairs] = [rowsOf(300), rowsOf(300)]
  const expected = gpt.encodeBatchSync(list, { pairs })
  const change = (list) => {
    for (const row of list) if (row instanceof Uint8Array) row.fill(0xff)
    list.reverse()
    list[7] = undefined
    list.length = 200
  }
  const run = () => {
    const batch = gpt.encodeBatch(list, { pairs })
    change(list)
    change(pairs)
    return batch
  }
  same((await inSlices(() => 9, run)).result, expected)

  const words = wordsOf(100)
  const expectedWords = gpt.encodeBatchSync(words, { pretokenized: true })
  const runWords = () => {
    const batch = gpt.encodeBatch(words, { pretokenized: true })
    words.forEach(change)
    return batch
  }
  same((await inSlices(() => 9, runWords)).result, expectedWords)
})

test('an array of more than 65,536 rows is read to its end', async () => {
  const list = Array.from({ length: 150_000 }, (_, index) => `row ${index}`)
  const { result } = await inSlices(
    () => 10_000,
    () => gpt.encodeBatch(list),
  )
  same(result, gpt.encodeBatchSync(list))
  // Rows that were not copied at the call have to stay: what is missing is an error of that row.
  const run = () => {
    const batch = gpt.encodeBatch(list)
    list.length = 120_000
    return batch
  }
  const error = await failure(() => inSlices(() => 10_000, run))
  assert.deepEqual([error.code, error.row], ['ERR_TOKENLANE_ARGUMENT_TYPE', 120_000])
})

test('an error far behind is the error of one copy', async () => {
  const list = rowsOf(200)
  const bad = [
    [...list, 7],
    [...list, new Uint8Array(new SharedArrayBuffer(4))],
    [...list, bytes('x').fill(0xff)],
  ]
  for (const rows of bad) {
    const alone = await failure(() => gpt.encodeBatchSync(rows))
    const error = await failure(() =>
      inSlices(
        () => 11,
        () => gpt.encodeBatch(rows),
      ),
    )
    assert.deepEqual(
      [error.name, error.code, error.message, error.row],
      [alone.name, alone.code, alone.message, alone.row],
    )
  }
  const uneven = await failure(() =>
    inSlices(
      () => 11,
      () => gpt.encodeBatch(list, { pairs: list.slice(1) }),
    ),
  )
  assert.match(uneven.message, /there are 200 texts, but 199 pairs/)
  assert.equal(queue.stats().running, 0)
  same(await gpt.encodeBatch(list), gpt.encodeBatchSync(list))
})

test('a batch that is aborted while it is copied leaves its place to others', async () => {
  const list = rowsOf(200)
  const expected = gpt.encodeBatchSync(list)
  for (let round = 0; round < 5; round++) {
    const controller = new AbortController()
    const reason = new Error('enough')
    const run = () => gpt.encodeBatch(list, { signal: controller.signal })
    const abort = (slices) => slices === 2 + round && controller.abort(reason)
    assert.equal(await failure(() => inSlices(() => 9, run, abort)), reason)
  }
  const all = await Promise.all([1, 2, 3].map(() => gpt.encodeBatch(list)))
  all.forEach((batch) => same(batch, expected))
  assert.equal(queue.stats().running, 0)
})

test('a worker that ends while it copies leaves its places to others', async () => {
  const code = `
    const { workerData, parentPort } = require('node:worker_threads')
    const native = require(workerData.native)
    const { Tokenizer } = require(workerData.index)
    const gpt = Tokenizer.fromEncodingSync('r50k_base')
    const { copyTexts } = native
    // Nothing is ever copied, so both places stay taken.
    native.copyTexts = (turn, second, words, array, from) => {
      parentPort.postMessage('copying')
      return copyTexts(turn, second, words, array, from, from)
    }
    for (let i = 0; i < 2; i++) gpt.encodeBatch(['text'])`
  const path = (file) => fileURLToPath(new URL(file, import.meta.url))
  const workerData = { native: path('../../lib/native.js'), index: path('../../index.js') }
  const worker = new Worker(code, { eval: true, workerData })
  await new Promise((done, failed) => worker.on('message', done).on('error', failed))
  await worker.terminate()
  same(await gpt.encodeBatch(['text']), gpt.encodeBatchSync(['text']))
})
