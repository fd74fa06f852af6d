// Splits a document into chunks for retrieval: whole sentences, at most 128 tokens, with the last
// sentences repeated at the start of the next chunk. Each chunk has its position in the document.
// The document is read as a stream and is never in memory as a whole.

import fs from 'node:fs'
import { Readable } from 'node:stream'

import { Tokenizer } from 'tokenlane'

const tokenizer = await Tokenizer.fromEncoding('cl100k_base')
const options = { maxTokens: 128, overlap: 24, boundary: 'sentence', specialTokens: 'text' }

const file = process.argv[2] ?? new URL('../README.md', import.meta.url)
const texts = Readable.toWeb(fs.createReadStream(file, 'utf8'))

let chunks = 0
for await (const { text, start, end, count } of texts.pipeThrough(tokenizer.splitStream(options))) {
  chunks += 1
  if (chunks <= 3) console.log(`${start}–${end}: ${count} tokens, ${JSON.stringify(text.slice(0, 60))}…`)
}
console.log(`${chunks} chunks`)
