// The package in a web worker.

import * as tokenlane from 'tokenlane'

import { answers } from './answers.mjs'

const many = Array.from(
  { length: 3000 },
  (_, i) => `row ${i} ${'of a text that is long enough for threads '.repeat(20)}`,
)

/** Several concurrent batches, on threads. */
async function together() {
  const tokenizer = await tokenlane.Tokenizer.fromEncoding('r50k_base')
  const batches = await Promise.all(Array.from({ length: 5 }, () => tokenizer.encodeBatch(many, { threads: 2 })))
  return batches.map(({ ids }) => ids.length)
}

self.onmessage = async ({ data: names }) => {
  try {
    postMessage({ answers: await answers(tokenlane, names), lengths: await together() })
  } catch (error) {
    postMessage({ failed: `${error.stack}` })
  }
}
postMessage('ready')
