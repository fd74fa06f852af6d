import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

// A failure of these tests ends the process, so each runs in its own process.
const script = (name) => fileURLToPath(new URL(`../support/${name}.cjs`, import.meta.url))

function run(name, ...args) {
  const result = spawnSync(process.execPath, [...args, script(name)], { encoding: 'utf8', timeout: 300_000 })
  assert.equal(result.signal, null, result.stderr)
  assert.equal(result.status, 0, result.stderr)
  return result.stdout.trim()
}

test('six workers, one after the other, while the main thread never loads the addon', () => {
  assert.equal(run('six-workers'), '1 2 3 4 5 6')
})

test('a worker that is terminated during its batches leaves the queue usable', () => {
  assert.equal(run('terminated-worker'), 'encoded 3')
})

test('a process can end while batches run', () => {
  assert.equal(run('exit-midway'), 'leaving')
})

test('workers that load the same file share its memory', () => {
  const [one, many] = run('shared-memory', '--expose-gc').split(' ').map(Number)
  assert.ok(many - one < 60, `one thread ${one} MiB, five threads ${many} MiB`)
})
