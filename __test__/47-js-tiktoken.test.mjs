// tokenlane/js-tiktoken, and the recipes for LangChain. Expected results were recorded from
// js-tiktoken 1.0.21; `node scripts/dropins.mjs --only js-tiktoken FOLDER` compares call by call.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { Tokenizer } from '../index.mjs'

const require = createRequire(import.meta.url)
const { Tiktoken, encodingForModel, getEncoding, getEncodingNameForModel } = require('tokenlane/js-tiktoken')
const lite = require('tokenlane/js-tiktoken/lite')

test('encode returns an array, and decode a string', () => {
  const encoder = getEncoding('o200k_base')
  assert.deepEqual(encoder.encode('Hello, world!'), [13225, 11, 2375, 0])
  assert.ok(Array.isArray(encoder.encode('')))
  for (const text of ['', 'Hello, wörld! 🚀', "we're I'LL", '  x\n\n y ', '日本語', 'a'.repeat(5000)]) {
    assert.equal(encoder.decode(encoder.encode(text)), text)
    assert.equal(encoder.decode(Uint32Array.from(encoder.encode(text))), text)
  }
  assert.deepEqual(getEncoding('gpt2').encode('hello world'), [31373, 995])
  assert.deepEqual(getEncoding('cl100k_base').encode('\ud800'), getEncoding('cl100k_base').encode('\ufffd'))
})

test('invalid ids are skipped, and an incomplete character is U+FFFD', () => {
  const encoder = getEncoding('o200k_base')
  assert.equal(encoder.decode([13225, 10_000_000, -1, 0.5, Number.NaN, '11', null, undefined, 200001, 11]), 'Hello,')
  assert.equal(encoder.decode([169883]), ' \ufffd')
  assert.equal(encoder.decode([199999]), '<|endoftext|>')
  assert.equal(encoder.decode([]), '')
  assert.equal(encoder.decode(Object.assign(new Array(2 ** 32 - 1), { 7: 13225 })), 'Hello')
  for (const tokens of [undefined, '11', 11, { length: 1e9 }])
    assert.throws(() => encoder.decode(tokens), { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})

test('special tokens', () => {
  const encoder = getEncoding('cl100k_base')
  const text = 'a<|fim_prefix|>b<|fim_suffix|>'
  const refused = (token) => ({
    message: `The text contains a special token that is not allowed: ${token}`,
    code: 'ERR_TOKENLANE_SPECIAL_TOKEN',
  })
  assert.throws(() => encoder.encode(text), refused('<|fim_prefix|>'))
  assert.throws(() => encoder.encode(text, ['<|fim_prefix|>']), refused('<|fim_suffix|>'))
  assert.throws(() => encoder.encode(text, 'all', ['b']), refused('b'))
  assert.deepEqual(encoder.encode(text, 'all'), [64, 100258, 65, 100260])
  assert.deepEqual(encoder.encode(text, ['<|fim_prefix|>', '<|fim_suffix|>']), [64, 100258, 65, 100260])
  assert.deepEqual(encoder.encode('<|endoftext|>', [], []), [27, 91, 8862, 728, 428, 91, 29])
  const more = getEncoding('gpt2', { '<|x|>': 100000 })
  assert.deepEqual(more.encode('<|x|>', ['<|x|>']), [100000])
  assert.equal(more.decode([100000]), '<|x|>')
  assert.throws(() => encoder.encode(7), { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})

test('models and encodings by name', () => {
  assert.deepEqual(encodingForModel('gpt-4o').encode('Hello, world!'), [13225, 11, 2375, 0])
  const encodings = {
    'gpt-4o': 'o200k_base',
    'gpt-4': 'cl100k_base',
    'text-davinci-003': 'p50k_base',
    gpt2: 'gpt2',
    'davinci-002': 'p50k_base',
    'babbage-002': 'r50k_base',
  }
  for (const [model, encoding] of Object.entries(encodings)) assert.equal(getEncodingNameForModel(model), encoding)
  for (const name of ['nope', 'constructor', '__proto__', undefined]) {
    assert.throws(() => getEncodingNameForModel(name), {
      message: 'Unknown model',
      code: 'ERR_TOKENLANE_UNKNOWN_MODEL',
    })
    assert.throws(() => getEncoding(name), { message: 'Unknown encoding', code: 'ERR_TOKENLANE_UNKNOWN_ENCODING' })
  }
})

test('the lite form, with imported ranks and with ranks of its own', async () => {
  assert.strictEqual(lite.Tiktoken, Tiktoken)
  assert.deepEqual(Object.keys(lite).sort(), ['Tiktoken', 'getEncodingNameForModel'])
  for (const name of ['gpt2', 'r50k_base', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base']) {
    const { default: ranks } = await import(`tokenlane/js-tiktoken/ranks/${name}`)
    const text = "It's 12345 naïve\n\n  words, DON'T!  <|endoftext|>"
    const expected = getEncoding(name).encode(text, 'all')
    assert.deepEqual(new lite.Tiktoken(ranks).encode(text, 'all'), expected, name)
    // A copy, such as one that came as JSON.
    const copy = JSON.parse(JSON.stringify(ranks))
    assert.match(copy.bpe_ranks, /^! 0 \S+ \S+/)
    assert.deepEqual(new lite.Tiktoken(copy).encode(text, 'all'), expected, name)
  }
  const pat_str = '\\w+| '
  const own = new lite.Tiktoken(
    { pat_str, special_tokens: { '<s>': 9 }, bpe_ranks: '! 0 YQ== Yg== IA==\n! 5 YWI=' },
    { '<t>': 10 },
  )
  assert.deepEqual(own.encode('ab a<s><t>', 'all'), [5, 2, 0, 9, 10])
  assert.equal(own.decode([5, 2, 7, 9]), 'ab <s>')
  for (const wrong of [{}, { bpe_ranks: '', special_tokens: {} }, { bpe_ranks: 7, pat_str }]) {
    assert.throws(() => new lite.Tiktoken(wrong), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  }
  assert.throws(() => new lite.Tiktoken({ pat_str: '(', special_tokens: {}, bpe_ranks: '! 0 YQ==' }), {
    code: 'ERR_TOKENLANE_PATTERN',
  })
})

/** Splits ids as TokenTextSplitter does: it slices the array of ids and decodes each slice. */
function cut(encoder, text, size, overlap) {
  const ids = encoder.encode(text, [], 'all')
  const pieces = []
  for (let start = 0; start < ids.length; start += size - overlap)
    pieces.push(encoder.decode(ids.slice(start, start + size)))
  return pieces
}

test('splitters that slice ids and decode them get texts', () => {
  const text = fs.readFileSync(new URL('../docs/guide/langchain.md', import.meta.url), 'utf8')
  const encoder = getEncoding('o200k_base')
  const pieces = cut(encoder, text, 64, 0)
  assert.equal(pieces.join(''), text)
  assert.ok(pieces.slice(0, -1).every((piece) => typeof piece === 'string' && encoder.encode(piece).length <= 64))
})

test('the recipes of docs/guide/langchain.md run', async () => {
  const guide = fs.readFileSync(new URL('../docs/guide/langchain.md', import.meta.url), 'utf8')
  const blocks = [...guide.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code.replaceAll(/^import .*\n/gm, ''))
  assert.equal(blocks.length, 4)
  // Stands for the classes of LangChain, which are not installed here: it has the fields that the
  // recipes use.
  class TextSplitter {
    constructor(fields) {
      Object.assign(this, fields)
    }

    async splitText(text) {
      return this.tokenizer === undefined
        ? this.lengthFunction(text)
        : cut(this.tokenizer, text, this.chunkSize, this.chunkOverlap)
    }

    async createDocuments([text]) {
      return this.splitText(text)
    }
  }
  const text = 'One sentence. Another one. '.repeat(300)
  const message = (type) => ({ getType: () => type, text: 'Hello, world!' })
  const variables = {
    TextSplitter,
    TokenTextSplitter: TextSplitter,
    RecursiveCharacterTextSplitter: TextSplitter,
    Tokenizer,
    getEncoding,
    text,
    messages: [message('system'), message('human'), message('ai')],
  }
  const AsyncFunction = (async () => {}).constructor
  const result = (code, last, more = {}) => {
    const all = { ...variables, ...more }
    return new AsyncFunction(...Object.keys(all), `${code}\nreturn ${last}`)(...Object.values(all))
  }
  const tokenizer = Tokenizer.forModelSync('gpt-4o')
  const chunks = await result(blocks[0], 'chunks')
  assert.ok(chunks.length > 2 && chunks.every((chunk) => tokenizer.count(chunk) <= 512))
  assert.equal(await result(blocks[1], 'splitter.splitText(text)'), tokenizer.count(text))
  const documents = await result(blocks[2], 'documents', { tokenizer })
  assert.ok(documents.length > 2 && documents.every((piece) => piece.endsWith('. ') && tokenizer.count(piece) <= 512))
  assert.equal(
    await result(blocks[3], 'tokenizer.countChat(chat)'),
    tokenizer.countChat(['system', 'user', 'assistant'].map((role) => ({ role, content: 'Hello, world!' }))),
  )
})
