#!/usr/bin/env node
// npm run levels: runs the specs and the golden data with each CPU level of this machine, chosen by
// the environment variable TOKENLANE_CPU_LEVEL, and then on CPUs that lack instructions.
//
//   usage: npm run levels [-- --level NAME] [--spec NAME…]     default: all levels, the specs below
//
// The addon must be built. The CPUs are those of qemu (Debian: apt-get install qemu-user): the
// choice of the level is the program's own there, and an instruction that the CPU lacks ends it.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root, run, stop } from './setup.mjs'

/** Specs in which texts are encoded, split or decoded. */
const SPECS = [
  '02',
  '03',
  '04',
  '13',
  '14',
  '15',
  '17',
  '31',
  '47',
  '54',
  '58',
  'conformance/golden',
  'conformance/stream',
]
/** With an emulator a spec takes ten times as long. */
const EMULATED = ['02', '03', 'conformance/golden']
/** CPUs of qemu by the level that must be chosen there. qemu has no AVX-512. */
const CPUS = { scalar: 'Westmere', avx2: 'Haswell' }

const { values } = parseArgs({
  options: { level: { type: 'string' }, spec: { type: 'string', multiple: true } },
})
const levels = levelsOfThisMachine()
console.log(`levels of this CPU: ${levels.join(', ')}`)
if (values.level !== undefined && !levels.includes(values.level)) stop(`this CPU has no level ${values.level}`)

const failed = []
for (const level of levels.filter((name) => (values.level ?? name) === name)) {
  console.log(`── ${level} ──`)
  const env = { ...process.env, TOKENLANE_CPU_LEVEL: level }
  for (const spec of values.spec ?? SPECS) {
    const file = fileOf(spec)
    const args = ['--test', '--test-reporter=dot', '--test-timeout=1800000', file]
    console.log(path.basename(file))
    if (!run(process.execPath, args, { env })) failed.push(`${spec} at ${level}`)
  }
}
if (values.level === undefined && process.arch === 'x64') emulated()
if (failed.length > 0) stop(`failed: ${failed.join(', ')}`)

/** The names of the levels, taken from the error message for an unknown name. */
function levelsOfThisMachine() {
  const env = { ...process.env, TOKENLANE_CPU_LEVEL: 'none' }
  const { stderr } = spawnSync(process.execPath, ['-e', 'require("./index.js")'], { cwd: root, env, encoding: 'utf8' })
  const list = /the levels of this CPU are ([\w+, ]+)/.exec(stderr)?.[1]
  return list?.split(', ') ?? stop(`the addon is not built, or does not load: ${stderr.slice(-500)}`)
}

function emulated() {
  if (spawnSync('qemu-x86_64', ['--version']).status !== 0) {
    console.log('CPUs of qemu: left out, there is no qemu-x86_64 (Debian: apt-get install qemu-user)')
    return
  }
  const { TOKENLANE_CPU_LEVEL: _, ...env } = process.env
  for (const [level, cpu] of Object.entries(CPUS)) {
    console.log(`── qemu, ${cpu} ──`)
    const node = ['-cpu', cpu, process.execPath]
    const asked = spawnSync('qemu-x86_64', [...node, '-p', 'require("./lib/native.js").cpuLevel()'], {
      cwd: root,
      env,
      encoding: 'utf8',
    })
    if (asked.stdout.trim().split('+')[0] !== level) failed.push(`the choice on ${cpu}: ${asked.stdout}${asked.stderr}`)
    for (const spec of values.spec ?? EMULATED) {
      const file = fileOf(spec)
      console.log(path.basename(file))
      // Without --test, which would start a process outside of the emulator.
      if (!run('qemu-x86_64', [...node, '--test-reporter=dot', file], { env })) failed.push(`${spec} on ${cpu}`)
    }
  }
}

function fileOf(spec) {
  const folder = path.join(root, '__test__', path.dirname(spec))
  const file = fs.readdirSync(folder).find((file) => file.startsWith(path.basename(spec)) && file.endsWith('.test.mjs'))
  return file === undefined ? stop(`there is no spec ${spec}`) : path.join(folder, file)
}
