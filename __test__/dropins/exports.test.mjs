// The drop-ins export what their originals export: every path of the export map, as ESM and as
// CommonJS, with all names, kinds, arities and types. `node tools/compare/dropins/exports.mjs
// FOLDER` recorded the originals.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'

import '../../tools/model-entries.mjs'
import { describe } from '../../tools/compare/dropins/exports.mjs'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))
const record = JSON.parse(gunzipSync(fs.readFileSync(`${root}__test__/testdata/dropin-exports.json.gz`)).toString())

const DROPINS = {
  tiktoken: 'tiktoken',
  'js-tiktoken': 'js-tiktoken',
  'gpt-tokenizer': 'gpt-tokenizer',
  tokenizers: 'tokenizers',
  '@huggingface/transformers': 'transformers',
}

/** Paths of gpt-tokenizer that the drop-in lacks; docs/drop-ins/gpt-tokenizer.md names them. */
const ABSENT =
  /^gpt-tokenizer\/(?:cjs\/|esm\/)?(?:_virtual\/|fixtures\/|encodingParams\/|BytePairEncodingCore$|modelParams$|models$|models\.gen$|data\/)/

/** One pattern of the export map has all of them, so a few are enough. */
const REPEATED = /^gpt-tokenizer\/(?:cjs|esm)\/model\/(?!ada$|gpt-4o$|gpt-4$)/

/** Differences that stay, each with its reason. */
const DIFFERENT = [
  // The drop-in has no WebAssembly: the file is an empty module.
  /^tiktoken\/(lite\/)?tiktoken_bg\.wasm/,
  // That of the drop-in.
  /^gpt-tokenizer\/package\.json /,
  // Private in the original's typings.
  /GptEncoding\.methods\.(countChatCompletionTokensInternal|countStringTokens|encodeHarmonyChatGenerator|processSpecialTokens):/,
  // A name that only the original's build has.
  /modelsMap_d_exports/,
  // The functions of an addon have no arity, and its classes the statics of plain functions.
  /^tokenizers .*("function\/\d" instead of "function\/0"|\.class: \d|\.(arguments|caller): )/,
  // Its enums are empty objects, and its aliases undefined, at run time.
  /^tokenizers \w+: \w+: .* instead of ("\{\}"|"undefined")$/,
  /^tokenizers esm: default: /,
  // Only the tokenizers of the package; its Tensor has the arithmetic of models.
  /^@huggingface\/transformers \w+: (?!\w*Tokenizer\b|env\b)/,
  // Arguments with defaults, and constructors that are inherited.
  /^@huggingface\/transformers .*("function\/\d" instead of "function\/\d"|\.class: \d instead of \d)$/,
  /^@huggingface\/transformers .*: (?:Marian|Vits)Tokenizer: .*"methods":.* instead of "function\/2"$/,
  // Only the settings of tokenizers.
  /^@huggingface\/transformers .*: env: /,
  // Timestamps of words.
  /WhisperTokenizer(?:\.methods\.(?:c\w+|mergePunctuations|decodeWithTimestamps|findLongestCommonSequence|splitTokens\w+)|: (?:c\w+|mergePunctuations|decodeWithTimestamps|findLongestCommonSequence|splitTokens\w+) is missing)/,
]

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The names in which `found` lacks something of `wanted`. */
function* differences(wanted, found, name = '') {
  if (isObject(wanted) && isObject(found)) {
    for (const [key, value] of Object.entries(wanted))
      yield* differences(value, found[key], name ? `${name}.${key}` : key)
  } else if (Array.isArray(wanted) && Array.isArray(found)) {
    // The first member is the kinds of the name.
    const all = [...found[0].split(' and '), ...found.slice(1)]
    const needed = [...wanted[0].split(' and '), ...wanted.slice(1)]
    for (const one of needed.filter((member) => !all.includes(member))) yield `${name}: ${one} is missing`
  } else if (wanted !== found) {
    const text = (value) => JSON.stringify(value)?.slice(0, 100)
    yield `${name}: ${text(found)} instead of ${text(wanted)}`
  }
}

for (const [name, { version, modules, shapes }] of Object.entries(record)) {
  test(`${name} ${version}: every path has all names and types`, async () => {
    const paths = Object.keys(modules).filter((path) => !ABSENT.test(path) && !REPEATED.test(path))
    const own = new Map(paths.map((path) => [path, `@tokenlane/${DROPINS[name]}${path.slice(name.length)}`]))
    const load = { import: (module) => import(module), require }
    const ours = await describe(root, [...own.values()], load)
    const found = new Set()
    for (const [path, module] of own) {
      for (const kind of ['esm', 'cjs', 'esmTypes', 'cjsTypes']) {
        const wanted = shapes[modules[path][kind]]
        // The original cannot be loaded like this, or has no types.
        if (typeof wanted === 'string') continue
        for (const difference of differences(wanted, ours.shapes[ours.modules[module][kind]]))
          found.add(`${path} ${kind}: ${difference}`)
      }
    }
    const unknown = [...found].filter((difference) => !DIFFERENT.some((pattern) => pattern.test(difference)))
    assert.deepEqual(unknown, [])
    for (const module of own.values()) {
      const [esm, cjs, esmTypes, cjsTypes] = Object.values(ours.modules[module]).map((at) => ours.shapes[at])
      if (typeof cjs === 'string' || typeof cjsTypes === 'string') continue
      // The typings of a module that exports one value say so: it is the default of an import.
      if (isDeepStrictEqual(cjsTypes, { default: ['value'] })) continue
      const names = (shape) => Object.keys(shape).filter((key) => key !== 'default' && isValue(shape[key]))
      assert.deepEqual(names(esm), names(cjs), module)
      assert.deepEqual(names(esmTypes), names(esm), `${module}: the typings for import`)
      assert.deepEqual(names(cjsTypes), names(cjs), `${module}: the typings for require`)
    }
  })
}

const isValue = (entry) => !Array.isArray(entry) || entry[0].startsWith('value')

test('ESM and CommonJS export the same values', async () => {
  // Those of gpt-tokenizer/esm and gpt-tokenizer/cjs are modules of one kind.
  const paths = Object.keys(record['gpt-tokenizer'].modules).filter((path) =>
    /^gpt-tokenizer\/model\/(ada|gpt-4o|gpt-4|o1)$/.test(path),
  )
  const more = ['tiktoken', 'tiktoken/init', 'tiktoken/lite', 'js-tiktoken', 'js-tiktoken/lite', 'tokenizers']
  for (const path of ['gpt-tokenizer', 'gpt-tokenizer/GptEncoding', 'transformers', ...more, ...paths]) {
    const [esm, cjs] = [await import(`@tokenlane/${path}`), require(`@tokenlane/${path}`)]
    const names = Object.keys(esm).filter((key) => !['default', 'module.exports'].includes(key))
    assert.ok(names.length > 0, path)
    for (const key of names) assert.strictEqual(esm[key], cjs[key], `${path} ${key}`)
    if ('default' in cjs) assert.strictEqual(esm.default, cjs.default, path)
  }
  const cjs = require('@tokenlane/gpt-tokenizer/model/o1')
  assert.strictEqual(require('@tokenlane/gpt-tokenizer/cjs/model/o1'), cjs)
  assert.strictEqual((await import('@tokenlane/gpt-tokenizer/cjs/model/o1')).default, cjs)
  assert.strictEqual((await import('@tokenlane/gpt-tokenizer/esm/model/o1')).default, cjs.default)
  const names = Object.keys({ ...require('@tokenlane/gpt-tokenizer') })
  assert.equal(names.length, 32)
  for (const path of ['tiktoken/encoders/gpt2', 'tiktoken/encoders/gpt2.json', 'js-tiktoken/ranks/gpt2'])
    assert.strictEqual((await import(`@tokenlane/${path}`)).default, require(`@tokenlane/${path}`), path)
})
