#!/usr/bin/env node
// Uses the package in test files of jest and of vitest, which have their own realms. Installs both
// from npm into a temporary folder.
//
//   usage: node tools/check/test-runners.mjs

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { root, stop } from '../setup.mjs'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-runners-'))
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
const write = (name, text) => fs.writeFileSync(path.join(folder, name), text)
const checks = JSON.stringify(path.join(root, 'tools/check/test-runners/checks.cjs'))
const assert = '(ok, why) => { if (!ok) throw new Error(why) }'

write('package.json', '{ "name": "runners", "private": true }')
const jest = `require(${checks})(require(${JSON.stringify(path.join(root, 'index.js'))}), test, ${assert})`
write('one.test.cjs', jest)
// A second test file has another realm, and the same addon.
write('two.test.cjs', jest)
write(
  'three.spec.mjs',
  `import { createRequire } from 'node:module'
import { test } from 'vitest'
import * as tokenlane from ${JSON.stringify(path.join(root, 'index.mjs'))}
createRequire(import.meta.url)(${checks})(tokenlane, test, ${assert})`,
)

const commands = [
  ['npm', 'install', '--silent', 'jest@30', 'vitest@4'],
  ['npx', 'jest', '--testMatch', '**/*.test.cjs'],
  ['npx', 'vitest', 'run', 'three.spec.mjs'],
  ['npx', 'vitest', 'run', '--pool=vmThreads', 'three.spec.mjs'],
]
for (const [command, ...args] of commands) {
  const { status } = spawnSync(command, args, { cwd: folder, stdio: 'inherit' })
  if (status !== 0) stop(`${command} ${args.join(' ')} ended with ${status}`)
}
