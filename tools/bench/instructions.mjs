#!/usr/bin/env node
// npm run maintain -- instructions: counts the instructions of fixed workloads, and compares the
// counts with crates/core/benches/instructions.json.
//
//   usage: node tools/bench/instructions.mjs [--update]      --update: rewrites the file
//
// Instruction counts do not depend on how busy the machine is. They are measured with valgrind,
// which has no AVX-512, so that every x86-64 processor with AVX2 executes the same code. Other
// processors, and machines without valgrind, skip the check. Two sources of noise remain. The seed
// of the word cache is random, and in some runs a few long words evict each other, which
// costs up to 1.5 % of `warm` and `offsets`; so each stage has the lowest count of three runs, and
// those of two runs differ by less than 0.1 %. The other is the compiler: if its version differs
// from the recorded one, a larger difference is allowed.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { spawnSync } from 'node:child_process'

import { checkCompilers, root, stop } from '../setup.mjs'
import { compiled, countedStages, hasValgrind } from './callgrind.mjs'

const RECORD = path.join(root, 'crates', 'core', 'benches', 'instructions.json')
const ENCODINGS = ['r50k_base', 'cl100k_base', 'o200k_base']
// The order in which the program runs the stages.
const STAGES = ['load', 'cold', 'warm', 'offsets', 'decode']
const INSTRUCTION_SET = 'avx2+pext'
const RUNS = 3
const TOLERANCE = 0.01
const OTHER_COMPILER = 0.1

const { values } = parseArgs({ options: { update: { type: 'boolean' } } })
if (!hasValgrind()) process.exit(0)
checkCompilers()
const rustc = spawnSync('rustc', ['--version'], { encoding: 'utf8' }).stdout.trim()
const program = compiled('instructions')
const counts = Object.fromEntries(ENCODINGS.map((encoding) => [encoding, count(encoding)]))

if (values.update) {
  fs.writeFileSync(RECORD, `${JSON.stringify({ rustc, counts }, null, 2)}\n`)
  console.log(`written: ${path.relative(root, RECORD)}`)
} else {
  compare(JSON.parse(fs.readFileSync(RECORD, 'utf8')))
}

/** Returns the number of instructions of each stage, the lowest of all runs. */
function count(encoding) {
  const runs = Array.from({ length: RUNS }, () => {
    const { counts, stdout } = countedStages('instructions', program, [encoding], STAGES.length)
    if (stdout.trim() !== INSTRUCTION_SET) {
      console.log(`skipped: this processor uses ${stdout.trim()}, but the counts are for ${INSTRUCTION_SET}`)
      process.exit(0)
    }
    return counts
  })
  return Object.fromEntries(STAGES.map((stage, at) => [stage, Math.min(...runs.map((counts) => counts[at]))]))
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
