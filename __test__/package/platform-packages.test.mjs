// The packages of the platforms: each has what npm shows and what its licence asks for.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (...names) => fs.readFileSync(path.join(root, ...names), 'utf8')
const own = JSON.parse(read('package.json'))

for (const name of fs.readdirSync(path.join(root, 'npm'))) {
  test(name, () => {
    const manifest = JSON.parse(read('npm', name, 'package.json'))
    assert.deepEqual(
      [manifest.name, manifest.version, manifest.license],
      [`tokenlane-${name}`, own.version, own.license],
    )
    for (const file of ['LICENSE-MIT', 'LICENSE-APACHE']) assert.equal(read('npm', name, file), read(file), file)
    const { stdout, status, stderr } = spawnSync('npm', ['pack', '--dry-run', '--json', '--loglevel=error'], {
      cwd: path.join(root, 'npm', name),
      encoding: 'utf8',
      shell: process.platform === 'win32',
    })
    assert.equal(status, 0, stderr)
    const packed = JSON.parse(stdout)[0].files.map(({ path: file }) => file)
    for (const file of ['README.md', 'LICENSE-MIT', 'LICENSE-APACHE']) assert.ok(packed.includes(file), file)
    assert.ok(read('npm', name, 'README.md').includes(`tokenlane-${name}`))
  })
}
