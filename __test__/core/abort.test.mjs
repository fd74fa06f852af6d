import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import fs from 'node:fs/promises'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { failure, texts } from '../support/texts.mjs'

const gpt = Tokenizer.fromEncodingSync('o200k_base')
const rows = texts(2000)
const reason = { any: 'value' }

test('a signal that is already aborted rejects the call', async () => {
  const signal = AbortSignal.abort(reason)
  const ids = rows.map(() => [0])
  for (const call of [
    gpt.encodeBatch(rows, { signal }),
    gpt.countBatch(rows, { signal }),
    gpt.decodeBatch(ids, { signal }),
  ]) {
    assert.strictEqual(await failure(() => call), reason)
  }
})

test('an aborted batch that waits in the queue is rejected before those that run end', async () => {
  const controller = new AbortController()
  const running = [gpt.encodeBatch(rows), gpt.encodeBatch(rows)]
  const waits = failure(() => gpt.encodeBatch(rows, { signal: controller.signal }))
  const last = gpt.encodeBatch(rows.slice(0, 3))
  controller.abort(reason)
  assert.strictEqual(await Promise.race([waits, ...running]), reason)
  await Promise.all([...running, last])
})

test('an aborted batch that runs is rejected at once, and its threads stop', async () => {
  const many = Array.from({ length: 10 }, () => rows).flat()
  let isPermitFree = false
  // Another program may keep this thread from running while a batch runs, so there are rounds.
  for (let round = 0; round < 10 && !isPermitFree; round++) {
    const controller = new AbortController()
    const call = failure(() => gpt.encodeBatch(many, { signal: controller.signal, threads: 1 }))
    // Half as long as the batch that is aborted, and with the other permit.
    let isOtherRunning = true
    const other = gpt.encodeBatch(many.slice(0, many.length / 2), { threads: 1 }).then(() => (isOtherRunning = false))
    // The threadpool takes work in order, so the batches run when it has read a file.
    await fs.readFile(new URL(import.meta.url))
    let isRejected = false
    call.then(() => (isRejected = true))
    controller.abort(reason)
    await new Promise(setImmediate)
    assert.ok(isRejected, 'in the next iteration of the event loop')
    assert.strictEqual(await call, reason)
    // If the aborted batch held its permit, these would wait for the other batch.
    await Promise.all([gpt.encodeBatch(['a']), gpt.encodeBatch(['b']), gpt.encodeBatch(['c'])])
    isPermitFree = isOtherRunning
    await other
  }
  assert.ok(isPermitFree, 'the aborted batch held its permit')
})

test('without a reason the error is an AbortError', async () => {
  const controller = new AbortController()
  const call = gpt.encodeBatch(rows, { signal: controller.signal })
  controller.abort()
  await assert.rejects(call, { name: 'AbortError' })
  await assert.rejects(gpt.encodeBatch(rows, { signal: AbortSignal.timeout(0) }), { name: 'TimeoutError' })
})

test('a signal can be reused, and keeps no listeners', async () => {
  const controller = new AbortController()
  const { signal } = controller
  let mine = 0
  signal.onabort = () => mine++
  for (let i = 0; i < 5; i++) await gpt.encodeBatch(rows.slice(0, 5), { signal })
  await failure(() => gpt.encodeBatch([1], { signal }))
  assert.equal(getEventListeners(signal, 'abort').length, 1, 'only onabort is left')
  const calls = [1, 2, 3, 4].map(() => failure(() => gpt.encodeBatch(rows, { signal })))
  controller.abort(reason)
  for (const call of calls) assert.strictEqual(await call, reason)
  assert.equal(mine, 1)
})

test('streams of one signal have one listener, which goes when they end, fail or are cancelled', async () => {
  const { signal } = new AbortController()
  const listeners = () => getEventListeners(signal, 'abort').length
  const text = 'some words of a text '.repeat(500)
  const source = (chunk) => new ReadableStream({ pull: (controller) => controller.enqueue(chunk) })
  const split = (chunk) => source(chunk).pipeThrough(gpt.splitStream({ maxTokens: 5, signal }))
  const open = []
  for (let i = 0; i < 20; i++) open.push(split(text).getReader())
  const generators = Array.from({ length: 20 }, () => gpt.splitStream([text], { maxTokens: 5, signal }))
  for (const one of [...open.map((reader) => reader.read()), ...generators.map((pieces) => pieces.next())]) await one
  assert.equal(listeners(), 1)
  for (const reader of open) await reader.cancel()
  for (const pieces of generators) await pieces.return()
  assert.equal(listeners(), 0)
  const ended = ReadableStream.from([text]).pipeThrough(gpt.splitStream({ maxTokens: 5, signal }))
  for await (const piece of ended) assert.ok(piece.count <= 5)
  const failed = split(new Uint8Array([0xff])).getReader()
  await assert.rejects(failed.read(), { code: 'ERR_TOKENLANE_INVALID_UTF8' })
  const writer = gpt.splitStream({ maxTokens: 5, signal }).writable.getWriter()
  await writer.abort()
  assert.equal(listeners(), 0)
})

test('an abort after the result changes nothing', async () => {
  const controller = new AbortController()
  const batch = await gpt.encodeBatch(['a'], { signal: controller.signal })
  controller.abort()
  assert.equal(batch.length, 1)
})

test('a value that is not a signal is an error', async () => {
  for (const signal of [null, {}, 'abort', new AbortController()]) {
    await assert.rejects(gpt.encodeBatch(['a'], { signal }), { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  }
})
