import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const small = Tokenizer.fromBufferSync(bytesOf(tiny()))
const numbers = (column) => Array.from(column)

test('a pair is encoded as one encoding', () => {
  const encoding = small.encode('hello', { pair: 'world' })
  assert.deepEqual(encoding.tokens, ['hello', 'w', 'or', 'l', 'd'])
  assert.deepEqual(numbers(encoding.typeIds), [0, 1, 1, 1, 1])
  assert.deepEqual(numbers(encoding.sequenceIds), [0, 1, 1, 1, 1])
  assert.deepEqual(numbers(encoding.offsets), [0, 5, 0, 1, 1, 3, 3, 4, 4, 5])
  assert.deepEqual(encoding.sequenceRanges, [
    { sequence: 0, start: 0, end: 1 },
    { sequence: 1, start: 1, end: 5 },
  ])
  assert.deepEqual(numbers(small.encode(bytesOf('hello'), { pair: bytesOf('world') }).ids), numbers(encoding.ids))
})

test('pre-tokenized words keep their indices', () => {
  const words = ['hello', ' world', '']
  const encoding = small.encode(words, { pretokenized: true })
  words.length = 0
  assert.deepEqual(encoding.tokens, ['<s>', 'hello', 'Ġw', 'or', 'l', 'd', '</s>'])
  assert.deepEqual(numbers(encoding.wordIds), [-1, 0, 1, 1, 1, 1, -1])
  assert.deepEqual(numbers(encoding.offsets).slice(4, 8), [0, 2, 2, 4])
  const pair = small.encode(['he', 'll'], { pretokenized: true, pair: ['o'] })
  assert.deepEqual(numbers(pair.wordIds), [0, 1, 0])
})

test('truncation keeps the first part and returns the others as overflow', () => {
  const truncation = { maxLength: 5, stride: 1 }
  const encoding = small.encode('hello world', { truncation })
  assert.deepEqual(encoding.tokens, ['<s>', 'hello', 'Ġw', 'or', '</s>'])
  const [rest, ...others] = encoding.overflowing
  assert.equal(others.length, 0)
  assert.deepEqual(rest.tokens, ['<s>', 'or', 'l', 'd', '</s>'])
  assert.deepEqual(numbers(rest.ids), [14, 13, 2, 7, 15])
  assert.deepEqual(numbers(rest.offsets), [0, 0, 7, 9, 9, 10, 10, 11, 0, 0])
  assert.deepEqual(numbers(rest.specialTokensMask), [1, 0, 0, 0, 1])
  assert.deepEqual(rest.sequenceRanges, [{ sequence: 0, start: 1, end: 4 }])
  assert.deepEqual([rest.charToToken(9), rest.charToToken(0), rest.wordToTokens(1)], [2, undefined, [1, 4]])
  assert.deepEqual(rest.overflowing, [])
  assert.deepEqual(small.encode('hello', { truncation }).overflowing, [])
  // For a pair, the parts have their own overflow, in the same list.
  const both = small.encode('hewo', { pair: 'wohe', addSpecialTokens: false, truncation: { maxLength: 4 } })
  assert.deepEqual(
    both.overflowing.map(({ ids }) => ids.length),
    [3, 2, 3],
  )
  const own = both.overflowing.map((part) => part.overflowing.map((one) => both.overflowing.indexOf(one)))
  assert.deepEqual(own, [[1], [], [1]])
  const left = small.encode('hello world', { truncation: { maxLength: 4, direction: 'left' } })
  assert.deepEqual(left.tokens, ['<s>', 'l', 'd', '</s>'])
})

test('columns are independent of the order of their use, and have their own memory', () => {
  const names = [
    'offsets',
    'typeIds',
    'wordIds',
    'sequenceIds',
    'specialTokensMask',
    'attentionMask',
    'sequenceRanges',
    'tokens',
  ]
  const texts = [
    ['', {}],
    ['hello', { pair: 'world o' }],
    ['hello', { offsets: false }],
    ['hello world hello', { truncation: { maxLength: 5, stride: 1 }, padding: { to: 7 } }],
  ]
  for (const [text, options] of texts) {
    const encoded = () => {
      const encoding = small.encode(text, options)
      return [encoding, ...encoding.overflowing]
    }
    // In this order each column is computed alone.
    const alone = names.map((name) => encoded().map((row) => row[name]))
    for (let first = 0; first < names.length; first++) {
      const rows = encoded()
      const order = [...names.slice(first), ...names.slice(0, first)]
      for (const name of order)
        assert.deepEqual(
          rows.map((row) => row[name]),
          alone[names.indexOf(name)],
          `${name} after ${names[first]}`,
        )
      const buffers = rows
        .flatMap((row) => names.map((name) => row[name]))
        .filter(ArrayBuffer.isView)
        .map(({ buffer }) => buffer)
      assert.equal(new Set(buffers).size, buffers.length)
    }
  }
})

test('padding of one text and of a batch', async () => {
  const padding = { to: 6, padId: 9, padTypeId: 2, padToken: '<pad>', direction: 'left' }
  const encoding = small.encode('hello', { padding })
  assert.deepEqual(encoding.tokens, ['<pad>', '<pad>', '<pad>', '<s>', 'hello', '</s>'])
  assert.deepEqual(numbers(encoding.ids), [9, 9, 9, 14, 11, 15])
  assert.deepEqual(numbers(encoding.attentionMask), [0, 0, 0, 1, 1, 1])
  assert.deepEqual(encoding.sequenceRanges, [{ sequence: 0, start: 4, end: 5 }])
  const options = { padding: { multipleOf: 4 }, columns: ['typeIds', 'tokens'] }
  for (const batch of [
    await small.encodeBatch(['hello', 'o w'], options),
    small.encodeBatchSync(['hello', 'o w'], options),
  ]) {
    assert.deepEqual(numbers(batch), [Uint32Array.of(14, 11, 15, 0), Uint32Array.of(14, 3, 12, 15)])
    assert.deepEqual(numbers(batch.attentionMask), [1, 1, 1, 0, 1, 1, 1, 1])
    assert.deepEqual(batch.tokens.slice(0, 4), ['<s>', 'hello', '</s>', '[PAD]'])
    assert.deepEqual([batch.wordIds, batch.rowTexts], [undefined, undefined])
    batch.dispose()
    assert.deepEqual([batch.attentionMask.length, batch.typeIds.length], [0, 0])
  }
})

test('a batch has the overflow as rows with the index of their text', async () => {
  const texts = ['hello world', 'hello', 'world w']
  const options = { truncation: { maxLength: 4 }, overflow: true, columns: ['sequenceIds'], offsets: 'utf16' }
  const batch = await small.encodeBatch(texts, options)
  const rows = texts.flatMap((text, index) => {
    const encoding = small.encode(text, { truncation: options.truncation })
    return [encoding, ...encoding.overflowing].map((one) => [index, one])
  })
  assert.deepEqual(
    numbers(batch.rowTexts),
    rows.map(([index]) => index),
  )
  assert.deepEqual(
    numbers(batch),
    rows.map(([, one]) => one.ids),
  )
  assert.deepEqual(
    numbers(batch.offsets),
    rows.flatMap(([, one]) => numbers(one.offsets)),
  )
  assert.deepEqual(
    numbers(batch.sequenceIds),
    rows.flatMap(([, one]) => numbers(one.sequenceIds)),
  )
  const kept = await small.encodeBatch(texts, { truncation: options.truncation })
  assert.deepEqual([kept.length, kept.rowTexts], [3, undefined])
})

test('a batch of pairs and of words', async () => {
  const texts = ['hello', 'world', 'w']
  const pairs = ['he', '', bytesOf('lo')]
  const batch = await small.encodeBatch(texts, { pairs })
  texts.forEach((text, row) => assert.deepEqual(batch.row(row), small.encode(text, { pair: pairs[row] }).ids))
  const words = [['hello', ' w'], [], ['or']]
  const cut = small.encodeBatchSync(words, { pretokenized: true, pairs: words })
  words.forEach((list, row) => {
    assert.deepEqual(cut.row(row), small.encode(list, { pretokenized: true, pair: list }).ids)
  })
})

test('a queued call is encoded with the texts at the time of the call', async () => {
  const words = [['hello'], ['he', bytesOf('w')]]
  const want = words.map((list) => numbers(small.encode(list, { pretokenized: true }).ids))
  const running = Array.from({ length: 3 }, () => small.encodeBatch(words, { pretokenized: true }))
  words[1][1].fill(0x68)
  words[0][0] = 'w'
  words.pop()
  for (const batch of await Promise.all(running)) assert.deepEqual(numbers(batch).map(numbers), want)
})

test('tensors are rectangles of ids or of a column', async () => {
  const batch = await small.encodeBatch(['hello', 'o w'], { columns: ['sequenceIds', 'typeIds'] })
  const { type, data, dims } = batch.tensor('int64')
  assert.deepEqual([type, numbers(data), dims], ['int64', [14n, 11n, 15n, 0n, 14n, 3n, 12n, 15n], [2, 4]])
  assert.deepEqual(batch.tensor('int32').data, Int32Array.of(14, 11, 15, 0, 14, 3, 12, 15))
  assert.deepEqual(numbers(batch.tensor('int64', 'attentionMask').data), [1n, 1n, 1n, 0n, 1n, 1n, 1n, 1n])
  assert.deepEqual(numbers(batch.tensor('int64', 'sequenceIds').data), [-1n, 0n, -1n, 0n, -1n, 0n, 0n, -1n])
  assert.deepEqual(small.encodeBatchSync([]).tensor('int32').dims, [0, 0])
  assert.throws(() => batch.tensor('float32'), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  assert.throws(() => batch.tensor('int64', 'wordIds'), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  batch.dispose()
  assert.throws(() => batch.tensor('int64'), { code: 'ERR_TOKENLANE_DISPOSED' })
})

test('lookups between offsets, words and tokens', () => {
  const encoding = small.encode('hello world')
  assert.deepEqual([encoding.charToToken(0), encoding.charToToken(6), encoding.charToToken(99)], [1, 2, undefined])
  assert.throws(() => encoding.charToToken(-1), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE', message: /^place must be/ })
  assert.deepEqual([encoding.charToWord(7), encoding.wordToTokens(1), encoding.wordToChars(1)], [1, [2, 6], [5, 11]])
  assert.deepEqual([encoding.tokenToChars(3), encoding.tokenToWord(3), encoding.tokenToSequence(3)], [[7, 9], 1, 0])
  assert.deepEqual([encoding.tokenToChars(0), encoding.tokenToWord(99), encoding.tokenToSequence(0)], Array(3).fill())
  const plain = small.encode('hello world', { addSpecialTokens: false })
  const last = plain.length - 1
  assert.deepEqual([plain.tokenToChars(last), plain.tokenToWord(last)], [[plain.offsets[2 * last], 11], 1])
  assert.deepEqual([plain.tokenToChars(last + 1), plain.tokenToWord(last + 1)], [undefined, undefined])
  assert.equal(small.encode('a', { offsets: false }).charToToken(0), undefined)
})

test('options of the call replace those of the file', () => {
  const file = {
    ...tiny(),
    truncation: { direction: 'Right', max_length: 4, strategy: 'LongestFirst', stride: 0 },
    padding: {
      strategy: { Fixed: 5 },
      direction: 'Right',
      pad_to_multiple_of: null,
      pad_id: 3,
      pad_type_id: 0,
      pad_token: 'o',
    },
  }
  const stored = Tokenizer.fromBufferSync(bytesOf(file))
  const encoding = stored.encode('hello world')
  assert.deepEqual(encoding.tokens, ['<s>', 'hello', 'Ġw', '</s>', 'o'])
  assert.deepEqual([numbers(encoding.ids), encoding.overflowing.length], [[14, 11, 12, 15, 3], 2])
  assert.deepEqual(encoding.overflowing[0].tokens, ['<s>', 'or', 'l', '</s>', 'o'])
  assert.deepEqual(numbers(stored.encodeBatchSync(['hello']).attentionMask), [1, 1, 1, 0, 0])
  const off = { truncation: false, padding: false }
  assert.deepEqual(stored.encode('hello world', off).ids, small.encode('hello world').ids)
  assert.equal(stored.count('hello world'), 7)
})

test('invalid combinations are refused with an error that names them', async () => {
  const refuses = (options, code, name = 'RangeError') =>
    assert.throws(() => small.encode('hello world', options), { name, code: `ERR_TOKENLANE_${code}` })
  refuses({ truncation: { maxLength: 5, stride: 3 } }, 'TRUNCATION_STRIDE')
  refuses({ truncation: { maxLength: 5, stride: 4 } }, 'TRUNCATION_STRIDE')
  refuses({ truncation: { maxLength: 5, strategy: 'only_second' } }, 'TRUNCATION_NO_SECOND_TEXT')
  refuses({ pair: 'o', truncation: { maxLength: 2, strategy: 'only_second' } }, 'TRUNCATION_TOO_SHORT')
  refuses({ padding: { to: 4_000_000_000 } }, 'PADDING_TOO_LONG')
  refuses({ truncation: { maxLength: -1 } }, 'ARGUMENT_VALUE')
  refuses({ truncation: { maxLength: 5, direction: 'up' } }, 'ARGUMENT_VALUE')
  refuses({ truncation: {} }, 'ARGUMENT_TYPE', 'TypeError')
  refuses({ truncation: true }, 'ARGUMENT_TYPE', 'TypeError')
  refuses({ truncation: { maxlength: 5 } }, 'UNKNOWN_OPTION', 'TypeError')
  refuses({ padding: { to: 'shortest' } }, 'ARGUMENT_VALUE')
  refuses({ padding: { padId: 1.5 } }, 'ARGUMENT_VALUE')
  refuses({ pretokenized: true }, 'ARGUMENT_TYPE', 'TypeError')
  refuses({ pair: 5 }, 'ARGUMENT_TYPE', 'TypeError')
  refuses({ pretokenized: 1 }, 'ARGUMENT_TYPE', 'TypeError')
  const rejects = (texts, options, error) => assert.rejects(small.encodeBatch(texts, options), error)
  await rejects(['a'], { pairs: [] }, { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  await rejects(['a'], { pretokenized: true }, { code: 'ERR_TOKENLANE_ARGUMENT_TYPE', row: 0 })
  await rejects(['a'], { columns: ['offsets'] }, { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  const truncation = { maxLength: 4, stride: 2 }
  await rejects(['hello', 'hello world'], { truncation }, { code: 'ERR_TOKENLANE_TRUNCATION_STRIDE', row: 1 })
})
