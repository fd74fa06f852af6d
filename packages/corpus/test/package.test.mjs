// The package as npm packs it, with tokenlane in an empty project: calls, commands and types. How
// `npx tokenlane` finds it, and what it says where it is missing.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { installed, pack, packAddon } from '../../../__test__/support/packed.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const own = fileURLToPath(new URL('..', import.meta.url))
const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'tokenlane-corpus-package-'))
test.after(() => fs.rmSync(folder, { recursive: true, force: true }))

const project = path.join(folder, 'project')
const packageFolder = path.join(project, 'node_modules', '@tokenlane', 'corpus')
/** The command of the installed tokenlane, and that of this repository. */
const installedMain = path.join(project, 'node_modules', 'tokenlane', 'cli', 'main.mjs')
const main = path.join(root, 'cli', 'main.mjs')

function run(command, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: project, encoding: 'utf8', ...options })
  return { status, stdout, stderr }
}
function node(args, options) {
  const { status, stdout, stderr } = run(process.execPath, args, options)
  assert.equal(status, 0, stdout + stderr)
  return stdout
}

test('the package has its modules, its types and nothing else, and no registry is needed', () => {
  const packed = path.join(folder, 'packed')
  fs.mkdirSync(packed)
  const { files, tarball } = pack(own, packed)
  const isExpected =
    /^((src|commands)\/[\w/-]+\.(mjs|d\.ts)|index\.(m?js|d\.m?ts)|package\.json|README\.md|LICENSE-\w+)$/
  assert.deepEqual(
    files.map((file) => file.path).filter((name) => !isExpected.test(name)),
    [],
  )
  const others = ['', 'packages/jinja'].map((name) => pack(path.join(root, name), packed).tarball)
  installed(project, [tarball, packAddon(packed), ...others])
  fs.mkdirSync(path.join(project, 'data'))
  fs.writeFileSync(path.join(project, 'data', 'a.jsonl'), '{"text":"Hello, world!"}\n{"text":"Hello again"}\n')
})

test('a corpus is tokenized by a call, from ES modules and from CommonJS, and by the command', () => {
  const options = `{ inputs: 'data/', output, tokenizer: 'o200k_base', format: 'npy', concurrency: 1 }`
  const work = `const { documents, tokens } = await tokenizeCorpus(${options})
    const rows = []
    for await (const { ids } of (await openTokens(output)).rows()) rows.push([...ids])
    console.log(JSON.stringify({ documents, tokens, rows }))`
  const expected = {
    documents: 2,
    tokens: 6,
    // The ranks of o200k_base.tiktoken: Hello, comma, " world", !; Hello, " again".
    rows: [
      [13225, 11, 2375, 0],
      [13225, 2418],
    ],
  }
  const names = '{ openTokens, tokenizeCorpus }'
  const imported = `import ${names} from '@tokenlane/corpus'; const output = 'by-import'; ${work}`
  assert.deepEqual(JSON.parse(node(['--input-type=module', '-e', imported])), expected)
  const required = `const ${names} = require('@tokenlane/corpus'); const output = 'by-require'; (async () => { ${work} })()`
  assert.deepEqual(JSON.parse(node(['--input-type=commonjs', '-e', required])), expected)
  const npx = ['--no-install', 'tokenlane', 'corpus', 'data/', '-o', 'by-command', '-f', 'npy']
  const { status, stderr } = run('npx', npx, { shell: process.platform === 'win32' })
  assert.equal(status, 0, stderr)
  // The command of a tokenlane that is elsewhere, as in a global installation.
  node([main, 'corpus', 'data/', '-o', 'by-other', '-f', 'npy'])
  for (const name of fs.readdirSync(path.join(project, 'by-import')).filter((file) => /\.(npy|rows)/.test(file)))
    for (const other of ['by-require', 'by-command', 'by-other'])
      assert.deepEqual(
        fs.readFileSync(path.join(project, other, name)),
        fs.readFileSync(path.join(project, 'by-import', name)),
      )
})

test('the types compile as ESM and as CommonJS, and reject wrong calls', () => {
  const typings = path.join(own, 'test', 'typings')
  const sources = fs.readdirSync(typings).filter((name) => /\.[mc]ts$/.test(name))
  assert.equal(sources.length, 3)
  for (const name of sources) fs.copyFileSync(path.join(typings, name), path.join(project, name))
  const compilerOptions = { typeRoots: [path.join(root, 'node_modules', '@types')] }
  const config = { extends: path.join(root, '__test__', 'typings', 'tsconfig.json'), compilerOptions, files: sources }
  fs.writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify(config))
  node([path.join(root, 'node_modules', 'typescript-7', 'bin', 'tsc'), '-p', '.'])
})

test('the commands are found from the working directory, also by a tokenlane that is elsewhere', () => {
  const manifest = path.join(packageFolder, 'package.json')
  const before = fs.readFileSync(manifest, 'utf8')
  // Only the package of the project has this summary.
  const command = path.join(packageFolder, 'commands', 'worker.mjs')
  const text = fs.readFileSync(command, 'utf8')
  fs.writeFileSync(command, text.replace(/summary: '.*'/, "summary: 'That of the project.'"))
  try {
    assert.match(node([main, 'worker', '--help']), /^That of the project\.\n/)
    assert.match(node([main, 'worker', '--help'], { cwd: path.join(project, 'data') }), /^That of the project\.\n/)
    // Elsewhere, that beside tokenlane.
    assert.match(node([installedMain, 'worker', '--help'], { cwd: folder }), /^That of the project\.\n/)
    assert.doesNotMatch(node([main, 'worker', '--help'], { cwd: folder }), /project/)
    // One of another version is left aside.
    fs.writeFileSync(manifest, before.replace('"version": "0.1.0"', '"version": "0.0.9"'))
    assert.doesNotMatch(node([main, 'worker', '--help']), /project/)
    const { status, stderr } = run(process.execPath, [installedMain, 'worker'])
    assert.equal(status, 1)
    assert.ok(stderr.includes(`${packageFolder} has version 0.0.9`), stderr)
    assert.match(stderr, /npm install @tokenlane\/corpus@0\.1\.0" \(ERR_TOKENLANE_PACKAGE_MISSING\)\n$/)
  } finally {
    fs.writeFileSync(manifest, before)
    fs.writeFileSync(command, text)
  }
})

test('without the package, its commands are listed, and say which one to install', () => {
  const hidden = `${packageFolder}-hidden`
  fs.renameSync(packageFolder, hidden)
  try {
    for (const args of [['corpus', 'data/', '-o', 'x'], ['train', 'extend', '--help'], ['worker']]) {
      const { status, stdout, stderr } = run(process.execPath, [installedMain, ...args])
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, new RegExp(`^tokenlane: 'tokenlane ${args[0]}' needs the package @tokenlane/corpus, which `))
      assert.match(stderr, /run "npm install @tokenlane\/corpus@0\.1\.0" \(ERR_TOKENLANE_PACKAGE_MISSING\)\n$/)
    }
    const overview = node([installedMain, '--help'])
    assert.match(
      overview,
      /^ {2}corpus .*\n {2}train .*\n {2}worker [^]* corpus, train, worker: package @tokenlane\/corpus\.$/m,
    )
    assert.match(node([installedMain, 'completion', 'bash']), /compgen -W '[^']*\bcorpus train worker\b/)
    assert.equal(node([installedMain, 'count', '-x', 'Hello, world!']), '4\n')
  } finally {
    fs.renameSync(hidden, packageFolder)
  }
})
