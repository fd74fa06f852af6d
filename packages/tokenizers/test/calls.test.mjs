// postProcess and wrong arguments of @tokenlane/tokenizers.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import * as hf from '@tokenlane/tokenizers'

import { failure } from '../../../__test__/support/texts.mjs'
import { tiny } from '../../../__test__/support/tiny.mjs'

// Without a post-processor, by the calls of tokenizers 0.23.3: ids, and those of overflowing parts.
const TRUNCATED = [
  [
    'hello world held',
    undefined,
    {
      '0 LongestFirst': ' / 11 12 13 2 7 4 8 2 7',
      '0 OnlyFirst': ' / 11 12 13 2 7 4 8 2 7',
      '0 OnlySecond': ' / 11 12 13 2 7 4 8 2 7',
      '3 LongestFirst': '11 12 13 / 2 7 4 / 8 2 7',
      '3 LongestFirst 1 left': '8 2 7 / 7 4 8 / 13 2 7 / 11 12 13',
      '3 OnlyFirst': '11 12 13 / 2 7 4 / 8 2 7',
      '3 OnlySecond': undefined,
      '4 LongestFirst': '11 12 13 2 / 7 4 8 2 / 7',
      '4 OnlyFirst': '11 12 13 2 / 7 4 8 2 / 7',
      '4 OnlySecond': undefined,
      '7 LongestFirst': '11 12 13 2 7 4 8 / 2 7',
      '7 LongestFirst 1 left': '13 2 7 4 8 2 7 / 11 12 13',
      '7 OnlyFirst': '11 12 13 2 7 4 8 / 2 7',
      '7 OnlySecond': undefined,
      '10 LongestFirst': '11 12 13 2 7 4 8 2 7',
      '10 LongestFirst 1 left': '11 12 13 2 7 4 8 2 7',
      '10 OnlyFirst': '11 12 13 2 7 4 8 2 7',
      '10 OnlySecond': '11 12 13 2 7 4 8 2 7',
    },
  ],
  [
    'hello world held',
    'hello',
    {
      '0 LongestFirst': ' / 11 12 13 2 7 4 8 2 7 / 11 12 13 2 7 4 8 2 7 11 / 11',
      '0 OnlyFirst': ' / 11 12 13 2 7 4 8 2 7 / 11 12 13 2 7 4 8 2 7 11 / 11',
      '0 OnlySecond': ' / 11 12 13 2 7 4 8 2 7 / 11 12 13 2 7 4 8 2 7 11 / 11',
      '3 LongestFirst': '11 12 11 / 13 2 11 / 7 4 11 / 8 2 11 / 7 11',
      '3 LongestFirst 1 left': '2 7 11 / 8 2 11 / 4 8 11 / 7 4 11 / 2 7 11 / 13 2 11 / 12 13 11 / 11 12 11',
      '3 OnlyFirst': '11 12 11 / 13 2 11 / 7 4 11 / 8 2 11 / 7 11',
      '3 OnlySecond': undefined,
      '4 LongestFirst': '11 12 13 11 / 2 7 4 11 / 8 2 7 11',
      '4 OnlyFirst': '11 12 13 11 / 2 7 4 11 / 8 2 7 11',
      '4 OnlySecond': undefined,
      '7 LongestFirst': '11 12 13 2 7 4 11 / 8 2 7 11',
      '7 LongestFirst 1 left': '2 7 4 8 2 7 11 / 11 12 13 2 11',
      '7 OnlyFirst': '11 12 13 2 7 4 11 / 8 2 7 11',
      '7 OnlySecond': undefined,
      '10 LongestFirst': '11 12 13 2 7 4 8 2 7 11',
      '10 LongestFirst 1 left': '11 12 13 2 7 4 8 2 7 11',
      '10 OnlyFirst': '11 12 13 2 7 4 8 2 7 11',
      '10 OnlySecond': '11 12 13 2 7 4 8 2 7 11',
    },
  ],
  [
    'hello',
    'hello world hello',
    {
      '0 LongestFirst': ' / 11 / 11 11 12 13 2 7 4 11 / 11 12 13 2 7 4 11',
      '0 OnlyFirst': ' / 11 / 11 11 12 13 2 7 4 11 / 11 12 13 2 7 4 11',
      '0 OnlySecond': ' / 11 / 11 11 12 13 2 7 4 11 / 11 12 13 2 7 4 11',
      '3 LongestFirst': '11 11 12 / 11 13 2 / 11 7 4 / 11 11',
      '3 LongestFirst 1 left': '11 4 11 / 11 7 4 / 11 2 7 / 11 13 2 / 11 12 13 / 11 11 12',
      '3 OnlyFirst': undefined,
      '3 OnlySecond': '11 11 12 / 11 13 2 / 11 7 4 / 11 11',
      '4 LongestFirst': '11 11 12 13 / 11 2 7 4 / 11 11',
      '4 OnlyFirst': undefined,
      '4 OnlySecond': '11 11 12 13 / 11 2 7 4 / 11 11',
      '7 LongestFirst': '11 11 12 13 2 7 4 / 11 11',
      '7 LongestFirst 1 left': '11 12 13 2 7 4 11 / 11 11 12',
      '7 OnlyFirst': undefined,
      '7 OnlySecond': '11 11 12 13 2 7 4 / 11 11',
      '10 LongestFirst': '11 11 12 13 2 7 4 11',
      '10 LongestFirst 1 left': '11 11 12 13 2 7 4 11',
      '10 OnlyFirst': '11 11 12 13 2 7 4 11',
      '10 OnlySecond': '11 11 12 13 2 7 4 11',
    },
  ],
  [
    'hello world hello',
    'hello world held',
    {
      '0 LongestFirst': ' / 11 12 13 2 7 4 11 / 11 12 13 2 7 4 11 11 12 13 2 7 4 8 2 7 / 11 12 13 2 7 4 8 2 7',
      '0 OnlyFirst': ' / 11 12 13 2 7 4 11 / 11 12 13 2 7 4 11 11 12 13 2 7 4 8 2 7 / 11 12 13 2 7 4 8 2 7',
      '0 OnlySecond': ' / 11 12 13 2 7 4 11 / 11 12 13 2 7 4 11 11 12 13 2 7 4 8 2 7 / 11 12 13 2 7 4 8 2 7',
      '3 LongestFirst':
        '11 11 12 / 12 11 12 / 12 13 2 / 12 7 4 / 12 8 2 / 12 7 / 13 11 12 / 13 13 2 / 13 7 4 / 13 8 2 / 13 7 / 2 11 12 / 2 13 2 / 2 7 4 / 2 8 2 / 2 7 / 7 11 12 / 7 13 2 / 7 7 4 / 7 8 2 / 7 7 / 4 11 12 / 4 13 2 / 4 7 4 / 4 8 2 / 4 7 / 11 11 12 / 11 13 2 / 11 7 4 / 11 8 2 / 11 7 / 11 13 2 / 11 7 4 / 11 8 2 / 11 7',
      '3 LongestFirst 1 left': undefined,
      '3 OnlyFirst': undefined,
      '3 OnlySecond': undefined,
      '4 LongestFirst':
        '11 12 11 12 / 13 2 11 12 / 13 2 13 2 / 13 2 7 4 / 13 2 8 2 / 13 2 7 / 7 4 11 12 / 7 4 13 2 / 7 4 7 4 / 7 4 8 2 / 7 4 7 / 11 11 12 / 11 13 2 / 11 7 4 / 11 8 2 / 11 7 / 11 12 13 2 / 11 12 7 4 / 11 12 8 2 / 11 12 7',
      '4 OnlyFirst': undefined,
      '4 OnlySecond': undefined,
      '7 LongestFirst':
        '11 12 13 11 12 13 2 / 2 7 4 11 12 13 2 / 2 7 4 7 4 8 2 / 2 7 4 7 / 11 11 12 13 2 / 11 7 4 8 2 / 11 7 / 11 12 13 7 4 8 2 / 11 12 13 7',
      '7 LongestFirst 1 left':
        '7 4 11 4 8 2 7 / 13 2 7 4 8 2 7 / 13 2 7 13 2 7 4 / 13 2 7 11 12 13 / 11 12 13 4 8 2 7 / 11 12 13 13 2 7 4 / 11 12 13 11 12 13 / 7 4 11 13 2 7 4 / 7 4 11 11 12 13',
      '7 OnlyFirst': undefined,
      '7 OnlySecond': undefined,
      '10 LongestFirst': '11 12 13 2 7 11 12 13 2 7 / 4 11 11 12 13 2 7 / 4 11 4 8 2 7 / 11 12 13 2 7 4 8 2 7',
      '10 LongestFirst 1 left':
        '13 2 7 4 11 7 4 8 2 7 / 11 12 13 7 4 8 2 7 / 11 12 13 11 12 13 2 7 / 13 2 7 4 11 11 12 13 2 7',
      '10 OnlyFirst':
        '11 11 12 13 2 7 4 8 2 7 / 12 11 12 13 2 7 4 8 2 7 / 13 11 12 13 2 7 4 8 2 7 / 2 11 12 13 2 7 4 8 2 7 / 7 11 12 13 2 7 4 8 2 7 / 4 11 12 13 2 7 4 8 2 7 / 11 11 12 13 2 7 4 8 2 7',
      '10 OnlySecond': '11 12 13 2 7 4 11 11 12 13 / 11 12 13 2 7 4 11 2 7 4 / 11 12 13 2 7 4 11 8 2 7',
    },
  ],
]

test('postProcess truncates one encoding or two by each strategy', async () => {
  const text = JSON.stringify({ ...tiny(), post_processor: null })
  for (const [first, second, cases] of TRUNCATED) {
    for (const [settings, expected] of Object.entries(cases)) {
      const [maxLength, strategy, stride = 0, direction] = settings.split(' ')
      const tokenizer = hf.Tokenizer.fromString(text)
      const encoding = await tokenizer.encode(first)
      const pair = second === undefined ? undefined : await tokenizer.encode(second)
      tokenizer.setTruncation(Number(maxLength), { strategy, stride: Number(stride), direction })
      const name = `${first}, ${second}: ${settings}`
      if (expected === undefined) {
        assert.throws(() => tokenizer.postProcess(encoding, pair), { code: /^ERR_TOKENLANE_TRUNCATION_/ }, name)
        continue
      }
      const processed = tokenizer.postProcess(encoding, pair)
      const parts = [processed, ...processed.getOverflowing()].map((part) => part.getIds().join(' '))
      assert.equal(parts.join(' / '), expected, name)
    }
  }
})

test('wrong arguments have a code', async () => {
  const tokenizer = hf.Tokenizer.fromString(JSON.stringify(tiny()))
  const encoding = await tokenizer.encode('hello')
  const wrong = {
    ARGUMENT_TYPE: [
      () => new hf.AddedToken(5, true),
      () => new hf.AddedToken('a', 1),
      () => new hf.Tokenizer({}),
      () => hf.Tokenizer.fromString(5),
      () => hf.Tokenizer.fromFile(5),
      () => tokenizer.setModel({}),
      () => tokenizer.setNormalizer({}),
      () => tokenizer.setPreTokenizer({}),
      () => tokenizer.setPostProcessor({}),
      () => tokenizer.setDecoder({}),
      () => tokenizer.encode(['hello']),
      () => tokenizer.encode('hello', 5),
      () => tokenizer.encode(['hello', 5], null, { isPretokenized: true }),
      () => tokenizer.encodeBatch('hello'),
      () => tokenizer.encodeBatch([5]),
      () => tokenizer.encodeBatch([['hello', 5]]),
      () => tokenizer.save(5),
      () => tokenizer.train('file'),
      () => tokenizer.train([5]),
      () => encoding.pad('x'),
      () => encoding.truncate(-1),
      () => encoding.truncate(1.5),
    ],
    ARGUMENT_VALUE: [
      () => tokenizer.setTruncation(3, { strategy: 'longest_first' }),
      () => tokenizer.setTruncation(3, { direction: 'up' }),
      () => tokenizer.setPadding({ direction: 'up' }),
      () => encoding.pad(3, { direction: 'up' }),
    ],
    PADDING_TOO_LONG: [() => encoding.pad(1e12)],
    TRUNCATION_STRIDE: [() => encoding.truncate(1, 1)],
  }
  for (const [code, calls] of Object.entries(wrong))
    for (const call of calls) assert.equal((await failure(call)).code, `ERR_TOKENLANE_${code}`, String(call))
})
