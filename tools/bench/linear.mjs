#!/usr/bin/env node
// npm run maintain -- linear: counts the instructions of a long text and of the same text in parts
// of 10,000 characters, for tokenizers of every kind of model and texts of every kind. Fails where
// the whole takes more than 1.3 times the parts. Takes about an hour; with --long, for texts
// of a million characters, some hours.
//
//   usage: node tools/bench/linear.mjs [--long] [--only TEXT]... [TOKENIZER]...
//
// TOKENIZER is a file, a bundled encoding, whole:FILE (a tokenizer.json without its pre-tokenizer)
// or permuted:SEED; without one, all that the repository has and a hundred vocabularies with
// permuted merges. Instructions do not show what memory costs: a page that a process touches for
// the first time is not counted.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { checkCompilers, root, stop } from '../setup.mjs'
import { compiled, countedStages, hasValgrind } from './callgrind.mjs'

const LIMIT = 1.3
const TEXTS = ['english', 'letters', 'letter', 'two-letters', 'digits', 'spaces', 'cjk', 'emoji']
const ENCODINGS = ['r50k_base', 'cl100k_base', 'o200k_base']
const PERMUTED = Array.from({ length: 100 }, (_, seed) => `permuted:${seed}`)

const { values, positionals } = parseArgs({
  options: { long: { type: 'boolean' }, only: { type: 'string', multiple: true } },
  allowPositionals: true,
})
if (!hasValgrind()) process.exit(0)
checkCompilers()
const program = compiled('linear')
const testdata = path.join(root, 'crates', 'core', 'testdata')
const sentencepiece = files(path.join(testdata, 'sentencepiece'), '.model')
const json = files(path.join(testdata, 'conformance', 'tokenizers'), '.json')
const all = [...ENCODINGS, ...sentencepiece, ...json, ...json.map((file) => `whole:${file}`), ...PERMUTED]
const characters = values.long ? 1_000_000 : 100_000
const texts = values.only ?? TEXTS
let wrong = 0
for (const tokenizer of positionals.length > 0 ? positionals : all) {
  const args = [tokenizer, String(characters), ...texts]
  const { counts, stdout } = countedStages('linear', program, args, 2 * texts.length)
  const tokens = stdout.trim().split('\n')
  for (const [at, text] of texts.entries()) {
    const [parts, whole] = counts.slice(2 * at, 2 * at + 2)
    const ratio = whole / parts
    wrong += Number(ratio > LIMIT)
    const figures = [parts, whole].map((count) => (count / characters).toFixed(0).padStart(6)).join(' ')
    const name = tokenizer.replace(/[^:]*[/]/, '').padEnd(28)
    const verdict = ratio > LIMIT ? ' TOO MUCH' : ''
    console.log(
      `${name} ${text.padEnd(12)} ${figures} instructions a character, ratio ${ratio.toFixed(2)}`,
      tokens[at] + verdict,
    )
  }
}
if (wrong > 0) stop(`${wrong} texts take more than ${LIMIT} times their parts`)

/**
 * The paths of the files of a folder with an ending.
 *
 * @param {string} folder
 * @param {string} ending
 */
function files(folder, ending) {
  const names = fs.readdirSync(folder).filter((name) => name.endsWith(ending))
  return names.sort().map((name) => path.join(folder, name))
}
