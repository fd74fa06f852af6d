// Arrays of any length, which only a Proxy has, are refused by the drop-ins before they are read.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

const require = createRequire(import.meta.url)
const tiktoken = require('../../dropins/tiktoken/index.js')
const huggingface = require('../../dropins/huggingface/index.js')
const gptTokenizer = require('../../dropins/gpt-tokenizer/main.js')
const transformers = require('../../dropins/transformers/index.js')

/** An array whose elements are never read. */
const endless = new Proxy([], {
  get(list, name) {
    if (name === 'length') return 2 ** 32 - 1
    if (typeof name === 'string' && /^\d+$/.test(name)) throw new Error('an element was read')
    return Reflect.get(list, name)
  },
})

test('an endless array is refused by its length, and never made text', async () => {
  const encoder = tiktoken.get_encoding('r50k_base')
  const generate = async () => {
    for await (const _ of gptTokenizer.decodeAsyncGenerator(endless)) assert.fail()
  }
  const { GptEncoding } = require('../../dropins/gpt-tokenizer/GptEncoding.js')
  for (const call of [
    () => encoder.decode(endless),
    () => encoder.encode('a', endless),
    () => encoder.encode('a', [], endless),
    () => tiktoken.encoding_for_model(endless),
    () => tiktoken.get_encoding_name_for_model(endless),
    () => gptTokenizer.decode(endless),
    () => [...gptTokenizer.decodeGenerator(endless)],
    generate,
    () => gptTokenizer.encodeChat(endless, 'gpt-4o'),
    () => gptTokenizer.encode('a', { allowedSpecial: endless }),
    () => GptEncoding.getEncodingApi(endless),
    () => huggingface.sequenceNormalizer(endless),
    () => huggingface.sequencePreTokenizer(endless),
    () => huggingface.sequenceDecoder(endless),
    () => huggingface.sequenceProcessing(endless),
    () => huggingface.templateProcessing('$A', '$B', endless),
    () => huggingface.mergeEncodings(endless),
    () => huggingface.slice(endless),
    () => huggingface.precompiled(endless),
    () => huggingface.punctuationPreTokenizer(endless),
    () => new transformers.Tensor('int64', endless, [1]),
    () => new transformers.Tensor('int64', [], endless),
  ])
    await assert.rejects(async () => call(), { code: /^ERR_TOKENLANE_/ }, String(call))
})
