// The package as npm publishes it: what it exports, in a folder without anything else.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import * as completions from '@tokenlane/completions'

import { installed, pack } from '../../../__test__/support/packed.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

test('the installed package reads answers without tokenlane, from require and from import', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-completions-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  const { files, tarball } = pack(root, folder)
  const names = files.map(({ path: name }) => name)
  assert.ok(['index.js', 'index.d.ts', 'README.md', 'src/engine.js'].every((name) => names.includes(name)))
  assert.ok(!names.some((name) => name.startsWith('test')))
  const app = path.join(folder, 'app')
  installed(app, [tarball])
  const call = `parseCompletion(undefined, '<think>a</think>b', { format: 'hermes' }).message.content`
  for (const code of [
    `const { parseCompletion } = require('@tokenlane/completions'); console.log(${call})`,
    `import('@tokenlane/completions').then(({ parseCompletion }) => console.log(${call}))`,
  ]) {
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', code], { cwd: app, encoding: 'utf8' })
    assert.equal(stdout, 'b\n', stderr)
  }
})

test('the typings declare what the package exports', () => {
  const declared = fs.readFileSync(path.join(root, 'index.d.ts'), 'utf8')
  const names = [...declared.matchAll(/^export (?:function|const|class) (\w+)/gm)].map(([, name]) => name)
  const exported = Object.keys(completions).filter((name) => name !== 'default' && name !== 'module.exports')
  assert.deepEqual([...new Set(names)].sort(), exported.sort())
})

test('the README names every format', () => {
  const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8')
  for (const name of completions.formats) assert.ok(readme.includes(`\`${name}\``), name)
})
