// Optional packages are those of the project, also where tokenlane is elsewhere: with `npm install
// ../tokenlane`, `npm link`, `npm install -g` and `npx -p`. The folders below are what these leave.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-optional-')))
test.after(() => fs.rmSync(base, { recursive: true, force: true }))

/** A checkout of tokenlane that has no optional packages. */
const checkout = path.join(base, 'tokenlane')
fs.mkdirSync(checkout)
for (const name of fs.readdirSync(root))
  if (/^(lib|cli|encodings|package\.json|native\.js|index\..*|.*\.node)$/.test(name))
    fs.cpSync(path.join(root, name), path.join(checkout, name), { recursive: true })
fs.cpSync(path.join(root, 'packages', 'jinja'), path.join(checkout, 'node_modules', '@tokenlane', 'jinja'), {
  recursive: true,
})

/** Its packages, as npm links those of a workspace. */
fs.cpSync(path.join(root, 'packages', 'corpus'), path.join(checkout, 'packages', 'corpus'), {
  recursive: true,
  filter: (name) => !/node_modules|[/\\]test$/.test(path.relative(root, name)),
})
fs.symlinkSync(
  path.join(checkout, 'packages', 'corpus'),
  path.join(checkout, 'node_modules', '@tokenlane', 'corpus'),
  'junction',
)
fs.symlinkSync(checkout, path.join(checkout, 'node_modules', 'tokenlane'), 'junction')

const link = (target, place) => {
  fs.mkdirSync(path.dirname(place), { recursive: true })
  fs.symlinkSync(target, place, 'junction')
}
const write = (place, text) => {
  fs.mkdirSync(path.dirname(place), { recursive: true })
  fs.writeFileSync(place, text)
}

/** A package that says how it was loaded, and real ones. */
function addPackages(modules) {
  const hub = path.join(modules, '@huggingface', 'hub')
  const exports = { '.': { import: './index.mjs', require: './index.js' } }
  write(path.join(hub, 'package.json'), JSON.stringify({ name: '@huggingface/hub', version: '2.6.0', exports }))
  for (const [file, kind] of [
    ['index.mjs', 'import'],
    ['index.js', 'require'],
  ])
    write(path.join(hub, file), `throw new Error('the hub of the project, by ${kind}')`)
  const models = path.join(modules, '@huggingface', 'transformers')
  write(
    path.join(models, 'package.json'),
    JSON.stringify({ name: '@huggingface/transformers', version: '4.0.0', exports }),
  )
  write(path.join(models, 'index.mjs'), 'export class Tensor {}')
  write(path.join(models, 'index.js'), 'exports.Tensor = class {}')
  for (const name of ['hyparquet', 'fzstd'])
    link(fs.realpathSync(path.join(root, 'node_modules', name)), path.join(modules, name))
}

const parquet = fileURLToPath(new URL('../testdata/pyarrow-zstd.parquet', import.meta.url))
const library = `
import { createRequire } from 'node:module'
import { Tokenizer } from 'tokenlane'
const name = '@huggingface/transformers'
const require = createRequire(import.meta.url)
const { importOptional, requireOptional } = require('tokenlane/internal/transformers.js')
const missing = () => {
  throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' })
}
const imported = await importOptional(name, missing)
console.log(imported.Tensor === (await import(name)).Tensor, requireOptional(name, missing).Tensor === require(name).Tensor)
await Tokenizer.fromPretrained('org/name').catch(({ message }) => console.log(message))
`

/** What a program prints, wherever it is started. */
function output(program, args, cwd) {
  const env = { ...process.env, HF_HOME: path.join(base, 'hub'), HF_HUB_OFFLINE: '', NODE_PATH: '' }
  const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd, env, encoding: 'utf8' })
  return stdout + stderr
}

const elsewhere = path.join(base, 'elsewhere')
fs.mkdirSync(elsewhere)

/** The folder of a project with packages, and a global folder; `from` is the folder of the test. */
function projectIn(name, { isGlobal = false, through = checkout } = {}) {
  const folder = path.join(base, name)
  const modules = isGlobal ? path.join(folder, 'lib', 'node_modules') : path.join(folder, 'node_modules')
  link(through, path.join(modules, 'tokenlane'))
  const command = isGlobal ? path.join(folder, 'bin', 'tokenlane') : path.join(modules, '.bin', 'tokenlane')
  fs.mkdirSync(path.dirname(command), { recursive: true })
  fs.symlinkSync(path.relative(path.dirname(command), path.join(modules, 'tokenlane', 'cli', 'main.mjs')), command)
  return { folder, modules, command }
}

const HUB = ['count', '-t', 'org/name', '-x', 'Hi']
const isHubOfProject = (printed) => assert.match(printed, /the hub of the project, by import/)
/** Two processes and threads read Parquet. */
function readsParquet(command, cwd) {
  const count = output(command, ['count', '-t', 'gpt-4o', '--field', 'text', '--on-error', 'skip', parquet], cwd)
  assert.match(count, /^\d+/m, count)
  assert.doesNotMatch(count, /npm install/)
  const tokens = fs.mkdtempSync(path.join(base, 'tokens-'))
  const corpus = output(
    command,
    ['corpus', parquet, '-t', 'gpt-4o', '--field', 'text', '--on-error', 'skip', '-o', path.join(tokens, 'out')],
    cwd,
  )
  assert.doesNotMatch(corpus, /npm install|PACKAGE/, corpus)
  assert.match(corpus, /23 documents/, corpus)
}

const WAYS = {
  'npm install ../tokenlane': () => projectIn('installed'),
  'npm link': () => {
    const { modules } = projectIn('prefix', { isGlobal: true })
    return projectIn('linked', { through: path.join(modules, 'tokenlane') })
  },
}
for (const [way, make] of Object.entries(WAYS)) {
  test(`${way}: packages of the project, for its programs and for the command anywhere`, () => {
    const { folder, modules, command } = make()
    const program = path.join(folder, 'src', 'app.mjs')
    write(program, library)
    const missing = output(command, HUB, elsewhere)
    assert.match(missing, /needs the package @huggingface\/hub.*npm install @huggingface\/hub/)
    addPackages(modules)
    const [classes, message] = output(program, [], elsewhere).split('\n')
    assert.deepEqual([classes, message], ['true true', 'the hub of the project, by import'])
    isHubOfProject(output(command, HUB, elsewhere))
    if (way === 'npm link') readsParquet(command, elsewhere)
  })
}

test('npm install -g: packages that are global too, and those of the working directory', () => {
  const { folder, modules, command } = projectIn('global', { isGlobal: true })
  const project = path.join(base, 'project')
  addPackages(path.join(project, 'node_modules'))
  assert.match(output(command, HUB, elsewhere), /npm install @huggingface\/hub/)
  isHubOfProject(output(command, HUB, project))
  readsParquet(command, path.join(project, 'node_modules', 'fzstd'))
  addPackages(modules)
  isHubOfProject(output(command, HUB, elsewhere))
  isHubOfProject(output(command, HUB, folder))
})

test('npx -p: packages that were named with it, and those of the working directory', () => {
  const { modules, command } = projectIn(path.join('_npx', '1a2b3c'))
  const project = path.join(base, 'project-of-npx')
  addPackages(path.join(project, 'node_modules'))
  isHubOfProject(output(command, HUB, project))
  addPackages(modules)
  isHubOfProject(output(command, HUB, elsewhere))
})
