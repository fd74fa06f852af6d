// Limits of the drop-ins: what the originals would do without end, or in minutes.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import '../../tools/model-entries.mjs'
import { failure } from '../support/texts.mjs'
import { tiny } from '../support/tiny.mjs'

const tiktoken = await import('@tokenlane/tiktoken')
const hf = await import('@tokenlane/tokenizers')

const code = (call) => failure(call).then((error) => error.code)

test('tiktoken: encode_with_unstable refuses a last word whose completions would take minutes', async () => {
  const encoder = tiktoken.get_encoding('cl100k_base')
  for (const unit of ['a', ' ', '👍', '中', '\ud800', '\n']) {
    const call = () => encoder.encode_with_unstable(unit.repeat(1e6))
    assert.equal(await code(call), 'ERR_TOKENLANE_TEXT_TOO_LONG', unit)
  }
  // Only the last word counts.
  assert.equal(encoder.encode_with_unstable(' the'.repeat(1e6))[0].length, 999_999)
  assert.ok(encoder.encode_with_unstable('a'.repeat(1000))[1].length > 2000)
})

test('arguments that are iterated have a limit', async () => {
  const ever = function* (value) {
    for (;;) yield value
  }
  const { Tiktoken } = await import('@tokenlane/js-tiktoken/lite')
  const js = new Tiktoken((await import('@tokenlane/js-tiktoken/ranks/gpt2')).default)
  const api = (await import('@tokenlane/gpt-tokenizer/model/gpt-4')).default
  const chat = () => ever({ role: 'user', content: 'a b c d e f g h i j k l m n o p'.repeat(1000) })
  const calls = [
    () => api.decode(ever(api.encode(' '.repeat(80))[0])),
    () => [...api.decodeGenerator(ever(NaN))],
    () => api.encodeChat(chat()),
    () => api.countTokens(chat()),
    () => api.isWithinTokenLimit(chat(), NaN),
    () => api.encode('a', { allowedSpecial: ever('a') }),
    () => api.encode('a', { allowedSpecial: 'all', disallowedSpecial: ever('a') }),
    () => tiktoken.get_encoding('gpt2').decode({ length: 2 ** 31 }),
    () => tiktoken.get_encoding('gpt2').encode('a', Array(2 ** 32 - 1)),
    () => js.encode('a', ever('a')),
    () => js.encode('a', [], ever('a')),
  ]
  for (const call of calls) assert.equal(await code(call), 'ERR_TOKENLANE_TEXT_TOO_LONG', String(call))
  const encoder = tiktoken.get_encoding('gpt2')
  const wrong = [() => encoder.decode(null), () => encoder.decode([1n]), () => encoder.encode_single_token(5)]
  for (const call of wrong) assert.equal(await code(call), 'ERR_TOKENLANE_ARGUMENT_TYPE', String(call))
})

test('huggingface: many parts of a truncation are refused, and many encodings are merged in linear time', async () => {
  const tokenizer = hf.Tokenizer.fromString(JSON.stringify({ ...tiny(), post_processor: null }))
  const long = () => tokenizer.encode('h'.repeat(300_000))
  for (const [length, stride] of [
    [1, 0],
    [9000, 8999],
  ]) {
    const encoding = await long()
    const error = { code: 'ERR_TOKENLANE_OVERFLOW_TOO_LARGE' }
    assert.throws(() => encoding.truncate(length, stride), error)
  }
  for (const [length, stride] of [
    [-5, -10],
    [NaN, 0],
    [5, NaN],
    [5, 0.5],
    ['5', 0],
    [Infinity, 0],
  ]) {
    const encoding = await tokenizer.encode('hohohoho')
    assert.throws(() => encoding.truncate(length, stride), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' }, String(length))
  }
  const many = await tokenizer.encodeBatch(Array.from({ length: 5000 }, () => 'hohohohoho'))
  for (const growing of [false, true]) {
    const merged = hf.mergeEncodings(many, growing)
    assert.equal(merged.getLength(), 50_000)
    assert.deepEqual(merged.getOffsets().at(-1), growing ? [49_999, 50_000] : [9, 10])
  }
  // More rows than a call of JavaScript can have arguments.
  const mixed = Array.from({ length: 200_000 }, (_, i) => (i % 2 ? 'h' : ['h', 'o']))
  tokenizer.setPadding({})
  assert.equal((await tokenizer.encodeBatch(mixed)).length, 200_000)
})
