import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer } from '../index.mjs'

const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
const TEXT = 'Streaming: é, 中文, 👩‍👩‍👧, \u0301 and <|endoftext|>.'
const ids = tokenizer.encode(TEXT, { specialTokens: 'parse' }).ids

test('ids in pieces give the text of all ids, without incomplete characters', () => {
  for (const size of [1, 2, 3, 7]) {
    const stream = tokenizer.decodeStream()
    const pieces = []
    for (let at = 0; at < ids.length; at += size) pieces.push(stream.push(ids.subarray(at, at + size)))
    pieces.push(stream.end())
    assert.equal(pieces.join(''), TEXT)
    assert.ok(pieces.every((piece) => !piece.includes('\uFFFD')))
  }
})

test('an id inside of a character gives no text; end() returns the rest', () => {
  const parts = tokenizer.encode('👩').ids
  assert.ok(parts.length > 1)
  const stream = tokenizer.decodeStream()
  assert.equal(stream.push(parts[0]), '')
  assert.equal(stream.end(), '\uFFFD')
  assert.equal(stream.push([...parts]), '👩', 'the stream is as new')
})

test('special tokens are skipped on request', () => {
  const stream = tokenizer.decodeStream({ skipSpecialTokens: true })
  assert.equal(stream.push(ids) + stream.end(), TEXT.replace('<|endoftext|>', ''))
})

test('a WHATWG stream of ids becomes a stream of text', async () => {
  const source = new ReadableStream({
    start(controller) {
      for (const id of ids) controller.enqueue(id)
      controller.close()
    },
  })
  let text = ''
  for await (const piece of source.pipeThrough(tokenizer.decodeStream().toTransformStream())) text += piece
  assert.equal(text, TEXT)
})

test('an invalid id is refused, and with an unknown id no id of the list is used', () => {
  const stream = tokenizer.decodeStream()
  for (const wrong of [-1, 1.5, NaN, 2 ** 32, '1', null, undefined, {}, [1, '2'], new Float32Array(2)]) {
    assert.throws(() => stream.push(wrong), { code: /^ERR_TOKENLANE_ARGUMENT_/ })
  }
  assert.throws(() => stream.push([ids[0], 4_000_000]), { code: 'ERR_TOKENLANE_UNKNOWN_ID' })
  assert.equal(stream.push(ids) + stream.end(), TEXT)
  assert.throws(() => tokenizer.decodeStream({ skipSpecial: true }), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
  assert.throws(() => new stream.constructor(), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})
