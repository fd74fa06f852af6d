#!/usr/bin/env node
// npm run fuzz: every fuzz target of core/src/fuzzing under libFuzzer and AddressSanitizer, one after the other.
//
//   usage: npm run fuzz -- [--seconds N] [--target NAME] [--case-seconds N]
//
//   --seconds        how long a target runs, 600 unless told
//   --case-seconds   what one case may take, 60 unless told: more on a machine that stops the run at times
//
// Needs `rustup toolchain install nightly` and `cargo install cargo-fuzz`. What a target learns is kept in
// fuzz/corpus/NAME for the next run, beside the seeds in core/testdata/fuzz/NAME. A finding goes to fuzz/artifacts/NAME: put it
// among the seeds under a name that says what was wrong, mend it, and every `npm test` runs it again.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root, run, stop } from './setup.mjs'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, 'case-seconds': { type: 'string', default: '60' }, target: { type: 'string' } },
})
const [seconds, caseSeconds] = ['seconds', 'case-seconds'].map((name) => {
  const number = Number(values[name])
  return Number.isInteger(number) && number > 0 ? number : stop(`--${name} must be a whole number above 0`)
})

const TARGETS = fs.readdirSync(path.join(root, 'fuzz', 'targets')).map((name) => path.basename(name, '.rs'))
if (values.target !== undefined && !TARGETS.includes(values.target)) stop(`--target must be one of ${TARGETS.join(', ')}`)
if (spawnSync('cargo', ['+nightly', 'fuzz', '--version'], { stdio: 'ignore' }).status !== 0) {
  stop('fuzzing needs nightly Rust and cargo-fuzz: rustup toolchain install nightly && cargo install cargo-fuzz')
}

/** What a case may take: one that takes more is a finding. Time is that of a clock, so that a machine that does much else needs a margin. */
const LIMITS = [`-timeout=${caseSeconds}`, '-rss_limit_mb=2048', '-malloc_limit_mb=1024']
/** The longest case, in bytes. Files and texts are long, everything else is told in a few bytes. */
const LENGTHS = { load: 8192, scanner: 2048, pool: 1200 }

// Built as one, so that the time of a target is its own.
const build = values.target === undefined ? [] : [values.target]
if (!run('cargo', ['+nightly', 'fuzz', 'build', ...build])) stop('the fuzz targets did not build')

const failed = []
for (const target of values.target === undefined ? TARGETS : [values.target]) {
  const [corpus, found] = ['corpus', 'artifacts'].map((name) => path.join(root, 'fuzz', name, target))
  const seeds = path.join(root, 'core', 'testdata', 'fuzz', target)
  for (const folder of [corpus, seeds]) fs.mkdirSync(folder, { recursive: true })
  const own = [`-max_total_time=${seconds}`, `-max_len=${LENGTHS[target] ?? 512}`, '-print_final_stats=1', ...LIMITS]
  const { status, stderr } = spawnSync('cargo', ['+nightly', 'fuzz', 'run', target, corpus, seeds, '--', ...own], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  const cases = stderr.match(/stat::number_of_executed_units: (\d+)/)?.[1] ?? '?'
  console.log(`${status === 0 ? 'ok ' : 'NOT OK'} ${target}: ${Number(cases).toLocaleString('en')} cases in ${seconds} s`)
  if (status === 0) continue
  failed.push(target)
  console.log(stderr.split('\n').slice(-60).join('\n'))
  console.log(`what was found is in ${path.relative(root, found)}`)
}
if (failed.length > 0) stop(`something was found by: ${failed.join(', ')}`)
