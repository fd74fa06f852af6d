import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'

import * as esm from '../index.mjs'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name) => `${root}node_modules/.bin/${name}`

test('ESM and CJS give the same things', async () => {
  const cjs = require('../index.js')
  assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort())
  for (const name of Object.keys(cjs)) assert.strictEqual(cjs[name], esm[name])
  // What Node finds in index.js without running it.
  const found = await import('../index.js')
  for (const name of Object.keys(cjs)) assert.strictEqual(found[name], cjs[name])
})

/** The values and the members of classes that a declaration file names. */
function declared(file) {
  const program = ts.createProgram([file], { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 })
  const checker = program.getTypeChecker()
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
  const values = symbols
    .map((symbol) => [symbol.name, symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol])
    .filter(([, symbol]) => symbol.flags & ts.SymbolFlags.Value)
  const members = (table) => [...(table?.keys() ?? [])].filter((name) => !name.startsWith('__') && name !== 'prototype')
  return Object.fromEntries(
    values.map(([name, symbol]) => [name, { own: members(symbol.exports).sort(), instance: members(symbol.members).sort() }]),
  )
}

test('the typings name exactly what the module exports', () => {
  for (const file of ['index.d.ts', 'index.d.mts']) {
    const types = declared(root + file)
    assert.deepEqual(Object.keys(types).sort(), Object.keys(esm).sort(), file)
    for (const [name, { own, instance }] of Object.entries(types)) {
      if (typeof esm[name].prototype !== 'object') continue
      const statics = Object.getOwnPropertyNames(esm[name]).filter((key) => !['length', 'name', 'prototype'].includes(key))
      assert.deepEqual(own, statics.sort(), `${file} ${name}`)
      const methods = Object.getOwnPropertyNames(esm[name].prototype).filter((key) => key !== 'constructor')
      assert.deepEqual(instance, methods.sort(), `${file} ${name}`)
    }
  }
})

test('the typings of the drop-ins name what their modules export', () => {
  const { exports } = JSON.parse(fs.readFileSync(`${root}package.json`, 'utf8'))
  const dropins = Object.entries(exports).filter(([name]) => name !== '.' && !name.includes('*') && !name.endsWith('.json'))
  assert.ok(dropins.length > 10)
  for (const [name, conditions] of dropins) {
    const { types, default: file } = conditions.require ?? conditions
    const names = (object) => Object.keys(object).filter((key) => key !== 'default').sort()
    // An entry of gpt-tokenizer is an encoding with the constants beside it: not all of its names are listed by keys().
    const module = require(`../${file.slice(2)}`)
    const wanted = names(declared(root + types.slice(2))).filter((key) => key !== 'countChatCompletionTokens')
    for (const key of wanted) assert.ok(key in module, `${name}: ${key} is declared and not there`)
    if (conditions.require === undefined) assert.deepEqual(names(module), wanted, name)
  }
})

test('the typings compile in strict mode, as ESM and as CJS, and refuse what is wrong', () => {
  // With Node's types, and with a browser's in a library that does not know Symbol.dispose.
  for (const project of ['typings', 'typings/dom.json']) {
    const result = spawnSync(process.execPath, [bin('tsc'), '-p', project], { cwd: `${root}__test__`, encoding: 'utf8' })
    assert.equal(result.status, 0, project + result.stdout + result.stderr)
  }
})

test('the package is laid out as publint and arethetypeswrong want it', () => {
  const publint = spawnSync(process.execPath, [bin('publint'), '--strict'], { cwd: root, encoding: 'utf8' })
  assert.equal(publint.status, 0, publint.stdout + publint.stderr)
  const attw = spawnSync(process.execPath, [bin('attw'), '--pack', '.'], { cwd: root, encoding: 'utf8' })
  assert.equal(attw.status, 0, attw.stdout + attw.stderr)
  for (const left of fs.readdirSync(root).filter((name) => name.endsWith('.tgz'))) fs.rmSync(root + left)
})

/** What is said when there is no addon, after some code has run. */
function withoutAddon(before = '') {
  const code = `
    const Module = require('node:module')
    const load = Module._load
    Module._load = (request, ...rest) => {
      if (request === '../native.js') throw Object.assign(new Error('Cannot find native binding'), { cause: new Error('x') })
      return load(request, ...rest)
    }
    ${before}
    try { require('./index.js') } catch (error) { console.log(error.code, error.message) }`
  return spawnSync(process.execPath, ['-e', code], { cwd: root, encoding: 'utf8' }).stdout
}

test('without an addon the error says what to do', () => {
  assert.match(withoutAddon(), /^ERR_TOKENLANE_ADDON_MISSING .*tokenlane-\w+-\w+.*npm install tokenlane-/)
  const elsewhere = withoutAddon(`Object.defineProperty(process, 'platform', { value: 'aix' })`)
  assert.match(elsewhere, /^ERR_TOKENLANE_ADDON_MISSING .*aix-.*npm install --cpu=wasm32 tokenlane-wasm32-wasi/)
})
