// Tokenizers of GGUF files, the format of llama.cpp. testdata/gguf.json has answers of libllama,
// which `npm run maintain -- gguf` asks about many more files and texts.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { bert } from '../support/bert.mjs'
import { runIn } from '../support/cli.mjs'
import { bpeValues, gguf } from '../support/gguf.mjs'
import { failure, texts } from '../support/texts.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const require = createRequire(import.meta.url)
const { MAX_BYTES, metadataOf } = require('../../lib/model/gguf/metadata.js')
const { preTokenizerOf } = require('../../lib/model/gguf/patterns.js')
const { tokenizerOf } = require('../../lib/model/gguf/tokenizer.js')
const { ENTRIES, runNow } = require('../../lib/steps.js')
const RECORDED = require('../testdata/gguf.json')

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-gguf-'))
after(() => fs.rmSync(root, { recursive: true, force: true }))

const TEMPLATE = "{{ bos_token }}{% for m in messages %}{{ m['content'] }}{{ eos_token }}{% endfor %}"
const EDGES = [
  ['tokenizer.ggml.bos_token_id', 'u32', 14],
  ['tokenizer.ggml.eos_token_id', 'u32', 15],
  ['tokenizer.ggml.add_bos_token', 'flag', true],
  ['tokenizer.ggml.add_eos_token', 'flag', true],
  ['tokenizer.chat_template', 'text', TEMPLATE],
]
const values = () => bpeValues(tiny(), EDGES)
const file = () => gguf(values())
const changed = (key, ...entry) => values().map((one) => (one[0] === key ? [key, ...entry] : one))
const without = (key) => values().filter(([name]) => name !== key)
const TOKENS = values().find(([key]) => key === 'tokenizer.ggml.tokens')[2]
const TWICE = TOKENS.map((token) => (token === 'd' ? 'l' : token))
const NOT_UTF8 = TOKENS.map((token, id) => (id === 5 ? Buffer.from([0xff]) : token))
const load = (bytes, options) => Tokenizer.fromBufferSync(bytes, options)
/** The values of a recorded file, whose charsmaps are base64. */
const recordedValues = (values) =>
  values.map(([key, type, value]) => [key, type, type === '[u8]' ? [...Buffer.from(value, 'base64')] : value])
const ids = (tokenizer, text, options) => [...tokenizer.encode(text, options).ids]

function write(name, bytes) {
  const place = path.join(root, name)
  fs.writeFileSync(place, bytes)
  return place
}

test('byte-level BPE equals that of the tokenizer.json', async () => {
  const reference = load(bytesOf(tiny()))
  const place = write('tiny.gguf', file())
  const made = [load(file()), await Tokenizer.fromBuffer(file()), await Tokenizer.fromFile(place)]
  for (const one of [...made, Tokenizer.fromFileSync(place)]) {
    for (const text of ['hello world', 'hell  or </s> held', '<s>hello', '', ...texts(5, 300)]) {
      assert.deepEqual(ids(one, text), ids(reference, text), text)
      assert.deepEqual(ids(one, text, { specialTokens: 'text' }), ids(reference, text, { specialTokens: 'text' }))
    }
    assert.equal(one.decode([11, 12]), 'hello w')
    assert.equal(one.vocabSize(), reference.vocabSize())
  }
  assert.deepEqual(ids(Tokenizer.fromBufferSync(made[0].toBuffer()), 'hello'), [14, 11, 15])
})

test('the file has the special tokens, the template and the length of the context', () => {
  const tokenizer = load(file())
  assert.deepEqual([tokenizer.bosId, tokenizer.eosId, tokenizer.modelMaxLength], [14, 15, 4096])
  assert.deepEqual(
    [...tokenizer.specialTokens],
    [
      ['<s>', 14],
      ['</s>', 15],
    ],
  )
  const messages = [{ role: 'user', content: 'hello</s>' }]
  assert.equal(tokenizer.applyChatTemplate(messages, { tokenize: false }), '<s>hello</s></s>')
  const { ids: chat } = tokenizer.applyChatTemplate(messages)
  assert.deepEqual([chat[0], chat[1], chat.at(-1)], [14, 11, 15])
  assert.equal(chat.indexOf(15), chat.length - 1)
  const own = load(file(), { chatTemplate: '{{ eos_token }}', config: { eos_token: 'hello' } })
  assert.deepEqual([...own.applyChatTemplate(messages).ids], [11])
  const named = [...values(), ['tokenizer.chat_template.tool_use', 'text', 'tools']]
  const options = /** @type {const} */ ({ tokenize: false, tools: [{}] })
  assert.equal(load(gguf(named)).applyChatTemplate(messages, options), 'tools')
  assert.equal(load(gguf(named)).applyChatTemplate(messages, { tokenize: false }), '<s>hello</s></s>')
})

test('WordPiece equals that of the tokenizer.json', () => {
  const { model } = bert()
  const pieces = Object.keys(model.vocab).sort((a, b) => model.vocab[a] - model.vocab[b])
  const isSpecial = (one) => one.startsWith('[') && one.endsWith(']')
  const spelled = pieces.map((one) => (isSpecial(one) ? one : one.startsWith('##') ? one.slice(2) : `▁${one}`))
  const tokenizer = load(
    gguf([
      ['tokenizer.ggml.model', 'text', 'bert'],
      ['tokenizer.ggml.tokens', '[text]', spelled],
      ['tokenizer.ggml.token_type', '[i32]', pieces.map((one) => (isSpecial(one) ? 3 : 1))],
      ['tokenizer.ggml.unknown_token_id', 'u32', 1],
      ['tokenizer.ggml.bos_token_id', 'u32', 2],
      ['tokenizer.ggml.seperator_token_id', 'u32', 3],
      ['tokenizer.ggml.padding_token_id', 'u32', 0],
    ]),
  )
  const reference = load(bytesOf(bert()))
  for (const text of ['Which city is the capital of Frâncé?', 'baking breads [SEP] 中', '', 'a b!']) {
    assert.deepEqual(ids(tokenizer, text), ids(reference, text), text)
    assert.deepEqual(
      [...tokenizer.encode(text, { pair: 'sun' }).typeIds],
      [...reference.encode(text, { pair: 'sun' }).typeIds],
    )
  }
  assert.equal(tokenizer.padId, 0)
})

/** The fields of a protobuf message as [number, value]. */
function fieldsOf(bytes) {
  const fields = []
  let at = 0
  const varint = () => {
    for (let value = 0, shift = 1; ; shift *= 128) {
      const byte = bytes[at++]
      value += (byte % 128) * shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const key = varint()
    const size = { 1: 8, 2: -1, 5: 4 }[key % 8]
    if (size === undefined) fields.push([key >> 3, varint()])
    else {
      const length = size < 0 ? varint() : size
      fields.push([key >> 3, bytes.subarray(at, at + length)])
      at += length
    }
  }
  return fields
}

/** The values of a GGUF file that a converter writes for a SentencePiece model. */
function sentencePieceValues(model, name) {
  const fields = fieldsOf(model)
  const pieces = fields.filter(([number]) => number === 1).map(([, piece]) => new Map(fieldsOf(piece)))
  const normalizer = new Map(fieldsOf(fields.find(([number]) => number === 3)[1]))
  return [
    ['tokenizer.ggml.model', 'text', name],
    ['tokenizer.ggml.tokens', '[text]', pieces.map((piece) => piece.get(1).toString())],
    ['tokenizer.ggml.scores', '[f32]', pieces.map((piece) => piece.get(2).readFloatLE())],
    ['tokenizer.ggml.token_type', '[i32]', pieces.map((piece) => piece.get(3) ?? 1)],
    ['tokenizer.ggml.add_space_prefix', 'flag', (normalizer.get(3) ?? 1) === 1],
    ['tokenizer.ggml.remove_extra_whitespaces', 'flag', (normalizer.get(4) ?? 1) === 1],
    ['tokenizer.ggml.add_bos_token', 'flag', false],
    ['tokenizer.ggml.add_eos_token', 'flag', false],
    ...(normalizer.has(2) ? [['tokenizer.ggml.precompiled_charsmap', '[u8]', [...normalizer.get(2)]]] : []),
  ]
}

const models = path.join(import.meta.dirname, '../../crates/core/testdata/sentencepiece')

test('BPE of SentencePiece equals that of the file', () => {
  const model = fs.readFileSync(path.join(models, 'bpe_bytes.model'))
  const reference = load(model)
  const tokenizer = load(gguf(sentencePieceValues(model, 'llama')))
  for (const text of ['Hello world', '中 🦙 naïve ﬁne', ...texts(10, 300)]) {
    // llama.cpp keeps spaces as they are, whatever a SentencePiece model does.
    const same = text.trim().replace(/\s+/g, ' ').normalize('NFKC')
    assert.deepEqual(ids(tokenizer, same), ids(reference, same), same)
  }
  assert.equal(tokenizer.vocabSize(), reference.vocabSize())
})

for (const { name, values: recorded, requests } of RECORDED.files) {
  test(`ids are those of libllama: ${name}`, () => {
    const tokenizer = load(gguf(recordedValues(recorded)))
    const found = requests.map(([text, addSpecialTokens, parses]) => [
      text,
      addSpecialTokens,
      parses,
      ids(tokenizer, text, { addSpecialTokens, specialTokens: parses ? 'parse' : 'text' }),
    ])
    assert.deepEqual(found, requests)
  })
}

test('a pair is two texts with what stands around each, or with a separator between them', () => {
  const pair = (entries) => ids(load(gguf([...values(), ...entries])), 'hell', { pair: 'held' })
  const [first, second] = ['hell', 'held'].map((text) => ids(load(file()), text))
  assert.deepEqual(first.at(0), 14)
  assert.deepEqual(pair([]), [...first, ...second])
  // As llama.cpp ranks a document for a query.
  const separator = [
    ['tokenizer.ggml.add_sep_token', 'flag', true],
    ['tokenizer.ggml.seperator_token_id', 'u32', 3],
  ]
  assert.deepEqual(pair(separator), [...first, 3, ...second.slice(1)])
})

test('texts of a file reach the addon as they are there, never as JSON', () => {
  const [size, hostile] = [2 ** 20, '\x01'.repeat(2 ** 20)]
  for (const [key, type, value] of [
    ['tokenizer.ggml.tokens', '[text]', [hostile, ...TOKENS.slice(1)]],
    ['tokenizer.ggml.merges', '[text]', [`${hostile} h`]],
  ]) {
    const { bytes } = runNow(tokenizerOf(runNow(metadataOf(gguf(changed(key, type, value))))))
    assert.ok(bytes.length > size && bytes.length < size + 16_384, `${key}: ${bytes.length}`)
  }
  const huge = gguf(changed('tokenizer.ggml.tokens', '[text]', [...TOKENS.slice(0, 14), hostile, '</s>']))
  assert.throws(() => load(huge), { code: 'ERR_TOKENLANE_TOO_LARGE', message: /a special token/ })
})

test('a large file is read and packed in turns: the event loop goes on after each 16,384 entries', () => {
  /** The result of work, and how often the event loop has its turn meanwhile. */
  const counted = (work) => {
    let turns = -1
    for (;;) {
      turns++
      const { done, value } = work.next()
      if (done) return { turns, result: value }
    }
  }
  const [tokens, merges] = [4 * ENTRIES + 5, 2 * ENTRIES]
  const many = [...TOKENS, ...Array.from({ length: tokens - TOKENS.length }, (_, i) => `h${i}`)]
  const base = (entries) => entries.filter(([key]) => !/\.(tokens|merges|token_type)$/.test(key))
  const of = (model, more) =>
    gguf([
      ...base(values()).map((one) => (one[0] === 'tokenizer.ggml.model' ? [one[0], 'text', model] : one)),
      ['tokenizer.ggml.tokens', '[text]', many],
      ...more,
    ])
  // The tokens are read once, and twice for their flags; scores and merges once.
  const bpe = counted(metadataOf(of('gpt2', [['tokenizer.ggml.merges', '[text]', Array(merges).fill('h e')]])))
  assert.equal(bpe.turns, 4 + 2)
  assert.equal(counted(tokenizerOf(bpe.result)).turns, 2 * 4)
  const scored = counted(metadataOf(of('llama', [['tokenizer.ggml.scores', '[f32]', many.map((_, id) => -id)]])))
  assert.equal(scored.turns, 4)
  assert.equal(counted(tokenizerOf(scored.result)).turns, 3 * 4)
  // Bytes are copied in blocks of 4 MiB.
  const long = changed('tokenizer.ggml.merges', '[text]', ['a'.repeat(2 ** 20), 'b'.repeat(2 ** 23)])
  assert.equal(counted(tokenizerOf(runNow(metadataOf(gguf(long))))).turns, 2)
})

test('a file in memory may change while the call waits, and its metadata have the limit of files', async () => {
  const many = [...TOKENS, ...Array.from({ length: ENTRIES }, (_, i) => `h${i}`)]
  const bytes = new Uint8Array(
    gguf(without('tokenizer.ggml.token_type').map((one) => (one[2] === TOKENS ? [...one.slice(0, 2), many] : one))),
  )
  const expected = ids(load(bytes.slice()), 'hello')
  const loading = Tokenizer.fromBuffer(bytes)
  bytes.fill(0)
  assert.deepEqual(ids(await loading, 'hello'), expected)
  const large = gguf([
    ['general.comment', 'text', 'x'.repeat(MAX_BYTES - 1024)],
    ...values(),
    ['general.more', 'text', 'x'.repeat(2048)],
  ])
  const refused = { code: 'ERR_TOKENLANE_TOO_LARGE', message: /metadata of the GGUF file has more than/ }
  assert.throws(() => load(large), refused)
  await assert.rejects(Tokenizer.fromBuffer(large), refused)
  assert.throws(() => Tokenizer.fromFileSync(write('large-metadata.gguf', large)), refused)
})

test('a token of a BERT file that would take many times its bytes is refused', () => {
  const bert = (length) =>
    gguf([
      ['tokenizer.ggml.model', 'text', 'bert'],
      ['tokenizer.ggml.tokens', '[text]', ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '▁a', `▁${'b'.repeat(length - 3)}`]],
      ['tokenizer.ggml.token_type', '[i32]', [3, 2, 3, 3, 1, 1]],
      ['tokenizer.ggml.unknown_token_id', 'u32', 1],
      ['tokenizer.ggml.bos_token_id', 'u32', 2],
      ['tokenizer.ggml.seperator_token_id', 'u32', 3],
    ])
  assert.equal(load(bert(510)).vocabSize(), 6)
  assert.throws(() => load(bert(511)), { code: 'ERR_TOKENLANE_TOO_LARGE', message: /of BERT.*511.*510/ })
})

test('a control token of a SentencePiece model is found, and text after it starts a word', () => {
  const tokens = ['<unk>', '<s>', '</s>', '▁', 'a', '▁a', 'b']
  const base = [
    ['tokenizer.ggml.model', 'text', 'llama'],
    ['tokenizer.ggml.tokens', '[text]', tokens],
    ['tokenizer.ggml.scores', '[f32]', [0, 0, 0, -3, -2, -1, -4]],
    ['tokenizer.ggml.token_type', '[i32]', [2, 3, 3, 1, 1, 1, 1]],
  ]
  const tokenizer = load(gguf(base))
  assert.deepEqual(ids(tokenizer, 'a</s>ab'), [1, 5, 2, 5, 6])
  assert.deepEqual([tokenizer.bosId, tokenizer.eosId, tokenizer.unkId], [1, 2, 0])
  // As in SentencePiece.
  assert.equal(tokenizer.decode([1, 5, 2, 5, 6]), 'a ab')
  const phi = load(gguf([...base, ['general.name', 'text', 'Phi-3 mini']]))
  assert.deepEqual(ids(phi, '</s> \n a'), [1, 2, 5])
})

test('only the start of a large file is read', async () => {
  const place = write('large.gguf', file())
  // Nothing is written between the metadata and the end.
  fs.truncateSync(place, 200 * 2 ** 30)
  assert.deepEqual(ids(await Tokenizer.fromFile(place), 'hello'), [14, 11, 15])
  assert.deepEqual(ids(Tokenizer.fromFileSync(place), 'hello'), [14, 11, 15])
  fs.rmSync(place)
})

test('a file without the extension, of version 2, or with the bytes in the other order', () => {
  assert.deepEqual(
    ids(Tokenizer.fromFileSync(write('sha256-0', gguf(values(), { version: 2 }))), 'hello'),
    [14, 11, 15],
  )
  assert.deepEqual(ids(load(gguf(values(), { little: false })), 'hello'), [14, 11, 15])
})

test('the command line takes such files', () => {
  write('cli.gguf', file())
  const { stdout, stderr } = runIn(root)(['encode', '-t', './cli.gguf', '-x', 'hello'])
  assert.equal(stdout, '14 11 15\n', stderr)
})

test('what is not supported is named', async () => {
  for (const [bytes, code, pattern] of [
    [gguf(changed('tokenizer.ggml.model', 'text', 'rwkv')), 'UNSUPPORTED', /"rwkv" is not supported/],
    [gguf(changed('tokenizer.ggml.model', 'text', 'plamo2')), 'UNSUPPORTED', /"plamo2"/],
    ...['hybriddna', 'whitespace'].map((model) => [
      gguf(changed('tokenizer.ggml.model', 'text', model)),
      'UNSUPPORTED',
      new RegExp(`"${model}" is not supported`),
    ]),
    ...['superbpe', 'afmoe', 'chameleon', 'whitespace'].map((pre) => [
      gguf(changed('tokenizer.ggml.pre', 'text', pre)),
      'UNSUPPORTED',
      new RegExp(`"${pre}" is not supported`),
    ]),
    [gguf(without('tokenizer.ggml.model')), 'UNSUPPORTED', /has no tokenizer/],
    [gguf(values(), { version: 1 }), 'UNSUPPORTED', /version 1/],
    [gguf(without('tokenizer.ggml.tokens')), 'GGUF', /no tokenizer.ggml.tokens/],
    [gguf(without('tokenizer.ggml.merges')), 'GGUF', /no tokenizer.ggml.merges/],
    [
      gguf(changed('tokenizer.ggml.pre', 'text', 'glm4').filter(([key]) => !key.includes('bos_token_id'))),
      'GGUF',
      /bos_token_id/,
    ],
    [gguf(changed('tokenizer.ggml.tokens', '[text]', TWICE)), 'GGUF', /twice/],
    [gguf(changed('tokenizer.ggml.tokens', 'text', 'a')), 'GGUF', /a list of texts/],
    [gguf(changed('tokenizer.ggml.token_type', '[i32]', [1])), 'GGUF', /only 1 values/],
    [gguf(changed('tokenizer.ggml.merges', '[text]', ['hello'])), 'MERGE', /merge 0 /],
    [gguf(changed('tokenizer.chat_template', 'u32', 1)), 'GGUF', /a text/],
    [gguf(changed('tokenizer.chat_template', '[text]', ['a'])), 'GGUF', /a text/],
    [gguf(changed('tokenizer.ggml.bos_token_id', 'f32', 1.5)), 'GGUF', /a whole number as tokenizer.ggml.bos_token_id/],
    [gguf(changed('tokenizer.ggml.tokens', '[text]', NOT_UTF8)), 'GGUF', /not UTF-8: tokenizer.ggml.tokens\[5\]/],
    [gguf(values(), { version: 0x30000 }), 'UNSUPPORTED', /version 768/],
  ]) {
    const values = bytes
    const error = await failure(() => load(values))
    assert.equal(error.code, `ERR_TOKENLANE_${code}`, error.stack)
    assert.match(error.message, pattern)
    const place = write('bad.gguf', values)
    for (const run of [() => Tokenizer.fromFile(place), () => Tokenizer.fromFileSync(place)]) {
      const named = await failure(run)
      assert.deepEqual([named.code, named.message], [error.code, `${place}: ${error.message}`])
    }
  }
  const given = await failure(() => load(file(), { encoding: 'o200k_base' }))
  assert.equal(given.code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
})

test('options of chats are checked as for other files', async () => {
  for (const options of [{ config: 'abc' }, { config: null }, { config: [] }, { chatTemplate: 5 }]) {
    const [error, other] = [
      await failure(() => load(file(), options)),
      await failure(() => load(bytesOf(tiny()), options)),
    ]
    assert.equal(error.code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
    assert.equal(error.message, other.message)
  }
})

test('templates of the options take precedence, and a config changes what it names', () => {
  const render = (options) =>
    load(file(), options).applyChatTemplate([{ role: 'user', content: 'hello' }], { tokenize: false })
  assert.equal(render({ config: { eos_token: 'hell' } }), '<s>hellohell')
  assert.equal(render({ config: { chat_template: '{{ eos_token }}!' } }), '</s>!')
  assert.equal(render({ config: { chat_template: 'a' }, chatTemplate: 'b' }), 'b')
})

test('a folder of GGUF files has a hint to name one', async () => {
  const folder = path.join(root, 'several')
  fs.mkdirSync(folder)
  fs.writeFileSync(path.join(folder, 'tiny.gguf'), file())
  const hint = /name a GGUF file itself, such as .*tiny\.gguf/
  const error = await failure(() => Tokenizer.fromFile(folder))
  assert.deepEqual([error.code, hint.test(error.message)], ['ERR_TOKENLANE_FILE_NOT_FOUND', true])
  assert.match(runIn(root)(['count', '-t', './several', '-x', 'hello']).stderr, hint)
})

test('a text that is not UTF-8 matters only if it is used', () => {
  const more = gguf([...values(), ['general.description', 'text', Buffer.from([0xff])]])
  assert.deepEqual(ids(load(more), 'hello'), [14, 11, 15])
})

test('counts that no model has are refused before their work', async () => {
  const number = (size, value) => {
    const bytes = Buffer.alloc(size)
    bytes.writeUIntLE(value, 0, 6 < size ? 6 : size)
    return bytes
  }
  const key = (name) => Buffer.concat([number(8, name.length), Buffer.from(name)])
  const list = (name, type, count, bytes) =>
    Buffer.concat([key(name), number(4, 9), number(4, type), number(8, count), bytes])
  const start = (count) => Buffer.concat([Buffer.from('GGUF'), number(4, 3), number(8, 0), number(8, count)])
  const model = Buffer.concat([key('tokenizer.ggml.model'), number(4, 8), key('gpt2')])
  const of = (tokens, kind) =>
    Buffer.concat([
      start(4),
      model,
      list('tokenizer.ggml.tokens', 8, tokens, Buffer.alloc(8 * tokens)),
      list('tokenizer.ggml.token_type', 0, tokens, Buffer.alloc(tokens, kind)),
      list('tokenizer.ggml.merges', 8, 0, Buffer.alloc(0)),
    ])
  for (const [bytes, pattern] of [
    [start(65_537), /more than 65536 values/],
    [of(2 ** 21 + 1, 1), /more than 2097152 tokens/],
    [of(2 ** 18 + 1, 3), /more than 262144 control tokens/],
  ]) {
    const error = await failure(() => load(bytes))
    assert.equal(error.code, 'ERR_TOKENLANE_TOO_LARGE', error.stack)
    assert.match(error.message, pattern)
  }
})

test('a file without tokenizer.ggml.pre is split as llama.cpp does, and says so', async () => {
  const place = write('old.gguf', gguf(without('tokenizer.ggml.pre')))
  assert.match((await Tokenizer.fromFile(place)).source.note, /tokenizer.ggml.pre/)
})

test('a file that is cut anywhere, or has a false length, is refused', async () => {
  const whole = file()
  const metadata = whole.length - 64
  for (let length = 4; length < metadata; length += 7) {
    const error = await failure(() => load(whole.subarray(0, length)))
    assert.equal(error.code, 'ERR_TOKENLANE_GGUF', `${length}: ${error.stack}`)
  }
  // Each byte, as the last of a length, too.
  for (let at = 4; at < metadata; at += 3) {
    for (const byte of [0, 0xff]) {
      const bytes = Buffer.from(whole)
      bytes[at] = byte
      try {
        load(bytes)
      } catch (error) {
        assert.match(String(error.code), /^ERR_TOKENLANE_/, `${at}: ${error.stack}`)
      }
    }
  }
})

test('the pattern of each known name compiles', () => {
  const names = [
    'jais-2',
    'granite-embed-multi-97m',
    'llama-bpe',
    'qwen2',
    'qwen35',
    'gpt-4o',
    'tekken',
    'tiny_aya',
    'youtu',
    'minicpm5',
    'seed-coder',
  ]
  const more = ['bailingmoe', 'laguna', 'exaone-moe', 'deepseek-llm', 'deepseek-coder', 'deepseek-v3', 'spark2_5']
  for (const name of [...names, ...more, 'bloom', 'viking', 'kimi-k2', 'falcon', 'starcoder', 'default', 'ufakzeka']) {
    assert.notEqual(preTokenizerOf(name), undefined, name)
    assert.ok(ids(load(gguf(changed('tokenizer.ggml.pre', 'text', name))), 'hello or 123 中').length > 0, name)
  }
  assert.equal(preTokenizerOf('__proto__'), undefined)
})

/** A tokenizer whose tokens are the bytes, so that its words are those of its pattern. */
function bytewise(pre) {
  const isShown = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  let next = 256
  const alphabet = Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isShown(byte) ? byte : next++))
  const vocab = Object.fromEntries(alphabet.map((letter, byte) => [letter, byte]))
  const entries = bpeValues({ model: { vocab, merges: [] }, added_tokens: [] }, [
    ['tokenizer.ggml.bos_token_id', 'u32', 0],
    ['tokenizer.ggml.add_bos_token', 'flag', false],
  ])
  return load(gguf(entries.map((one) => (one[0] === 'tokenizer.ggml.pre' ? [one[0], 'text', pre] : one))))
}

function wordsOf(tokenizer, text) {
  const { wordIds, offsets } = tokenizer.encodeBatchSync([text], { columns: ['wordIds'], offsets: 'utf16' })
  const starts = offsets.filter((_, at) => at % 2 === 0 && wordIds[at / 2] !== wordIds[at / 2 - 1])
  return [...starts].map((start, word) => text.slice(start, starts[word + 1])).join('|')
}

test('words of each known name are those of libllama', () => {
  const { splits, splitText } = RECORDED
  const known = Object.keys(splits).filter((name) => preTokenizerOf(name) !== undefined)
  assert.ok(known.length > 80)
  const found = known.map((name) => [name, wordsOf(bytewise(name), splitText)])
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(known.map((name) => [name, splits[name]])))
})

// Words of libllama 0.5.0. Where a pattern has no category, it sees white space beyond ASCII as
// U+000B, so that ranges of characters do not have it.
test('white space beyond ASCII is in no range of the patterns of DeepSeek', () => {
  const text = '中\u2003\u3000ᚬ。 \u2003!\u3000、\u2028\u1680ᚬ\u00a0가\u205f一 \u3000。'
  const end = 'ᚬ|\u00a0|가|\u205f|一| |\u3000|。'
  const expected = {
    'deepseek-coder': `中|\u2003|\u3000|ᚬ|。| |\u2003!|\u3000|、|\u2028|\u1680|${end}`,
    'deepseek-llm': `中|\u2003\u3000|ᚬ|。| |\u2003!|\u3000|、|\u2028\u1680|${end}`,
  }
  for (const [name, words] of Object.entries(expected)) assert.equal(wordsOf(bytewise(name), text), words, name)
})

// The ids of libllama 0.5.0.
test('nothing merges across a byte that is no token', () => {
  const tokens = ['Ġ', 'a', 'Ã', '©', 'Ġa', 'aa', 'a©']
  const tokenizer = load(
    gguf([
      ['general.architecture', 'text', 'llama'],
      ['tokenizer.ggml.model', 'text', 'gpt2'],
      ['tokenizer.ggml.pre', 'text', 'falcon'],
      ['tokenizer.ggml.tokens', '[text]', tokens],
      ['tokenizer.ggml.token_type', '[i32]', tokens.map(() => 1)],
      ['tokenizer.ggml.merges', '[text]', ['Ġ a', 'a a', 'a ©']],
    ]),
  )
  for (const [text, expected] of [
    [' a', [4]],
    [' \x05a', [0, 1]],
    ['aa', [5]],
    ['aba', [1, 1]],
    ['aé', [1, 2, 3]],
    ['a\u{29}\u{e9}', [1, 2, 3]],
    ['aĩ', [1, 3]],
  ])
    assert.deepEqual(ids(tokenizer, text), expected, text)
})

test('what differs from llama.cpp is what the guide says', () => {
  // A contraction of another letter, and a letter of Unicode 16.
  assert.equal(wordsOf(bytewise('llama-bpe'), "it'ſ"), "it|'ſ")
  assert.equal(wordsOf(bytewise('qwen2'), "it'ſ"), "it|'ſ")
  assert.equal(wordsOf(bytewise('gpt-2'), 'a\u1c89b'), 'a\u1c89b')

  const wordPiece = load(
    gguf([
      ['tokenizer.ggml.model', 'text', 'bert'],
      ['tokenizer.ggml.tokens', '[text]', ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '▁a', '▁b']],
      ['tokenizer.ggml.token_type', '[i32]', [3, 2, 3, 3, 1, 1]],
      ['tokenizer.ggml.unknown_token_id', 'u32', 1],
      ['tokenizer.ggml.bos_token_id', 'u32', 2],
      ['tokenizer.ggml.seperator_token_id', 'u32', 3],
    ]),
  )
  assert.deepEqual(ids(wordPiece, 'a a▁b'), [2, 4, 1, 3])

  const bpe = (tokens, types, more = []) =>
    load(
      gguf([
        ['tokenizer.ggml.model', 'text', 'gpt2'],
        ['tokenizer.ggml.pre', 'text', 'gpt-2'],
        ['tokenizer.ggml.tokens', '[text]', tokens],
        ['tokenizer.ggml.token_type', '[i32]', types],
        ['tokenizer.ggml.merges', '[text]', []],
        ...more,
      ]),
    )
  const overlapping = bpe(['a', 'b', 'c', 'd', 'ab', 'bcd'], [1, 1, 1, 1, 3, 3])
  assert.deepEqual(ids(overlapping, 'abcd'), [4, 2, 3], 'the leftmost, not the longest')
  const padding = ['<', '>', 'P', 'A', 'D', '[', ']']
  const pads = bpe([...padding, '[PAD]', '<PAD>'], Array(9).fill(1))
  assert.deepEqual(ids(pads, '[PAD]<PAD>'), [7, 0, 2, 3, 4, 1], 'the one with the lowest id is a control token')
  const swapped = bpe([...padding, '<PAD>', '[PAD]'], Array(9).fill(1))
  assert.deepEqual(ids(swapped, '[PAD]<PAD>'), [5, 2, 3, 4, 6, 7])

  const lines = load(
    gguf([
      ['tokenizer.ggml.model', 'text', 'gemma4'],
      ['tokenizer.ggml.tokens', '[text]', ['<pad>', '</s>', '<bos>', '<unk>', '\n', '\n\n\n', 'a']],
      ['tokenizer.ggml.token_type', '[i32]', [3, 3, 3, 2, 1, 1, 1]],
      ['tokenizer.ggml.bos_token_id', 'u32', 2],
      ['tokenizer.ggml.merges', '[text]', []],
    ]),
  )
  assert.deepEqual(ids(lines, 'a\n\n\n'), [2, 6, 4, 4, 4])

  const scored = (kind) =>
    load(
      gguf([
        ['tokenizer.ggml.model', 'text', kind],
        ['tokenizer.ggml.tokens', '[text]', ['<unk>', '<s>', '</s>', '▁', 'a']],
        ['tokenizer.ggml.scores', '[f32]', [0, 0, 0, -1, -2]],
        ['tokenizer.ggml.token_type', '[i32]', [2, 3, 3, 1, 1]],
      ]),
    )
  assert.deepEqual(ids(scored('llama'), 'aé'), [1, 3, 4, 0], 'a character that no token has')
  for (const kind of ['llama', 't5']) assert.throws(() => scored(kind).toBuffer(), { code: 'ERR_TOKENLANE_SAVE' }, kind)
  // The first bytes of a file are enough.
  assert.deepEqual(ids(load(gguf(values(), { tensors: 0 })), 'hello'), [14, 11, 15])
  const long = changed('tokenizer.ggml.model', 'text', 'llama').map((one) =>
    one[0] === 'tokenizer.ggml.tokens' ? [one[0], one[1], ['h'.repeat(1025), ...TOKENS.slice(1)]] : one,
  )
  assert.throws(() => load(gguf(long)), { code: 'ERR_TOKENLANE_TOO_LARGE', message: /1025|1,?024/ })
  const [keyOf, size] = ['k'.repeat(65_537), 65_537]
  assert.throws(() => load(gguf([[keyOf, 'u32', 1], ...values()])), {
    code: 'ERR_TOKENLANE_GGUF',
    message: new RegExp(`${size}`),
  })
})

test('a saved tokenizer.json of Phi-3 takes all white space behind control tokens, the file that of ASCII', () => {
  const phi = load(gguf([...values(), ['general.name', 'text', 'Phi-3 mini']]))
  const saved = load(phi.toBuffer())
  const endOf = (tokenizer, space) => tokenizer.encode(`</s>${space}h`, { addSpecialTokens: false }).offsets[1]
  for (const [space, ends] of [
    [' \t', [6, 6]],
    ['\u2003', [4, 5]],
  ])
    assert.deepEqual([endOf(phi, space), endOf(saved, space)], ends, JSON.stringify(space))
})
