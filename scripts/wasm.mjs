#!/usr/bin/env node
// npm run wasm: builds the addon as WebAssembly, and tests the package for browsers and for
// processors without an addon of their own.
//
//   usage: npm run wasm [-- --no-build]
//
// Needs `rustup target add wasm32-wasip1-threads`, and Chromium for the page.
//
// Runs the specs of encoding and decoding, the golden data of the reference libraries, the
// scenarios that end processes, and a page in Chromium.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root, run, stop } from './setup.mjs'
import { Staged, hasTarget } from './staged.mjs'

const TARGET = 'wasm32-wasip1-threads'
const built = path.join(root, 'target', 'wasm32-wasi', 'built')

/**
 * Excluded are specs about memory that JavaScript and the addon share, and specs that measure time.
 */
const SPECS = [
  '02',
  '03',
  '04',
  '06',
  '09',
  '13',
  '14',
  '15',
  '16',
  '17',
  '21',
  'conformance/golden',
  'conformance/limits',
  'conformance/stream',
]

const { values } = parseArgs({ options: { 'no-build': { type: 'boolean' } } })
if (!values['no-build']) {
  if (!hasTarget(TARGET)) stop(`the Rust target for WebAssembly is not installed: run "rustup target add ${TARGET}"`)
  fs.rmSync(built, { recursive: true, force: true })
  const args = [
    'napi',
    'build',
    '--platform',
    '--release',
    '--target',
    TARGET,
    '--output-dir',
    built,
    '--js',
    'native.js',
  ]
  if (!run('npx', args)) stop('the build of the addon as WebAssembly failed')
}
const staged = new Staged('wasm32-wasi', built, { args: ['--no-warnings'] })
const failed = [...staged.specs(SPECS), ...staged.scenarios()]
const env = { ...process.env, TOKENLANE_WASM: '1' }
if (
  !run(process.execPath, ['--test', '--test-reporter=spec', path.join(root, '__test__', '41-wasm.test.mjs')], { env })
)
  failed.push('41-wasm')
if (failed.length > 0) stop(`failed as WebAssembly: ${failed.join(', ')}`)
