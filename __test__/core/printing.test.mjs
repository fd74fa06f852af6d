// console.log and JSON.stringify of a Tokenizer, an Encoding and a Batch.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { inspect } from 'node:util'

import { Batch, Encoding, Tokenizer } from '../../index.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const require = createRequire(import.meta.url)
const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
const small = Tokenizer.fromBufferSync(bytesOf(tiny()))
const shown = (value, options) => inspect(value, { breakLength: Number.POSITIVE_INFINITY, ...options })

test('a tokenizer shows where it comes from, and its size', () => {
  assert.match(
    shown(tokenizer),
    /^Tokenizer { from: 'o200k_base', vocabSize: \d+, addedTokens: 2, tableBytes: \d+, cacheBytes: \d+ }$/,
  )
  assert.match(shown(small), /^Tokenizer { vocabSize: 16, addedTokens: 2, /)
  assert.match(shown({ a: { b: { c: { d: tokenizer } } } }, { depth: 2 }), /\[Object\]|\[Tokenizer\]/)
})

test('an encoding shows ids, and tokens if it is short', () => {
  assert.equal(
    shown(tokenizer.encode('Hello, world!')),
    "Encoding(4) { ids: Uint32Array(4) [ 13225, 11, 2375, 0 ], tokens: [ 'Hello', ',', ' world', '!' ] }",
  )
  assert.equal(shown(small.encode('')), "Encoding(2) { ids: Uint32Array(2) [ 14, 15 ], tokens: [ '<s>', '</s>' ] }")
  assert.match(
    shown(small.encode(['he', 'llo'], { pretokenized: true, pair: ['o'] })),
    /^Encoding\(4\) .*tokens: \[ 'he', 'll', 'o', 'o' \] }$/,
  )
  // The text of a short encoding can be long.
  const cut = small.encode('hello '.repeat(1e5), { truncation: { maxLength: 4 } })
  assert.doesNotMatch(shown(cut), /tokens/)
  assert.match(shown([[[tokenizer.encode('a')]]], { depth: 1 }), /\[Array\]/)
  assert.match(shown([[tokenizer.encode('a')]], { depth: 1 }), /\[Encoding\(1\)\]/)
})

test('a batch shows its first rows', () => {
  const batch = tokenizer.encodeBatchSync(['a', 'hello world', 'c', 'd', 'e'], { columns: ['tokens'] })
  assert.equal(
    shown(batch),
    "Batch(5) { ids: 6, columns: [ 'tokens' ], rows: [ Uint32Array(1) [ 64 ], Uint32Array(2) [ 24912, 2375 ], Uint32Array(1) [ 66 ] ], more: '2 more rows' }",
  )
  assert.equal(shown(tokenizer.encodeBatchSync([])), 'Batch(0) { ids: 0, rows: [] }')
  batch.dispose()
  assert.equal(shown(batch), 'Batch (disposed)')
})

test('very long values are printed in short form', () => {
  const text = 'a b '.repeat(1e6)
  for (const value of [
    tokenizer.encode(text),
    tokenizer.encodeBatchSync([text, text]),
    tokenizer.encodeBatchSync(new Array(1e5).fill('a')),
  ]) {
    assert.ok(shown(value).length < 800)
    assert.ok(shown(value, { maxArrayLength: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY }).length < 800)
  }
})

test('printing works without the arguments of Node, and for prototypes', () => {
  const print = Symbol.for('nodejs.util.inspect.custom')
  for (const value of [tokenizer, tokenizer.encode('a'), tokenizer.encodeBatchSync(['a'])]) {
    assert.equal(typeof value[print](), 'object')
    assert.match(value[print](2, {}, inspect), /^(Tokenizer|Encoding|Batch)/)
  }
  for (const { prototype } of [Tokenizer, Encoding, Batch]) {
    assert.match(prototype[print](2, {}, inspect), /prototype$/)
    assert.doesNotThrow(() => inspect(prototype))
    assert.ok(!Object.keys(prototype).includes('toJSON'))
  }
})

test('JSON has the ids', () => {
  const json = (value) => JSON.parse(JSON.stringify(value))
  assert.deepEqual(json(tokenizer.encode('Hello, world!')), { ids: [13225, 11, 2375, 0] })
  assert.deepEqual(json(tokenizer.encodeBatchSync(['a', '', 'hello world'])), { ids: [[64], [], [24912, 2375]] })
  const columns = ['tokens', 'typeIds', 'wordIds', 'sequenceIds', 'specialTokensMask', 'attentionMask']
  assert.deepEqual(json(small.encodeBatchSync(['hello', 'he o'], { columns, offsets: 'utf16' })), {
    ids: [
      [14, 11, 15],
      [14, 8, 4, 3, 15],
    ],
    offsets: [
      [
        [0, 0],
        [0, 5],
        [0, 0],
      ],
      [
        [0, 0],
        [0, 2],
        [2, 3],
        [3, 4],
        [0, 0],
      ],
    ],
    tokens: [
      ['<s>', 'hello', '</s>'],
      ['<s>', 'he', 'Ġ', 'o', '</s>'],
    ],
    typeIds: [
      [0, 0, 0],
      [0, 0, 0, 0, 0],
    ],
    wordIds: [
      [-1, 0, -1],
      [-1, 0, 1, 1, -1],
    ],
    sequenceIds: [
      [-1, 0, -1],
      [-1, 0, 0, 0, -1],
    ],
    specialTokensMask: [
      [1, 0, 1],
      [1, 0, 0, 0, 1],
    ],
    attentionMask: [
      [1, 1, 1],
      [1, 1, 1, 1, 1],
    ],
  })
  assert.equal(json(small).version, '1.0')
  const batch = small.encodeBatchSync(['he'])
  batch.dispose()
  assert.throws(() => JSON.stringify(batch), { code: 'ERR_TOKENLANE_DISPOSED' })
})

test('more ids than JSON can hold are refused', () => {
  const batch = small.encodeBatchSync(['he'])
  // Memory for so many ids is not needed: toJSON only asks for their number first.
  const { batchJson, encodingJson } = require('../../lib/print.js')
  const ids = { length: 2 ** 26 + 1 }
  for (const call of [
    () => encodingJson({ ids }),
    () => batchJson({ ids, length: 1, rowOffsets: batch.rowOffsets }, [], false),
  ]) {
    assert.throws(call, { name: 'RangeError', code: 'ERR_TOKENLANE_BATCH_TOO_LARGE' })
  }
})
