#!/usr/bin/env node
// npm run windows: runs the addon for Windows in Node for Windows, under wine: the specs, the
// golden data, and the scenarios that end processes.
//
//   usage: npm run maintain -- windows [--spec NAME…] [--from TEXT] [--only TEXT…]
//
//   --spec       runs this spec instead of all specs and scenarios that can run
//   --from       starts at the first step with this text in its name
//   --only       runs the steps with this text in their names
//
// Needs wine and gcc for Windows (Debian: apt-get install wine wine64 gcc-mingw-w64-x86-64) and the
// build of `npm run maintain -- platforms --only win32-x64`. Node for Windows comes from npm; a
// library that wine 8 lacks is compiled. GNU tools build this addon; releases are built with MSVC.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { vocabulary, vocabularyNames } from '../data/fetch-vocabularies.mjs'
import { PLATFORMS, addonOf, builtFolder } from './table.mjs'
import { windowsNode } from './wine.mjs'
import { SCENARIOS } from '../check/runtimes.mjs'
import { specNames } from '../check/specs.mjs'
import { root, stop } from '../setup.mjs'
import { Staged } from './staged.mjs'
import { STEP_OPTIONS, Steps } from './steps.mjs'

const NODE = '20.20.2'

/** Specs that cannot run in wine, with the reason. All others run. */
const LEFT_OUT = createRequire(import.meta.url)('./not-in-wine.json')

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
const steps = new Steps(values)
staged.specs(steps, values.spec ?? specNames().filter((name) => !(name in LEFT_OUT)))
if (values.spec === undefined) {
  staged.golden(steps)
  staged.scenarios(steps, scenarios())
  for (const [spec, reason] of Object.entries(LEFT_OUT)) console.log(`left out: ${spec}: ${reason}`)
}
steps.end()

/** On Windows SIGTERM ends a process at once with the status 1, and cannot be handled. */
function scenarios() {
  return SCENARIOS.filter(([name]) => name !== 'a signal in a batch, handled').map((scenario) =>
    scenario[4] === 'SIGTERM' ? /** @type {typeof scenario} */ ([...scenario.slice(0, 4), 1]) : scenario,
  )
}
