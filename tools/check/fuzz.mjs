#!/usr/bin/env node
// npm run maintain fuzz: runs every fuzz target (crates/core/src/fuzzing, and the one of
// crates/train/src/fuzzing.rs) with libFuzzer and AddressSanitizer.
//
//   usage: npm run maintain -- fuzz [--seconds N] [--target NAME] [--case-seconds N]
//
//   --seconds        run time of each target; default 600
//   --case-seconds   time limit of one case; default 60; increase it if processes can be suspended
//
// Needs `rustup toolchain install nightly` and `cargo install cargo-fuzz`. New corpus entries of a
// target stay in fuzz/corpus/NAME for the next run, beside the seeds in
// crates/core/testdata/fuzz/NAME. A finding is written to fuzz/artifacts/NAME: copy it to the seeds
// with a name that describes the bug, then fix the bug. `npm test` runs all seeds.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root, run, stop } from '../setup.mjs'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    'case-seconds': { type: 'string', default: '60' },
    target: { type: 'string' },
  },
})
const [seconds, caseSeconds] = ['seconds', 'case-seconds'].map((name) => {
  const number = Number(values[name])
  return Number.isInteger(number) && number > 0 ? number : stop(`--${name} must be a whole number above 0`)
})

const TARGETS = fs.readdirSync(path.join(root, 'fuzz', 'targets')).map((name) => path.basename(name, '.rs'))
if (values.target !== undefined && !TARGETS.includes(values.target))
  stop(`--target must be one of ${TARGETS.join(', ')}`)
if (spawnSync('cargo', ['+nightly', 'fuzz', '--version'], { stdio: 'ignore' }).status !== 0) {
  stop('fuzzing needs nightly Rust and cargo-fuzz: rustup toolchain install nightly && cargo install cargo-fuzz')
}

/**
 * Time limit of one case; a slower case is a finding. libFuzzer measures wall time, so a busy
 * machine needs a margin.
 */
const LIMITS = [`-timeout=${caseSeconds}`, '-rss_limit_mb=2048', '-malloc_limit_mb=1024']
/** Maximum size of a case, in bytes. Files and texts need long cases; the other targets do not. */
const LENGTHS = { load: 8192, scanner: 2048, pool: 1200 }

// All targets are built together, so that build time does not count as run time.
const build = values.target === undefined ? [] : [values.target]
if (!run('cargo', ['+nightly', 'fuzz', 'build', ...build])) stop('the build of the fuzz targets failed')

const failed = []
for (const target of values.target === undefined ? TARGETS : [values.target]) {
  const [corpus, found] = ['corpus', 'artifacts'].map((name) => path.join(root, 'fuzz', name, target))
  const seeds = path.join(root, 'crates', 'core', 'testdata', 'fuzz', target)
  for (const folder of [corpus, seeds]) fs.mkdirSync(folder, { recursive: true })
  const own = [`-max_total_time=${seconds}`, `-max_len=${LENGTHS[target] ?? 512}`, '-print_final_stats=1', ...LIMITS]
  const { status, stderr } = spawnSync('cargo', ['+nightly', 'fuzz', 'run', target, corpus, seeds, '--', ...own], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  const cases = stderr.match(/stat::number_of_executed_units: (\d+)/)?.[1] ?? '?'
  console.log(
    `${status === 0 ? 'ok ' : 'NOT OK'} ${target}: ${Number(cases).toLocaleString('en')} cases in ${seconds} s`,
  )
  if (status === 0) continue
  failed.push(target)
  console.log(stderr.split('\n').slice(-60).join('\n'))
  console.log(`the finding is in ${path.relative(root, found)}`)
}
if (failed.length > 0) stop(`targets with findings: ${failed.join(', ')}`)
