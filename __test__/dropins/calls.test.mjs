// The drop-ins, imported by the names of their entry points. Expected results were recorded from
// tiktoken 1.0.22 and gpt-tokenizer 4.0.0.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import '../../tools/model-entries.mjs'
import { failure } from '../support/texts.mjs'

const require = createRequire(import.meta.url)
const root = new URL('../..', import.meta.url)
const tiktoken = await import('@tokenlane/tiktoken')
const hf = await import('@tokenlane/tokenizers')
const gpt = await import('@tokenlane/gpt-tokenizer')

const code = (call) => failure(call).then((error) => error.code)

test('tiktoken: registry and list of models', async () => {
  const registry = require('@tokenlane/tiktoken/registry.json')
  const models = require('@tokenlane/tiktoken/model_to_encoding.json')
  for (const [name, { special_tokens, pat_str, ...rest }] of Object.entries(registry)) {
    const bundled = require(`@tokenlane/tiktoken/encoders/${name}.json`)
    assert.deepEqual(special_tokens, bundled.special_tokens, name)
    const encoder = new tiktoken.Tiktoken(bundled.bpe_ranks, special_tokens, pat_str)
    const text = "It's 12345 naïve\n\n  words, DON'T!  "
    assert.deepEqual(encoder.encode(text), tiktoken.get_encoding(name).encode(text), name)
    const urls = JSON.stringify(rest).match(/https:[^"]+/g)
    assert.ok(
      urls.length > 0 && urls.every((url) => url.startsWith('https://openaipublic.blob.core.windows.net/')),
      name,
    )
  }
  for (const [model, encoding] of Object.entries(models)) {
    assert.ok(Object.hasOwn(registry, encoding), model)
    assert.equal(tiktoken.get_encoding_name_for_model(model), encoding)
  }
  // As in the README of the original for encodings that are not bundled.
  const { load } = require('@tokenlane/tiktoken/load')
  const bundled = require('@tokenlane/tiktoken/encoders/cl100k_base')
  const model = await load(registry[models['gpt-3.5-turbo']], async () => bundled.bpe_ranks)
  const encoder = new (require('@tokenlane/tiktoken/lite').Tiktoken)(
    model.bpe_ranks,
    model.special_tokens,
    model.pat_str,
  )
  assert.deepEqual([...encoder.encode('hello world')], [15339, 1917])
  assert.equal(await code(() => tiktoken.encoding_for_model('constructor')), 'ERR_TOKENLANE_UNKNOWN_MODEL')
})

test('the typings of tiktoken list exactly the known models', () => {
  const typings = fs.readFileSync(new URL('packages/tiktoken/internal/models.d.ts', root), 'utf8')
  const listed = [...typings.matchAll(/\| '(.+)'/g)].map(([, name]) => name)
  assert.deepEqual(listed, Object.keys(require('@tokenlane/tiktoken/model_to_encoding.json')))
  for (const name of listed) assert.ok(tiktoken.get_encoding_name_for_model(name), name)
})

test('tiktoken: encode, decode, special tokens', () => {
  const { get_encoding, encoding_for_model, get_encoding_name_for_model } = tiktoken
  const encoder = get_encoding('gpt2')
  assert.equal(encoder.name, 'gpt2')
  assert.deepEqual(encoder.encode('hello world'), Uint32Array.of(31373, 995))
  assert.equal(new TextDecoder().decode(encoder.decode(Uint32Array.of(31373, 995))), 'hello world')
  assert.deepEqual([...encoder.encode('hello <|endoftext|>', 'all')], [31373, 220, 50256])
  assert.deepEqual([...encoder.encode('<|endoftext|>', [], [])], [27, 91, 437, 1659, 5239, 91, 29])
  assert.throws(() => encoder.encode('a <|endoftext|>'), {
    code: 'ERR_TOKENLANE_SPECIAL_TOKEN',
    message: /not allowed: <\|endoftext\|>/,
  })
  assert.throws(() => encoder.encode('a foo', [], ['foo']), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN' })
  assert.throws(() => encoder.encode('a', 'some'), {
    message: 'Invalid value for allowed_special',
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
  })
  const more = get_encoding('gpt2', { '<|x|>': 100000 })
  assert.deepEqual([...more.encode('<|x|>', ['<|x|>'])], [100000])
  assert.equal(encoding_for_model('gpt-4o').name, 'o200k_base')
  assert.equal(get_encoding_name_for_model('text-davinci-003'), 'p50k_base')
  assert.throws(() => get_encoding('nope'), { message: 'Invalid encoding', code: 'ERR_TOKENLANE_UNKNOWN_ENCODING' })
  assert.throws(() => encoding_for_model('nope'), {
    message: 'Invalid model: nope',
    code: 'ERR_TOKENLANE_UNKNOWN_MODEL',
  })
})

test('tiktoken: single tokens, all tokens, free', async () => {
  const encoder = tiktoken.get_encoding('cl100k_base')
  for (let id = 0; id < 100_000; id += 37)
    assert.equal(encoder.encode_single_token(encoder.decode_single_token_bytes(id)), id)
  assert.equal(encoder.encode_single_token(Buffer.from('<|endoftext|>')), 100257)
  assert.equal(
    await code(() => encoder.encode_single_token(Buffer.from('no such token'))),
    'ERR_TOKENLANE_NO_SUCH_TOKEN',
  )
  const bytes = encoder.token_byte_values()
  assert.deepEqual([bytes.length, bytes[0], bytes.at(-1)], [100256, [0], [255]])
  encoder.free()
  for (const call of [() => encoder.encode('a'), () => encoder.name, () => encoder.decode([1])]) {
    assert.equal(await code(call), 'ERR_TOKENLANE_DISPOSED')
  }
})

test('tiktoken: encode_with_unstable', () => {
  const [stable, completions] = tiktoken.get_encoding('gpt2').encode_with_unstable('hello fanta')
  assert.deepEqual(stable, [31373])
  const found = completions.map((ids) => ids.join())
  for (const ids of ['5113,27792', '5113,7335', '5113,504']) assert.ok(found.includes(ids), ids)
  assert.deepEqual(tiktoken.get_encoding('gpt2').encode_with_unstable('hello <|endoftext|>', 'all'), [
    [31373, 220, 50256],
    [],
  ])
  // No token starts with these bytes: nothing can follow but the text itself.
  const own = new tiktoken.Tiktoken('YQ== 0\nYg== 1\nYWE= 2', { '<s>': 7 }, '.+')
  assert.deepEqual(own.encode_with_unstable('b<s>', 'all'), [[1, 7], []])
  assert.deepEqual(own.encode_with_unstable(''), [[], []])
  assert.deepEqual(own.encode_with_unstable('bb'), [[], [[1, 1]]])
  assert.deepEqual(own.encode_with_unstable('b'), [[], [[1]]])
  // Every completion is a text that starts with the unstable part.
  const encoder = tiktoken.get_encoding('gpt2')
  for (const text of ['a日', 'x  ', "don't"]) {
    const [certain, others] = encoder.encode_with_unstable(text)
    const rest = Buffer.from(text).subarray(encoder.decode(certain).length)
    for (const ids of others) assert.ok(Buffer.from(encoder.decode(ids)).subarray(0, rest.length).equals(rest), text)
  }
})

test('tiktoken: encode_with_unstable finds all completions of 500 spaces', () => {
  const [stable, completions] = tiktoken.get_encoding('gpt2').encode_with_unstable(' '.repeat(500))
  // The numbers of tiktoken 0.14 in Python.
  assert.equal(stable.length, 0)
  assert.equal(completions.length, 33_135)
  assert.equal(
    completions.reduce((sum, ids) => sum + ids.length, 0),
    16_567_500,
  )
})

test('tiktoken: custom ranks, in both forms', async () => {
  const { default: module } = await import('@tokenlane/tiktoken/encoders/r50k_base')
  const { bpe_ranks, pat_str, special_tokens } = module
  const { Tiktoken } = await import('@tokenlane/tiktoken/lite')
  assert.match(bpe_ranks, /^! 0 \S+ \S+/)
  const lines = bpe_ranks
    .split(' ')
    .slice(2)
    .map((token, rank) => `${token} ${rank}`)
    .join('\n')
  for (const ranks of [bpe_ranks, lines]) {
    const encoder = new Tiktoken(ranks, special_tokens, pat_str)
    assert.equal(encoder.name, undefined)
    assert.deepEqual([...encoder.encode('hello world')], [31373, 995])
  }
  assert.equal(await code(() => new Tiktoken('x', {}, '.')), 'ERR_TOKENLANE_RANK_LINE')
  assert.equal(await code(() => new Tiktoken(bpe_ranks, {}, '(')), 'ERR_TOKENLANE_PATTERN')
})

test('tiktoken: load reads both kinds of files, and init must come first', async () => {
  const { load } = await import('@tokenlane/tiktoken/load')
  const entry = { pat_str: '.', special_tokens: {}, explicit_n_vocab: 3 }
  const files = { ranks: 'IQ== 0\n' }
  assert.deepEqual(await load({ ...entry, load_tiktoken_bpe: 'ranks' }, async (url) => files[url]), {
    ...entry,
    bpe_ranks: 'IQ== 0\n',
  })
  const letters = hf.byteLevelAlphabet()
  const singles = [...letters.filter((c) => c.charCodeAt(0) < 256), ...letters.filter((c) => c.charCodeAt(0) >= 256)]
  const encoder = Object.fromEntries([...singles, 'ab'].map((token, rank) => [token, rank]))
  Object.assign(files, { vocab: '#version\na b\n', encoder: JSON.stringify({ ...encoder, '<|endoftext|>': 300 }) })
  const gym = { vocab_bpe_file: 'vocab', encoder_json_file: 'encoder' }
  const { bpe_ranks } = await load({ ...entry, data_gym_to_mergeable_bpe_ranks: gym }, async (url) => files[url])
  assert.deepEqual(
    [...new tiktoken.Tiktoken(bpe_ranks, {}, '[^ ]+| ').encode('ab a')],
    [256, singles.indexOf('Ġ'), singles.indexOf('a')],
  )
  const script = `const { init, get_encoding } = require('@tokenlane/tiktoken/init')
    try { get_encoding('gpt2') } catch (error) { console.log(error.code) }
    const { Tiktoken, encoding_for_model, get_encoding_name_for_model } = require('@tokenlane/tiktoken/init')
    for (const call of [() => encoding_for_model('gpt2'), () => get_encoding_name_for_model('gpt2'), () => new Tiktoken('IQ== 0', {}, '.')])
      try { call() } catch (error) { console.log(error.code) }
    const wasm = require('node:fs').readFileSync(require.resolve('@tokenlane/tiktoken/tiktoken_bg.wasm'))
    init((imports) => WebAssembly.instantiate(wasm, imports)).then(() => {
      console.log(get_encoding('gpt2').encode('a').length, encoding_for_model('gpt2').name)
      const own = new Tiktoken('IQ== 0', { '<s>': 1 }, '.')
      console.log(own.encode('!<s>', 'all').join(), own instanceof Tiktoken, get_encoding('gpt2') instanceof Tiktoken)
    })`
  const { stdout } = spawnSync(process.execPath, ['-e', script], { cwd: root, encoding: 'utf8' })
  assert.equal(stdout, 'ERR_TOKENLANE_NOT_INITIALIZED\n'.repeat(4) + '1 gpt2\n0,1 true true\n')
})

test('gpt-tokenizer: texts', async () => {
  const { encode, decode, countTokens, isWithinTokenLimit, encodeGenerator, decodeGenerator } = gpt
  assert.deepEqual(encode('hello 👋 world 🌍'), [24912, 61138, 233, 2375, 130321, 235])
  assert.equal(decode(encode('naïve 日本語')), 'naïve 日本語')
  assert.equal(gpt.default.encode, encode)
  assert.deepEqual([...encodeGenerator('hello world')], [[24912], [2375]])
  assert.deepEqual(
    [...decodeGenerator([24912, 61138, 233, 2375, 130321, 235])],
    ['hello', ' ', '👋', ' world', ' ', '🌍'],
  )
  assert.equal(countTokens('hello world'), 2)
  assert.equal(isWithinTokenLimit('hello world', 1), false)
  assert.equal(isWithinTokenLimit('hello world', 2), 2)
  assert.equal(isWithinTokenLimit('', 0), 0)
  assert.equal(isWithinTokenLimit('', -1), 0)
  assert.equal(isWithinTokenLimit('a', -1), false)
  const end = '<|endoftext|>'
  assert.throws(() => encode(`a ${end}`), {
    message: `Disallowed special token found: ${end}`,
    code: 'ERR_TOKENLANE_SPECIAL_TOKEN',
  })
  assert.deepEqual(encode(end, { allowedSpecial: 'all' }), [199999])
  assert.deepEqual(encode(end, { allowedSpecial: new Set([end]) }), [199999])
  assert.ok(encode(end, { disallowedSpecial: new Set() }).length > 1)
  async function* ids() {
    yield* encode('naïve 日本語')
  }
  assert.equal(await gpt.default.decodeAsync(ids()), 'naïve 日本語')
})

test('gpt-tokenizer: chats, functions, costs', async () => {
  const model = await import('@tokenlane/gpt-tokenizer/model/gpt-4o')
  const chat = [{ role: 'user', content: 'Hello' }]
  // <|im_start|> user <|im_sep|> Hello <|im_end|> <|im_start|> assistant <|im_sep|>
  assert.deepEqual(model.encodeChat(chat), [200003, 1428, 200005, 13225, 200004, 200003, 173781, 200005])
  assert.equal(model.countTokens(chat), 8)
  assert.equal(model.isWithinTokenLimit(chat, 7), false)
  const harmony = await import('@tokenlane/gpt-tokenizer/model/gpt-oss-20b')
  const message = {
    role: 'assistant',
    channel: 'commentary',
    recipient: 'functions.f',
    constraint: 'json',
    content: '{}',
    terminator: '<|call|>',
  }
  const text = harmony.decode(harmony.encodeChat([message]))
  assert.equal(
    text,
    '<|start|>assistant<|channel|>commentary to=functions.f<|constrain|>json<|message|>{}<|call|><|start|>assistant',
  )
  const request = {
    messages: [
      { role: 'system', content: 'x' },
      { role: 'user', content: 'y', name: 'z' },
    ],
    functions: [
      {
        name: 'f',
        description: 'd',
        parameters: { type: 'object', properties: { a: { type: 'string', enum: ['p', 'q'] } } },
      },
    ],
    function_call: { name: 'f' },
  }
  // The result of gpt-tokenizer 4.0.0.
  assert.equal(model.countChatCompletionTokens(request), 54)
  const old = await import('@tokenlane/gpt-tokenizer/model/gpt-3.5-turbo-0613')
  assert.ok(!('countChatCompletionTokens' in old))
  assert.equal(await code(() => gpt.encodeChat(chat)), 'ERR_TOKENLANE_ARGUMENT_VALUE')
  assert.equal(await code(() => gpt.encodeChat(chat, 'ada')), 'ERR_TOKENLANE_UNSUPPORTED')
  assert.equal(await code(() => model.estimateCost(1)), 'ERR_TOKENLANE_ARGUMENT_VALUE')
  assert.deepEqual(model.estimateCost(2e6, { name: 'x', price_data: { main: { input: 3 } } }).main.input, 6)
})

test('gpt-tokenizer: edge cases of limits, options and lists equal the original', async () => {
  const { decode, decodeGenerator, encode, isWithinTokenLimit } = gpt
  const chat = await import('@tokenlane/gpt-tokenizer/model/gpt-4')
  // An empty text is within every limit, and a limit that is not a number is no limit.
  for (const limit of [-1, -Infinity, 0, 5, Infinity, NaN, undefined, null, 'x'])
    assert.equal(isWithinTokenLimit('', limit), 0, `${limit}`)
  const limits = [
    [-1, false],
    [-0.5, false],
    [0, false],
    [1, false],
    [1.9, false],
    [2, 2],
    [2.5, 2],
    [Infinity, 2],
    [2 ** 53, 2],
    ['2', 2],
    [null, false],
  ]
  for (const [limit, expected] of [
    ...limits,
    [NaN, 2],
    [undefined, 2],
    ['x', 2],
    [true, false],
    [2n, 2],
    [1n, false],
  ]) {
    assert.equal(isWithinTokenLimit('Hello world', limit), expected, `${typeof limit} ${limit}`)
  }
  assert.deepEqual(encode('', null), [])
  assert.equal(encode('hi', null).length, 1)
  assert.equal(await code(() => encode('<|endoftext|>', null)), 'ERR_TOKENLANE_SPECIAL_TOKEN')
  assert.equal(chat.isWithinTokenLimit([], -1), false)
  assert.equal(chat.isWithinTokenLimit([], NaN), chat.encodeChat([]).length)
  assert.equal(chat.isWithinTokenLimit([], 100), chat.encodeChat([]).length)
  // Empty content adds no list.
  for (const wrong of [null, {}, 1, [null], ['a'], new Array(1e7)])
    assert.throws(() => chat.encodeChat(wrong), { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  assert.throws(() => chat.encodeChat([], 'constructor'), { code: 'ERR_TOKENLANE_UNSUPPORTED' })
  const lists = [...chat.encodeChatGenerator([{ role: 'user', content: '' }])]
  assert.deepEqual(lists, [[100264], [882], [100266], [100265], [], [100264], [78191], [100266]])
  // A content comes word by word, of ChatML and of harmony.
  const words = [...chat.encodeGenerator('Hello, wide world')]
  assert.equal(words.length, 4)
  assert.deepEqual([...chat.encodeChatGenerator([{ role: 'user', content: 'Hello, wide world' }])].slice(3, 7), words)
  const { encodeChatGenerator } = require('@tokenlane/gpt-tokenizer/encoding/o200k_harmony')
  const spoken = [...encodeChatGenerator([{ role: 'user', content: 'Hello, wide world' }], 'gpt-5')]
  assert.deepEqual(
    spoken.flatMap((ids) => ids.length),
    Array(10).fill(1),
  )
  // Generators leave out tokens that do not exist, decode does not.
  assert.equal([...decodeGenerator([0, 3e5, 1, -1, NaN, 1.5])].join(''), '!"')
  assert.equal(await gpt.default.decodeAsync([0, 3e5, 1]), '!"')
  for (const id of [3e5, -1, 1.5, NaN, undefined, 'a']) {
    const message = `Token ${id} is not in the byte pair encoder.`
    assert.throws(() => decode([0, id, 1]), { message, code: 'ERR_TOKENLANE_UNKNOWN_ID' })
  }
  assert.equal(decode([]), '')
})

test('gpt-tokenizer: ranks of resolveEncoding, of the caller, and wrong ones', async () => {
  const { GptEncoding } = require('@tokenlane/gpt-tokenizer/GptEncoding')
  const { resolveEncodingAsync } = await import('@tokenlane/gpt-tokenizer/resolveEncodingAsync')
  const { resolveEncoding } = require('@tokenlane/gpt-tokenizer/resolveEncoding')
  const ranks = await resolveEncodingAsync('cl100k_base')
  assert.deepEqual([ranks.length, ranks[0], ranks[9906], ranks[3305]], [100256, '!', 'Hello', [239, 187, 191]])
  assert.strictEqual(resolveEncoding('cl100k_base'), ranks)
  assert.strictEqual((await import('@tokenlane/gpt-tokenizer/bpeRanks/cl100k_base')).default, ranks)
  // Ranks of the caller are used: here another token has the id of "Hello".
  const other = [...ranks]
  ;[other[9906], other[1917]] = [other[1917], other[9906]]
  for (const [given, ids] of [
    [() => ranks, [9906, 1917]],
    [() => other, [1917, 9906]],
    [undefined, [9906, 1917]],
  ]) {
    const api = GptEncoding.getEncodingApi('cl100k_base', given)
    assert.deepEqual(api.encode('Hello world'), ids)
    assert.equal(api.decode(ids), 'Hello world')
    assert.equal(api.countTokens([{ role: 'user', content: 'a' }].map(({ content }) => content).join()), 1)
  }
  const wrong = { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' }
  assert.throws(() => GptEncoding.getEncodingApi('cl100k_base', 'ranks'), wrong)
  assert.throws(() => GptEncoding.getEncodingApi('cl100k_base', () => undefined), wrong)
  assert.throws(() => GptEncoding.getEncodingApi('cl100k_base', () => ({})), wrong)
  assert.throws(() => new GptEncoding(), wrong)
  assert.throws(() => resolveEncoding('nope'), { code: 'ERR_TOKENLANE_UNKNOWN_ENCODING' })
  assert.equal(await code(() => resolveEncodingAsync('nope')), 'ERR_TOKENLANE_UNKNOWN_ENCODING')
})

test('gpt-tokenizer: the size of a vocabulary is known before it is loaded, and right', () => {
  const { GptEncoding } = require('@tokenlane/gpt-tokenizer/GptEncoding')
  const { encodingNames } = require('@tokenlane/gpt-tokenizer/mapping')
  const { resolveEncoding } = require('@tokenlane/gpt-tokenizer/resolveEncoding')
  for (const name of encodingNames) {
    const api = GptEncoding.getEncodingApi(name)
    // Ranks have holes.
    const copy = GptEncoding.getEncodingApi(name, () => resolveEncoding(name).slice())
    assert.equal(api.vocabularySize, copy.vocabularySize, name)
  }
})

test('gpt-tokenizer: helpers', () => {
  const utf = require('@tokenlane/gpt-tokenizer/utfUtil')
  const util = require('@tokenlane/gpt-tokenizer/util')
  assert.deepEqual([127, 128].map(utf.isAscii), [true, false])
  assert.deepEqual(['', 'a', 'a\ud83d', '👋', '\udc4b'].map(utf.endsWithIncompleteUtfPairSurrogate), [
    false,
    false,
    true,
    false,
    false,
  ])
  assert.deepEqual(
    [[104, 105], [0xc3], []].map((bytes) => utf.tryConvertToString(Uint8Array.from(bytes))),
    ['hi', undefined, ''],
  )
  const order = [[1, 2], [1, 3], [1], [], [1, 2]].map((bytes) =>
    Math.sign(utf.compareUint8Arrays(Uint8Array.of(1, 2), Uint8Array.from(bytes))),
  )
  assert.deepEqual(order, [0, -1, 1, 1, 0])
  assert.deepEqual(
    [
      util.getMaxValueFromMap(new Map()),
      util.getMaxValueFromMap(
        new Map([
          ['a', 3],
          ['b', 2],
        ]),
      ),
    ],
    [0, 3],
  )
  assert.equal(util.escapeRegExp('<|a.b|>'), '<\\|a\\.b\\|>')
  assert.deepEqual('x<|a|>'.match(util.getSpecialTokenRegex(new Set(['<|a|>', 'b'])))[1], '<|a|>')
})

test('gpt-tokenizer: requests with functions have the counts of the original', async () => {
  const model = await import('@tokenlane/gpt-tokenizer/model/gpt-4o')
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ]
  const one = (parameters, rest = {}) => ({ name: 'f', description: 'Does it.', parameters, ...rest })
  const object = (properties, required) => ({ type: 'object', properties, ...(required && { required }) })
  const requests = [
    { messages, functions: [one(object({ a: { type: 'string' }, b: { type: 'string', enum: ['x', 'y z'] } }, ['a']))] },
    { messages, functions: [one(object({ n: { type: 'integer' }, m: { type: 'number', enum: [1, 2.5] } }))] },
    { messages, functions: [one(object({ t: { type: 'boolean' }, z: { type: 'null' }, u: { type: 'other' } }))] },
    { messages, functions: [one(object({ l: { type: 'array' }, s: { type: 'array', items: { type: 'string' } } }))] },
    {
      messages,
      functions: [
        one(object({ o: { ...object({ p: { type: 'string', description: 'inner' } }), description: 'outer' } })),
      ],
    },
    { messages, functions: [one(undefined), { name: 'g' }, { name: 'h', parameters: object({}) }] },
    { messages, functions: [{ name: 'g' }], function_call: 'none' },
    { messages, functions: [{ name: 'g' }], function_call: 'auto' },
    { messages, functions: [{ name: 'g' }], function_call: { name: 'g' } },
    { messages: [{ role: 'user', content: 'Hi', name: 'Ann' }] },
    { messages: [{ role: 'assistant', content: null, function_call: { name: 'g', arguments: '{"a": 1}' } }] },
    { messages: [{ role: 'function', name: 'g', content: '{"b": [1, 2]}' }] },
    {
      messages: [
        { role: 'system', content: 'x' },
        { role: 'user', content: 'y' },
      ],
      functions: [{ name: 'g', description: '' }],
    },
  ]
  // Those of gpt-tokenizer 4.0.0.
  assert.deepEqual(
    requests.map((request) => model.countChatCompletionTokens(request)),
    [54, 54, 52, 48, 51, 51, 35, 34, 39, 10, 17, 16, 33],
  )
})
