// Turns a folder of text into tokens for training, and shows the progress. Ctrl-C ends it; the next
// run continues where it stopped.
//
//   node examples/corpus.mjs data/ tokens/

import { tokenizeCorpus } from '@tokenlane/corpus'

const [inputs, output] = process.argv.slice(2)
if (output === undefined) {
  console.error('usage: node corpus.mjs data/ tokens/')
  process.exit(2)
}
const controller = new AbortController()
process.once('SIGINT', () => controller.abort(new Error('interrupted; run it again to continue')))

const { documents, tokens, kept, shards } = await tokenizeCorpus({
  inputs,
  output,
  tokenizer: 'o200k_base',
  format: 'npy',
  eos: true,
  signal: controller.signal,
  onEvent(event) {
    if (event.event !== 'progress') return
    const percent = (event.bytes / event.allBytes) * 100
    process.stderr.write(`\r${percent.toFixed(0)} % · ${event.documents} documents · ${event.tokens} tokens`)
  },
})
process.stderr.write('\n')
console.log(`${documents} documents, ${tokens} tokens in ${shards} shards, ${kept} of them from before`)
