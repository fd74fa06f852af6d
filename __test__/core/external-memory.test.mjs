// In runtimes without ArrayBuffers over foreign memory, such as Electron, results are copied.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const support = (name) => fileURLToPath(new URL(`../support/${name}`, import.meta.url))
const glibc = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime !== undefined
const skip =
  !glibc || process.versions.bun || process.versions.deno ? 'the refusal is simulated in Node over glibc' : false

/** The output of the script, with these libraries preloaded. */
function outputWith(...libraries) {
  const before = [process.env.LD_PRELOAD, ...libraries].filter(Boolean).join(' ')
  const { status, stdout, stderr } = spawnSync(process.execPath, [support('external-memory.mjs')], {
    encoding: 'utf8',
    timeout: 300_000,
    env: { ...process.env, LD_PRELOAD: before },
  })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

test('results are equal without external memory, and their memory returns to the pool', { skip }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-external-'))
  try {
    const library = path.join(folder, 'refuses.so')
    const args = ['-O2', '-shared', '-fPIC', '-o', library, support('no-external-memory.c'), '-ldl']
    const built = spawnSync(process.env.CC ?? 'cc', args, { encoding: 'utf8', env: { ...process.env, LD_PRELOAD: '' } })
    assert.equal(built.status, 0, built.stderr)
    const [allowed, refused] = [outputWith(), outputWith(library)]
    assert.ok(allowed.external > 1 << 20, 'results are external memory otherwise')
    assert.equal(refused.external, 0, 'no result is external memory')
    assert.deepEqual(refused.digests, allowed.digests)
    assert.ok(
      refused.outstanding <= allowed.outstanding,
      `${refused.outstanding} of the pool in use, and ${allowed.outstanding} otherwise`,
    )
    assert.deepEqual(
      refused.views,
      refused.views.map(() => 0),
      'what is disposed of is empty',
    )
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
