// Replaces packages/page/page/api.mjs in the static site: the page itself gives the answers of the
// server.

import { answersOf } from '../../packages/page/src/answers.mjs'
import { Tokenizer, encodings } from '../../packages/web/index.mjs'

const DEFAULT_NAMES = ['o200k_base', 'cl100k_base']
const answers = answersOf({
  names: [...new Set([...DEFAULT_NAMES, ...encodings()])],
  load: (name) => Tokenizer.fromEncoding(name),
  openFile: (bytes) => Tokenizer.fromBuffer(bytes),
})

export async function ask(method, what, body, signal) {
  const answer = await answers[`${method} ${what}`](body)
  signal?.throwIfAborted()
  return answer
}
