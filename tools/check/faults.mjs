#!/usr/bin/env node
// npm run faults: tests the spec of the limits on what a tokenizer file can cost. It removes one
// limit at a time, and fails if the spec still passes.
//
//   usage: node tools/check/faults.mjs [--only TEXT]...     TEXT: part of the name of a fault
//
// Works on a copy of the last commit in target/faults, so the working tree stays as it is. Each
// fault takes a build without link-time optimization, about a minute.

import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { FAULTS } from './faults/faults.mjs'
import { root, stop } from '../setup.mjs'

const SPEC = '__test__/core/file-limits.test.mjs'

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } })
const folder = path.join(root, 'target', 'faults')
const env = {
  ...process.env,
  CARGO_TARGET_DIR: path.join(folder, 'target'),
  CARGO_PROFILE_RELEASE_LTO: 'off',
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
  CARGO_INCREMENTAL: '1',
}

/** Runs a command in the copy. */
const inCopy = (command, args) => spawnSync(command, args, { cwd: folder, env, encoding: 'utf8', maxBuffer: 1 << 28 })

fs.mkdirSync(folder, { recursive: true })
const tree = execFileSync('git', ['archive', 'HEAD'], { cwd: root, maxBuffer: 1 << 30 })
// New times, so that cargo builds a file again that an interrupted run left with a fault.
execFileSync('tar', ['-x', '-m', '-C', folder], { input: tree })
const modules = path.join(folder, 'node_modules')
if (!fs.existsSync(modules)) fs.symlinkSync(path.join(root, 'node_modules'), modules)

/** Builds the addon and runs the spec. Returns the names of the tests that failed. */
function failures() {
  const built = inCopy('npm', ['run', '--silent', 'build'])
  if (built.status !== 0) stop(`the addon does not build:\n${built.stderr}`)
  const { status, stdout } = inCopy(process.execPath, ['--test', '--test-reporter=tap', SPEC])
  const failed = [...stdout.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, name]) => name)
  if ((status === 0) !== (failed.length === 0)) stop(`${SPEC} ended with ${status}:\n${stdout.slice(-2000)}`)
  return failed
}

const sound = failures()
if (sound.length > 0) stop(`${SPEC} fails without a fault: ${sound.join('; ')}`)

let unnoticed = 0
for (const { name, file, from, to } of FAULTS) {
  if (values.only?.every((part) => !name.includes(part))) continue
  const place = path.join(folder, 'crates', 'core', 'src', file)
  const source = fs.readFileSync(place, 'utf8')
  if (source.split(from).length !== 2) stop(`crates/core/src/${file} does not have this once: ${from}`)
  fs.writeFileSync(
    place,
    source.replace(from, () => to),
  )
  const failed = failures()
  fs.writeFileSync(place, source)
  if (failed.length === 0) unnoticed += 1
  console.log(
    `${failed.length === 0 ? 'NOT FOUND' : 'found'}: ${name}${failed.length > 0 ? ` (${failed.length} tests, such as: ${failed[0]})` : ''}`,
  )
}
if (unnoticed > 0) stop(`${unnoticed} faults were not found`)
