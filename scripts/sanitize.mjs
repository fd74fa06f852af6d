#!/usr/bin/env node
// Runs the Node specs with an addon that AddressSanitizer watches.
//
//   usage: node scripts/sanitize.mjs [spec…]       Linux, with `rustup toolchain install nightly`; specs default to all
//
// The addon is built with nightly's -Zsanitizer=address and the system's allocator, and Node is started with the runtime of
// the sanitizer loaded before everything else. Leaks are not looked for: Node itself ends with memory in use.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { root, stop } from './setup.mjs'

const TARGET = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`

// Kept out of the specs: they build, pack or start other programs, and find nothing about memory.
const OTHERS = ['10-exports', '11-pack', '12-start', '15-onnx']

const build = spawnSync(
  'cargo',
  ['+nightly', 'build', '-p', 'tokenlane', '--no-default-features', '--target', TARGET, '--message-format=json-render-diagnostics'],
  { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, RUSTFLAGS: '-Zsanitizer=address', CARGO_TARGET_DIR: path.join(root, 'target', 'sanitize') } },
)
if (build.status !== 0) stop('the addon did not build with the sanitizer')
const addon = path.join(root, 'target', 'sanitize', TARGET, 'debug', 'libtokenlane.so')
const runtime = spawnSync('gcc', ['-print-file-name=libasan.so'], { encoding: 'utf8' }).stdout?.trim()
if (!runtime || !fs.existsSync(runtime)) stop('there is no libasan.so: install gcc (Debian: apt install build-essential)')
const place = path.join(root, 'target', 'sanitize', 'tokenlane.node')
fs.copyFileSync(addon, place)

const all = fs.readdirSync(path.join(root, '__test__')).filter((name) => name.endsWith('.test.mjs'))
const wanted = process.argv.length > 2 ? process.argv.slice(2) : all.filter((name) => !OTHERS.some((other) => name.startsWith(other)))
const failed = wanted.filter((name) => {
  const file = path.join(root, '__test__', path.basename(name))
  const env = {
    ...process.env,
    LD_PRELOAD: runtime,
    ASAN_OPTIONS: 'detect_leaks=0:abort_on_error=1',
    NAPI_RS_NATIVE_LIBRARY_PATH: place,
  }
  return spawnSync(process.execPath, ['--test', file], { cwd: root, stdio: 'inherit', env }).status !== 0
})
if (failed.length > 0) stop(`failed under the sanitizer: ${failed.join(', ')}`)
