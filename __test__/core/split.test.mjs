// split, splitAsync and splitStream compared with their definition, and how much text they encode.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer, encodings } from '../../index.mjs'
import { comparedPieces, piecesByDefinition } from '../../tools/compare/differential/pieces.mjs'
import { adversarial } from '../../tools/check/hostile/adversarial.mjs'
import { random } from '../../tools/check/hostile/random.mjs'
import { failure, text as english } from '../support/texts.mjs'

const shared = new URL('../../../shared/conformance/public/tokenizers/', import.meta.url)
const shareds = fs.existsSync(shared) ? fs.readdirSync(shared).sort() : []
const PARSE = { specialTokens: 'parse' }
const BOUNDARIES = ['token', 'sentence', 'line', 'word']
const TOO_SMALL = 'ERR_TOKENLANE_LIMIT_TOO_SMALL'

/** Bundled encodings. The others are small or changed to be difficult. */
const REAL = ['r50k_base', 'o200k_base']
const TOKENIZERS = {}
for (const name of REAL) TOKENIZERS[name] = Tokenizer.fromEncodingSync(name)
for (const name of shareds) {
  try {
    TOKENIZERS[name] = Tokenizer.fromFileSync(path.join(fileURLToPath(shared), name, 'tokenizer.json'))
  } catch (error) {
    assert.equal(error.code, 'ERR_TOKENLANE_UNSUPPORTED')
  }
}
const byteLevel = Tokenizer.fromBufferSync(TOKENIZERS.r50k_base.toBuffer())
const strip = { type: 'Strip', strip_left: true, strip_right: true }
const CHANGES = {
  NFC: { normalizer: { type: 'NFC' } },
  NFKD: { normalizer: { type: 'NFKD' } },
  Strip: { normalizer: strip },
  Lowercase: { normalizer: { type: 'Lowercase' } },
  Replace: { normalizer: { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' } },
  'a space before': {
    preTokenizer: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
  },
  'added tokens': {
    addedTokens: [
      { content: '<x>', lstrip: true, rstrip: true },
      { content: 'and', singleWord: true },
    ],
  },
}
for (const [name, change] of Object.entries(CHANGES)) TOKENIZERS[`r50k_base, ${name}`] = byteLevel.with(change)

const PIECES = [
  ...[
    'a',
    ' ',
    '  ',
    '\n',
    '\r\n',
    '. ',
    '! ',
    'word',
    ' and',
    'The',
    '1234',
    "'s",
    'é',
    'e\u0301',
    '\u0301\u0323',
    '中文',
    '<x>',
    '<x',
    '   <x>  ',
  ],
  ...[
    '\u1103\u1170\u11b7',
    '\u1103\u1170',
    'ﬁ',
    '👩\u200d🚀',
    '\ud83d',
    'etc. and',
    '”',
    '。',
    '\u2028',
    '\u00a0',
    'AbCd',
    'aaaaaaaaaaaa',
    '          ',
  ],
]

function someText(seed, most = 40) {
  const draw = random(seed)
  return Array.from({ length: draw.below(most) }, () => draw.of(PIECES)).join('')
}

const attempt = (call) => {
  try {
    return call()
  } catch (error) {
    assert.equal(error.code, TOO_SMALL)
    return undefined
  }
}

/** Checks `truncate` and `encodeInto` against the first piece by definition. */
function checkStart(tokenizer, text, maxTokens, context) {
  const first = piecesByDefinition(tokenizer, text, { ...PARSE, maxTokens }, true)?.[0]?.end ?? 0
  assert.equal(tokenizer.truncate(text, maxTokens, PARSE), text.slice(0, first), context)
  const ids = new Uint32Array(maxTokens)
  const { read, written } = tokenizer.encodeInto(text, ids, PARSE)
  assert.equal(read, first, context)
  const alone = { ...PARSE, truncation: false, padding: false }
  const expected = first > 0 || text === '' ? tokenizer.encode(text.slice(0, first), alone).ids : new Uint32Array()
  assert.deepEqual(ids.subarray(0, written), expected, context)
}

for (const [name, tokenizer] of Object.entries(TOKENIZERS)) {
  test(`${name}: truncate, encodeInto and split do what they promise`, () => {
    const fixed = tokenizer.count('', PARSE)
    for (let seed = 1; seed <= 10; seed++) {
      const draw = random(seed * 7 + name.length)
      // One text has several sections: by definition that takes quadratic time.
      const text = someText(seed * 31 + name.length, seed === 10 ? 1000 : 40)
      checkStart(tokenizer, text, fixed + draw.below(12), JSON.stringify({ name, text }))
      const options = { ...PARSE, maxTokens: fixed + 1 + draw.below(14), boundary: BOUNDARIES[seed % 4], overlap: 0 }
      if (seed === 10) options.maxTokens += 40
      if (seed % 2 === 0) options.overlap = draw.below(Math.min(5, options.maxTokens))
      const { found, expected } = comparedPieces(tokenizer, text, options)
      assert.deepEqual(found, expected, JSON.stringify({ name, text, options }))
    }
  })
}

test('a piece ends where a token of the text ends', () => {
  const text = english(3000, 5)
  for (const tokenizer of [TOKENIZERS.o200k_base, TOKENIZERS.r50k_base]) {
    const ends = new Set(tokenizer.encode(text).offsets.filter((_, at) => at % 2 === 1))
    for (const maxTokens of [8, 16, 40]) {
      const pieces = tokenizer.split(text, { maxTokens })
      assert.ok(pieces.every(({ end }) => ends.has(end)))
      // Mostly, a piece is as long as the limit permits.
      assert.ok(pieces.filter(({ count }) => count === maxTokens).length > 0.8 * pieces.length)
    }
  }
})

test('encodeInto in a loop encodes a text piece by piece', () => {
  const text = `${english(20_000, 9)} 日本語 👩🏽‍🚀 ${'a'.repeat(3000)}`
  for (const tokenizer of [TOKENIZERS.o200k_base, TOKENIZERS['r50k_base, a space before']]) {
    const ids = new Uint32Array(50)
    const pieces = tokenizer.split(text, { maxTokens: 50 })
    let at = 0
    for (const piece of pieces) {
      const { read, written } = tokenizer.encodeInto(text.slice(at), ids)
      assert.ok(read > 0 && written <= 50)
      assert.deepEqual(ids.subarray(0, written), tokenizer.encode(text.slice(at, at + read)).ids)
      at += read
      if (at === text.length) break
      assert.ok(piece !== undefined)
    }
    assert.ok(at >= 0.9 * text.length)
  }
})

test('no sentence ends behind an initial', () => {
  const text = 'By J. R. R. Tolkien. For the U.S. Army.'
  const pieces = Tokenizer.fromEncodingSync('o200k_base').split(text, { maxTokens: 11, boundary: 'sentence' })
  assert.deepEqual(
    pieces.map(({ text }) => text),
    ['By J. R. R. Tolkien. ', 'For the U.S. Army.'],
  )
})

test('sentences end where Intl.Segmenter ends them, and lines where lines end', () => {
  const letters = [
    'a',
    'B',
    '1',
    '.',
    '!',
    '?',
    '。',
    ' ',
    ')',
    '"',
    "'",
    ',',
    ':',
    '-',
    '\r',
    '\n',
    '\u0085',
    '\u00a0',
    '\u0301',
    '\u00ad',
    '中',
    'あ',
    '٣',
    'é',
  ]
  const tokenizer = TOKENIZERS.o200k_base
  for (let seed = 1; seed <= 150; seed++) {
    const draw = random(seed)
    const text = Array.from({ length: draw.below(30) }, () => draw.of(letters)).join('')
    for (const boundary of ['sentence', 'line', 'word']) {
      const options = { maxTokens: 6 + draw.below(4), overlap: 0, boundary }
      const { found, expected } = comparedPieces(tokenizer, text, options)
      assert.deepEqual(found, expected, JSON.stringify({ text, options }))
    }
  }
})

test('splitAsync gives the pieces of split, off the calling thread, and stops when its signal aborts', async () => {
  const tokenizer = TOKENIZERS.o200k_base
  const text = english(200_000, 3)
  for (const options of [
    { maxTokens: 100 },
    { maxTokens: 64, overlap: 8, boundary: 'sentence' },
    { maxTokens: 30, boundary: 'line' },
  ]) {
    assert.deepEqual(await tokenizer.splitAsync(text, options), tokenizer.split(text, options))
  }
  assert.deepEqual(await tokenizer.splitAsync('', { maxTokens: 1 }), [])
  const many = await Promise.all(
    Array.from({ length: 6 }, (_, at) => tokenizer.splitAsync(`${at} ${text}`, { maxTokens: 50 })),
  )
  many.forEach((pieces, at) => assert.equal(pieces.map((piece) => piece.text).join(''), `${at} ${text}`))
  const code = async (call) => (await failure(call)).code
  assert.equal(await code(() => tokenizer.splitAsync('a 𒀀', { maxTokens: 1 })), TOO_SMALL)
  assert.equal(
    await code(() => tokenizer.splitAsync(Buffer.from('a'), { maxTokens: 1 })),
    'ERR_TOKENLANE_ARGUMENT_TYPE',
  )
  assert.equal(
    await code(() => tokenizer.splitAsync('a', { maxTokens: 1, threads: 2 })),
    'ERR_TOKENLANE_UNKNOWN_OPTION',
  )
  assert.equal(await code(() => tokenizer.splitAsync('a', { maxTokens: 1, signal: {} })), 'ERR_TOKENLANE_ARGUMENT_TYPE')
  assert.equal(
    await code(() => tokenizer.split('a', { maxTokens: 1, signal: AbortSignal.abort() })),
    'ERR_TOKENLANE_UNKNOWN_OPTION',
  )
  assert.equal(
    await code(() => tokenizer.splitAsync(`${text}<|endoftext|>`, { maxTokens: 100 })),
    'ERR_TOKENLANE_SPECIAL_TOKEN',
  )
  // Aborted before, while it waits in the queue, and while it runs.
  const reason = new Error('no longer needed')
  await assert.rejects(tokenizer.splitAsync(text, { maxTokens: 9, signal: AbortSignal.abort(reason) }), reason)
  const controller = new AbortController()
  const tasks = Array.from({ length: 5 }, () => tokenizer.splitAsync(text, { maxTokens: 2, signal: controller.signal }))
  controller.abort(reason)
  for (const task of tasks) await assert.rejects(task, reason)
  assert.equal((await tokenizer.splitAsync(text, { maxTokens: 100 })).at(-1).end, text.length, 'others go on')
})

test('a stream gives the pieces of the whole text, with any tokenizer and any chunks', async () => {
  const names = Object.keys(TOKENIZERS)
  for (let seed = 1; seed <= 60; seed++) {
    const draw = random(seed)
    const tokenizer = TOKENIZERS[names[seed % names.length]]
    const text = someText(seed, 400)
    const options = {
      ...PARSE,
      maxTokens: tokenizer.count('', PARSE) + 8 + draw.below(40),
      boundary: BOUNDARIES[seed % 4],
    }
    if (draw.chance(0.4)) options.overlap = draw.below(6)
    const expected = tokenizer.split(text, options)
    const chunks = new ReadableStream({
      start(controller) {
        for (let at = 0, size; at < text.length; at += size) {
          size = 1 + draw.below(draw.chance(0.5) ? 9 : 900)
          controller.enqueue(text.slice(at, at + size))
        }
        controller.close()
      },
    })
    const got = []
    for await (const piece of chunks.pipeThrough(tokenizer.splitStream(options))) got.push(piece)
    assert.deepEqual(got, expected, JSON.stringify({ name: names[seed % names.length], text, options }))
  }
})

// The amount of encoded text does not depend on the machine.
test('split encodes a text once with offsets, and its pieces at most twice', () => {
  const kinds = [
    'words',
    'one letter',
    'spaces',
    'control characters',
    'random CJK',
    'Hangul',
    'decomposed Hangul',
    'random emoji',
    'combining marks',
    'random digits',
  ]
  for (const [name, tokenizer] of Object.entries(TOKENIZERS)) {
    for (const kind of kinds) {
      const text = adversarial(kind, 30_000)
      for (const boundary of BOUNDARIES) {
        for (const maxTokens of boundary === 'token' ? [64, 256] : [256]) {
          const before = tokenizer.stats().encodedBytes
          const pieces = attempt(() => tokenizer.split(text, { ...PARSE, maxTokens, boundary }))
          const encoded = tokenizer.stats().encodedBytes - before
          // Sections overlap a little. Where they do not have one piece, they are read again.
          const most = (pieces?.some(({ text }) => text.length > 4096) ? 5 : 3.5) * Buffer.byteLength(text) + 20_000
          assert.ok(encoded <= most, JSON.stringify({ name, kind, boundary, maxTokens, encoded, most }))
        }
      }
    }
  }
})

test('a Unigram model of a, aa, … is split in linear work', () => {
  const pieces = Array.from({ length: 511 }, (_, at) => ['a'.repeat(at + 1), -1])
  const file = { model: { type: 'Unigram', unk_id: 0, vocab: pieces } }
  const tokenizer = Tokenizer.fromBufferSync(Buffer.from(JSON.stringify(file)))
  const text = 'a'.repeat(32 << 10)
  for (const maxTokens of [1, 8, 256]) {
    const before = tokenizer.stats().encodedBytes
    const found = tokenizer.split(text, { maxTokens })
    assert.equal(found.map((piece) => piece.text).join(''), text)
    assert.ok(found.slice(0, -2).every(({ count }) => count === maxTokens))
    const encoded = tokenizer.stats().encodedBytes - before
    assert.ok(encoded <= 5 * text.length, JSON.stringify({ maxTokens, encoded }))
  }
})

test('all bundled encodings split a long word of one letter', () => {
  for (const name of encodings()) {
    const tokenizer = Tokenizer.fromEncodingSync(name)
    for (const letter of ['a', ' ', '中', '\n', '👍']) {
      const { found, expected } = comparedPieces(tokenizer, letter.repeat(400), { maxTokens: 20 })
      assert.deepEqual(found, expected, JSON.stringify([name, letter]))
    }
  }
})
