import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

// Each of these ends the process when it goes wrong, so each gets a process of its own.
const script = (name) => fileURLToPath(new URL(`support/${name}.cjs`, import.meta.url))

function run(name, ...args) {
  const result = spawnSync(process.execPath, [...args, script(name)], { encoding: 'utf8', timeout: 120_000 })
  assert.equal(result.signal, null, result.stderr)
  assert.equal(result.status, 0, result.stderr)
  return result.stdout.trim()
}

test('six workers in turn, while the main thread never loads the addon', () => {
  assert.equal(run('six-workers'), '1 2 3 4 5 6')
})

test('a worker that is terminated in the middle of its batches leaves the line to others', () => {
  assert.equal(run('terminated-worker'), 'encoded 3')
})

test('a process may end while batches run', () => {
  assert.equal(run('exit-midway'), 'leaving')
})

test('workers that load the same file share its memory', () => {
  const [one, many] = run('shared-memory', '--expose-gc').split(' ').map(Number)
  assert.ok(many - one < 60, `one thread ${one} MiB, five threads ${many} MiB`)
})
