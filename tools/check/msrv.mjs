#!/usr/bin/env node
// npm run check:msrv: compiles all crates, tests and benches with the oldest supported Rust, which
// Cargo.toml states as `rust-version`. rustup installs that toolchain if it is missing.
//
//   usage: node tools/check/msrv.mjs
//
// npm test does not run it, because it compiles all dependencies once more. There the lint
// `incompatible_msrv` of clippy finds functions of the standard library that are newer, but neither
// newer syntax nor functions whose signature has changed.

import fs from 'node:fs'
import path from 'node:path'
import { spawnSync } from 'node:child_process'

import { root, run, stop } from '../setup.mjs'

const manifest = fs.readFileSync(path.join(root, 'Cargo.toml'), 'utf8')
const oldest = manifest.match(/^rust-version = "(\d+\.\d+)"$/m)?.[1]
if (oldest === undefined) stop('Cargo.toml has no line rust-version = "MAJOR.MINOR"')

const isInstalled = spawnSync('cargo', [`+${oldest}`, '--version'], { stdio: 'ignore' }).status === 0
if (!isInstalled && !run('rustup', ['toolchain', 'install', oldest, '--profile', 'minimal'])) {
  stop(`Rust ${oldest} is not installed, and rustup could not install it: see https://rustup.rs`)
}
const check = ['check', '--workspace', '--all-targets', '--features', 'tokenlane-core/fuzzing', '--locked']
if (!run('cargo', [`+${oldest}`, ...check])) stop(`the crates do not compile with Rust ${oldest}`)
console.log(`all crates compile with Rust ${oldest}, the oldest supported one`)
