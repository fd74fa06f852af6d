#!/usr/bin/env node
// npm run wasm: builds the addon as WebAssembly, and tests the package for browsers and for
// processors without an addon of their own.
//
//   usage: npm run maintain -- wasm [--no-build] [--from TEXT] [--only TEXT…]
//
//   --from       starts at the first step with this text in its name
//   --only       runs the steps with this text in their names
//
// Needs `rustup target add wasm32-wasip1-threads`, and Chromium for the page. This command builds
// the same addon as `npm run maintain -- platforms --only wasm32`, to the same place; --no-build
// uses the addon that is there.
//
// Runs the specs of encoding and decoding, the golden data of the reference libraries, the
// scenarios that end processes, and a page in Chromium.

import path from 'node:path'
import { parseArgs } from 'node:util'

import { build, checkTools } from './build.mjs'
import { PLATFORMS, builtFolder } from './table.mjs'
import { named } from '../check/specs.mjs'
import { root, run } from '../setup.mjs'
import { Staged } from './staged.mjs'
import { STEP_OPTIONS, Steps } from './steps.mjs'

const platform = PLATFORMS.find(({ name }) => name === 'wasm32-wasi')

/**
 * The list lacks specs about memory that JavaScript and the addon share, and specs that measure
 * time.
 */
const SPECS = [
  ...named('core', 'encode decode batch abort bad-input outputs stream change token-limits service-limits'),
  'chat/templates',
  ...named('conformance', 'golden limits stream'),
]

const { values } = parseArgs({ options: { 'no-build': { type: 'boolean' }, ...STEP_OPTIONS } })
if (!values['no-build']) {
  checkTools([platform])
  build(platform)
}
const steps = new Steps(values)
const staged = new Staged(platform.name, builtFolder(platform), { args: ['--no-warnings', '--expose-gc'] })
staged.specs(steps, SPECS)
staged.scenarios(steps)
const env = { ...process.env, TOKENLANE_WASM: '1' }
const page = path.join('__test__', 'package', 'wasm.test.mjs')
steps.run('package/wasm', () =>
  run(process.execPath, ['--test', '--test-reporter=spec', path.join(root, page)], { env }),
)
steps.end()
