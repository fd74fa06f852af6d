// Arrays of any length, which only a Proxy has, are refused by the drop-ins before they are read.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { bert } from '../support/bert.mjs'

const require = createRequire(import.meta.url)
const tiktoken = require('../../packages/tiktoken/index.js')
const huggingface = require('../../packages/tokenizers/index.js')
const gptTokenizer = require('../../packages/gpt-tokenizer/main.js')
const { GptEncoding } = require('../../packages/gpt-tokenizer/GptEncoding.js')
const jsTiktoken = require('../../packages/js-tiktoken/index.js')
const transformers = require('../../packages/transformers/index.js')
const { M2M100Tokenizer, WhisperTokenizer } = require('../../packages/transformers/classes.js')
const { Tokenizer } = require('../../index.js')

/** An array whose elements are read at most up to this index, where a value is refused by it. */
const MAX_READ = 8

/** Values that are, or seem to be, as long as an array can be. */
const ENDLESS = {
  'a proxy': new Proxy([], {
    get(list, name) {
      if (name === 'length') return 2 ** 32 - 1
      if (typeof name === 'string' && Number(name) > MAX_READ) throw new Error('the elements were read')
      return Reflect.get(list, name)
    },
  }),
  'an object with a length': { length: 2 ** 32 - 1 },
  'an object with a getter': {
    get length() {
      return 2 ** 32 - 1
    },
  },
}

const JSON_OF_BERT = bert()

/** They end an encoder, write a file, and read iterables that may be endless batch by batch. */
const OMITTED = ['constructor', 'free', 'save', 'encodeStream', 'countStream']

/** The functions and methods of all drop-ins, and of the package, that take arguments. */
function callees() {
  const { PreTrainedTokenizer } = transformers
  const settings = { pad_token: '[PAD]' }
  const owners = {
    tiktoken,
    encoder: tiktoken.get_encoding('r50k_base'),
    jsTiktoken,
    jsEncoder: jsTiktoken.getEncoding('r50k_base'),
    gptTokenizer,
    gptUtil: require('../../packages/gpt-tokenizer/util.js'),
    gptUtf: require('../../packages/gpt-tokenizer/utfUtil.js'),
    gptFunctions: require('../../packages/gpt-tokenizer/functionCalling.js'),
    gptEncoder: GptEncoding.getEncodingApiForModel('gpt-4o'),
    huggingface,
    hfTokenizer: huggingface.Tokenizer.fromString(JSON.stringify(JSON_OF_BERT)),
    hfEncoding: new huggingface.Encoding(),
    transformer: new PreTrainedTokenizer(JSON_OF_BERT, settings),
    m2m100: new M2M100Tokenizer(JSON_OF_BERT, settings),
    whisper: new WhisperTokenizer(JSON_OF_BERT, settings),
    backend: new PreTrainedTokenizer(JSON_OF_BERT, settings)._tokenizer,
    tokenlane: Tokenizer.fromBufferSync(Buffer.from(JSON.stringify(JSON_OF_BERT))),
  }
  return Object.entries(owners).flatMap(([owner, object]) =>
    namesOf(object).map((name) => ({ name: `${owner}.${name}`, call: (...args) => object[name](...args) })),
  )
}

/** The names of the functions of an object and its prototypes, without classes. */
function namesOf(object) {
  const names = new Set()
  for (let of = object; ![null, Object.prototype, Function.prototype].includes(of); of = Object.getPrototypeOf(of))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(of)))
      if (typeof value === 'function' && !OMITTED.includes(name) && !/^class\b/.test(String(value))) names.add(name)
  return [...names]
}

/** Where the value stands among the arguments. */
const PLACES = {
  first: (value) => [value],
  second: (value) => ['a', value],
  third: (value) => ['a', 'b', value],
  element: (value) => [[value]],
  'option of all names': (value) => [
    'a',
    new Proxy({}, { get: (_, name) => (typeof name === 'string' && name !== 'then' ? value : undefined) }),
  ],
}

/** What the results of a call are, a few of them if they are a generator. */
async function settled(result) {
  const value = await result
  if (typeof value?.next === 'function') for (let i = 0; i < 3 && !(await value.next()).done; i++);
}

for (const [what, value] of Object.entries(ENDLESS))
  test(`${what}: every call of the drop-ins and the package ends, with a result or a code`, async () => {
    const wrong = []
    for (const { name, call } of callees())
      for (const [place, args] of Object.entries(PLACES))
        try {
          await settled(call(...args(value)))
        } catch ({ code, message }) {
          if (!String(code).startsWith('ERR_TOKENLANE_')) wrong.push(`${name}, ${place}: ${message}`)
        }
    assert.deepEqual(wrong, [])
  })

const endless = ENDLESS['a proxy']

test('an endless array is refused by its length, and never made text', async () => {
  const encoder = tiktoken.get_encoding('r50k_base')
  const generate = async () => {
    for await (const _ of gptTokenizer.decodeAsyncGenerator(endless)) assert.fail()
  }
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
    () => new transformers.Tensor(endless, [], [1]),
    () => new transformers.Tensor('int64', [endless], [1]),
    () => new transformers.Tensor('float32', [endless], [1]),
    () => huggingface.templateProcessing(['$A']),
    () => encoder.decode([endless]),
  ])
    await assert.rejects(async () => call(), { code: /^ERR_TOKENLANE_/ }, String(call))
})
