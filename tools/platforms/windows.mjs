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

const NETWORK = 'fetch fails in wine 8: it cannot connect with the options that Node sets'
const BUILDS = 'builds, packs or starts programs of this machine'
const MANY_PROGRAMS = 'starts hundreds of programs, which takes too long with wine'
const OTHER_PROGRAMS = 'needs a package with an addon or a program of its own'

/** Specs that cannot run in wine, with the reason. All others run. */
const LEFT_OUT = {
  'package/exports': 'checks typings, which are the same everywhere',
  'package/pack': BUILDS,
  'package/start': BUILDS,
  'package/examples': NETWORK,
  'cli/encode-decode-count': NETWORK,
  'cli/page': NETWORK,
  'cli/page-chromium': OTHER_PROGRAMS,
  'package/api-docs': 'checks documents',
  'dropins/migration': 'checks documents',
  'chat/limits': MANY_PROGRAMS,
  'core/file-limits': MANY_PROGRAMS,
  'hub/malicious-hubs': NETWORK,
  'cli/hostile-input': MANY_PROGRAMS,
  'core/growth': 'measures processor time, which has steps of 10 ms there',
  'core/memory-limit': 'limits memory with prlimit',
  'core/external-memory': BUILDS,
  'core/onnx': OTHER_PROGRAMS,
  'core/hostile-calls': BUILDS,
  'hub/downloads': NETWORK,
  'cli/id-formats': NETWORK,
  'package/wasm': BUILDS,
  'package/loader': 'needs the addon in the root of the repository',
  'dropins/transformers': OTHER_PROGRAMS,
  'core/models-by-name': NETWORK,
  'package/bundlers': BUILDS,
  'cli/parquet': 'two of its nine tests give 100,000 rows to several programs, which takes too long with wine',
  'package/platform-packages': BUILDS,
  'data/job-queue': OTHER_PROGRAMS,
  'data/report': OTHER_PROGRAMS,
  'package/addon-files': BUILDS,
  'package/other-platforms': 'needs the folder npm of the repository',
  'package/release': 'needs the folder npm of the repository',
  'cli/page-view': OTHER_PROGRAMS,
  'package/snippets': 'links folders, which wine cannot',
  'dropins/transformers-load': NETWORK,
}

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
