// A process that does nothing gives the memory of results back, step by step.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import os from 'node:os'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer } from '../../index.mjs'

const linux = process.platform === 'linux' ? false : 'smaps is Linux'

/** Runs a script in its own process. */
function run(args, env = {}) {
  const options = { encoding: 'utf8', timeout: 300_000, env: { ...process.env, ...env } }
  return spawnSync(process.execPath, args, options)
}

test('an idle process collects results, lets the kernel take pages, and then returns them', { skip: linux }, () => {
  const result = run([fileURLToPath(new URL('../support/idle-memory.cjs', import.meta.url))])
  assert.equal(result.status, 0, result.stderr)
  const { busy, lazy, idle, same } = JSON.parse(result.stdout)
  assert.ok(busy.external > 4 << 20, `results held ${busy.external} bytes while the process was busy`)
  assert.ok(lazy > 4 << 20, `LazyFree is ${lazy} bytes`)
  assert.ok(idle.rss < busy.rss - (8 << 20), `RSS ${busy.rss}, and ${idle.rss} when idle`)
  assert.deepEqual(same, [true, true])
})

test('results of single texts are collected before V8 would collect them', () => {
  const index = fileURLToPath(new URL('../../index.js', import.meta.url))
  // 800 calls have results of less than 8 MiB; 2,000 have more, but less without the named part.
  const calls = {
    'ids of a string': 'gpt.encode(text)',
    'ids of bytes': 'gpt.encode(bytes)',
    'a column': 'gpt.encode(few).offsets',
    'a second column, with which all are computed': '{ const { offsets, wordIds } = gpt.encode(fewer) }',
  }
  for (const [name, call] of Object.entries(calls)) {
    const code = `
      const { Tokenizer, memory } = require(${JSON.stringify(index)})
      const gpt = Tokenizer.fromEncodingSync('r50k_base')
      const text = 'a b '.repeat(600)
      const [bytes, few, fewer] = [Buffer.from(text), 'a b '.repeat(300), 'a b '.repeat(100)]
      const collections = () => memory.stats().steps.quickCollection.count
      const counts = []
      for (const calls of [800, 1200]) {
        for (let call = 0; call < calls; call++) ${call}
        counts.push(collections())
      }
      memory.configure({ collect: false })
      for (let call = 0; call < 3000; call++) ${call}
      console.log(JSON.stringify([...counts, collections()]))`
    const { stdout, stderr } = run(['-e', code])
    assert.equal(stderr, '')
    const [few, many, off] = JSON.parse(stdout)
    assert.ok(few === 0 && many > 0 && off === many, `${name}: ${[few, many, off]} collections`)
  }
})

test('the timer does not keep the process alive', () => {
  const index = fileURLToPath(new URL('../../index.js', import.meta.url))
  const code = `
    const { Tokenizer } = require(${JSON.stringify(index)})
    const gpt = Tokenizer.fromEncodingSync('r50k_base')
    // A timer that counted would end the process with another status.
    gpt.encodeBatch(['a b c'.repeat(100_000)]).then(() => setTimeout(() => process.exit(7), 4000).unref())`
  assert.equal(run(['-e', code]).status, 0)
})

test('with madvise off, cached pages stay', { skip: linux }, () => {
  const index = fileURLToPath(new URL('../../index.js', import.meta.url))
  const code = `
    const { Tokenizer, memory } = require(${JSON.stringify(index)})
    const native = require(${JSON.stringify(fileURLToPath(new URL('../../lib/native.js', import.meta.url)))})
    const gpt = Tokenizer.fromEncodingSync('r50k_base')
    gpt.encodeBatchSync(['a b c'.repeat(100_000)]).dispose()
    setImmediate(() => {
      for (const all of [false, true]) native.releaseIdle(all)
      const { cached, warm } = memory.stats()
      console.log(JSON.stringify({ cached, warm }))
    })`
  const { cached, warm } = JSON.parse(run(['-e', code], { TOKENLANE_MADVISE: 'off' }).stdout)
  assert.ok(cached > 1 << 20 && warm > 1 << 19, `${cached} bytes cached, ${warm} warm`)
  const free = JSON.parse(run(['-e', code], { TOKENLANE_MADVISE: '' }).stdout)
  assert.equal(free.warm, 0)
})

test('the word caches of all workers start small and have at most 32 MiB together', async (context) => {
  // Each cache has a minimum size.
  if (os.availableParallelism() > 16) return context.skip('there are many processors')
  const gpt = Tokenizer.fromEncodingSync('o200k_base')
  gpt.encode('a few words')
  const start = gpt.stats().cacheBytes
  let state = 1
  const word = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return ` ${(state >>> 4).toString(36)}`
  }
  const row = () => Array.from({ length: 500 }, word).join('')
  for (let round = 0; round < 4; round++) {
    const rows = Array.from({ length: 1000 }, row)
    await Promise.all([1, 2].map(() => gpt.countBatch(rows)))
  }
  const { cacheBytes } = gpt.stats()
  assert.ok(start <= 12 << 20, `${start} bytes at the start`)
  assert.ok(cacheBytes > start && cacheBytes <= 32 << 20, `${cacheBytes} bytes after ${start}`)
})

test('a batch leaves the function gc to a process that was started with --expose-gc, and to no other', () => {
  const index = fileURLToPath(new URL('../../index.js', import.meta.url))
  const code = `
    const vm = require('node:vm')
    const { Tokenizer } = require(${JSON.stringify(index)})
    const gpt = Tokenizer.fromEncodingSync('r50k_base')
    const rows = Array.from({ length: 4000 }, (_, i) => (i + ' some words of a text ').repeat(200))
    gpt.encodeBatch(rows).then(() => gpt.encodeBatch(rows)).then(() => {
      const { steps } = require(${JSON.stringify(index)}).memory.stats()
      console.log(typeof globalThis.gc, vm.runInNewContext('typeof gc'), steps.quickCollection.count > 0)
    })`
  assert.equal(run(['--expose-gc', '-e', code]).stdout, 'function function true\n')
  assert.equal(run(['-e', code]).stdout, 'undefined undefined true\n')
})
