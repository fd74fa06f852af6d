#!/usr/bin/env node
// npm run levels: runs the specs and the golden data with each CPU level of this machine, chosen by
// the environment variable TOKENLANE_CPU_LEVEL, and then on CPUs that lack instructions.
//
//   usage: npm run maintain -- levels [--level NAME] [--spec NAME…] [--from TEXT] [--only TEXT…]
//
//   --level      runs with this level only, and without qemu
//   --spec       runs this spec instead of all below
//   --from       starts at the first step with this text in its name
//   --only       runs the steps with this text in their names
//
// The addon must be built. qemu (Debian: apt-get install qemu-user) emulates the CPUs that lack
// instructions. On these the addon chooses its level itself, and an instruction that the CPU lacks
// ends the process.

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

import { root, run, stop } from '../setup.mjs'
import { goldenSpecs, named, specOf } from './specs.mjs'
import { STEP_OPTIONS, Steps } from '../platforms/steps.mjs'

/** Specs in which texts are encoded, split or decoded. */
const SPECS = [
  ...named('core', 'encode decode batch outputs stream change service-limits split other-files'),
  ...['packages/js-tiktoken/test/js-tiktoken', 'packages/corpus/test/corpus'],
  ...['conformance/golden', 'conformance/stream'],
]
/** The specs that run in the emulator, where a spec takes ten times as long. */
const EMULATED = ['core/encode', 'core/decode', ...goldenSpecs()]
/** For each level, a CPU of qemu on which the addon must choose it. qemu has no AVX-512. */
const CPUS = { scalar: 'Westmere', avx2: 'Haswell' }

const { values } = parseArgs({
  options: { level: { type: 'string' }, spec: { type: 'string', multiple: true }, ...STEP_OPTIONS },
})
const levels = levelsOfThisMachine()
console.log(`levels of this CPU: ${levels.join(', ')}`)
if (values.level !== undefined && !levels.includes(values.level)) stop(`this CPU has no level ${values.level}`)

const steps = new Steps(values)
for (const level of levels.filter((name) => (values.level ?? name) === name)) {
  for (const name of values.spec ?? SPECS) {
    const { file, env } = specOf(name)
    const options = { env: { ...process.env, ...env, TOKENLANE_CPU_LEVEL: level } }
    steps.run(`${level}: ${name}`, () =>
      run(process.execPath, ['--test', '--test-reporter=dot', '--test-timeout=3600000', file], options),
    )
  }
}
if (values.level === undefined && process.arch === 'x64') emulated()
steps.end()

/** The names of the levels, taken from the error message for an unknown name. */
function levelsOfThisMachine() {
  const env = { ...process.env, TOKENLANE_CPU_LEVEL: 'none' }
  const { stderr } = spawnSync(process.execPath, ['-e', 'require("./index.js")'], { cwd: root, env, encoding: 'utf8' })
  const list = /the levels of this CPU are ([\w+, ]+)/.exec(stderr)?.[1]
  return list?.split(', ') ?? stop(`the addon is not built, or does not load: ${stderr.slice(-500)}`)
}

function emulated() {
  if (spawnSync('qemu-x86_64', ['--version']).status !== 0) {
    console.log('CPUs of qemu: left out, because there is no qemu-x86_64 (Debian: apt-get install qemu-user)')
    return
  }
  const { TOKENLANE_CPU_LEVEL: _, ...own } = process.env
  for (const [level, cpu] of Object.entries(CPUS)) {
    const node = ['-cpu', cpu, process.execPath]
    steps.run(`qemu ${cpu}: the choice of ${level}`, () => {
      const script = 'require("./lib/native.js").cpuLevel()'
      const { stdout, stderr } = spawnSync('qemu-x86_64', [...node, '-p', script], {
        cwd: root,
        env: own,
        encoding: 'utf8',
      })
      return stdout.trim().split('+')[0] === level ? undefined : `${stdout}${stderr}`
    })
    for (const name of values.spec ?? EMULATED) {
      const { file, env } = specOf(name)
      // `--test` would start a process outside of the emulator.
      const args = [...node, '--test-reporter=dot', file]
      steps.run(`qemu ${cpu}: ${name}`, () => run('qemu-x86_64', args, { env: { ...own, ...env } }))
    }
  }
}
