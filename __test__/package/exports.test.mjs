// The exports of the package itself; __test__/dropins/exports.test.mjs has those of the drop-ins.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import ts from 'typescript'

const esm = await import('../../index.mjs')

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))
const own = require('../../package.json')
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
  // the types of clients, which do not compile themselves under these settings.
  for (const project of ['typings', 'typings/dom.json', 'typings/web.json', 'typings/clients.json']) {
    const result = spawnSync(process.execPath, [bin('tsc'), '-p', project], {
      cwd: `${root}__test__`,
      encoding: 'utf8',
    })
    assert.equal(result.status, 0, project + result.stdout + result.stderr)
  }
})

/** The package as npm packs it. */
function tarball() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-exports-'))
  try {
    const args = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder]
    const { status, stderr } = spawnSync('npm', args, {
      cwd: root,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    })
    assert.equal(status, 0, stderr)
    return fs.readFileSync(path.join(folder, fs.readdirSync(folder)[0]))
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

test('publint and arethetypeswrong accept the package', async () => {
  const packed = tarball()
  const { buffer, byteOffset, byteLength } = packed
  const contents = buffer.slice(byteOffset, byteOffset + byteLength)
  const { messages } = await publint({ strict: true, pack: { tarball: contents } })
  // As in gpt-tokenizer, gpt-tokenizer/cjs is CommonJS with a default export. That is an object
  // with all names, as is what Node's `import` of CommonJS gives.
  const isCommonJs = ({ code, path: [, name] }) =>
    code === 'CJS_WITH_ESMODULE_DEFAULT_EXPORT' && name.startsWith('./gpt-tokenizer/cjs')
  // The files of tokenlane/web that Rust makes exist after `npm run maintain -- web`.
  const isWebBuilt = fs.existsSync(path.join(root, 'web', 'dist', 'tokenlane.wasm'))
  const isUnbuilt = ({ code, path: [, name] }) =>
    !isWebBuilt && code === 'EXPORTS_GLOB_NO_MATCHED_FILES' && /^\.\/web\/\*\.(?:bin|wasm)$/.test(name)
  assert.deepEqual(
    messages.filter((message) => message.type !== 'suggestion' && !isCommonJs(message) && !isUnbuilt(message)),
    [],
  )

  const { entrypoints, problems } = await checkPackage(createPackageFromTarballData(packed))
  const patterns = Object.keys(own.exports).filter((name) => own.exports[name] !== null)
  assert.deepEqual(Object.keys(entrypoints).sort(), patterns.sort())
  // Those for browsers and edge runtimes are ES modules. TypeScript below 6 with `module: commonjs`
  // resolves as Node 10 did, by typesVersions: all entries but these two, which have other names.
  assert.deepEqual(
    problems.map(({ entrypoint, resolutionKind, kind }) => `${entrypoint} ${resolutionKind} ${kind}`).sort(),
    [
      './gpt-tokenizer/cjs node10 NoResolution',
      './gpt-tokenizer/package.json node10 NoResolution',
      './web node16-cjs CJSResolvesToESM',
    ],
  )
})

test('TypeScript finds the types of the drop-ins as it did for Node 10', () => {
  // What `module: commonjs` means in TypeScript 5, which ignores `exports`.
  const options = { module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10 }
  const host = { ...ts.sys, directoryExists: undefined }
  const inPackage = (file) => file.replace(/^\/app\/node_modules\/tokenlane\//, root)
  for (const method of ['fileExists', 'readFile']) host[method] = (file) => ts.sys[method](inPackage(file))
  const resolve = (name) => ts.resolveModuleName(name, '/app/use.ts', options, host).resolvedModule?.resolvedFileName
  for (const [name, file] of Object.entries({
    tokenlane: 'index.d.ts',
    'tokenlane/corpus': 'lib/corpus/index.d.ts',
    'tokenlane/tiktoken': 'dropins/tiktoken/index.d.ts',
    'tokenlane/tiktoken/lite/init': 'dropins/tiktoken/lite/init.d.ts',
    'tokenlane/tiktoken/encoders/gpt2': 'dropins/tiktoken/encoders/gpt2.d.ts',
    'tokenlane/tiktoken/encoders/gpt2.json': 'dropins/tiktoken/encoders/gpt2.d.ts',
    'tokenlane/js-tiktoken/ranks/gpt2': 'dropins/js-tiktoken/ranks/gpt2.d.ts',
    'tokenlane/web': 'web/index.d.mts',
    'tokenlane/huggingface': 'dropins/huggingface/index.d.ts',
    'tokenlane/transformers': 'dropins/transformers/index.d.ts',
    'tokenlane/gpt-tokenizer': 'dropins/gpt-tokenizer/main.d.ts',
    'tokenlane/gpt-tokenizer/model/gpt-4o': 'dropins/gpt-tokenizer/model/gpt-4o.d.ts',
  }))
    assert.equal(resolve(name), `/app/node_modules/tokenlane/${file}`, name)
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
