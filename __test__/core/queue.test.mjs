import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

import { Tokenizer } from '../../index.mjs'
import { failure, texts } from '../support/texts.mjs'

const gpt = Tokenizer.fromEncodingSync('o200k_base')
const rows = texts(1000)
const index = fileURLToPath(new URL('../../index.js', import.meta.url))

test('two batches run at a time, in the order of the calls', async () => {
  const running = new Set([0, 1, 2, 3, 4, 5])
  const overtaken = []
  const one = async (number) => {
    await gpt.encodeBatch(rows, { threads: 1 })
    running.delete(number)
    overtaken[number] = [...running].filter((other) => other < number)
  }
  await Promise.all([...running].map(one))
  assert.ok(
    overtaken.every((others) => others.length <= 1),
    `each number with those before it that ended later: ${JSON.stringify(overtaken)}`,
  )
})

test('fs reads files while four batches run', async () => {
  const many = Array.from({ length: 10 }, () => rows).flat()
  let isReadFirst = false
  // If the batches used all four threads, no read could ever finish before the first batch ends.
  for (let round = 0; round < 20 && !isReadFirst; round++) {
    const controller = new AbortController()
    let ended = 0
    const run = () => gpt.encodeBatch(many, { threads: 1, signal: controller.signal })
    const four = [1, 2, 3, 4].map(() => run().then(() => (ended += 1)))
    await fs.readFile(new URL(import.meta.url))
    isReadFirst = ended === 0
    controller.abort()
    await Promise.allSettled(four)
  }
  assert.ok(isReadFirst, 'no file was read while batches ran')
})

test('the event loop runs while a batch of 6.5 MB is encoded', async () => {
  // A blocked loop has one or two iterations per batch. On a busy machine this thread may get no
  // processor for the time of a batch, so it has several attempts. The benchmarks measure the
  // longest block.
  let most = 0
  for (let round = 0; round < 20 && most < 10; round++) {
    let iterations = 0
    let isRunning = true
    const count = () => {
      iterations++
      if (isRunning) setImmediate(count)
    }
    const batch = gpt.encodeBatch(rows, { threads: 1 })
    count()
    assert.equal((await batch).length, 1000)
    isRunning = false
    most = Math.max(most, iterations)
  }
  assert.ok(most >= 10, `the loop had at most ${most} iterations`)
})

test('worker threads and the main thread share one queue', async () => {
  const code = `
    const { workerData, parentPort } = require('node:worker_threads')
    const { Tokenizer } = require(workerData.index)
    const gpt = Tokenizer.fromEncodingSync('o200k_base')
    Promise.all([1, 2, 3].map(() => gpt.encodeBatch(workerData.rows))).then((all) => parentPort.postMessage(all.map((b) => b.ids.length)))`
  const index = fileURLToPath(new URL('../../index.js', import.meta.url))
  const some = rows.slice(0, 200)
  const workers = [1, 2, 3].map(() => new Worker(code, { eval: true, workerData: { index, rows: some } }))
  const mine = Promise.all([1, 2, 3, 4].map(() => gpt.encodeBatch(some)))
  const theirs = await Promise.all(
    workers.map((worker) => new Promise((done, failed) => worker.on('message', done).on('error', failed))),
  )
  const expected = (await mine)[0].ids.length
  for (const lengths of theirs) assert.deepEqual(lengths, [expected, expected, expected])
})

test('a failed or refused call does not block the queue', async () => {
  const calls = Array.from({ length: 12 }, (_, i) => {
    if (i % 3 === 0) return gpt.encodeBatch(rows.slice(0, 50)).then(() => 'encoded')
    return failure(() => gpt.encodeBatch(i % 3 === 1 ? [new Uint8Array([0xff])] : [i])).then((error) => error.code)
  })
  assert.deepEqual((await Promise.all(calls)).slice(0, 3), [
    'encoded',
    'ERR_TOKENLANE_INVALID_UTF8',
    'ERR_TOKENLANE_ARGUMENT_TYPE',
  ])
  assert.equal((await gpt.encodeBatch(['still here'])).length, 1)
})

test('a thread that runs all batches of the process does not poll', () => {
  // With two threads of libuv one batch runs at a time, with four of them two.
  for (const threads of ['2', '4']) {
    const script = `
      let timers = 0
      const { setTimeout } = globalThis
      globalThis.setTimeout = (...rest) => { timers += 1; return setTimeout(...rest) }
      const { Tokenizer, memory } = require(${JSON.stringify(index)})
      memory.configure({ collect: false, madvise: 'off' })
      const gpt = Tokenizer.fromEncodingSync('r50k_base')
      const rows = Array(2000).fill('some words of a text '.repeat(20))
      Promise.all([1, 2, 3, 4].map(() => gpt.countBatch(rows))).then((counts) => console.log(counts.length, timers))`
    const env = { ...process.env, UV_THREADPOOL_SIZE: threads }
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', env })
    assert.equal(stdout, '4 0\n', stderr)
  }
})
