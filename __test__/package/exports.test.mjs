// The exports of the package itself; __test__/dropins/exports.test.mjs has those of the drop-ins.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'

const esm = await import('../../index.mjs')

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))
/** The compiler of a version of TypeScript. */
const tsc = (folder) => path.join(root, 'node_modules', folder, 'bin', 'tsc')

test('ESM and CJS export the same values', async () => {
  const cjs = require('../../index.js')
  assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort())
  for (const name of Object.keys(cjs)) assert.strictEqual(cjs[name], esm[name])
  // The names that Node finds in index.js by parsing.
  const found = await import('../../index.js')
  for (const name of Object.keys(cjs)) assert.strictEqual(found[name], cjs[name])
})

/** The exported values, and the members of classes, of a declaration file. */
function declared(program, file) {
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
  const files = ['index.d.ts', 'index.d.mts']
  const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, types: ['node'] }
  const program = ts.createProgram(
    files.map((file) => root + file),
    options,
  )
  for (const file of files) {
    const types = declared(program, root + file)
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
  const own = [
    'index.d.ts',
    'lib/file-types.d.ts',
    'lib/model-names.d.ts',
    'lib/chat-types.d.ts',
    'lib/error-codes.d.ts',
    'lib/option-types.d.ts',
    'lib/service.d.ts',
  ].flatMap((name) =>
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
  // the types of clients, which do not compile themselves under these settings. TypeScript 5 is
  // what typedoc needs and many projects have; TypeScript 7 takes a fifth of its time.
  for (const [project, version] of [
    ['typings', 'typescript'],
    ['typings', 'typescript-7'],
    ['typings/dom.json', 'typescript-7'],
    ['typings/web.json', 'typescript-7'],
    ['typings/clients.json', 'typescript-7'],
  ]) {
    const result = spawnSync(process.execPath, [tsc(version), '-p', project], {
      cwd: `${root}__test__`,
      encoding: 'utf8',
    })
    assert.equal(result.status, 0, `${project} ${version} ${result.stdout}${result.stderr}`)
  }
})

test('the typings have no syntax that TypeScript 4.9 does not read', () => {
  // The oldest version that docs/guide/deployment.md names. `export type *` and `const` before type
  // parameters came with 5.0, attributes of imports with 5.3.
  const isNewer = (node) =>
    (ts.isExportDeclaration(node) && node.isTypeOnly && !ts.isNamedExports(node.exportClause ?? node)) ||
    (ts.isTypeParameterDeclaration(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ConstKeyword)) ||
    node.attributes !== undefined
  const files = ['.', 'lib', 'packages'].flatMap((folder) =>
    fs
      .readdirSync(root + folder, { recursive: folder !== '.' })
      .filter((name) => /\.d\.[mc]?ts$/.test(name))
      .map((name) => path.join(folder, name)),
  )
  assert.ok(files.length > 100)
  const newer = files.filter((name) => {
    const walk = (node) => isNewer(node) || ts.forEachChild(node, (child) => walk(child) || undefined)
    return walk(ts.createSourceFile(name, fs.readFileSync(root + name, 'utf8'), ts.ScriptTarget.Latest))
  })
  assert.deepEqual(newer, [])
})

test('TypeScript finds the types of the drop-ins as it did for Node 10', () => {
  // What `module: commonjs` means in TypeScript 5, which ignores `exports`.
  const options = { module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10 }
  const host = { ...ts.sys, directoryExists: undefined }
  const inPackage = (file) =>
    file
      .replace(/^\/app\/node_modules\/@tokenlane\//, `${root}packages/`)
      .replace(/^\/app\/node_modules\/tokenlane\//, root)
  for (const method of ['fileExists', 'readFile']) host[method] = (file) => ts.sys[method](inPackage(file))
  const resolve = (name) => ts.resolveModuleName(name, '/app/use.ts', options, host).resolvedModule?.resolvedFileName
  for (const [name, file] of Object.entries({
    tokenlane: 'tokenlane/index.d.ts',
    '@tokenlane/corpus': '@tokenlane/corpus/index.d.ts',
    '@tokenlane/tiktoken': '@tokenlane/tiktoken/index.d.ts',
    '@tokenlane/tiktoken/lite/init': '@tokenlane/tiktoken/lite/init.d.ts',
    '@tokenlane/tiktoken/encoders/gpt2': '@tokenlane/tiktoken/encoders/gpt2.d.ts',
    '@tokenlane/tiktoken/encoders/gpt2.json': '@tokenlane/tiktoken/encoders/gpt2.d.ts',
    '@tokenlane/js-tiktoken/ranks/gpt2': '@tokenlane/js-tiktoken/ranks/gpt2.d.ts',
    '@tokenlane/web': '@tokenlane/web/index.d.mts',
    '@tokenlane/tokenizers': '@tokenlane/tokenizers/index.d.ts',
    '@tokenlane/transformers': '@tokenlane/transformers/index.d.ts',
    '@tokenlane/gpt-tokenizer': '@tokenlane/gpt-tokenizer/main.d.ts',
    '@tokenlane/gpt-tokenizer/model/gpt-4o': '@tokenlane/gpt-tokenizer/model/gpt-4o.d.ts',
  }))
    assert.equal(resolve(name), `/app/node_modules/${file}`, name)
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
  assert.match(elsewhere, /^ERR_TOKENLANE_ADDON_MISSING .*aix-.*Install and import @tokenlane\/web/)
})
