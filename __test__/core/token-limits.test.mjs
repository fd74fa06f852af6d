// isWithin, encodeInto, truncate and split, compared with encode and count.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { failure, text } from '../support/texts.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const gpt = Tokenizer.fromEncodingSync('o200k_base')
const small = Tokenizer.fromBufferSync(bytesOf(tiny()))
const TEXTS = [
  '',
  'a',
  'Hello, world!',
  '日本語のテキスト。',
  '👩‍🚀🚀 naïve',
  '   \n\n\n  x',
  'a'.repeat(300),
  text(3000, 5),
  text(900, 9),
]

test('isWithin equals a comparison with count', () => {
  for (const string of TEXTS) {
    const count = gpt.count(string)
    for (const limit of [0, 1, count - 1, count, count + 1, 2 * count, 4294967295].filter((limit) => limit >= 0)) {
      for (const form of [string, Buffer.from(string)])
        assert.equal(gpt.isWithin(form, limit), count <= limit, `${limit}`)
    }
  }
  assert.equal(small.isWithin('hello', 3), true)
  assert.equal(small.isWithin('hello', 2), false)
  assert.equal(small.isWithin('hello', 1, { addSpecialTokens: false }), true)
  assert.equal(gpt.isWithin('<|endoftext|>', 1, { specialTokens: 'parse' }), true)
})

test('isWithin does not read more text than necessary', () => {
  const end = '<|endoftext|>'
  assert.throws(() => gpt.isWithin(`word ${end}`, 1), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN' })
  assert.equal(gpt.isWithin('word '.repeat(1e5) + end, 100), false)
  assert.equal(gpt.isWithin(Buffer.concat([Buffer.alloc(1e6, 'word '), Buffer.of(255)]), 100), false)
})

test('invalid limits, options and texts are refused', async () => {
  for (const call of [
    (limit) => gpt.isWithin('a', limit),
    (limit) => gpt.truncate('a', limit),
    (maxTokens) => gpt.split('a', { maxTokens }),
  ]) {
    for (const limit of [undefined, null, '3', {}]) {
      assert.equal((await failure(() => call(limit))).code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
    }
    for (const limit of [-1, 1.5, NaN, Infinity, 2 ** 32]) {
      assert.equal((await failure(() => call(limit))).code, 'ERR_TOKENLANE_ARGUMENT_VALUE')
    }
  }
  const code = (call) => failure(call).then((error) => error.code)
  assert.equal(await code(() => gpt.isWithin('a', 1, { offsets: 'byte' })), 'ERR_TOKENLANE_UNKNOWN_OPTION')
  assert.equal(
    await code(() => gpt.encodeInto('a', new Uint32Array(1), { truncation: false })),
    'ERR_TOKENLANE_UNKNOWN_OPTION',
  )
  assert.equal(await code(() => gpt.split('a', { maxTokens: 1, size: 2 })), 'ERR_TOKENLANE_UNKNOWN_OPTION')
  assert.equal(await code(() => gpt.split('a', { maxTokens: 4, overlap: 4 })), 'ERR_TOKENLANE_ARGUMENT_VALUE')
  assert.equal(await code(() => gpt.split('a', { maxTokens: 4, boundary: 'page' })), 'ERR_TOKENLANE_ARGUMENT_VALUE')
  assert.equal(await code(() => gpt.split(Buffer.from('a'), { maxTokens: 4 })), 'ERR_TOKENLANE_ARGUMENT_TYPE')
  for (const wrong of [undefined, 3, ['a'], {}]) {
    assert.equal(await code(() => gpt.isWithin(wrong, 1)), 'ERR_TOKENLANE_ARGUMENT_TYPE')
    assert.equal(await code(() => gpt.truncate(wrong, 1)), 'ERR_TOKENLANE_ARGUMENT_TYPE')
    assert.equal(await code(() => gpt.encodeInto(wrong, new Uint32Array(1))), 'ERR_TOKENLANE_ARGUMENT_TYPE')
    assert.equal(await code(() => gpt.encodeInto('a', wrong)), 'ERR_TOKENLANE_ARGUMENT_TYPE')
  }
  const detached = new Uint32Array(4)
  structuredClone(detached.buffer, { transfer: [detached.buffer] })
  const resizable = new Uint32Array(new ArrayBuffer(16, { maxByteLength: 32 }))
  const shared = new Uint32Array(new SharedArrayBuffer(16))
  for (const ids of [detached, resizable, shared]) {
    assert.equal(await code(() => gpt.encodeInto('a', ids)), 'ERR_TOKENLANE_BUFFER')
  }
})

test('encodeInto writes the ids of the start that fits, and nothing else', () => {
  for (const string of TEXTS) {
    const all = gpt.encode(string).ids
    for (const room of [0, 1, 2, 3, 5, 8, 13, all.length - 1, all.length, all.length + 2].filter((room) => room >= 0)) {
      const buffer = new Uint32Array(room + 2).fill(77)
      const { read, written } = gpt.encodeInto(string, buffer.subarray(1, room + 1))
      assert.deepEqual(buffer.subarray(1, written + 1), gpt.encode(string.slice(0, read)).ids)
      assert.ok(buffer.subarray(written + 1).every((id) => id === 77) && buffer[0] === 77)
      assert.ok(written <= room)
      assert.equal(string.slice(0, read), gpt.truncate(string, room))
      assert.equal(read === string.length, all.length <= room)
      const bytes = Buffer.from(string)
      const ofBytes = gpt.encodeInto(bytes, buffer.subarray(1, room + 1))
      assert.deepEqual(ofBytes, { read: Buffer.byteLength(string.slice(0, read)), written })
    }
  }
})

test('encodeInto: special tokens around a text', () => {
  const ids = new Uint32Array(8)
  assert.deepEqual(small.encodeInto('hello world', ids), { read: 11, written: 7 })
  assert.deepEqual(small.encodeInto('hello world', ids.subarray(0, 6)), { read: 10, written: 6 })
  assert.deepEqual(small.encodeInto('hello world', ids.subarray(0, 1)), { read: 0, written: 0 })
  assert.deepEqual(small.encodeInto('hello world', ids, { addSpecialTokens: false }), { read: 11, written: 5 })
})

test('truncate returns a start that fits, and of a long text reads only the start', () => {
  assert.equal(gpt.truncate('The quick brown fox', 3), 'The quick brown')
  assert.equal(gpt.truncate(Buffer.from('The quick brown fox'), 3).toString(), 'The quick brown')
  assert.equal(gpt.truncate('👩🏽‍🚀 and more', 0), '')
  assert.equal(small.truncate('hello hello', 3), 'hello')
  assert.throws(() => small.truncate('hello', 1), { name: 'RangeError', code: 'ERR_TOKENLANE_LIMIT_TOO_SMALL' })
  for (const string of ['👍'.repeat(1e6), ' '.repeat(4e6), text(4e6, 3)]) {
    const before = gpt.stats().encodedBytes
    const start = gpt.truncate(string, 10)
    const { read } = gpt.encodeInto(string, new Uint32Array(10))
    assert.equal(read, start.length)
    assert.ok(gpt.count(start) <= 10 && gpt.count(string.slice(0, start.length + 200)) > 10)
    assert.ok(gpt.stats().encodedBytes - before < 100_000)
  }
})

const BOUNDARIES = ['token', 'sentence', 'line']
const TOKENIZERS = [gpt, Tokenizer.fromEncodingSync('r50k_base'), Tokenizer.fromEncodingSync('cl100k_base')]

test('pieces are within the limit and in order, and joined they equal the text', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const string = text(1 + ((seed * 397) % 6000), seed).replaceAll(': ', '. ')
    const tokenizer = TOKENIZERS[seed % TOKENIZERS.length]
    const boundary = BOUNDARIES[(seed % 7) % BOUNDARIES.length]
    const maxTokens = 6 + ((seed * 31) % 120)
    const pieces = tokenizer.split(string, { maxTokens, boundary })
    assert.equal(pieces.map((piece) => piece.text).join(''), string)
    let at = 0
    for (const piece of pieces) {
      assert.equal(piece.start, at)
      assert.equal(piece.text, string.slice(piece.start, piece.end))
      assert.equal(piece.count, tokenizer.count(piece.text))
      assert.ok(piece.count <= maxTokens)
      assert.ok(piece.text.isWellFormed?.() ?? true)
      at = piece.end
    }
    if (boundary === 'token') {
      // No piece could be longer.
      for (const piece of pieces) assert.equal(piece.text, tokenizer.truncate(string.slice(piece.start), maxTokens))
    }
  }
})

test('with overlap, adjacent pieces share the allowed part and cover the text', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const string = text(4000, seed).replaceAll(': ', '. ')
    const boundary = BOUNDARIES[seed % BOUNDARIES.length]
    const [maxTokens, overlap] = [40 + seed, 2 + seed]
    const pieces = gpt.split(string, { maxTokens, overlap, boundary })
    assert.equal(pieces[0].start, 0)
    assert.equal(pieces.at(-1).end, string.length)
    let shared = 0
    for (const [index, piece] of pieces.entries()) {
      assert.ok(gpt.count(piece.text) <= maxTokens)
      const before = pieces[index - 1]
      if (before === undefined) continue
      assert.ok(piece.start > before.start && piece.start <= before.end && piece.end > before.end)
      const common = string.slice(piece.start, before.end)
      assert.ok(gpt.count(common) <= overlap)
      shared += common.length
      if (boundary === 'token') assert.ok(gpt.count(common) > 0, 'there is always room for a token')
    }
    assert.ok(shared > 0 || boundary === 'line', 'something is shared')
  }
})

test('sentences and lines stay complete if they fit', () => {
  const three = 'One sentence is here. Another one follows! Is this the third?'
  const texts = (pieces) => pieces.map((piece) => piece.text)
  assert.deepEqual(texts(gpt.split(three, { maxTokens: 11, boundary: 'sentence' })), [
    'One sentence is here. Another one follows! ',
    'Is this the third?',
  ])
  assert.deepEqual(texts(gpt.split(three, { maxTokens: 11, overlap: 5, boundary: 'sentence' })), [
    'One sentence is here. Another one follows! ',
    'Another one follows! Is this the third?',
  ])
  assert.deepEqual(texts(gpt.split('a b\r\nc d\n\ne f', { maxTokens: 4, boundary: 'line' })), [
    'a b\r\n',
    'c d\n\n',
    'e f',
  ])
  assert.deepEqual(texts(gpt.split('今日は。明日は？', { maxTokens: 4, boundary: 'sentence' })), [
    '今日は。',
    '明日は？',
  ])
  assert.deepEqual(gpt.split('', { maxTokens: 4 }), [])
})

test('special tokens around a piece count towards its limit', () => {
  const pieces = small.split('hello hello world', { maxTokens: 4 })
  assert.ok(pieces.every((piece) => piece.count <= 4 && piece.count === small.count(piece.text)))
  assert.throws(() => small.split('hello', { maxTokens: 2 }), {
    name: 'RangeError',
    code: 'ERR_TOKENLANE_LIMIT_TOO_SMALL',
  })
  assert.throws(() => gpt.split('a 𒀀', { maxTokens: 1 }), { name: 'RangeError', code: 'ERR_TOKENLANE_LIMIT_TOO_SMALL' })
})

test('a stream gives the pieces of the whole text, independent of its chunks', async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const string = `${text(5000, seed)}👍`.replaceAll(': ', '. ')
    const options = { maxTokens: 10 + seed, overlap: seed % 4, boundary: BOUNDARIES[seed % 3] }
    const want = gpt.split(string, options)
    const chunks = new ReadableStream({
      start(controller) {
        for (let at = 0, size = 1; at < string.length; at += size, size = 1 + ((size * 7 + seed) % 997)) {
          controller.enqueue(string.slice(at, at + size))
        }
        controller.close()
      },
    })
    const got = []
    for await (const piece of chunks.pipeThrough(gpt.splitStream(options))) got.push(piece)
    assert.deepEqual(got, want)
  }
})
