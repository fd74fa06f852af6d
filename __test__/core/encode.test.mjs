import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Encoding, Tokenizer } from '../../index.mjs'
import { text } from '../support/texts.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const gpt = Tokenizer.fromEncodingSync('o200k_base')
const small = Tokenizer.fromBufferSync(bytesOf(tiny()))

test('ids equal those of tiktoken', () => {
  const encoding = gpt.encode('Hello, world!')
  assert.ok(encoding instanceof Encoding)
  assert.deepEqual(encoding.ids, Uint32Array.of(13225, 11, 2375, 0))
  assert.equal(encoding.length, 4)
  assert.deepEqual([...Tokenizer.fromEncodingSync('cl100k_base').encode('hello world').ids], [15339, 1917])
  assert.equal(gpt.encode('').length, 0)
})

test('a string and its UTF-8 are the same text', () => {
  for (const units of [0, 1, 50, 5000, 40_000]) {
    const string = text(units)
    assert.deepEqual(gpt.encode(string).ids, gpt.encode(new TextEncoder().encode(string)).ids)
    assert.deepEqual(gpt.encode(string).ids, gpt.encode(Buffer.from(string)).ids)
  }
})

test('a text with more ids than the scratch array is encoded completely', () => {
  const long = text(200_000)
  const ids = gpt.encode(long).ids
  assert.ok(ids.length > 30_000)
  assert.equal(gpt.decode(ids), long)
  assert.equal(gpt.count(long), ids.length)
})

test('ids of one call are not overwritten by the next', () => {
  const first = gpt.encode('first').ids
  const copy = [...first]
  gpt.encode('something else')
  assert.deepEqual([...first], copy)
})

test('a lone surrogate becomes U+FFFD', () => {
  for (const lone of ['\ud83d', '\ude00', 'a\ud83d', '\ude00b', '\ud83d\ud83d\ude00']) {
    assert.deepEqual(gpt.encode(lone).ids, gpt.encode(lone.toWellFormed?.() ?? Buffer.from(lone).toString()).ids)
  }
})

test('addSpecialTokens turns special tokens on and off', () => {
  assert.deepEqual([...small.encode('hello').ids], [14, 11, 15])
  assert.deepEqual([...small.encode('hello', { addSpecialTokens: false }).ids], [11])
  assert.equal(small.count('hello'), 3)
  assert.equal(small.count('hello', { addSpecialTokens: false }), 1)
})

test('special tokens in the text are handled as the file or the caller says', () => {
  const end = '<|endoftext|>'
  assert.throws(() => gpt.encode(end), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN' })
  assert.throws(() => gpt.count(end), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN' })
  assert.throws(() => gpt.encode(end, { specialTokens: 'throw' }), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN' })
  assert.deepEqual([...gpt.encode(end, { specialTokens: 'parse' }).ids], [199999])
  assert.deepEqual([...gpt.encode(end, { specialTokens: [end] }).ids], [199999])
  const listed = gpt.encode(`${end}<|endofprompt|>`, { specialTokens: [end] })
  assert.equal(listed.ids[0], 199999)
  assert.equal(gpt.decode(listed.ids.subarray(1)), '<|endofprompt|>')
  assert.ok(!listed.ids.includes(gpt.tokenToId('<|endofprompt|>')), 'what is not listed is text')
  assert.throws(() => gpt.encode('a', { specialTokens: ['<|nope|>'] }), { code: 'ERR_TOKENLANE_NO_SUCH_SPECIAL_TOKEN' })
  const asText = gpt.encode(end, { specialTokens: 'text' }).ids
  assert.ok(asText.length > 1)
  assert.equal(gpt.decode(asText), end)
  // Files of Hugging Face parse special tokens by default.
  assert.deepEqual([...small.encode('</s>', { addSpecialTokens: false }).ids], [15])
})

test('columns are computed on first use', () => {
  const encoding = small.encode('hello world')
  assert.deepEqual(encoding.tokens, ['<s>', 'hello', 'Ġw', 'or', 'l', 'd', '</s>'])
  assert.deepEqual([...encoding.specialTokensMask], [1, 0, 0, 0, 0, 0, 1])
  assert.deepEqual([...encoding.attentionMask], [1, 1, 1, 1, 1, 1, 1])
  assert.deepEqual([...encoding.typeIds], [0, 0, 0, 0, 0, 0, 0])
  assert.deepEqual([...encoding.wordIds], [-1, 0, 1, 1, 1, 1, -1])
  assert.deepEqual([...encoding.sequenceIds], [-1, 0, 0, 0, 0, 0, -1])
  assert.strictEqual(encoding.tokens, encoding.tokens)
})

test('offsets have the selected unit', () => {
  const string = 'naïve 👍 ok'
  const slices = (unit, cut) => {
    const { offsets, ids } = gpt.encode(string, { offsets: unit })
    assert.equal(offsets.length, 2 * ids.length)
    return Array.from(ids, (_, i) => cut(offsets[2 * i], offsets[2 * i + 1]))
  }
  const utf16 = slices('utf16', (start, end) => string.slice(start, end))
  const points = [...string]
  const bytes = Buffer.from(string)
  assert.equal(utf16.join('').replace(/(?:👍)+/u, '👍'), string)
  assert.deepEqual(
    utf16,
    slices('codepoint', (start, end) => points.slice(start, end).join('')),
  )
  assert.deepEqual(utf16[0], slices('byte', (start, end) => bytes.subarray(start, end).toString())[0])
  assert.deepEqual(gpt.encode(string).offsets, gpt.encode(string, { offsets: 'utf16' }).offsets)
  assert.equal(gpt.encode(string, { offsets: false }).offsets, undefined)
})

test('bytes that change after the call do not change any column', () => {
  const bytes = bytesOf('hello')
  const encoding = small.encode(bytes)
  bytes.fill(0x77)
  assert.deepEqual(encoding.tokens, ['<s>', 'hello', '</s>'])
})

test('tokens, ids and the size of the vocabulary', () => {
  assert.equal(gpt.tokenToId('Hello'), 13225)
  assert.equal(gpt.idToToken(13225), 'Hello')
  assert.equal(gpt.tokenToId('no such token'), undefined)
  assert.equal(gpt.idToToken(4_000_000_000), undefined)
  assert.equal(small.vocabSize(), 16)
  assert.equal(small.vocabSize({ addedTokens: false }), 14)
})

test('stats reports memory and hits of the word caches', () => {
  const own = Tokenizer.fromBufferSync(new TextEncoder().encode(`${JSON.stringify({ ...tiny(), version: '1.0' })} `))
  const before = own.stats()
  assert.deepEqual([before.cacheHits, before.cacheMisses], [0, 0])
  assert.ok(before.cacheBytes > 0, 'loading makes the first cache')
  assert.ok(before.tableBytes > 0)
  for (let round = 0; round < 10; round++) own.encode('hello hello world')
  const { tableBytes, cacheBytes, cacheHits, cacheMisses } = own.stats()
  assert.equal(tableBytes, before.tableBytes)
  assert.ok(cacheBytes > 0 && cacheBytes <= 64 << 20)
  assert.deepEqual([cacheHits, cacheMisses], [27, 3])
})

test('encodeInto writes the ids of the part that it read', () => {
  // A suffix that is encoded as bytes belongs to no character of the text, accents are removed, and
  // special tokens surround the text.
  const bytes = Object.fromEntries(
    Array.from({ length: 256 }, (_, byte) => [`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, byte]),
  )
  const suffixed = {
    ...tiny(),
    normalizer: { type: 'StripAccents' },
    pre_tokenizer: { type: 'WhitespaceSplit' },
    decoder: null,
    model: {
      type: 'BPE',
      vocab: { ...bytes, '<s>': 300, '</s>': 301, a: 302 },
      merges: [],
      byte_fallback: true,
      unk_token: null,
      end_of_word_suffix: '</w>',
    },
  }
  const subjects = [
    Tokenizer.fromBufferSync(bytesOf(tiny())),
    Tokenizer.fromBufferSync(bytesOf(suffixed)),
    Tokenizer.fromEncodingSync('cl100k_base'),
  ]
  const texts = [
    'h',
    'a',
    ' ',
    '  ',
    '\u0301',
    'a\u0301',
    'é',
    '中',
    'hello world',
    '<s>',
    'a b',
    'hello ',
    '👋 l',
    '\ud800',
  ]
  for (const [index, subject] of subjects.entries()) {
    const options = { specialTokens: 'text' }
    for (const text of texts) {
      const all = Array.from(subject.encode(text, options).ids)
      for (let room = 0; room <= all.length + 1; room++) {
        const ids = new Uint32Array(room)
        const { read, written } = subject.encodeInto(text, ids, options)
        const what = `tokenizer ${index}, ${JSON.stringify(text)}, room ${room}: ${read} read, ${written} written`
        assert.equal(read === text.length, all.length <= room, what)
        const expected = read > 0 ? subject.encode(text.slice(0, read), options).ids : []
        assert.deepEqual(Array.from(ids.subarray(0, written)), Array.from(expected), what)
      }
    }
    const special = Array.from(subject.encode('').ids)
    for (let room = 0; room <= special.length + 1; room++) {
      const expected = { read: 0, written: room < special.length ? 0 : special.length }
      assert.deepEqual(
        subject.encodeInto('', new Uint32Array(room)),
        expected,
        `tokenizer ${index}, empty text, room ${room}`,
      )
    }
  }
})
