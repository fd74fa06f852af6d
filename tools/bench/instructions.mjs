#!/usr/bin/env node
// npm run maintain -- instructions: counts the instructions of fixed workloads, and compares the
// counts with crates/core/benches/instructions.json.
//
//   usage: node tools/bench/instructions.mjs [--update]      --update: rewrites the file
//
// Instruction counts do not depend on how busy the machine is. They are measured with valgrind,
// which has no AVX-512, so that every x86-64 processor with AVX2 executes the same code. Other
// processors, and machines without valgrind, skip the check. Two sources of noise remain: hash
// seeds, and the compiler; if its version differs from the recorded one, a larger difference is
// allowed.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { spawnSync } from 'node:child_process'

import { checkCompilers, root, stop } from '../setup.mjs'

const RECORD = path.join(root, 'crates', 'core', 'benches', 'instructions.json')
const ENCODINGS = ['r50k_base', 'cl100k_base', 'o200k_base']
// The order in which the program runs the stages.
const STAGES = ['load', 'cold', 'warm', 'offsets', 'decode']
const INSTRUCTION_SET = 'avx2+pext'
const TOLERANCE = 0.03
const OTHER_COMPILER = 0.1

const { values } = parseArgs({ options: { update: { type: 'boolean' } } })
if (spawnSync('valgrind', ['--version']).status !== 0) {
  console.log('skipped: valgrind is not installed (Debian: apt install valgrind)')
  process.exit(0)
}
checkCompilers()
const rustc = spawnSync('rustc', ['--version'], { encoding: 'utf8' }).stdout.trim()
const program = compiled()
const counts = Object.fromEntries(ENCODINGS.map((encoding) => [encoding, count(encoding)]))

if (values.update) {
  fs.writeFileSync(RECORD, `${JSON.stringify({ rustc, counts }, null, 2)}\n`)
  console.log(`written: ${path.relative(root, RECORD)}`)
} else {
  compare(JSON.parse(fs.readFileSync(RECORD, 'utf8')))
}

/** Builds the program and returns its path. */
function compiled() {
  const args = ['bench', '--package', 'tokenlane-core', '--bench', 'instructions', '--no-run', '--message-format=json']
  const options = /** @type {any} */ ({
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  })
  const { status, stdout } = spawnSync('cargo', args, options)
  if (status !== 0) stop('the build of the measured program failed; the output of the compiler is above')
  const messages = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  return messages.find(({ target, executable }) => target?.name === 'instructions' && executable).executable
}

/** Returns the number of instructions of each stage. */
function count(encoding) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-callgrind-'))
  try {
    const args = [
      '--tool=callgrind',
      `--callgrind-out-file=${path.join(folder, 'out')}`,
      '--dump-after=instructions::mark',
      program,
      encoding,
    ]
    const { status, stdout, stderr } = spawnSync('valgrind', args, { encoding: 'utf8' })
    if (status !== 0) stop(`valgrind failed on ${encoding}:\n${stderr}`)
    if (stdout.trim() !== INSTRUCTION_SET) {
      console.log(`skipped: this processor uses ${stdout.trim()}, but the counts are for ${INSTRUCTION_SET}`)
      process.exit(0)
    }
    const counted = STAGES.map((_, at) => {
      // Each mark writes a file. The file before a stage counts the code between two stages, and
      // the file after it counts the stage.
      const dump = fs.readFileSync(path.join(folder, `out.${2 * at + 2}`), 'utf8')
      return Number(/^totals: (\d+)$/m.exec(dump)[1])
    })
    return Object.fromEntries(STAGES.map((stage, at) => [stage, counted[at]]))
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

function compare(recorded) {
  const same = recorded.rustc === rustc
  const tolerance = same ? TOLERANCE : OTHER_COMPILER
  if (!same) console.log(`recorded with ${recorded.rustc}, this is ${rustc}: ${OTHER_COMPILER * 100} % are allowed`)
  let slower = false
  for (const encoding of ENCODINGS) {
    for (const stage of STAGES) {
      const [before, now] = [recorded.counts[encoding][stage], counts[encoding][stage]]
      const change = now / before - 1
      const verdict = change > tolerance ? 'SLOWER' : change < -tolerance ? 'faster: record it with --update' : ''
      slower ||= change > tolerance
      const percent = `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`
      console.log(
        `${encoding.padEnd(12)} ${stage.padEnd(8)} ${String(now).padStart(12)} ${percent.padStart(9)} ${verdict}`,
      )
    }
  }
  if (slower) stop(`more instructions than recorded; if this is intended, run with --update`)
}
