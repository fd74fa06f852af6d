#!/usr/bin/env node
// Inspects the addon of a platform that `npm run build` wrote to the root of the repository.
//
//   usage: node tools/platforms/check-addon.mjs NAME     NAME: a folder of npm/

import fs from 'node:fs'
import path from 'node:path'

import { root, stop } from '../setup.mjs'
import { inspectBytes } from './inspect.mjs'
import { PLATFORMS } from './table.mjs'

const [name] = process.argv.slice(2)
const platform = PLATFORMS.find((platform) => platform.name === name) ?? stop(`there is no npm/${name}`)
const file = `tokenlane.${name}.node`
const { facts, wrong } = inspectBytes(platform, fs.readFileSync(path.join(root, file)))
for (const fact of facts) console.log(fact)
if (wrong.length > 0) stop(wrong.map((what) => `${file}: ${what}`).join('\n'))
