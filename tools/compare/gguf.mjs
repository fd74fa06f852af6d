// Compares tokenizers of GGUF files with the pairs that llama.cpp publishes beside them.
//
//   usage: npm run maintain -- gguf FOLDER
//
// The folder has the vocabularies of llama.cpp, `ggml-vocab-*.gguf`, with the texts in
// `*.gguf.inp` and the ids in `*.gguf.out`: `models/` of its repository, and of the source package
// of llama-cpp-python (`pip download --no-deps --no-binary llama-cpp-python llama-cpp-python`).

import fs from 'node:fs'
import path from 'node:path'

import { Tokenizer } from '../../index.mjs'
import { stop } from '../setup.mjs'

const [folder] = process.argv.slice(2)
if (folder === undefined) stop('usage: npm run maintain -- gguf FOLDER')
const SEPARATOR = '\n__ggml_vocab_test__\n'

let different = 0
let compared = 0
for (const name of fs.readdirSync(folder).filter((one) => one.endsWith('.gguf'))) {
  const file = path.join(folder, name)
  let tokenizer
  try {
    tokenizer = await Tokenizer.fromFile(file)
  } catch (error) {
    console.log(`${name}: ${error.code}: ${error.message}`)
    continue
  }
  if (!fs.existsSync(`${file}.inp`)) {
    console.log(`${name}: loads; there are no pairs`)
    continue
  }
  const texts = fs.readFileSync(`${file}.inp`, 'utf8').split(SEPARATOR)
  const answers = fs.readFileSync(`${file}.out`, 'utf8').split('\n')
  const before = different
  const options = /** @type {const} */ ({ addSpecialTokens: false, specialTokens: 'text' })
  for (const [index, text] of texts.entries()) {
    // The last line is empty where the file ends.
    const wanted = (answers[index] ?? '').trim()
    const ids = tokenizer.encode(text, options).ids.join(' ')
    compared++
    if (ids === wanted) continue
    different++
    console.log(`${name}: ${JSON.stringify(text)}\n  wanted ${wanted}\n  is     ${ids}`)
  }
  console.log(`${name}: ${texts.length} pairs, ${different - before} differ`)
}
console.log(`${compared} pairs, ${different} differ`)
process.exitCode = different === 0 && compared > 0 ? 0 : 1
