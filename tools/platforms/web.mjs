#!/usr/bin/env node
// npm run maintain -- web: builds @tokenlane/web into packages/web/dist, the WebAssembly module,
// the packed encodings and a bundle, and the bundles of the drop-ins and of @tokenlane/requests
// that run over it.
//
//   usage: npm run maintain -- web [--no-cargo] [--quick]
//
//   --no-cargo   uses the module that cargo built last
//   --quick      compiles and packs in less time, for `npm test`
//
// Needs the Rust target wasm32-unknown-unknown, and asks rustup for it if it is missing. The exit
// status is 3 if it is still missing then.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import zlib from 'node:zlib'

import { build } from 'esbuild'

import { ENCODINGS, packedFile } from '../data/packed-ranks.mjs'
import { NO_TARGET, root, run, stop } from '../setup.mjs'
import { Memory } from '../../packages/web/src/addresses.mjs'
import { DROPINS, exportsOf, modulesOf, writeWebEntries } from '../web-entries.mjs'
import { hasTarget } from './staged.mjs'

const TARGET = 'wasm32-unknown-unknown'
/** Without an answer, a download has no end. */
const MAX_DOWNLOAD_MS = 180_000
/**
 * Optimization of a build for tests: no spec needs speed here, and compiling takes longer than all
 * of them. With a profile of its own, the macros that the addon needs too would be compiled twice.
 */
const QUICK_LEVELS = { '"*"': 0, 'regex-automata': 0, 'fancy-regex': 0, 'tokenlane-core': 1, 'tokenlane-pattern': 1 }
/**
 * The modules of lib/ that depend on the runtime; those of @tokenlane/web with their names replace
 * them.
 */
const REPLACED = ['native', 'runtime', 'sources', 'memory', 'internal/dropins/bytes', 'internal/dropins/rank-files']
/** The modules that have the exports of CommonJS as their default export. */
const COMMON_JS = ['native', 'internal/requests']

/** What the entry points of encodings and models need. */
const MORE = {
  'js-tiktoken': `export const { ranks } = require('./internal/bundled-ranks.js')\n`,
  tiktoken: `export const { encoder } = require('./internal/encoder-module.js')\n`,
  'gpt-tokenizer': `export const { entry } = require('./internal/entry.js')
export const { rawRanks } = require('./internal/ranks.js')
`,
}

const packages = path.join(root, 'packages')
const lib = path.join(root, 'lib')
const source = path.join(packages, 'web', 'src')
const dist = path.join(packages, 'web', 'dist')
const { values } = parseArgs({ options: { 'no-cargo': { type: 'boolean' }, quick: { type: 'boolean' } } })
const profile = values.quick ? 'quick' : 'web'
const gzip = (bytes) => zlib.gzipSync(bytes, { level: values.quick ? 1 : 9 })

fs.mkdirSync(dist, { recursive: true })
writeWebEntries()
if (!values['no-cargo']) compile()
const module = fs.readFileSync(path.join(root, 'target', TARGET, profile, 'tokenlane_web.wasm'))
fs.writeFileSync(path.join(dist, 'tokenlane.wasm'), module)
writeScript('wasm', gzip(module))
for (const name of ENCODINGS) {
  const bytes = gzip(fs.readFileSync(packedFile(name)))
  fs.writeFileSync(path.join(dist, `${name}.bin`), bytes)
  writeScript(name, bytes)
}
const core = path.join(dist, 'core.mjs')
const dropinBundles = DROPINS.map((name) => path.join(packages, name, 'web', 'bundle.mjs'))
const requestsBundle = path.join(packages, 'requests', 'web', 'bundle.mjs')
await bundle(core, { entryPoints: [path.join(source, 'core.mjs')] }, { constants: constants(module) })
await bundle(requestsBundle, codeIn('requests', requests()), { replaced: [...REPLACED, 'internal/requests'] })
for (const [at, name] of DROPINS.entries()) await bundle(dropinBundles[at], codeIn(name, dropin(name)))
if (!values.quick) {
  const inDist = fs.readdirSync(dist).map((name) => path.join(dist, name))
  for (const file of [...inDist, requestsBundle, ...dropinBundles]) showSizes(file)
}

/** An entry point of esbuild: code of a package. */
function codeIn(name, contents) {
  return { stdin: { contents, resolveDir: path.join(packages, name) } }
}

function showSizes(file) {
  const bytes = fs.readFileSync(file)
  const sizes = [zlib.gzipSync(bytes, { level: 9 }), zlib.brotliCompressSync(bytes)].map(({ length }) => length)
  console.log(
    `${path.relative(packages, file).padEnd(28)} ${bytes.length} bytes, ${sizes[0]} with gzip, ${sizes[1]} with brotli`,
  )
}

/** Writes bytes as JavaScript, the only files that every bundler imports. */
function writeScript(name, bytes) {
  fs.writeFileSync(path.join(dist, `${name}.mjs`), `export const base64 = '${bytes.toString('base64')}'\n`)
}

function compile() {
  if (!hasTarget(TARGET)) run('rustup', ['target', 'add', TARGET], { timeout: MAX_DOWNLOAD_MS })
  if (!hasTarget(TARGET)) {
    console.error(`a Rust target is missing: rustup target add ${TARGET}`)
    process.exit(NO_TARGET)
  }
  const env = { ...process.env, RUSTFLAGS: '-Ctarget-feature=+simd128' }
  const args = ['build', '--package', 'tokenlane-web', '--profile', profile, '--target', TARGET]
  if (values.quick) {
    for (const [name, level] of Object.entries(QUICK_LEVELS))
      args.push('--config', `profile.quick.package.${name}.opt-level=${level}`)
  }
  if (!run('cargo', args, { env })) stop('the build of the WebAssembly module failed')
}

/** What `lib/` needs before an instance exists, from the module itself. */
function constants(bytes) {
  const { exports } = /** @type {any} */ (new WebAssembly.Instance(new WebAssembly.Module(bytes)))
  const memory = new Memory(exports.memory)
  const json = () => {
    const [, at, length] = memory.wordsAt(exports.values_at(), 3)
    return JSON.parse(memory.text(at, length))
  }
  exports.start()
  exports.constants()
  const [bits, columns] = json()
  exports.encoding_names()
  const encodings = json().map((name) => {
    exports.encoding_definition(memory.writeString(name, exports.input(name.length)))
    return [name, json()]
  })
  return { BITS: bits, COLUMN_NAMES: columns, ENCODINGS: Object.fromEntries(encodings) }
}

/** A module with the functions that load the modules of a drop-in. */
function dropin(name) {
  const load = (module) => `'${module}': () => require('./${module}.js')`
  return `export const modules = { ${modulesOf(name).map(load).join(', ')} }\n${MORE[name] ?? ''}`
}

/** A module with the functions of @tokenlane/requests. */
function requests() {
  const names = exportsOf(path.join(packages, 'requests', 'index.js'))
  return `export const { ${names.join(', ')} } = require('./index.js')\n`
}

/** Writes a bundle. Those of other packages import that of @tokenlane/web. */
async function bundle(outfile, entry, { constants = {}, replaced = REPLACED } = {}) {
  const replacing = {
    name: 'replacing',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(?:\.{1,2}|tokenlane)\/.*\.js$/ }, ({ path: name, resolveDir }) => {
        const isNamed = name.startsWith('tokenlane/')
        const file = isNamed ? path.join(lib, name.slice('tokenlane/'.length)) : path.resolve(resolveDir, name)
        const module = replaced.find((name) => file === path.join(lib, `${name}.js`))
        if (COMMON_JS.includes(module)) return { path: path.basename(module), namespace: 'commonjs' }
        return module && { path: path.join(source, `${path.basename(module)}.mjs`) }
      })
      onResolve({ filter: /\/dist\/core\.mjs$/ }, () => ({ path: '@tokenlane/web/internal', external: true }))
      onLoad({ filter: /.*/, namespace: 'commonjs' }, ({ path: name }) => ({
        contents: `module.exports = require('./${name}.mjs').default`,
        resolveDir: source,
      }))
      onResolve({ filter: /constants\.mjs$/ }, () => ({ path: 'constants', namespace: 'constants' }))
      onLoad({ filter: /.*/, namespace: 'constants' }, () => ({
        contents: Object.entries(constants)
          .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
          .join('\n'),
      }))
    },
  }
  await build({
    ...entry,
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    // Names stay: errors and printed objects show them.
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [replacing],
    logLevel: 'warning',
  })
}
