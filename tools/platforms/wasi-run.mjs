#!/usr/bin/env node
// Runs a program for WASI, such as the tests of a crate at the level simd128:
//
//   RUSTFLAGS=-Ctarget-feature=+simd128 \
//   CARGO_TARGET_WASM32_WASIP1_RUNNER=$PWD/tools/platforms/wasi-run.mjs \
//   cargo test --package tokenlane-simd --lib --target wasm32-wasip1

import fs from 'node:fs'
import { WASI } from 'node:wasi'

const [, , file, ...args] = process.argv
const env = { PROPTEST_FAILURE_PERSISTENCE: 'off' }
const wasi = new WASI({ version: 'preview1', args: [file, ...args], env, preopens: { '.': '.' } })
const module = await WebAssembly.compile(fs.readFileSync(file))
process.exit(
  wasi.start(await WebAssembly.instantiate(module, /** @type {WebAssembly.Imports} */ (wasi.getImportObject()))),
)
