// docs/api is up to date, and every public name is documented.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { commandsPage } from '../../tools/docs/cli-options.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-api-'))
test.after(() => fs.rmSync(folder, { recursive: true, force: true }))

const out = path.join(folder, 'api')
const json = path.join(folder, 'api.json')
const typedoc = path.join(root, 'node_modules', 'typedoc', 'bin', 'typedoc')
const made = spawnSync(process.execPath, [typedoc, '--options', 'docs/typedoc.json', '--out', out, '--json', json], {
  cwd: root,
  encoding: 'utf8',
})

const read = (...names) => fs.readFileSync(path.join(root, ...names), 'utf8')

test('every public name has documentation, and every link in it resolves', () => {
  // docs/typedoc.json turns the warnings of typedoc into errors.
  assert.equal(made.status, 0, made.stdout + made.stderr)
})

test('docs/api equals the output of `npm run docs`', () => {
  const pages = fs.readdirSync(out)
  assert.deepEqual(
    fs.readdirSync(path.join(root, 'docs', 'api')).sort(),
    [...pages, 'chat-templates.md', 'commands.md'].sort(),
  )
  for (const page of pages) {
    assert.equal(
      read('docs', 'api', page),
      fs.readFileSync(path.join(out, page), 'utf8'),
      `${page} is old: npm run docs`,
    )
  }
})

test('docs/api/commands.md has every option of every command', async () => {
  assert.equal(read('docs', 'api', 'commands.md'), await commandsPage(), 'it is old: npm run docs')
})

test('the reference has every module of the package', () => {
  const documented = JSON.parse(fs.readFileSync(json, 'utf8')).children.map(({ name }) => name)
  // Every declaration file that a subpath of package.json reaches, if it says which module it is.
  const folders = [
    '',
    'packages/corpus/',
    ...['tiktoken/', 'tiktoken/internal/', 'js-tiktoken/', 'js-tiktoken/internal/'].map((name) => `packages/${name}`),
  ]
  folders.push(
    ...['completions', 'gpt-tokenizer', 'requests', 'tokenizers', 'transformers'].map((name) => `packages/${name}/`),
  )
  const files = folders.flatMap((name) => fs.readdirSync(path.join(root, name)).map((file) => name + file))
  const modules = files
    .filter((file) => file.endsWith('.d.ts'))
    .map((file) => read(file).match(/^ \* @module (\S+)$/m)?.[1])
    .filter((name) => name !== undefined)
  assert.ok(modules.length >= 20)
  assert.deepEqual(documented.toSorted(), modules.toSorted())
})

/** Every declaration, with its own name and those of its parents. */
function* declarations(node, above = []) {
  const names = [...above, node.name]
  yield [names, node]
  for (const child of node.children ?? []) yield* declarations(child, names)
}

const textOf = (comment) => (comment?.summary ?? []).map(({ text }) => text).join('')

test('every option documents its default', () => {
  const taken = /(Options|Truncation|Padding|AddedToken)$/
  const stays = /that are not named stay/
  let seen = 0
  for (const [names, node] of declarations(JSON.parse(fs.readFileSync(json, 'utf8')))) {
    if (!taken.test(node.name) || node.children === undefined || stays.test(textOf(node.comment))) continue
    for (const option of node.children.filter(({ flags }) => flags.isOptional)) {
      assert.match(textOf(option.comment), /default/i, `${names.slice(1).join('.')}.${option.name}`)
      seen++
    }
  }
  assert.ok(seen > 60, `${seen} options`)
})

// Codes that no caller sees: those of a stopped batch or training, which rejects with the reason of
// its signal, and codes of Node.
const INTERNAL = ['CANCELLED', 'ABORTED', 'NODE']

function sources(name) {
  const found = fs
    .readdirSync(path.join(root, name), { recursive: true })
    .filter((file) => /\.(m?js|rs)$/.test(file) && !/\b(test|dist|node_modules)\b/.test(file))
  return found.map((file) => read(name, file))
}

/** The matches of a pattern in the sources of some folders. */
const found = (pattern, ...folders) =>
  new Set(folders.flatMap(sources).flatMap((text) => [...text.matchAll(pattern)].map(([, code]) => code)))

test('ErrorCodes has every error code, and no others', () => {
  const listed = new Set(
    Array.from(read('lib', 'error-codes.d.ts').matchAll(/^ {2}ERR_TOKENLANE_(\w+): /gm), ([, code]) => code),
  )
  const thrown = found(
    /ERR_TOKENLANE_([A-Z0-9_]*[A-Z0-9])(?![A-Z0-9_])/g,
    'lib',
    'packages',
    'src',
    'crates/core/src',
    'crates/train/src',
  )
  // Corpus jobs write codes without their prefix too; those of .npy files are the command line's.
  for (const code of found(/Failure\(\s*'([A-Z0-9_]+)'/g, 'lib', 'packages')) if (code !== 'NPY') thrown.add(code)
  for (const code of thrown) assert.ok(listed.has(code) || INTERNAL.includes(code), `${code} is not in ErrorCodes`)
  // The drop-ins write codes without their prefix.
  const ofDropins = found(/error\('([A-Z0-9_]+)'/g, 'lib/internal/dropins', 'packages')
  for (const code of listed)
    assert.ok(thrown.has(code) || ofDropins.has(code), `${code} is listed, but nothing throws it`)
})
