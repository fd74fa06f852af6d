#!/usr/bin/env node
// npm run maintain -- web: builds the package's part for pages, workers and edge runtimes into
// web/dist: the WebAssembly module, the bundle of its JavaScript, and the packed encodings.
//
//   usage: npm run maintain -- web [--no-cargo]
//
//   --no-cargo   uses the module that cargo built last
//
// Needs `rustup target add wasm32-unknown-unknown`.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import zlib from 'node:zlib'

import { build } from 'esbuild'

import { root, run, stop } from '../setup.mjs'
import { hasTarget } from './staged.mjs'

const TARGET = 'wasm32-unknown-unknown'
const ENCODINGS = ['r50k_base', 'p50k_base', 'cl100k_base', 'o200k_base']
/** The modules of `lib/` that depend on the runtime, and what replaces them. */
const REPLACED = ['native', 'runtime', 'sources', 'memory']

const dist = path.join(root, 'web', 'dist')
const { values } = parseArgs({ options: { 'no-cargo': { type: 'boolean' } } })

fs.mkdirSync(dist, { recursive: true })
if (!values['no-cargo']) compile()
const module = fs.readFileSync(path.join(root, 'target', TARGET, 'web', 'tokenlane_web.wasm'))
fs.writeFileSync(path.join(dist, 'tokenlane.wasm'), module)
for (const name of ENCODINGS) {
  const bytes = zlib.gzipSync(packed(name), { level: 9 })
  fs.writeFileSync(path.join(dist, `${name}.bin`), bytes)
  // For bundlers that import nothing but JavaScript.
  const text = `export default Uint8Array.from(atob('${bytes.toString('base64')}'), (one) => one.charCodeAt(0))\n`
  fs.writeFileSync(path.join(dist, `${name}.mjs`), text)
}
await bundle(constants(module))
for (const name of fs.readdirSync(dist).sort()) {
  const bytes = fs.readFileSync(path.join(dist, name))
  console.log(`${name.padEnd(24)} ${bytes.length} bytes, ${zlib.gzipSync(bytes, { level: 9 }).length} with gzip`)
}

function compile() {
  if (!hasTarget(TARGET)) stop(`a Rust target is missing: run "rustup target add ${TARGET}"`)
  const env = { ...process.env, RUSTFLAGS: '-Ctarget-feature=+simd128' }
  const args = ['build', '--package', 'tokenlane-web', '--profile', 'web', '--target', TARGET]
  if (!run('cargo', args, { env })) stop('the build of the WebAssembly module failed')
}

/** A rank file in the form that crates/core/src/load/ranks.rs unpacks. */
function packed(name) {
  const lines = fs
    .readFileSync(path.join(root, 'encodings', `${name}.tiktoken`), 'utf8')
    .trim()
    .split('\n')
  const tokens = lines.map((line, index) => {
    const [base64, rank] = line.split(' ')
    const token = Buffer.from(base64, 'base64')
    if (token.length > 255) stop(`${name} has a token of ${token.length} bytes`)
    return { token, rank: Number(rank), index }
  })
  const splits = fs.readFileSync(path.join(root, 'crates', 'core', 'encodings', `${name}.splits`)).subarray(8)
  const entries = withoutGaps(tokens)
  const count = Buffer.alloc(4)
  count.writeUInt32LE(entries.length)
  const lengths = Buffer.from(entries.map((token) => token?.length ?? 0))
  return Buffer.concat([Buffer.from('\0tlranks'), count, lengths, splits, ...entries.filter((token) => token)])
}

/** The tokens by rank; a rank without a token is a gap, which has length 0. */
function withoutGaps(tokens) {
  const entries = []
  for (const { token, rank } of tokens) entries[rank] = token
  return Array.from(entries)
}

/** What `lib/` needs before an instance exists, from the module itself. */
function constants(bytes) {
  const { exports } = /** @type {any} */ (new WebAssembly.Instance(new WebAssembly.Module(bytes)))
  const json = () => {
    const [, at, length] = new Uint32Array(exports.memory.buffer, exports.values_at(), 3)
    return JSON.parse(Buffer.from(exports.memory.buffer, at, length).toString())
  }
  exports.start()
  exports.constants()
  const [bits, columns] = json()
  exports.encoding_names()
  const encodings = json().map((name) => {
    const at = exports.input(name.length)
    Buffer.from(exports.memory.buffer, at).write(name)
    exports.encoding_definition(name.length)
    return [name, json().file]
  })
  return { BITS: bits, COLUMN_NAMES: columns, ENCODING_FILES: Object.fromEntries(encodings) }
}

async function bundle(constants) {
  const replaced = {
    name: 'replaced',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.{1,2}\/(native|runtime|sources|memory)\.js$/ }, ({ path: name, importer }) => {
        const from = path.relative(root, path.resolve(path.dirname(importer), name))
        const found = REPLACED.find((one) => from === path.join('lib', `${one}.js`))
        if (found === 'native') return { path: 'native', namespace: 'native' }
        return found && { path: path.join(root, 'web', `${found}.mjs`) }
      })
      onLoad({ filter: /.*/, namespace: 'native' }, () => ({
        contents: `module.exports = require('./native.mjs').default`,
        resolveDir: path.join(root, 'web'),
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
    entryPoints: [path.join(root, 'web', 'core.mjs')],
    outfile: path.join(dist, 'core.mjs'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    // Names stay: errors and printed objects show them.
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [replaced],
    logLevel: 'warning',
  })
}
