// Tokenizer.forModel, encodingForModel, and the table that they share with the command line and the
// drop-ins.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import '../../tools/model-entries.mjs'
import { Tokenizer, encodingForModel, encodings } from '../../index.mjs'
import { encodingOf } from '../../cli/tokenizers.mjs'

const require = createRequire(import.meta.url)
const table = require('../../lib/models.json')

const KNOWN = {
  'gpt-4o': 'o200k_base',
  'gpt-4o-2024-05-13': 'o200k_base',
  'gpt-4o-mini-2031-01-01': 'o200k_base',
  'chatgpt-4o-latest': 'o200k_base',
  'gpt-4.1-nano': 'o200k_base',
  'gpt-5': 'o200k_base',
  'gpt-5.2-pro': 'o200k_base',
  'gpt-5.9-of-the-future': 'o200k_base',
  o1: 'o200k_base',
  'o3-mini': 'o200k_base',
  'o4-mini-deep-research': 'o200k_base',
  'gpt-oss-120b': 'o200k_harmony',
  'gpt-oss-safeguard-20b': 'o200k_harmony',
  'gpt-4': 'cl100k_base',
  'gpt-4-0613': 'cl100k_base',
  'gpt-4-turbo': 'cl100k_base',
  'gpt-3.5-turbo': 'cl100k_base',
  'gpt-35-turbo': 'cl100k_base',
  'text-embedding-3-small': 'cl100k_base',
  'ft:gpt-4o:org': 'o200k_base',
  'ft:gpt-4o-mini-2024-07-18:org:name:id': 'o200k_base',
  'ft:gpt-4:org': 'cl100k_base',
  'ft:gpt-3.5-turbo-0613:org::id': 'cl100k_base',
  'ft:davinci-002:org::id': 'cl100k_base',
  'text-davinci-003': 'p50k_base',
  'code-davinci-edit-001': 'p50k_edit',
  davinci: 'r50k_base',
  gpt2: 'r50k_base',
  'gpt-2': 'r50k_base',
}

test('names, dates, families and fine-tuned models', async () => {
  for (const [model, encoding] of Object.entries(KNOWN)) assert.equal(encodingForModel(model), encoding, model)
  const text = 'Hello, wörld! <|endoftext|>'
  for (const model of ['gpt-4o', 'gpt-oss-20b', 'ft:gpt-4:org', 'gpt2']) {
    const expected = Tokenizer.fromEncodingSync(encodingForModel(model)).encode(text, { specialTokens: 'parse' }).ids
    for (const tokenizer of [await Tokenizer.forModel(model), Tokenizer.forModelSync(model)]) {
      assert.deepEqual(tokenizer.encode(text, { specialTokens: 'parse' }).ids, expected, model)
    }
  }
  const messages = [{ role: 'user', content: 'Hello, world!' }]
  assert.equal(
    Tokenizer.forModelSync('gpt-4o').countChat(messages),
    Tokenizer.fromEncodingSync('o200k_base').countChat(messages),
  )
})

test('other names are refused, with a hint', async () => {
  const wrong = [
    ['gpt4o', /did you mean 'gpt-4o'/],
    ['gpt-40', /did you mean 'gpt-4o?'/],
    ['o200k_base', /it is an encoding: Tokenizer\.fromEncoding\('o200k_base'\)/],
    ['Qwen/Qwen2.5-7B', /Tokenizer\.fromPretrained\('Qwen\/Qwen2\.5-7B'\)/],
    ['claude-sonnet-4-5', /tokenizers of Claude are not public/],
    ['anthropic/claude-sonnet-4.5', /tokenizers of Claude are not public/],
    ['grok-4', /tokenizers of Grok are not public/],
    ['gemini-2.5-pro', /fromPretrained\('google\/gemma-3/],
    ['google/gemini-2.5-pro', /fromPretrained\('google\/gemma-3/],
    ['deepseek-chat', /fromPretrained\('deepseek-ai\/DeepSeek-V3'\)/],
    ['kimi-k2', /fromPretrained\('moonshotai\/Kimi-K2-Instruct'\)/],
    ['mistral-large-latest', /fromPretrained\('mistralai\/Mistral-Large/],
    ['llama-3.3-70b', /fromPretrained\('meta-llama\/Llama-3\.3-70B-Instruct'\)/],
    ['dall-e-3', /there is no model 'dall-e-3'/],
    ['constructor', /there is no model/],
    ['__proto__', /there is no model/],
    ['ft:', /there is no model/],
    ['', /there is no model/],
    [`gpt-5${'x'.repeat(1 << 20)}`, /there is no model 'gpt-5x+…'/],
  ]
  for (const [name, message] of wrong) {
    for (const call of [encodingForModel, Tokenizer.forModelSync]) {
      assert.throws(() => call(name), { name: 'RangeError', code: 'ERR_TOKENLANE_UNKNOWN_MODEL', message })
    }
    await assert.rejects(Tokenizer.forModel(name), { code: 'ERR_TOKENLANE_UNKNOWN_MODEL' })
  }
  for (const name of [undefined, null, 7, {}, ['gpt-4o']]) {
    assert.throws(() => encodingForModel(name), { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
    await assert.rejects(Tokenizer.forModel(name), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  }
  const hint = {
    name: 'RangeError',
    code: 'ERR_TOKENLANE_UNKNOWN_ENCODING',
    message: /it is a model: Tokenizer\.forModel\('gpt-4o'\)/,
  }
  assert.throws(() => Tokenizer.fromEncodingSync('gpt-4o'), hint)
  await assert.rejects(Tokenizer.fromEncoding('gpt-4o'), hint)
  await assert.rejects(Tokenizer.fromEncoding('nope'), { message: /^(?!.*forModel)/ })
})

test('the table has no name twice, and only bundled encodings', () => {
  const names = Object.values(table.encodings).flat()
  assert.equal(new Set(names).size, names.length)
  for (const encoding of [...Object.keys(table.encodings), ...Object.values(table.prefixes)]) {
    assert.ok(encoding === 'gpt2' || encodings().includes(encoding), encoding)
  }
})

test('the command line and the drop-ins use the same table', () => {
  const { get_encoding_name_for_model } = require('@tokenlane/tiktoken')
  const { modelToEncodingMap, chatModelParams, DEFAULT_ENCODING } = require('@tokenlane/gpt-tokenizer/mapping')
  const own = (encoding) => (encoding === 'gpt2' ? 'r50k_base' : encoding)
  const listed = [
    ...Object.keys(require('@tokenlane/tiktoken/model_to_encoding.json')).map((name) => [
      name,
      get_encoding_name_for_model(name),
    ]),
    ...Object.entries(modelToEncodingMap),
    ...Object.keys(chatModelParams).map((name) => [name, modelToEncodingMap[name] ?? DEFAULT_ENCODING]),
  ]
  assert.ok(listed.length > 200)
  for (const [name, encoding] of listed) assert.equal(encodingForModel(name), own(encoding), name)
  for (const names of Object.values(table.encodings))
    for (const name of names) assert.equal(encodingOf(name), encodingForModel(name))
  for (const name of encodings()) assert.equal(encodingOf(name), name)
})
