// Folders whose tokenizer is a rank file beside Python code: `tiktoken.model` of Kimi and
// `qwen.tiktoken` of the first Qwen. The ranks here are those of r50k_base; the ids are those of
// tiktoken 0.14 with the pattern and the special tokens of the classes.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer } from '../../index.mjs'
import { folderWriter } from '../support/folders.mjs'
import { failure } from '../support/texts.mjs'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-ranks-'))
after(() => fs.rmSync(root, { recursive: true, force: true }))
const folder = folderWriter(root)
const ranks = fs.readFileSync(fileURLToPath(new URL('../../encodings/r50k_base.tiktoken', import.meta.url)))

const special = (content) => ({ content, special: true })
const KIMI = {
  tokenizer_class: 'TikTokenTokenizer',
  eos_token: '[EOS]',
  pad_token: '[PAD]',
  added_tokens_decoder: {
    50256: special('[BOS]'),
    50257: special('[EOS]'),
    50258: special('<|im_end|>'),
    50513: special('[PAD]'),
    // Beyond the ids that the class reserves.
    60000: special('<|late|>'),
  },
  chat_template: '{% for m in messages %}<|im_end|>{{ m.content }}{% endfor %}[EOS]',
}
const TEXTS = {
  中文English中文: [40792, 23877, 229, 15823, 40792, 23877, 229],
  'Hello, world! 你好，世界！': [
    ...[15496, 11, 995, 0, 220, 19526, 254, 25001, 121, 171, 120, 234, 10310, 244, 45911, 234, 171, 120, 223],
  ],
  "ÜberCamelCase's <|im_end|>[EOS]<|reserved_token_50300|> x\n\n  y\t々〆ヶ漢字かな": [
    ...[127, 250, 527, 34, 17983, 20448, 338, 220, 50258, 50257, 50300, 2124, 628, 220, 331, 197, 5099, 227, 5099],
    ...[228, 1209, 114, 162, 120, 95, 27764, 245, 27370, 26945],
  ],
}
const ids = (tokenizer, text, options) => [...tokenizer.encode(text, options).ids]

test('tiktoken.model of Kimi: pattern, special tokens and template', async () => {
  const place = folder({ 'tiktoken.model': ranks, 'tokenizer_config.json': KIMI })
  const made = [await Tokenizer.fromFile(place), Tokenizer.fromFileSync(path.join(place, 'tiktoken.model'))]
  for (const tokenizer of made) {
    for (const [text, wanted] of Object.entries(TEXTS)) assert.deepEqual(ids(tokenizer, text), wanted, text)
    assert.equal(tokenizer.source.class, 'TikTokenTokenizer')
    assert.deepEqual([tokenizer.eosId, tokenizer.padId, tokenizer.maxId], [50257, 50513, 50513])
    assert.equal(tokenizer.tokenToId('<|late|>'), undefined)
    const chat = tokenizer.applyChatTemplate([{ role: 'user', content: '[EOS]' }])
    assert.deepEqual([chat.ids[0], chat.ids.indexOf(50257)], [50258, chat.ids.length - 1])
  }
  assert.equal(made[0].encode('[EOS]', { specialTokens: 'text' }).ids.includes(50257), false)
  const own = await Tokenizer.fromFile(place, { encoding: 'r50k_base' })
  assert.equal(own.tokenToId('[EOS]'), undefined)
  // It is not the tokenizer of the class.
  assert.deepEqual(own.source, { from: place })
  assert.deepEqual(Tokenizer.fromFileSync(place, { encoding: 'r50k_base' }).source, own.source)
})

test('special tokens of a config that cannot be: the error is about the files', async () => {
  for (const tokens of [{ 50256: special('x!y'), 50257: special('x!y') }, { 50256: special('hi') }]) {
    const config = { tokenizer_class: 'TikTokenTokenizer', added_tokens_decoder: tokens }
    const place = folder({ 'tiktoken.model': ranks, 'tokenizer_config.json': config })
    const error = await failure(() => Tokenizer.fromFile(place))
    assert.equal(error.code, 'ERR_TOKENLANE_SHAPE', error.stack)
    assert.match(error.message, /^tiktoken.model and its configs: the added token/)
  }
})

test('qwen.tiktoken: special tokens follow the ranks, and texts are composed', async () => {
  for (const config of [{}, { 'tokenizer_config.json': { tokenizer_class: 'QWenTokenizer' } }]) {
    const place = folder({ 'qwen.tiktoken': ranks, ...config })
    const tokenizer = await Tokenizer.fromFile(place)
    assert.deepEqual(ids(tokenizer, '<|endoftext|><|im_start|><|im_end|><|extra_0|><|extra_204|>'), [
      ...[50256, 50257, 50258, 50259, 50463],
    ])
    assert.deepEqual(ids(tokenizer, 'cafe\u0301 12'), ids(tokenizer, 'café 12'))
    // Each digit is a word.
    assert.deepEqual(ids(tokenizer, '12'), [16, 17])
    assert.equal(tokenizer.source.class, 'QWenTokenizer')
    assert.equal(tokenizer.source.note, undefined)
  }
})

test('a rank file whose class is not known needs its pattern', async () => {
  const alone = folder({ 'tiktoken.model': ranks })
  const other = folder({ 'tiktoken.model': ranks, 'tokenizer_config.json': { tokenizer_class: 'MyTokenizer' } })
  for (const [place, code] of [
    [alone, 'FILE_NOT_FOUND'],
    [path.join(alone, 'tiktoken.model'), 'PATTERN_MISSING'],
    [other, 'UNSUPPORTED'],
    [path.join(other, 'tiktoken.model'), 'PATTERN_MISSING'],
  ]) {
    const error = await failure(() => Tokenizer.fromFile(place))
    assert.equal(error.code, `ERR_TOKENLANE_${code}`, error.stack)
  }
  const added = { 50256: { content: 5 }, '-1': null, 50257: null }
  const broken = folder({ 'tiktoken.model': ranks, 'tokenizer_config.json': { ...KIMI, added_tokens_decoder: added } })
  assert.equal((await Tokenizer.fromFile(broken)).tokenToId('<|reserved_token_50257|>'), 50257)
  const twice = { ...KIMI, added_tokens_decoder: { 50256: special('a'), 50257: special('x'), 50258: special('x') } }
  const doubled = folder({ 'tiktoken.model': ranks, 'tokenizer_config.json': twice })
  assert.match((await failure(() => Tokenizer.fromFile(doubled))).code, /^ERR_TOKENLANE_/)
})
