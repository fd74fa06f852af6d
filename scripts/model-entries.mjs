#!/usr/bin/env node
// Writes the entry points of tokenlane/gpt-tokenizer that are missing or outdated: one for each
// encoding and one for each model of gpt-tokenizer. `npm run build` runs this first.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const folder = fileURLToPath(new URL('../dropins/gpt-tokenizer/', import.meta.url))
const { encodingNames, functionCallingModels, modelNames } = require(`${folder}mapping.js`)

function write(kind, name, more = '') {
  fs.mkdirSync(`${folder}${kind}`, { recursive: true })
  const code = `'use strict'

module.exports = require('../entry.js').${kind}('${name}')

// This line never runs. Node parses it to find the names of the exports.
0 && (module.exports = { ...require('../names.js')${more} })
`
  const file = `${folder}${kind}/${name}.js`
  // Another process may be reading it: spec files that pack the package run beside those that load
  // the entries.
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === code) return
  const unfinished = `${file}.${process.pid}.part`
  fs.writeFileSync(unfinished, code)
  fs.renameSync(unfinished, file)
}

for (const name of encodingNames) write('encoding', name)
for (const name of modelNames)
  write('model', name, functionCallingModels.has(name) ? ', countChatCompletionTokens' : '')
