import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

function measure(what) {
  const script = fileURLToPath(new URL('../support/memory.cjs', import.meta.url))
  const result = spawnSync(process.execPath, ['--expose-gc', script, what], { encoding: 'utf8', timeout: 300_000 })
  assert.equal(result.status, 0, result.stderr)
  return Number(result.stdout)
}

test('the collector frees batches: memory does not grow from the 40th to the 120th', () => {
  const grown = measure('collected')
  assert.ok(grown < 80, `grown by ${grown} MiB`)
})

test('memory of a loop that never yields is limited', () => {
  const peak = measure('never-yields')
  assert.ok(peak < 1024, `${peak} MiB at the end`)
})

test('dispose frees memory at once', () => {
  const grown = measure('disposed')
  assert.ok(grown < 40, `grown by ${grown} MiB`)
})

test('the columns of a large text are reused for the next one', { skip: process.platform !== 'linux' }, () => {
  const cleared = measure('again')
  assert.ok(cleared < 16, `${cleared} MiB are written for the first time`)
})

test('400 small tokenizers take little memory each', { skip: process.platform !== 'linux' }, () => {
  const taken = measure('small')
  assert.ok(taken < 200, `${taken} MiB`)
})
