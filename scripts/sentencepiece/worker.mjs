// Answers compare.py: reads { file, texts, rows } from the standard input, and writes tokenlane's
// ids, tokens and decoded texts.

import fs from 'node:fs'

import { Tokenizer } from '../../index.mjs'

const { file, texts, rows } = JSON.parse(fs.readFileSync(0, 'utf8'))
const tokenizer = await Tokenizer.fromFile(file)

/** The text of ids, decoded as a stream of one id after the other. */
function streamed(ids) {
  const stream = tokenizer.decodeStream()
  const pieces = Array.from(ids, (id) => stream.push(id))
  return pieces.join('') + stream.end()
}

const answers = { texts: [], rows: [] }
for (const text of texts) {
  const { ids, tokens } = tokenizer.encode(text)
  answers.texts.push([[...ids], tokens, tokenizer.decode(ids), streamed(ids)])
}
for (const ids of rows) answers.rows.push([tokenizer.decode(ids), streamed(ids)])
process.stdout.write(JSON.stringify(answers))
