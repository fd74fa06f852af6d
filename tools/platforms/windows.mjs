#!/usr/bin/env node
// npm run windows: runs the addon for Windows in Node for Windows, under wine: the specs, the
// golden data, and the scenarios that end processes.
//
//   usage: npm run maintain -- windows [--spec NAME…] [--continue] [--only TEXT…]
//
//   --spec       runs this spec instead of all specs and scenarios that can run
//   --continue   leaves out the steps that passed before with the same build and spec
//   --only       runs the steps with this text in their names
//
// Needs wine and gcc for Windows (Debian: apt-get install wine wine64 gcc-mingw-w64-x86-64) and the
// build of `npm run maintain -- platforms --only win32-x64`. Node for Windows comes from npm; a
// library that wine 8 lacks is compiled. GNU tools build this addon; releases are built with MSVC.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { vocabulary, vocabularyNames } from '../data/fetch-vocabularies.mjs'
import { PLATFORMS, addonOf, builtFolder } from './table.mjs'
import { windowsNode } from './wine.mjs'
import { SCENARIOS } from '../check/runtimes.mjs'
import { root, stop } from '../setup.mjs'
import { Staged } from './staged.mjs'
import { STEP_OPTIONS, Steps } from './steps.mjs'

const NODE = '20.20.2'

const NETWORK = 'fetch fails in wine 8: it cannot connect with the options that Node sets'
const BUILDS = 'builds, packs or starts programs of this machine'
const MANY_PROGRAMS = 'starts hundreds of programs, which takes too long with wine'
const OTHER_PROGRAMS = 'needs a package with an addon or a program of its own'

/** Specs that cannot run in wine, with the reason. All others run. */
const LEFT_OUT = {
  10: 'checks typings, which are the same everywhere',
  11: BUILDS,
  12: BUILDS,
  19: NETWORK,
  20: NETWORK,
  23: NETWORK,
  24: OTHER_PROGRAMS,
  25: 'checks documents',
  26: 'checks documents',
  27: MANY_PROGRAMS,
  28: MANY_PROGRAMS,
  29: NETWORK,
  30: MANY_PROGRAMS,
  32: 'measures processor time, which has steps of 10 ms there',
  33: 'limits memory with prlimit',
  35: BUILDS,
  37: OTHER_PROGRAMS,
  38: BUILDS,
  39: NETWORK,
  40: NETWORK,
  41: BUILDS,
  42: 'needs the addon in the root of the repository',
  44: OTHER_PROGRAMS,
  46: NETWORK,
  50: BUILDS,
  52: 'two of its nine tests give 100,000 rows to several programs, which takes too long with wine',
  53: BUILDS,
  56: OTHER_PROGRAMS,
  57: OTHER_PROGRAMS,
  60: BUILDS,
  61: 'needs the folder npm of the repository',
  63: 'needs the folder npm of the repository',
  78: OTHER_PROGRAMS,
  82: 'links folders, which wine cannot',
  85: NETWORK,
}
const CONFORMANCE = ['golden', 'limits', 'stream'].map((name) => `conformance/${name}`)

const { values } = parseArgs({ options: { spec: { type: 'string', multiple: true }, ...STEP_OPTIONS } })
const platform = PLATFORMS.find(({ name }) => name === 'win32-x64-msvc')
if (!fs.existsSync(addonOf(platform)))
  stop('the addon for Windows is not built: run "npm run maintain -- platforms --only win32-x64"')

const runtime = windowsNode(NODE)
// The package for Windows has the file under the name of the MSVC build.
const built = path.join(root, 'target', 'windows', 'built')
fs.rmSync(built, { recursive: true, force: true })
fs.cpSync(builtFolder(platform), built, { recursive: true })
fs.renameSync(path.join(built, path.basename(addonOf(platform))), path.join(built, `tokenlane.${platform.name}.node`))

// There is no npm in wine to download them.
const vocabularies = []
for (const name of vocabularyNames) vocabularies.push(await vocabulary(name))
runtime.env.TOKENLANE_VOCABULARIES = runtime.place(path.join(vocabularies[0], '..', '..'))

const staged = new Staged(platform.name, built, runtime)
const steps = new Steps('windows', values)
staged.specs(steps, values.spec ?? [...specs(), ...CONFORMANCE])
if (values.spec === undefined) {
  staged.golden(steps)
  staged.scenarios(steps, scenarios())
  for (const [spec, reason] of Object.entries(LEFT_OUT)) console.log(`left out: ${spec}: ${reason}`)
}
steps.end()

/** The numbers of the specs that can run. */
function specs() {
  return fs
    .readdirSync(path.join(root, '__test__'))
    .filter((file) => file.endsWith('.test.mjs'))
    .map((file) => file.slice(0, 2))
    .filter((number) => !(number in LEFT_OUT))
}

/** On Windows SIGTERM ends a process at once with the status 1, and cannot be handled. */
function scenarios() {
  return SCENARIOS.filter(([name]) => name !== 'a signal in a batch, handled').map((scenario) =>
    scenario[4] === 'SIGTERM' ? /** @type {typeof scenario} */ ([...scenario.slice(0, 4), 1]) : scenario,
  )
}
