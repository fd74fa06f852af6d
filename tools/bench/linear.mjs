#!/usr/bin/env node
// npm run maintain -- linear: counts the instructions of a text of a million characters and of the
// same text in a hundred parts, for tokenizers of every kind of model and texts of every kind.
// Fails where the whole takes more than 1.3 times the parts. Takes about an hour.
//
//   usage: node tools/bench/linear.mjs [--characters 1000000] [--only TEXT] [TOKENIZER]...
//
// TOKENIZER is a file, a bundled encoding or permuted:SEED; without one, all that the repository
// has and a hundred vocabularies with permuted merges, which get a tenth of the text. Instructions
// do not show what memory costs: a page that a process touches for the first time is not counted.

import path from 'node:path'
import { parseArgs } from 'node:util'

import { checkCompilers, root, stop } from '../setup.mjs'
import { compiled, countedStages, hasValgrind } from './callgrind.mjs'

const LIMIT = 1.3
const TEXTS = ['english', 'letters', 'letter', 'two-letters', 'digits', 'spaces', 'cjk', 'emoji']
const ENCODINGS = ['r50k_base', 'cl100k_base', 'o200k_base']
const MODELS = ['bpe', 'bpe_bytes', 'unigram', 'unigram_bytes', 'unigram_suffix', 'word', 'char']
const PERMUTED = Array.from({ length: 100 }, (_, seed) => `permuted:${seed}`)

const { values, positionals } = parseArgs({
  options: { characters: { type: 'string', default: '1000000' }, only: { type: 'string' } },
  allowPositionals: true,
})
if (!hasValgrind()) process.exit(0)
checkCompilers()
const program = compiled('linear')
const testdata = path.join(root, 'crates', 'core', 'testdata', 'sentencepiece')
const all = [...ENCODINGS, ...MODELS.map((name) => path.join(testdata, `${name}.model`)), ...PERMUTED]
const characters = Number(values.characters)
let wrong = 0
for (const tokenizer of positionals.length > 0 ? positionals : all) {
  const count = tokenizer.startsWith('permuted:') && positionals.length === 0 ? characters / 10 : characters
  for (const text of TEXTS.filter((name) => values.only === undefined || name === values.only)) {
    const { counts, stdout } = countedStages('linear', program, [tokenizer, text, String(count)], 2)
    const [parts, whole] = counts
    const ratio = whole / parts
    wrong += Number(ratio > LIMIT)
    const figures = [parts, whole].map((number) => (number / count).toFixed(0).padStart(6)).join(' ')
    const name = path.basename(tokenizer).padEnd(22)
    console.log(
      `${name} ${text.padEnd(12)} ${figures} instructions a character, ratio ${ratio.toFixed(2)}`,
      stdout.trim(),
    )
  }
}
if (wrong > 0) stop(`${wrong} texts take more than ${LIMIT} times their parts`)
