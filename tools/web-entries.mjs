// Writes the entry points of the drop-ins for browsers and edge runtimes to web/dropins: ES modules
// over the bundles that `npm run maintain -- web` writes. tools/model-entries.mjs, which `npm run
// build` runs, imports this file.
//
// Each names the rank files that it needs, so that a bundle contains no others, and imports #wasm,
// which is the WebAssembly module in the form that the runtime loads without waiting.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const dropins = fileURLToPath(new URL('../dropins', import.meta.url))
const folder = fileURLToPath(new URL('../web/dropins', import.meta.url))

export const DROPINS = ['js-tiktoken', 'tiktoken', 'gpt-tokenizer']

/** The bundled rank file of each encoding that has another name. */
const FILES = { gpt2: 'r50k_base', p50k_edit: 'p50k_base', o200k_harmony: 'o200k_base' }
const ALL_FILES = ['cl100k_base', 'o200k_base', 'p50k_base', 'r50k_base']

/** Modules that open encodings by their names. */
const NEEDS_ALL = new Set(['js-tiktoken/index', 'tiktoken/index', 'tiktoken/init', 'gpt-tokenizer/resolveEncoding'])

/** Folders of modules that are not in the bundles, but made of functions in them. */
const MADE = /(^|\/)(internal|ranks|encoders|bpeRanks|encoding|model)\/|^main$/

/** The names of the modules of a drop-in, without those that are made. */
export const modulesOf = (dropin) =>
  fs
    .readdirSync(path.join(dropins, dropin), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll(path.sep, '/'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => name.slice(0, -'.js'.length))
    .filter((name) => !MADE.test(name))
    .sort()

/** The names of what a CommonJS module exports. */
function exportsOf(file) {
  const code = fs.readFileSync(file, 'utf8')
  const all = /^module\.exports = \{ (.*) \}$/m.exec(code)
  return all === null ? Array.from(code.matchAll(/^exports\.(\w+) =/gm), ([, name]) => name) : all[1].split(', ')
}

/** Writes a file if its content is another one, in one step: other processes may be reading it. */
export function write(file, code) {
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === code) return
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const unfinished = `${file}.${process.pid}.part`
  fs.writeFileSync(unfinished, code)
  fs.renameSync(unfinished, file)
}

/**
 * Writes an entry point.
 *
 * @param {string} name drop-in and module
 * @param {string[]} files the rank files that it needs
 * @param {string} own the expression for the module; `all` has the exports of the bundle
 * @param {string[]} names what it exports
 * @param {string} [value] the expression for its default export
 */
function writeEntry(name, files, own, names, value = undefined) {
  const web = '../'.repeat(name.split('/').length)
  const lines = [
    "import '#wasm'",
    `import * as all from '${web}dist/${name.split('/')[0]}.mjs'`,
    ...(files.length > 0 ? [`import { addFile } from '${web}dist/core.mjs'`] : []),
    ...files.map((file, at) => `import { base64 as file${at} } from '${web}dist/${file}.mjs'`),
    '',
    ...files.map((file, at) => `addFile('${file}.tiktoken', file${at})`),
    `const own = ${own}`,
    ...(names.length > 0 ? [`export const { ${names.join(', ')} } = own`] : []),
    ...(value === undefined ? [] : [`export default ${value}`]),
  ]
  write(path.join(folder, `${name}.mjs`), `${lines.join('\n')}\n`)
}

const fileOf = (encoding) => FILES[encoding] ?? encoding
export function writeWebEntries() {
  for (const dropin of DROPINS) {
    for (const name of modulesOf(dropin)) {
      const files = NEEDS_ALL.has(`${dropin}/${name}`) ? ALL_FILES : []
      writeEntry(
        `${dropin}/${name}`,
        files,
        `all.modules['${name}']()`,
        exportsOf(path.join(dropins, dropin, `${name}.js`)),
      )
    }
  }
  for (const name of Object.keys(require(path.join(dropins, 'tiktoken', 'registry.json')))) {
    writeEntry(`js-tiktoken/ranks/${name}`, [fileOf(name)], `all.ranks('${name}')`, [], 'own')
    writeEntry(`tiktoken/encoders/${name}`, [fileOf(name)], `all.encoder('${name}')`, [], 'own')
  }
  writeGptTokenizer()
  for (const name of ALL_FILES)
    write(
      path.join(folder, '..', `${name}.mjs`),
      `// The packed rank file of ${name}, for the option \`data\` of Tokenizer.fromEncoding.

import { fromBase64 } from './base64.mjs'
import { base64 } from './dist/${name}.mjs'

export default fromBase64(base64)
`,
    )
}

function writeGptTokenizer() {
  const { namesOf } = require(path.join(dropins, 'gpt-tokenizer', 'internal', 'entry.js'))
  const { modelNames } = require(path.join(dropins, 'gpt-tokenizer', 'internal', 'models.js'))
  const { DEFAULT_ENCODING, encodingNames, modelToEncodingMap } = require(
    path.join(dropins, 'gpt-tokenizer', 'mapping.js'),
  )
  const constants = ['constants', 'specialTokens'].flatMap((name) =>
    exportsOf(path.join(dropins, 'gpt-tokenizer', `${name}.js`)),
  )
  const entry = (place, kind, name, encoding) =>
    writeEntry(
      `gpt-tokenizer/${place}`,
      [fileOf(encoding)],
      `all.entry('${kind}', '${name}')`,
      [...constants, ...namesOf(kind, name)].sort(),
      'own.default',
    )
  for (const name of encodingNames) entry(`encoding/${name}`, 'encoding', name, name)
  for (const name of modelNames) entry(`model/${name}`, 'model', name, modelToEncodingMap[name] ?? DEFAULT_ENCODING)
  entry('main', 'encoding', 'o200k_base', 'o200k_base')
  for (const name of ALL_FILES)
    writeEntry(`gpt-tokenizer/bpeRanks/${name}`, [name], `all.rawRanks('${name}')`, [], 'own')
  // As in the original, only the ranks that the program uses are loaded.
  const cases = encodingNames.map((name) => `  ${name}: () => import('./bpeRanks/${fileOf(name)}.mjs'),`)
  write(
    path.join(folder, 'gpt-tokenizer', 'resolveEncodingAsync.mjs'),
    `import { modules } from '../../dist/gpt-tokenizer.mjs'

const ranks = {
${cases.join('\n')}
}

export const resolveEncodingAsync = async (name) =>
  Object.hasOwn(ranks, name) ? (await ranks[name]()).default : modules.resolveEncoding().resolveEncoding(name)
`,
  )
}
