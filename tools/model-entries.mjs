#!/usr/bin/env node
// Writes what is missing or outdated: the modules of @tokenlane/gpt-tokenizer, one for each
// encoding, model and rank file of gpt-tokenizer and an ES module beside each CommonJS module; the
// modules of tiktoken and js-tiktoken with ranks; the names of models in typings; the entry
// points of tools/web-entries.mjs; and the packed rank files.
// `npm run build` runs this first.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

import { ENCODINGS, packRanks } from './data/packed-ranks.mjs'
import { write as writeFile, writeWebEntries } from './web-entries.mjs'

const require = createRequire(import.meta.url)
const folder = fileURLToPath(new URL('../packages/gpt-tokenizer/', import.meta.url))
const { namesOf } = require(`${folder}internal/entry.js`)
const { modelNames } = require(`${folder}internal/models.js`)
const { encodingNames } = require(`${folder}mapping.js`)
const constants = Object.keys({ ...require(`${folder}constants.js`), ...require(`${folder}specialTokens.js`) })

const write = (name, code) => writeFile(folder + name, code)

/** An ES module with the names of a CommonJS module, and its export `default` if it has one. */
function writeModule(name, type) {
  const own = `./${name.replace(/.*\//, '')}.js`
  const names = `export * from '${own}'\n`
  if (type === undefined) {
    write(`${name}.mjs`, names)
    write(`${name}.d.mts`, names)
    return
  }
  write(`${name}.mjs`, `import module from '${own}'\n\n${names}export default module.default\n`)
  write(`${name}.d.mts`, `${type.imports}${names}declare const value: ${type.name}\nexport default value\n`)
}

const encodingType = (path) => ({
  imports: `import type { GptEncoding } from '${path}GptEncoding.js'\n\n`,
  name: 'GptEncoding',
})

function writeEntry(kind, name) {
  const names = namesOf(kind, name)
  const all = [...constants, ...names].sort()
  write(
    `${kind}/${name}.js`,
    `'use strict'

module.exports = require('../internal/entry.js').entry('${kind}', '${name}')

// This line never runs. Node parses it to find the names of the exports.
0 && (module.exports = { ${all.join(', ')} })
`,
  )
  const types = names.includes('countChatCompletionTokens')
    ? '../internal/functions.js'
    : names.includes('encodeChat')
      ? '../main.js'
      : '../internal/texts.js'
  write(`${kind}/${name}.d.ts`, `export * from '${types}'\nexport { default } from '${types}'\n`)
  writeModule(`${kind}/${name}`, encodingType('../'))
}

function writeRanks(name) {
  write(
    `bpeRanks/${name}.js`,
    `'use strict'

Object.defineProperty(exports, '__esModule', { value: true })
exports.default = require('../internal/ranks.js').rawRanks('${name}')
`,
  )
  const type = {
    imports: `import type { RawBytePairRanks } from '../resolveEncoding.js'\n\n`,
    name: 'RawBytePairRanks',
  }
  write(`bpeRanks/${name}.d.ts`, `${type.imports}declare const value: RawBytePairRanks\nexport default value\n`)
  writeModule(`bpeRanks/${name}`, type)
}

for (const name of encodingNames) writeEntry('encoding', name)
for (const name of modelNames) writeEntry('model', name)
for (const name of ENCODINGS) writeRanks(name)
writeModule('main', encodingType('./'))
for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.js') && name !== 'main.js'))
  writeModule(file.slice(0, -3))

/** The modules of tiktoken and js-tiktoken with the ranks of an encoding. */
function writeValues(place, made, type) {
  for (const name of Object.keys(require('../packages/tiktoken/registry.json'))) {
    write(`../${place}/${name}.js`, `'use strict'\n\nmodule.exports = require('../internal/${made}('${name}')\n`)
    write(`../${place}/${name}.d.ts`, `import value = require('../internal/${type}')\nexport = value\n`)
  }
}
writeValues('tiktoken/encoders', "encoder-module.js').encoder", 'encoder.js')
writeValues('js-tiktoken/ranks', "bundled-ranks.js').ranks", 'ranks.js')

/** A type of names, for completion. */
const writeNames = (file, type, comment, names) =>
  write(file, `/**\n * ${comment}\n */\nexport type ${type} =\n${names.map((name) => `  | '${name}'\n`).join('')}`)
writeNames(
  '../../lib/model-names.d.ts',
  'ModelName',
  `The names of models in the list, for completion. Dated and fine-tuned names and families of names
 * are known too: see {@link encodingForModel}.`,
  Object.values(require('../lib/models.json').encodings).flat().sort(),
)
for (const name of ['tiktoken', 'js-tiktoken'])
  writeNames(
    `../${name}/internal/models.d.ts`,
    'TiktokenModel',
    "The OpenAI models in the original's list.",
    Object.keys(require('../packages/tiktoken/model_to_encoding.json')),
  )
writeWebEntries()
packRanks()
