// queue.stats(), and the code of docs/guide/services.md.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { metrics } from '@opentelemetry/api'
import client from 'prom-client'

import { Tokenizer, limits, memory, queue } from '../../index.mjs'

const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
const texts = ['hello world '.repeat(50_000)]

test('waiting, running, and totals', async () => {
  const before = queue.stats()
  assert.deepEqual([before.waiting, before.running], [0, 0])
  const controller = new AbortController()
  const calls = Array.from({ length: 6 }, () => tokenizer.countBatch(texts))
  const stopped = tokenizer.countBatch(texts, { signal: controller.signal })
  const during = queue.stats()
  // The first ones may have ended already, but their results have not arrived.
  assert.ok(during.running >= 1)
  assert.equal(during.running + during.waiting, 7)
  controller.abort()
  await assert.rejects(stopped, { name: 'AbortError' })
  await Promise.all(calls)
  await assert.rejects(tokenizer.countBatch(texts, { signal: controller.signal }), { name: 'AbortError' })
  const after = queue.stats()
  const more = Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]))
  assert.deepEqual(more, { waiting: 0, running: 0, started: 6, refused: 0, aborted: 2 })
})

test('refused calls are counted', async () => {
  const { refused } = queue.stats()
  limits.configure({ maxQueuedBatches: 1 })
  try {
    // New words take much longer to count than to copy, so the first calls still run when the last
    // one is made.
    const words = (seed) => Array.from({ length: 100_000 }, (_, at) => ((at * 7919 + seed) * 2654435761).toString(36))
    const long = Array.from({ length: 8 }, (_, seed) => [words(seed).join(' ')])
    const results = await Promise.allSettled(long.map((text) => tokenizer.countBatch(text)))
    const full = results.filter(({ reason }) => reason?.code === 'ERR_TOKENLANE_QUEUE_FULL').length
    assert.ok(full >= 5)
    assert.equal(queue.stats().refused - refused, full)
    assert.deepEqual([queue.stats().waiting, queue.stats().running], [0, 0])
  } finally {
    limits.configure({ maxQueuedBatches: Number.POSITIVE_INFINITY })
  }
})

test('the stats are a copy, and cannot be replaced', () => {
  queue.stats().waiting = 100
  assert.equal(queue.stats().waiting, 0)
  assert.throws(() => Object.assign(queue, { stats: undefined }), TypeError)
})

test('the code of the guide for prom-client and OpenTelemetry', async () => {
  const guide = fs.readFileSync(new URL('../../docs/guide/services.md', import.meta.url), 'utf8')
  const blocks = [...guide.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code.replaceAll(/^import .*\n/gm, ''))
  assert.equal(blocks.length, 2)
  const observed = {}
  const meter = {
    createObservableGauge: (name) => name,
    addBatchObservableCallback: (callback, names) => {
      callback({ observe: (name, value) => (observed[name] = value) })
      assert.deepEqual(names, Object.keys(observed))
    },
  }
  metrics.setGlobalMeterProvider({ getMeter: () => meter })
  for (const block of blocks)
    new Function('client', 'metrics', 'memory', 'queue', block)(client, metrics, memory, queue)
  assert.match(await client.register.metrics(), /^tokenlane_queue_waiting 0$/m)
  assert.equal(observed['tokenlane.queue.waiting'], 0)
  assert.equal(typeof observed['tokenlane.memory.outstanding'], 'number')
})
