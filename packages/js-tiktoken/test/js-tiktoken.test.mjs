// @tokenlane/js-tiktoken, and the recipes for LangChain. Expected results were recorded from
// js-tiktoken 1.0.21.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { Tokenizer } from '../../../index.mjs'
import { countRequest, fromLangChain } from '@tokenlane/requests'

const require = createRequire(import.meta.url)
const { Tiktoken, encodingForModel, getEncoding, getEncodingNameForModel } = require('@tokenlane/js-tiktoken')
const lite = require('@tokenlane/js-tiktoken/lite')
const tiktoken = require('@tokenlane/tiktoken')

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

test('null as an argument names no tokens, as in the original', async () => {
  const encoder = getEncoding('gpt2')
  assert.deepEqual(encoder.encode('hi', null), [5303])
  assert.deepEqual(encoder.encode('<|endoftext|>', null, null), [27, 91, 437, 1659, 5239, 91, 29])
  assert.deepEqual(encoder.encode('<|endoftext|>', 'all', null), [50256])
  for (const wrong of [5, true, {}]) {
    const error = { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' }
    assert.throws(() => encoder.encode('hi', wrong), error)
    assert.throws(() => encoder.encode('hi', [], wrong), error)
  }
})

test('instances have the fields of the original', () => {
  const encoder = getEncoding('gpt2', { '<|x|>': 5 })
  const names = ['specialTokens', 'inverseSpecialTokens', 'patStr', 'textEncoder', 'textDecoder', 'rankMap', 'textMap']
  assert.deepEqual(Object.keys(encoder), names)
  assert.deepEqual(encoder.specialTokens, { '<|endoftext|>': 50256, '<|x|>': 5 })
  assert.deepEqual(encoder.inverseSpecialTokens[5], new TextEncoder().encode('<|x|>'))
  assert.deepEqual('a1 b'.match(new RegExp(encoder.patStr, 'gu')), ['a', '1', ' b'])
  assert.equal(encoder.rankMap.get('104,105'), 5303)
  assert.deepEqual([encoder.textMap.size, encoder.textMap.get(5303)], [50256, Uint8Array.of(104, 105)])
  // A pattern of JavaScript, without groups that ignore case.
  assert.match(getEncoding('o200k_base').patStr, /\('s\|'S\|'t\|'T\|'re\|'rE\|'Re\|'RE\|/)
  assert.deepEqual('a<b'.match(Tiktoken.specialTokenRegex(['<', '.'])), ['<'])
})

// Recorded from tiktoken 1.0.22 and js-tiktoken 1.0.21.
test('a special token may have the id of another token', () => {
  for (const [name, encoder] of Object.entries({
    'js-tiktoken': encodingForModel('gpt-4o', { '<|im_start|>': 100264 }),
    'the lite form': new Tiktoken(ownRanks('o200k_base'), { '<|im_start|>': 100264 }),
    tiktoken: tiktoken.encoding_for_model('gpt-4o', { '<|im_start|>': 100264 }),
    'the constructor of tiktoken': new tiktoken.Tiktoken(
      ...tiktokenArguments('o200k_base', { '<|im_start|>': 100264 }),
    ),
  })) {
    const text = (ids) => (typeof ids === 'string' ? ids : new TextDecoder().decode(ids))
    assert.deepEqual([...encoder.encode('<|im_start|>', 'all')], [100264], name)
    assert.deepEqual([...encoder.encode('<|im_start|>', ['<|im_start|>'])], [100264], name)
    assert.deepEqual([...encoder.encode('<|im_start|>a', [], [])], [27, 91, 321, 10949, 91, 29, 64], name)
    assert.throws(() => encoder.encode('<|im_start|>'), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN' }, name)
    assert.equal(text(encoder.decode(Uint32Array.of(100264))), 'screens', name)
    assert.deepEqual([...encoder.encode('screens')], [100264], name)
  }
  // A stand-in is no id of a token.
  const encoder = tiktoken.get_encoding('gpt2', { '<|x|>': 5 })
  for (const id of [50257, 50258])
    assert.throws(() => encoder.decode_single_token_bytes(id), { code: 'ERR_TOKENLANE_UNKNOWN_ID' })
  assert.throws(() => encoder.decode([50257]), { code: 'ERR_TOKENLANE_UNKNOWN_ID' })
  assert.equal(getEncoding('gpt2', { '<|x|>': 5 }).decode([50257, 5]), '&')
  assert.equal(encoder.encode_single_token(Buffer.from('<|x|>')), 5)
  assert.deepEqual(encoder.encode_with_unstable('a <|x|>', 'all'), [[64, 220, 5], []])
})

const ownRanks = (name) => ({ ...require(`@tokenlane/js-tiktoken/ranks/${name}`) })

function tiktokenArguments(name, more) {
  const { bpe_ranks, pat_str, special_tokens } = require(`@tokenlane/tiktoken/encoders/${name}`)
  return [bpe_ranks, { ...special_tokens, ...more }, pat_str]
}

test('special tokens of any ids are encoded, and decoded as the ordinary token or the last special one', () => {
  const plain = getEncoding('gpt2')
  const random = randomOf(7)
  const pick = (list) => list[random() % list.length]
  const words = ['hello', ' world', '\n\n', 'é', "don't", '  ', '7']
  for (let round = 0; round < 25; round++) {
    const ids = [random() % 50256, random() % 256, 50256, 50257, 50258, 60_000, 2 ** 32 - 1]
    const names = ['<|a|>', '<|b|>', '[c]', 'hello'].slice(0, 1 + (random() % 4))
    const special = Object.fromEntries(names.map((name) => [name, pick(ids)]))
    const all = { '<|endoftext|>': 50256, ...special }
    const parts = Array.from({ length: 12 }, () => pick([...words.slice(1), ...Object.keys(all)]))
    // Special tokens end words, so the text between two of them is encoded on its own.
    const between = parts.join('').split(
      new RegExp(
        `(${Object.keys(all)
          .map(RegExp.escape ?? escaped)
          .join('|')})`,
      ),
    )
    const expected = between.flatMap((part) => (Object.hasOwn(all, part) ? [all[part]] : plain.encode(part)))
    const last = new Map(Object.entries(all).map(([name, id]) => [id, name]))
    const encoders = [getEncoding('gpt2', special), tiktoken.get_encoding('gpt2', special)]
    for (const [which, encoder] of encoders.entries()) {
      const message = `${which} ${JSON.stringify([special, parts])}`
      assert.deepEqual([...encoder.encode(parts.join(''), 'all')], expected, message)
      for (const id of [...ids, ...Object.values(all)].filter((one) => one < 50256 || last.has(one))) {
        const decoded = encoder.decode(Uint32Array.of(id))
        const text = typeof decoded === 'string' ? decoded : new TextDecoder().decode(decoded)
        assert.equal(text, id < 50256 ? plain.decode([id]) : last.get(id), `${message} ${id}`)
      }
    }
  }
})

const escaped = (text) => text.replace(/[|[\]]/g, '\\$&')

function randomOf(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state >>> 8
  }
}

test('ids of js-tiktoken may be any numbers, those of tiktoken 32 bits', () => {
  for (const id of [-1, 1.5, 2 ** 32]) {
    const encoder = getEncoding('gpt2', { '<|x|>': id })
    assert.deepEqual(encoder.encode('<|x|>', 'all'), [id])
    assert.equal(encoder.decode([id, 64]), '<|x|>a')
    assert.throws(() => tiktoken.get_encoding('gpt2', { '<|x|>': id }), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  }
  for (const wrong of ['5', null, {}])
    for (const make of [getEncoding, tiktoken.get_encoding])
      assert.throws(() => make('gpt2', { '<|x|>': wrong }), { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
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
    const { default: ranks } = await import(`@tokenlane/js-tiktoken/ranks/${name}`)
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
  const text = fs.readFileSync(new URL('../../../docs/guide/services.md', import.meta.url), 'utf8')
  const encoder = getEncoding('o200k_base')
  const pieces = cut(encoder, text, 64, 0)
  assert.equal(pieces.join(''), text)
  assert.ok(pieces.slice(0, -1).every((piece) => typeof piece === 'string' && encoder.encode(piece).length <= 64))
})

test('the recipes of docs/guide/langchain.md run', async () => {
  const guide = fs.readFileSync(new URL('../../../docs/guide/langchain.md', import.meta.url), 'utf8')
  const blocks = [...guide.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) =>
    code.replaceAll(/^import .*\n|^const (?:text|tokenizer) = .*\n/gm, ''),
  )
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
  /** A class of messages of a type. */
  const messages = (type) =>
    class {
      constructor(fields) {
        Object.assign(this, typeof fields === 'string' ? { content: fields } : fields)
      }

      getType() {
        return type
      }
    }
  const tokenizer = Tokenizer.forModelSync('gpt-4o')
  const variables = {
    TextSplitter,
    TokenTextSplitter: TextSplitter,
    RecursiveCharacterTextSplitter: TextSplitter,
    Tokenizer,
    tokenizer,
    getEncoding,
    countRequest,
    fromLangChain,
    text,
    HumanMessage: messages('human'),
    AIMessage: messages('ai'),
    ToolMessage: messages('tool'),
    trimMessages: (some, { maxTokens, tokenCounter }) => some.filter((one) => tokenCounter([one]) <= maxTokens),
  }
  const AsyncFunction = (async () => {}).constructor
  const result = (code, last) =>
    new AsyncFunction(...Object.keys(variables), `${code}\nreturn ${last}`)(...Object.values(variables))
  const chunks = await result(blocks[0], 'chunks')
  assert.ok(chunks.length > 2 && chunks.every((chunk) => tokenizer.count(chunk) <= 512))
  assert.equal(await result(blocks[1], 'splitter.splitText(text)'), tokenizer.count(text))
  const documents = await result(blocks[2], 'documents')
  assert.ok(documents.length > 2 && documents.every((piece) => piece.endsWith('. ') && tokenizer.count(piece) <= 512))
  assert.equal((await result(blocks[3], 'left')).length, 3)
  assert.equal(
    await result(blocks[3], 'count(history)'),
    countRequest(tokenizer, {
      messages: [
        { role: 'user', content: 'What time is it?' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: '1', type: 'function', function: { name: 'now', arguments: '{}' } }],
        },
        { role: 'tool', content: '12:00', tool_call_id: '1' },
      ],
    }).tokens,
  )
})
