// The package as npm packs it, in an empty project: the code of its README, and its types.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const own = fileURLToPath(new URL('..', import.meta.url))
const shell = process.platform === 'win32'

test('the packed package runs the code of its README alone, and its types compile', (t) => {
  const project = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-jinja-'))
  t.after(() => fs.rmSync(project, { recursive: true, force: true }))
  const run = (command, args, options = {}) => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: project, encoding: 'utf8', ...options })
    assert.equal(status, 0, stdout + stderr)
    return stdout
  }
  const [{ filename, files }] = JSON.parse(
    run('npm', ['pack', '--json', '--pack-destination', project], { cwd: own, shell }),
  )
  assert.deepEqual(
    files
      .map((file) => file.path)
      .filter(
        (name) => !/^(src\/[\w-]+\.js|index\.(js|d\.ts)|internal\.js|package\.json|README\.md|LICENSE-\w+)$/.test(name),
      ),
    [],
  )
  fs.writeFileSync(path.join(project, 'package.json'), '{ "private": true }')
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', path.join(project, filename)], { shell })
  const readme = fs.readFileSync(path.join(own, 'README.md'), 'utf8')
  const [, code] = readme.match(/```js\n(.*?)```/s)
  // Each expression with its value in the comment below it.
  const checked = code.replaceAll(/^(template\..*)\n\/\/ (.*)$/gm, 'require("node:assert").deepEqual($1, $2)')
  assert.equal(checked.match(/deepEqual/g).length, 2)
  run(process.execPath, ['-e', checked])
  fs.writeFileSync(
    path.join(project, 'use.mts'),
    `import { Template, type TemplatePiece } from '@tokenlane/jinja'
const pieces: TemplatePiece[] = new Template('').renderPieces({ messages: [] }, { limits: { maxChatWork: 1 } })
const text: string = new Template('').render()
// @ts-expect-error there is no such limit
new Template('').render({}, { limits: { maxWork: 1 } })
export { pieces, text }
`,
  )
  const tsc = fileURLToPath(new URL('../../../node_modules/typescript-7/bin/tsc', import.meta.url))
  run(process.execPath, [tsc, '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', 'use.mts'])
})
