// Writes what packages/ need for browsers and edge runtimes: the typings of @tokenlane/web, its
// modules of rank files, and to the folder `web` of each drop-in its entry points, which are ES
// modules over the bundle that `npm run maintain -- web` writes there. tools/model-entries.mjs,
// which `npm run build` runs, imports this file.
//
// Each entry point names the rank files that it needs, so that a bundle contains no others, and
// imports @tokenlane/web/internal/wasm, the WebAssembly module in the form that the runtime loads
// without waiting.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

import { ENCODINGS } from './data/packed-ranks.mjs'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('..', import.meta.url))
const packages = path.join(root, 'packages')

export const DROPINS = ['js-tiktoken', 'tiktoken', 'gpt-tokenizer']

/** The bundled rank file of each encoding that has another name. */
const FILES = { gpt2: 'r50k_base', p50k_edit: 'p50k_base', o200k_harmony: 'o200k_base' }

/** Modules that open encodings by their names. */
const NEEDS_ALL = new Set(['js-tiktoken/index', 'tiktoken/index', 'tiktoken/init', 'gpt-tokenizer/resolveEncoding'])

/** Folders of modules that are not in the bundles, but made of functions in them. */
const MADE = /(^|\/)(internal|ranks|encoders|bpeRanks|encoding|model|test|web)\/|^main$/

/** The names of the modules of a drop-in, without those that are made. */
export const modulesOf = (dropin) =>
  fs
    .readdirSync(path.join(packages, dropin), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll(path.sep, '/'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => name.slice(0, -'.js'.length))
    .filter((name) => !MADE.test(name))
    .sort()

/** The names of what a CommonJS module exports. */
export function exportsOf(file) {
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
 * @param {string} dropin
 * @param {string} name its module
 * @param {{ files?: string[], own: string, names?: string[], value?: string }} content the rank
 *   files that it needs; the expression for the module, where `all` has the exports of the bundle;
 *   what it exports; the expression for its default export
 */
function writeEntry(dropin, name, { files = [], own, names = [], value = undefined }) {
  const here = '../'.repeat(name.split('/').length - 1) || './'
  const lines = [
    "import '@tokenlane/web/internal/wasm'",
    `import * as all from '${here}bundle.mjs'`,
    ...(files.length > 0 ? ["import { addFile } from '@tokenlane/web/internal'"] : []),
    ...files.map((file, at) => `import { base64 as file${at} } from '@tokenlane/web/internal/${file}'`),
    '',
    ...files.map((file, at) => `addFile('${file}', file${at})`),
    `const own = ${own}`,
    ...(names.length > 0 ? [`export const { ${names.join(', ')} } = own`] : []),
    ...(value === undefined ? [] : [`export default ${value}`]),
  ]
  write(path.join(packages, dropin, 'web', `${name}.mjs`), `${lines.join('\n')}\n`)
}

const fileOf = (encoding) => FILES[encoding] ?? encoding
export function writeWebEntries() {
  for (const dropin of DROPINS) {
    for (const name of modulesOf(dropin)) {
      const files = NEEDS_ALL.has(`${dropin}/${name}`) ? ENCODINGS : []
      const names = exportsOf(path.join(packages, dropin, `${name}.js`))
      writeEntry(dropin, name, { files, own: `all.modules['${name}']()`, names })
    }
  }
  for (const name of Object.keys(require(path.join(packages, 'tiktoken', 'registry.json')))) {
    const files = [fileOf(name)]
    writeEntry('js-tiktoken', `ranks/${name}`, { files, own: `all.ranks('${name}')`, value: 'own' })
    writeEntry('tiktoken', `encoders/${name}`, { files, own: `all.encoder('${name}')`, value: 'own' })
  }
  writeGptTokenizer()
  writeTypes()
  for (const name of ENCODINGS)
    write(
      path.join(packages, 'web', `${name}.mjs`),
      `// The packed rank file of ${name}, for the option \`data\` of Tokenizer.fromEncoding.

import { fromBase64 } from './base64.mjs'
import { base64 } from './dist/${name}.mjs'

export default fromBase64(base64)
`,
    )
}

function writeGptTokenizer() {
  const { namesOf } = require(path.join(packages, 'gpt-tokenizer', 'internal', 'entry.js'))
  const { modelNames } = require(path.join(packages, 'gpt-tokenizer', 'internal', 'models.js'))
  const { DEFAULT_ENCODING, encodingNames, modelToEncodingMap } = require(
    path.join(packages, 'gpt-tokenizer', 'mapping.js'),
  )
  const constants = ['constants', 'specialTokens'].flatMap((name) =>
    exportsOf(path.join(packages, 'gpt-tokenizer', `${name}.js`)),
  )
  const entry = (place, kind, name, encoding) =>
    writeEntry('gpt-tokenizer', place, {
      files: [fileOf(encoding)],
      own: `all.entry('${kind}', '${name}')`,
      names: [...constants, ...namesOf(kind, name)].sort(),
      value: 'own.default',
    })
  for (const name of encodingNames) entry(`encoding/${name}`, 'encoding', name, name)
  for (const name of modelNames) entry(`model/${name}`, 'model', name, modelToEncodingMap[name] ?? DEFAULT_ENCODING)
  entry('main', 'encoding', 'o200k_base', 'o200k_base')
  for (const name of ENCODINGS)
    writeEntry('gpt-tokenizer', `bpeRanks/${name}`, { files: [name], own: `all.rawRanks('${name}')`, value: 'own' })
  // As in the original, only the ranks that the program uses are loaded.
  const cases = encodingNames.map((name) => `  ${name}: () => import('./bpeRanks/${fileOf(name)}.mjs'),`)
  write(
    path.join(packages, 'gpt-tokenizer', 'web', 'resolveEncodingAsync.mjs'),
    `import { modules } from './bundle.mjs'

const ranks = {
${cases.join('\n')}
}

export const resolveEncodingAsync = async (name) =>
  Object.hasOwn(ranks, name) ? (await ranks[name]()).default : modules.resolveEncoding().resolveEncoding(name)
`,
  )
}

/** Copies the typings that @tokenlane/web shares with tokenlane, which it does not depend on. */
function writeTypes() {
  const copy = (name) => {
    const text = fs.readFileSync(path.join(root, name), 'utf8')
    write(path.join(packages, 'web', 'types', name), text)
    for (const [, other] of text.matchAll(/ from '\.\/([\w/-]+)\.js'/g))
      copy(path.posix.join(path.posix.dirname(name), `${other}.d.ts`))
  }
  copy('index.d.ts')
}
