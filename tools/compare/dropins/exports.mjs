#!/usr/bin/env node
// Records what the originals of the drop-ins export: every path of their export maps, as ESM and as
// CommonJS, with all names, kinds, arities and types. __test__/dropins/exports.test.mjs compares
// the drop-ins with the record.
//
//   npm install --prefix /tmp/originals tiktoken@1.0.22 js-tiktoken@1.0.21 \
//     gpt-tokenizer@4.0.0 tokenizers@0.23.2 @huggingface/transformers@4.3.1
//   usage: node tools/compare/dropins/exports.mjs /tmp/originals
//
// The record is __test__/testdata/dropin-exports.json.gz.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'

import ts from 'typescript'

const ORIGINALS = ['tiktoken', 'js-tiktoken', 'gpt-tokenizer', 'tokenizers', '@huggingface/transformers']
const RECORD = new URL('../../../__test__/testdata/dropin-exports.json.gz', import.meta.url)

/** Names that start with an underscore are internal, or those of generated code. */
const isShown = (key) => typeof key === 'string' && key !== 'module.exports' && !key.startsWith('_')

/** The names of an object's own properties with their kinds. */
function members(object, skipped, isDeep) {
  const keys = Reflect.ownKeys(object).filter((key) => isShown(key) && !skipped.includes(key))
  return Object.fromEntries(
    keys.sort().map((key) => {
      const descriptor = Object.getOwnPropertyDescriptor(object, key)
      return [key, 'value' in descriptor || isDeep ? kindOf(object[key]) : 'accessor']
    }),
  )
}

/** A value in short: a function by its arity, a class by its members, data by its content. */
function kindOf(value) {
  if (typeof value === 'function') {
    const isClass = Reflect.ownKeys(value.prototype ?? {}).some((key) => isShown(key) && key !== 'constructor')
    if (!isClass) return `function/${value.length}`
    return {
      class: value.length,
      statics: members(value, ['length', 'name', 'prototype']),
      methods: members(value.prototype, ['constructor']),
    }
  }
  if (value instanceof Map || value instanceof Set) return `${value.constructor.name} ${content([...value])}`
  if (value instanceof RegExp) return `RegExp ${value}`
  const isPlain = Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(Object(value)))
  if (typeof value === 'object' && value !== null && !isPlain) return `object ${value.constructor.name}`
  return content(value)
}

function content(value) {
  const json = JSON.stringify(value, (_key, part) => {
    if (typeof part === 'bigint') return String(part)
    if (typeof part === 'string' && part.length > 1e6) return createHash('sha256').update(part).digest('hex')
    const isObject = typeof part === 'object' && part !== null && !Array.isArray(part)
    return isObject ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  })
  return json === undefined || json.length < 80
    ? String(json)
    : `${json.length} ${createHash('sha256').update(json).digest('hex').slice(0, 12)}`
}

/** The names that `{ ...module }` has, or what a module exports that is not an object. */
function shapeOf(module) {
  const isObject = typeof module === 'object' && module !== null
  return isObject ? members(module, [], true) : { 'module.exports': kindOf(module) }
}

/** Calls a loader, and names the reason if it fails. */
async function attempt(load) {
  try {
    return shapeOf(await load())
  } catch (error) {
    return `fails: ${error.code ?? error.message}`
  }
}

const OPTIONS = {
  module: ts.ModuleKind.Node16,
  moduleResolution: ts.ModuleResolutionKind.Node16,
  target: ts.ScriptTarget.ES2022,
  strict: true,
  resolveJsonModule: true,
  skipLibCheck: true,
  types: [],
}

/** The declaration file of a module as TypeScript finds it, from an ES module or from CommonJS. */
function declarationOf(name, folder, mode) {
  const found = ts.resolveModuleName(name, path.join(folder, 'any.mts'), OPTIONS, ts.sys, undefined, undefined, mode)
  return found.resolvedModule?.resolvedFileName
}

/** The declared names of some files: of values, of types, and the public members of both. */
function declared(files) {
  const program = ts.createProgram(files, OPTIONS)
  const checker = program.getTypeChecker()
  const isPublic = (symbol) =>
    (symbol.declarations ?? []).every(
      (one) => !(ts.getCombinedModifierFlags(one) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)),
    )
  const membersOf = (symbol) => {
    const type = symbol.flags & ts.SymbolFlags.Type ? checker.getDeclaredTypeOfSymbol(symbol) : undefined
    const own = type && type.flags & ts.TypeFlags.Object ? checker.getPropertiesOfType(type) : []
    const statics = symbol.flags & ts.SymbolFlags.Class ? [...symbol.exports.values()] : []
    return [...own, ...statics.filter(({ name }) => name !== 'prototype')]
      .filter(isPublic)
      .map(({ name }) => name)
      .filter(isShown)
      .sort()
  }
  const describe = (file) => {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (module === undefined) return {}
    const symbols = checker.getExportsOfModule(module).map((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const kinds = [target.flags & ts.SymbolFlags.Value && 'value', target.flags & ts.SymbolFlags.Type && 'type']
      return [symbol.name, [kinds.filter(Boolean).join(' and '), ...membersOf(target)]]
    })
    // `export =` is what an ES module imports as `default`.
    if (module.exports.has(ts.InternalSymbolName.ExportEquals)) symbols.push(['default', ['value']])
    return Object.fromEntries(symbols.filter(([name]) => isShown(name)).sort(([a], [b]) => (a < b ? -1 : 1)))
  }
  return new Map(files.map((file) => [file, describe(file)]))
}

/**
 * What modules export: for each name ESM, CommonJS, and the types that a program of either kind
 * sees. Equal shapes are listed once; `modules` has their numbers.
 *
 * @param {string} folder where the modules are resolved
 * @param {string[]} names
 * @param {{ import: (name: string) => Promise<any>, require: (name: string) => any }} load
 */
export async function describe(folder, names, load) {
  const shapes = []
  const numbers = new Map()
  const numberOf = (shape) => {
    const key = JSON.stringify(shape)
    if (!numbers.has(key)) numbers.set(key, shapes.push(shape) - 1)
    return numbers.get(key)
  }
  const files = new Map(
    names.map((name) => [
      name,
      [ts.ModuleKind.ESNext, ts.ModuleKind.CommonJS].map((mode) => declarationOf(name, folder, mode)),
    ]),
  )
  const isTyped = (file) => file !== undefined && /\.d\.[cm]?ts$/.test(file)
  const types = declared([...new Set([...files.values()].flat().filter(isTyped))])
  const modules = {}
  for (const name of names) {
    const [esm, cjs] = files.get(name).map((file) => numberOf(isTyped(file) ? types.get(file) : 'none'))
    modules[name] = {
      esm: numberOf(await attempt(() => load.import(name))),
      cjs: numberOf(await attempt(() => load.require(name))),
      esmTypes: esm,
      cjsTypes: cjs,
    }
  }
  return { modules, shapes }
}

/** All names that the export map of a package permits. Patterns are filled in from its files. */
export function pathsOf(folder, name) {
  const root = path.join(folder, 'node_modules', name)
  const { exports } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const isMap = exports !== undefined && Object.keys(exports).some((key) => key.startsWith('.'))
  const files = fs.readdirSync(root, { recursive: true }).map((file) => `./${String(file).replaceAll('\\', '/')}`)
  const names = (isMap ? Object.entries(exports) : [['.', exports]]).flatMap(([key, value]) => {
    if (!key.includes('*')) return [key]
    return targetsOf(value).flatMap((target) => {
      const [start, end] = target.split('*')
      const filling = files.filter(
        (file) => file.startsWith(start) && file.endsWith(end) && fs.statSync(path.join(root, file)).isFile(),
      )
      return filling.map((file) => key.replace('*', file.slice(start.length, file.length - end.length)))
    })
  })
  return [...new Set(names)].sort().map((key) => name + key.slice(1))
}

const targetsOf = (value) => (typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(targetsOf))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = path.resolve(process.argv[2] ?? '.')
  // An import is resolved from the file in which it stands.
  const importer = path.join(folder, 'import.mjs')
  fs.writeFileSync(importer, 'export default (name) => import(name)\n')
  const load = { import: (await import(pathToFileURL(importer).href)).default, require: createRequire(importer) }
  const record = {}
  for (const name of ORIGINALS) {
    const { version } = JSON.parse(fs.readFileSync(path.join(folder, 'node_modules', name, 'package.json'), 'utf8'))
    record[name] = { version, ...(await describe(folder, pathsOf(folder, name), load)) }
    console.log(`${name} ${version}: ${Object.keys(record[name].modules).length} paths`)
  }
  fs.writeFileSync(RECORD, gzipSync(JSON.stringify(record), { level: 9 }))
}
