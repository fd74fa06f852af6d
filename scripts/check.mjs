#!/usr/bin/env node
// npm test: every check of the project, each with its time. What is missing is installed and built first.
//
//   usage: node scripts/check.mjs [--only NAME]     NAME: part of the name of a check

import fs from 'node:fs'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { spawnSync } from 'node:child_process'

import { build, checkCompilers, checkNode, install, root, run, stop } from './setup.mjs'

const { values } = parseArgs({ options: { only: { type: 'string' } } })

checkNode()
checkCompilers()

let specs = ''
const CHECKS = [
  ['what npm installs', () => (install(), true)],
  ['the addon', () => (build(), true)],
  ['formatting (cargo fmt)', () => run('cargo', ['fmt', '--all', '--check'])],
  ['lints (cargo clippy)', () => run('cargo', ['clippy', '--workspace', '--all-targets', '--', '-D', 'warnings'])],
  ['Rust tests (cargo test)', () => run('cargo', ['test', '--workspace', '--quiet'])],
  ['Node specs (node --test)', nodeSpecs],
]

const failed = []
for (const [name, check] of CHECKS) {
  if (values.only !== undefined && !name.includes(values.only)) continue
  console.log(`\n── ${name} ──`)
  const start = performance.now()
  const passed = check()
  console.log(`── ${name}: ${passed ? 'passed' : 'FAILED'} in ${((performance.now() - start) / 1e3).toFixed(1)} s`)
  if (!passed) failed.push(name)
}
if (failed.length > 0) console.log(`\nfailed: ${failed.join(', ')}`)
if (specs !== '') console.log(`\n${specs}`)
process.exit(failed.length > 0 ? 1 : 0)

/** All spec files, one after the other: several measure time or memory. The counts are kept for the last line. */
function nodeSpecs() {
  const files = specFiles(path.join(root, '__test__')).sort()
  if (files.length === 0) stop('there are no spec files in __test__')
  const totals = { pass: 0, fail: 0, skipped: 0 }
  let allPassed = true
  for (const file of files) {
    const name = path.relative(root, file)
    const args = ['--test', '--test-reporter=tap', '--test-timeout=600000', file]
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })
    const counts = Object.keys(totals).map((word) => Number(stdout.match(`\n# ${word} (\\d+)`)?.[1] ?? 0))
    const [pass, fail, skipped] = counts
    Object.keys(totals).forEach((word, i) => (totals[word] += counts[i]))
    console.log(`${status === 0 ? 'ok ' : 'NOT OK'} ${name}: ${pass} passed${fail ? `, ${fail} failed` : ''}${skipped ? `, ${skipped} skipped` : ''}`)
    if (status !== 0) {
      allPassed = false
      console.log(stdout)
    }
  }
  specs = `${totals.pass} passed, ${totals.fail} failed${totals.skipped ? `, ${totals.skipped} skipped` : ''}`
  return allPassed
}

function specFiles(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const place = path.join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : specFiles(place)
    return entry.name.endsWith('.test.mjs') ? [place] : []
  })
}
