// Trains once on the lines of a file, as the benchmark of trainers (train_bench.py) asks for it:
//
//   OUT=tokenizer.json node tools/bench/train.mjs FILE bpe|unigram VOCAB
//
// BPE splits as cl100k_base does, Unigram by Metaspace. --ours 'node tools/bench/train.mjs' makes
// it a contestant.

import fs from 'node:fs'

import { trainTokenizer } from '@tokenlane/corpus'

const [file, model, vocabSize] = process.argv.slice(2)
const METASPACE = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true }
/** @type {import('@tokenlane/corpus').TrainOptions} */
const options =
  model === 'bpe' ? { like: 'cl100k_base', specialTokens: [] } : { model: 'unigram', preTokenizer: METASPACE }
const tokenizer = await trainTokenizer({ inputs: file, rows: 'lines', vocabSize: Number(vocabSize), ...options })
fs.writeFileSync(process.env.OUT, tokenizer.toBuffer())
