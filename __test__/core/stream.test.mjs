import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'

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

// A push of one id takes texts that it keeps; a push of a list never does, so it is the slow twin.
test('ids one by one give what lists of one id give, and the same errors', () => {
  const codes = Array.from({ length: 256 }, (_, i) => i)
  const jsonOf = (decoder) => {
    const vocab = Object.fromEntries(
      ['a', '▁b', 'Ġ', 'Ã', '©', '<0xE2>', '<0x82>', '<0xAC>', ' '].map((t, i) => [t, i]),
    )
    const added = [
      { id: 9, content: '<s>', special: true, single_word: false, lstrip: false, rstrip: false, normalized: false },
    ]
    const file = { version: '1.0', added_tokens: added, decoder, model: { type: 'BPE', vocab, merges: [] } }
    return Tokenizer.fromBufferSync(Buffer.from(JSON.stringify(file)))
  }
  const byteLevel = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true }
  const llama = [
    { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
    { type: 'ByteFallback' },
    { type: 'Fuse' },
    { type: 'Strip', content: ' ', start: 1, stop: 0 },
  ]
  const all = [
    [Tokenizer.fromEncodingSync('r50k_base'), [...codes, 50256, 50257, 1 << 20]],
    [tokenizer, [...codes, ...ids, 200018, 199998]],
    [jsonOf(byteLevel), [0, 1, 2, 3, 4, 5, 8, 9, 10]],
    [jsonOf({ type: 'Sequence', decoders: llama }), [0, 1, 5, 6, 7, 8, 9, 10]],
    [jsonOf(null), [0, 1, 2, 8, 9, 10]],
  ]
  let state = 1
  const random = (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const outcome = (call) => {
    try {
      return call()
    } catch ({ code, message }) {
      return `${code} ${message}`
    }
  }
  for (const [one, known] of all) {
    for (const skipSpecialTokens of [false, true]) {
      const streams = [one.decodeStream({ skipSpecialTokens }), one.decodeStream({ skipSpecialTokens })]
      for (let step = 0; step < 4000; step++) {
        const id = known[random(known.length)]
        const isEnd = random(50) === 0
        const asList = random(20) === 0
        const [fast, slow] = isEnd
          ? streams.map((stream) => stream.end())
          : [() => streams[0].push(asList ? [id] : id), () => streams[1].push([id])].map(outcome)
        assert.equal(fast, slow, `step ${step}, id ${id}`)
      }
    }
  }
})
