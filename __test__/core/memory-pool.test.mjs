import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import os from 'node:os'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { setImmediate as turn } from 'node:timers/promises'

import { Tokenizer, memory } from '../../index.mjs'
import { texts } from '../support/texts.mjs'

const gpt = Tokenizer.fromEncodingSync('r50k_base')
const rows = texts(400, 3000)
const first = gpt.encodeBatchSync(rows)
const expected = first.ids.slice()
first.dispose()

function balanced(stats) {
  assert.equal(stats.free + stats.outstanding + stats.cached, stats.mapped)
  assert.ok(stats.warm <= stats.cached && stats.mapped <= Math.max(stats.cap, stats.peakOutstanding))
}

/** Runs a script of support/ in its own process. */
function script(name, args = [], options = {}) {
  const file = fileURLToPath(new URL(`../support/${name}`, import.meta.url))
  return spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', timeout: 300_000, ...options })
}

test('the counters balance, and a disposed result returns to the pool', async () => {
  await turn()
  await turn()
  const before = memory.stats()
  balanced(before)
  const batch = await gpt.encodeBatch(rows)
  const during = memory.stats()
  balanced(during)
  assert.ok(during.external >= before.external + batch.ids.byteLength, 'the result lies in the pool')
  batch.dispose()
  await turn()
  await turn()
  assert.ok(memory.stats().external <= before.external)
  balanced(memory.stats())
})

test('columns are allocated from the pool, counted, and released with the ids', async () => {
  const columns = ['specialTokensMask', 'typeIds', 'attentionMask', 'wordIds', 'sequenceIds']
  const views = (batch) => ['ids', 'offsets', ...columns].map((name) => batch[name])
  await turn()
  await turn()
  const before = memory.stats()
  let kept
  for (const threads of [1, 2]) {
    for (const padding of [undefined, { to: 'longest' }]) {
      const options = { offsets: 'utf16', columns, threads, padding }
      const batch = await gpt.encodeBatch(rows, options)
      const values = views(batch).map((view) => view.slice())
      const bytes = values.reduce((sum, view) => sum + view.byteLength, 0)
      const during = memory.stats()
      balanced(during)
      assert.ok(during.external >= before.external + bytes, `${during.external - before.external} of ${bytes}`)
      if (padding === undefined) kept ??= values
      batch.dispose()
      for (const view of views(batch)) assert.equal(view.length, 0)
      await turn()
      await turn()
      assert.ok(memory.stats().external <= before.external)
      balanced(memory.stats())
      if (padding === undefined) assert.deepEqual(values, kept)
    }
  }
  const { cap } = before
  memory.configure({ cap: 1 << 20 })
  try {
    const copied = await gpt.encodeBatch(rows, { offsets: 'utf16', columns })
    assert.deepEqual(views(copied), kept, 'past the cap they are copied')
  } finally {
    memory.configure({ cap })
  }
})

test('every pool and every advice gives the same ids', async () => {
  const { pool, madvise } = memory.stats()
  try {
    for (const pool of ['binned', 'split']) {
      for (const madvise of ['dontneed', 'off', 'free']) {
        memory.configure({ pool, madvise })
        for (let i = 0; i < 4; i++) {
          const batch = await gpt.encodeBatch(rows)
          assert.deepEqual(batch.ids, expected, `${pool} ${madvise}`)
          batch.dispose()
          if (i % 2) memory.trim()
          await turn()
        }
        balanced(memory.stats())
        assert.equal(memory.stats().pool, pool)
        assert.equal(memory.stats().madvise, madvise)
      }
    }
  } finally {
    memory.configure({ pool, madvise })
  }
})

test('live results do not change when the pool is replaced', async () => {
  const { pool } = memory.stats()
  const held = []
  for (const next of ['binned', 'split']) {
    const running = gpt.encodeBatch(rows)
    memory.configure({ pool: next })
    held.push(await running, await gpt.encodeBatch(rows))
    memory.trim()
  }
  for (const batch of held) assert.deepEqual(batch.ids, expected)
  memory.configure({ pool })
  for (const batch of held) batch.dispose()
  await turn()
  balanced(memory.stats())
})

test('above the cap results are copied, and nothing fails', async () => {
  const { cap } = memory.stats()
  memory.configure({ cap: 1 << 20 })
  try {
    const copies = memory.stats().steps.copy.count
    const held = []
    for (let i = 0; i < 20; i++) held.push(i % 2 ? await gpt.encodeBatch(rows) : gpt.encodeBatchSync(rows))
    for (const batch of held) assert.deepEqual(batch.ids, expected)
    assert.ok(memory.stats().steps.copy.count > copies)
    for (const batch of held) batch.dispose()
  } finally {
    memory.configure({ cap })
  }
})

test('collections happen, and can be turned off', async () => {
  const taken = () => {
    const { quickCollection, fullCollection } = memory.stats().steps
    return quickCollection.count + fullCollection.count
  }
  const batches = async () => {
    for (let i = 0; i < 60; i++) await gpt.encodeBatch(rows)
    await turn()
  }
  const { collect } = memory.stats()
  try {
    memory.configure({ collect: false })
    const before = taken()
    await batches()
    assert.equal(taken(), before)
    memory.configure({ collect: true })
    await batches()
    assert.ok(taken() > before)
    assert.equal(typeof globalThis.gc, 'undefined', 'nobody else sees the function')
  } finally {
    memory.configure({ collect })
  }
})

test('a full collection collects everything', () => {
  const { stdout, stderr } = script('full-collections.mjs')
  const [requested, forced] = stdout.split(' ').map(Number)
  assert.ok(requested > 0, `kept results lead to a request: ${stdout}${stderr}`)
  assert.equal(forced, requested)
})

test('trim releases unused memory', async () => {
  ;(await gpt.encodeBatch(rows)).dispose()
  await turn()
  await turn()
  memory.trim()
  const { outstanding, mapped, cached, free } = memory.stats()
  assert.equal(free, 0)
  // Results that other tests left to the collector are still allocated; besides them only parts of
  // their mappings remain.
  assert.equal(mapped, outstanding + cached)
  assert.ok(outstanding > 0 || cached === 0)
})

test('invalid settings are refused by name', () => {
  const before = memory.stats()
  const wrong = [
    [undefined, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [null, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    ['split', TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ pools: 'split' }, TypeError, 'ERR_TOKENLANE_UNKNOWN_OPTION'],
    [{ pool: 'best' }, RangeError, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ pool: 1 }, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ madvise: 'never' }, RangeError, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ collect: 1 }, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ cap: '1' }, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ cap: 10n }, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    ...[0, -1, NaN, Infinity, 1.5, 2 ** 60, 1000].map((cap) => [{ cap }, RangeError, 'ERR_TOKENLANE_ARGUMENT_VALUE']),
  ]
  for (const [options, kind, code] of wrong) {
    assert.throws(
      () => memory.configure(options),
      (error) => error instanceof kind && error.code === code,
      JSON.stringify(options, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)),
    )
  }
  memory.configure({ pool: undefined, cap: undefined })
  for (const name of ['pool', 'madvise', 'cap', 'collect']) assert.equal(memory.stats()[name], before[name])
})

test('the error for an invalid setting lists the allowed values, and no setting changes', () => {
  const before = memory.stats()
  const wrong = [
    [{ collect: !before.collect, pool: 'best' }, /pool.*'split' or 'binned'.*best/],
    [{ pool: 'binned', madvise: 'never' }, /madvise.*'free' or 'dontneed' or 'off'.*never/],
    [{ pool: 'binned', madvise: 'off', cap: NaN }, /cap.*from 1048576 to \d+, the memory of this machine.*NaN/],
    [{ pool: 'binned', cap: 2 << 20, collect: null }, /collect.*boolean.*null/],
    [{ pool: 'binned', caps: 2 << 20 }, /no option 'caps'; did you mean 'cap'/],
  ]
  for (const [options, message] of wrong) {
    assert.throws(() => memory.configure(options), message)
    for (const name of ['pool', 'madvise', 'cap', 'collect']) assert.equal(memory.stats()[name], before[name], name)
  }
})

test('the cap can be from one mebibyte to all memory', () => {
  const { cap } = memory.stats()
  const most = Math.min(os.totalmem(), process.constrainedMemory?.() || Infinity)
  try {
    for (const allowed of [1 << 20, most]) {
      memory.configure({ cap: allowed })
      assert.equal(memory.stats().cap, allowed)
    }
    for (const refused of [(1 << 20) - 1, most + 1, -(1 << 20), -0, -Infinity, Number.MAX_SAFE_INTEGER]) {
      assert.throws(() => memory.configure({ cap: refused }), {
        name: 'RangeError',
        code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
      })
      assert.equal(memory.stats().cap, most)
    }
  } finally {
    memory.configure({ cap })
  }
})

test('settings that change while batches run apply from the next allocation', async () => {
  const { pool, madvise, cap } = memory.stats()
  try {
    for (const settings of [
      { cap: 1 << 20 },
      { madvise: 'dontneed' },
      { cap, madvise: 'off' },
      { pool: 'binned' },
      { pool, madvise },
    ]) {
      const running = Array.from({ length: 4 }, () => gpt.encodeBatch(rows))
      await turn()
      memory.configure(settings)
      for (const batch of await Promise.all(running)) {
        assert.deepEqual(batch.ids, expected)
        batch.dispose()
      }
      await turn()
      const next = await gpt.encodeBatch(rows)
      assert.deepEqual(next.ids, expected)
      next.dispose()
      const stats = memory.stats()
      balanced(stats)
      for (const name in settings) assert.equal(stats[name], settings[name])
    }
  } finally {
    memory.configure({ pool, madvise, cap })
  }
})

test('a lower cap is reached by the first allocation after the results are released', () => {
  const { stdout, stderr } = script('lower-cap.mjs')
  const { whileHeld, released } = JSON.parse(stdout || `"${stderr}"`)
  balanced(whileHeld)
  balanced(released)
  assert.ok(whileHeld.mapped > whileHeld.cap, `held results stay mapped: ${stdout}`)
  assert.ok(released.mapped <= released.cap, `${released.mapped} bytes are mapped: ${stdout}`)
})

test('the environment selects the pool, and a wrong name is an error', () => {
  const run = (env) =>
    spawnSync(
      process.execPath,
      ['-p', "const { pool, madvise } = require('./index.js').memory.stats(); pool + ' ' + madvise"],
      { cwd: fileURLToPath(new URL('../..', import.meta.url)), encoding: 'utf8', env: { ...process.env, ...env } },
    )
  assert.equal(run({ TOKENLANE_POOL: 'binned', TOKENLANE_MADVISE: 'dontneed' }).stdout.trim(), 'binned dontneed')
  assert.equal(run({ TOKENLANE_POOL: '', TOKENLANE_MADVISE: '' }).stdout.trim(), 'split free')
  const wrong = run({ TOKENLANE_POOL: 'splitt' })
  assert.notEqual(wrong.status, 0)
  assert.match(wrong.stderr, /TOKENLANE_POOL must be split or binned, but it is "splitt/s)
  assert.match(wrong.stderr, /ERR_TOKENLANE_ARGUMENT_VALUE/)
})

test('workers that ended leave no memory behind', () => {
  const result = script('memory-workers.cjs')
  assert.equal(result.status, 0, result.stderr)
  const { before, after, grown } = JSON.parse(result.stdout)
  assert.ok(after.outstanding <= before.outstanding && after.external <= before.external, result.stdout)
  assert.ok(after.mapped <= before.mapped && after.free === 0, result.stdout)
  // About 12 MiB belong to the threads themselves. If the memory of ended threads were kept, it
  // would be 80 MiB.
  assert.ok(grown < 48 << 20, `${grown} bytes more than before`)
})

test('cold pages are reclaimable, and later results are correct', (context) => {
  if (process.platform !== 'linux') return context.skip('smaps is Linux')
  // `npm run maintain arm64` and `musl` set it for qemu.
  if (process.env.QEMU_LD_PREFIX !== undefined) return context.skip('qemu ignores MADV_FREE')
  const result = script('lazy-free.cjs')
  assert.equal(result.status, 0, result.stderr)
  const { lazy, afterTrim, same } = JSON.parse(result.stdout)
  assert.ok(lazy > 8 << 20, `LazyFree is ${lazy} bytes`)
  // The rest belongs to Node: the allocator of musl advises some pages too.
  assert.ok(afterTrim < 1 << 20, `LazyFree is ${afterTrim} bytes after a trim`)
  assert.equal(same, true)
})
