// The exports of the package itself; __test__/dropins/exports.test.mjs has those of the drop-ins.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'

const esm = await import('../../index.mjs')

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))
const bin = (name) => `${root}node_modules/.bin/${name}`

test('ESM and CJS export the same values', async () => {
  const cjs = require('../../index.js')
  assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort())
  for (const name of Object.keys(cjs)) assert.strictEqual(cjs[name], esm[name])
  // The names that Node finds in index.js by parsing.
  const found = await import('../../index.js')
  for (const name of Object.keys(cjs)) assert.strictEqual(found[name], cjs[name])
})

/** The exported values, and the members of classes, of a declaration file. */
function declared(file) {
  const program = ts.createProgram([file], { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 })
  const checker = program.getTypeChecker()
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
  const values = symbols
    .map((symbol) => [symbol.name, symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol])
    .filter(([, symbol]) => symbol.flags & ts.SymbolFlags.Value)
  const members = (table) => [...(table?.keys() ?? [])].filter((name) => !name.startsWith('__') && name !== 'prototype')
  return Object.fromEntries(
    values.map(([name, symbol]) => [
      name,
      { own: members(symbol.exports).sort(), instance: members(symbol.members).sort() },
    ]),
  )
}

test('the typings have exactly the exports of the module', () => {
  for (const file of ['index.d.ts', 'index.d.mts']) {
    const types = declared(root + file)
    assert.deepEqual(Object.keys(types).sort(), Object.keys(esm).sort(), file)
    for (const [name, { own, instance }] of Object.entries(types)) {
      if (typeof esm[name].prototype !== 'object') continue
      const statics = Object.getOwnPropertyNames(esm[name]).filter(
        (key) => !['length', 'name', 'prototype'].includes(key),
      )
      assert.deepEqual(own, statics.sort(), `${file} ${name}`)
      const methods = Object.getOwnPropertyNames(esm[name].prototype).filter((key) => key !== 'constructor')
      assert.deepEqual(instance, methods.sort(), `${file} ${name}`)
    }
  }
})

test('the typings for import name every type of those for require', () => {
  const read = (name) => fs.readFileSync(root + name, 'utf8')
  const own = ['index.d.ts', 'lib/names.d.ts', 'lib/option-types.d.ts', 'lib/service.d.ts'].flatMap((name) =>
    Array.from(
      read(name).matchAll(/^export (?:declare )?(?:interface|type|class|const|function) (\w+)/gm),
      ([, found]) => found,
    ),
  )
  const listed = Array.from(read('index.d.mts').matchAll(/^ {2}(\w+),$/gm), ([, name]) => name)
  assert.ok(own.length > 40)
  assert.deepEqual(listed, [...new Set(own)].sort())
})

test('the typings compile in strict mode as ESM and as CJS, and reject wrong calls', () => {
  // With the types of Node, with those of a browser in a library without Symbol.dispose, and with
  // the types of clients, which do not compile themselves under these settings.
  for (const project of ['typings', 'typings/dom.json', 'typings/clients.json']) {
    const result = spawnSync(process.execPath, [bin('tsc'), '-p', project], {
      cwd: `${root}__test__`,
      encoding: 'utf8',
    })
    assert.equal(result.status, 0, project + result.stdout + result.stderr)
  }
})

test('publint and arethetypeswrong accept the package', () => {
  const publint = spawnSync(process.execPath, [bin('publint'), '--strict'], { cwd: root, encoding: 'utf8' })
  assert.equal(publint.status, 0, publint.stdout + publint.stderr)
  // Those for browsers and edge runtimes are ES modules only.
  const web = ['web', ...['cl100k_base', 'o200k_base', 'p50k_base', 'r50k_base'].map((name) => `web/${name}`)]
  for (const args of [
    ['--exclude-entrypoints', ...web],
    ['--profile', 'esm-only', '--entrypoints', ...web],
  ]) {
    const attw = spawnSync(process.execPath, [bin('attw'), '--pack', '.', ...args], { cwd: root, encoding: 'utf8' })
    assert.equal(attw.status, 0, attw.stdout + attw.stderr)
  }
  for (const left of fs.readdirSync(root).filter((name) => name.endsWith('.tgz'))) fs.rmSync(root + left)
})

/** The error message without an addon, after some code has run. */
function withoutAddon(before = '') {
  const code = `
    const Module = require('node:module')
    const path = require('node:path')
    const load = Module._load
    Module._load = (request, ...rest) => {
      if (path.isAbsolute(request) && request.endsWith('native.js')) throw Object.assign(new Error('Cannot find native binding'), { cause: new Error('x') })
      return load(request, ...rest)
    }
    ${before}
    try { require('./index.js') } catch (error) { console.log(error.code, error.message) }`
  return spawnSync(process.execPath, ['-e', code], { cwd: root, encoding: 'utf8' }).stdout
}

test('the error without an addon says what to do', () => {
  assert.match(withoutAddon(), /^ERR_TOKENLANE_ADDON_MISSING .*tokenlane-\w+-\w+.*npm install tokenlane-/)
  const elsewhere = withoutAddon(`Object.defineProperty(process, 'platform', { value: 'aix' })`)
  assert.match(elsewhere, /^ERR_TOKENLANE_ADDON_MISSING .*aix-.*npm install --force tokenlane-wasm32-wasi/)
})
