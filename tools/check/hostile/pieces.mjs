#!/usr/bin/env node
// Compares the pieces of `split` with those of `splitStream`, whose text arrives in random parts,
// on random slices of texts with random options.
//
//   usage: npm run maintain -- hostile pieces [--seconds 60] [--seed 1] [--corpus FILE]…
//                                    [tokenizer.json | name of an encoding]…
//
// By default the tokenizers are the bundled encodings. Slices of the corpora alternate with hostile
// texts and special tokens. An error is a difference, a piece with another number of tokens than
// its count, or more than its maximum, and pieces without overlap that are not the text.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root } from '../../setup.mjs'
import { TEXTS, adversarial } from './adversarial.mjs'
import { isDocumented } from './child.mjs'
import { random } from './random.mjs'

const { Tokenizer } = createRequire(import.meta.url)(root)
const ENCODINGS = ['r50k_base', 'p50k_base', 'cl100k_base', 'o200k_base', 'o200k_harmony']
const SPECIAL = ['<|endoftext|>', '<|im_end|>', '<|eot_id|>', '<|endoftext', '|>']
const MAX_TOKENS = [8, 16, 40, 100, 256, 700]
const MAX_SLICE = 6000
const SLICES_BYTES = 100_000

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    corpus: { type: 'string', multiple: true, default: [] },
  },
  allowPositionals: true,
})
const draw = random(Number(values.seed))
const corpora = values.corpus.map((file) => fs.readFileSync(file, 'utf8'))
const kinds = Object.keys(TEXTS)
const names = positionals.length > 0 ? positionals : ENCODINGS
const tokenizers = []
for (const name of names)
  tokenizers.push({
    name,
    tokenizer: await (ENCODINGS.includes(name) ? Tokenizer.fromEncoding(name) : Tokenizer.fromFile(path.resolve(name))),
  })

let [pieces, different, wrong] = [0, 0, 0]
const end = Date.now() + Number(values.seconds) * 1000
while (Date.now() < end) {
  const { name, tokenizer } = draw.of(tokenizers)
  const text = randomText()
  const maxTokens = draw.of(MAX_TOKENS)
  const options = {
    maxTokens,
    overlap: draw.of([0, 0, 1, 4, Math.floor(maxTokens / 4)]),
    boundary: draw.of(['token', 'token', 'sentence', 'line']),
    specialTokens: draw.of(['parse', 'text']),
  }
  const results = []
  try {
    results.push(tokenizer.split(text, options), await streamedPieces(tokenizer, text, options))
  } catch (error) {
    // A character can have more tokens than a piece may have.
    if (!isDocumented(error)) throw error
    continue
  }
  const [whole, streamed] = results
  pieces += whole.length
  const at = whole.findIndex((piece, index) => !isEqual(piece, streamed[index]))
  const isDifferent = at !== -1 || whole.length !== streamed.length
  const counted = (piece) => tokenizer.count(piece.text, { specialTokens: options.specialTokens })
  const isWrong =
    whole.some((piece) => counted(piece) !== piece.count || piece.count > maxTokens) ||
    (options.overlap === 0 && whole.map((piece) => piece.text).join('') !== text)
  if (!isDifferent && !isWrong) continue
  if (isDifferent) different++
  if (isWrong) wrong++
  console.log(`${isWrong ? 'WRONG' : 'different'}: ${name} ${JSON.stringify(options)}, piece ${at}`)
  console.log(`  split:       ${JSON.stringify(whole[at])}\n  splitStream: ${JSON.stringify(streamed[at])}`)
}
console.log(`${pieces} pieces, ${different} texts with a difference, ${wrong} with a wrong piece`)
process.exit(wrong + different > 0 ? 1 : 0)

/** Slices of corpora and hostile texts, with special tokens between them. */
function randomText() {
  const parts = Array.from({ length: draw.below(4) + 1 }, () => {
    const isHostile = corpora.length === 0 || draw.below(3) === 0
    const source = isHostile ? adversarial(draw.of(kinds), SLICES_BYTES) : draw.of(corpora)
    const start = draw.below(source.length)
    return source.slice(start, start + draw.below(MAX_SLICE)) + (draw.below(3) === 0 ? draw.of(SPECIAL) : '')
  })
  // Slices can cut surrogate pairs.
  return Buffer.from(parts.join('')).toString()
}

async function streamedPieces(tokenizer, text, options) {
  const { readable, writable } = tokenizer.splitStream(options)
  const writer = writable.getWriter()
  const parts = []
  for (let at = 0, size; at < text.length; at += size) {
    size = 1 + draw.below(draw.of([10, 1000, MAX_SLICE]))
    parts.push(text.slice(at, at + size))
  }
  const written = parts
    .reduce((done, part) => done.then(() => writer.write(part)), writer.ready)
    .then(() => writer.close())
  const found = []
  for await (const piece of readable) found.push(piece)
  await written
  return found
}

function isEqual(one, other) {
  return one.start === other?.start && one.end === other.end && one.count === other.count
}
