// The packages that peers.mjs compares, each as its own documentation shows it.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

import { root } from '../setup.mjs'

/**
 * @typedef {object} Calls
 * @property {(text: string) => ArrayLike<number> | Promise<ArrayLike<number>>} encode all ids of a
 *   text, without special tokens
 * @property {(ids: any) => string | Promise<string>} decode the text of such ids
 */

/**
 * The versions of the packages.
 *
 * @type {Record<string, string>}
 */
export const VERSIONS = createRequire(import.meta.url)('../versions.json').peers

const hasWeb = fs.existsSync(path.join(root, 'web', 'dist', 'core.mjs'))

/**
 * Each package, which loads o200k_base from the folder that it is installed in.
 *
 * @type {Record<string, (folder: string) => Calls | Promise<Calls>>}
 */
export const PEERS = {
  async tokenlane() {
    const { Tokenizer } = await import('../../index.mjs')
    const tokenizer = await Tokenizer.fromEncoding('o200k_base', { specialTokens: 'text' })
    return { encode: (text) => tokenizer.encode(text).ids, decode: (ids) => tokenizer.decode(ids) }
  },
  ...(hasWeb && {
    async '@tokenlane/web'() {
      const { Tokenizer } = await import('../../packages/web/index.mjs')
      const tokenizer = await Tokenizer.fromEncoding('o200k_base', { specialTokens: 'text' })
      return { encode: (text) => tokenizer.encode(text).ids, decode: (ids) => tokenizer.decode(ids) }
    },
  }),
  async hypertok(folder) {
    const { fromBytes } = await import(String(pathToFileURL(path.join(folder, 'node_modules/hypertok/src/index.mjs'))))
    const bytes = fs.readFileSync(path.join(folder, 'node_modules/@hypertok/vocab-o200k/vocab.htk'))
    const tokenizer = await fromBytes(new Uint8Array(bytes), { tier: 'single' })
    return { encode: (text) => tokenizer.encodeSync(text), decode: (ids) => tokenizer.decode(ids) }
  },
  'gpt-tokenizer': (folder) => {
    const { encode, decode } = requireFrom(folder)('gpt-tokenizer/encoding/o200k_base')
    const options = { allowedSpecial: new Set(), disallowedSpecial: new Set() }
    return { encode: (text) => encode(text, options), decode }
  },
  tiktoken: (folder) => {
    const tokenizer = requireFrom(folder)('tiktoken').get_encoding('o200k_base')
    const decoder = new TextDecoder()
    return {
      encode: (text) => tokenizer.encode(text, [], []),
      decode: (ids) => decoder.decode(tokenizer.decode(ids)),
    }
  },
  'js-tiktoken': (folder) => {
    const tokenizer = requireFrom(folder)('js-tiktoken').getEncoding('o200k_base')
    return { encode: (text) => tokenizer.encode(text, [], []), decode: (ids) => tokenizer.decode(ids) }
  },
  'ai-tokenizer': (folder) => {
    const { Tokenizer } = requireFrom(folder)('ai-tokenizer')
    const tokenizer = new Tokenizer(requireFrom(folder)('ai-tokenizer/encoding/o200k_base'))
    return { encode: (text) => tokenizer.encode(text, [], []), decode: (ids) => tokenizer.decode(ids) }
  },
  async tokenizers(folder) {
    const file = path.join(os.tmpdir(), 'tokenlane-peers-o200k_base.json')
    const tokenizer = requireFrom(folder)('tokenizers').Tokenizer.fromFile(file)
    return {
      encode: async (text) => (await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds(),
      decode: (ids) => tokenizer.decode(ids, false),
    }
  },
}

/** Writes the files that packages load: the tokenizer.json for tokenizers. */
export async function prepare() {
  const { Tokenizer } = await import('../../index.mjs')
  const json = (await Tokenizer.fromEncoding('o200k_base')).toBuffer()
  fs.writeFileSync(path.join(os.tmpdir(), 'tokenlane-peers-o200k_base.json'), json)
}

const requireFrom = (folder) => createRequire(path.join(folder, 'x.js'))

/** The version of a package, ours included. */
export function versionOf(folder, name) {
  const home = /^tokenlane\b/.test(name) ? root : path.join(folder, 'node_modules', name)
  return JSON.parse(fs.readFileSync(path.join(home, 'package.json'), 'utf8')).version
}
