// split, splitAsync and splitStream compared with their definition, and how much text they encode.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer, encodings } from '../index.mjs'
import { adversarial } from '../scripts/hostile/adversarial.mjs'
import { random } from '../scripts/hostile/random.mjs'
import { failure, text as english } from './support/texts.mjs'

const shared = new URL('../../shared/conformance/public/tokenizers/', import.meta.url)
const shareds = fs.existsSync(shared) ? fs.readdirSync(shared).sort() : []
const PARSE = { specialTokens: 'parse' }
const BOUNDARIES = ['token', 'sentence', 'line']
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

/** Ends of the characters of a text, in UTF-16 units. A lone surrogate is a character. */
function endsOf(text) {
  const ends = []
  let at = 0
  for (const character of text) ends.push((at += character.length))
  return ends
}

function longestByTryingAll(tokenizer, text, limit) {
  const fits = [0, ...endsOf(text)].filter((end) => tokenizer.count(text.slice(0, end), PARSE) <= limit)
  return fits.at(-1)
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })
const IGNORED = '[\\p{M}\\p{Cf}]*'
const SPACES = `(?:[^\\S\\r\\n\\u2028\\u2029]${IGNORED})+`
/** The end of a text that no sentence ends with, as in `J. R. R. Tolkien`. */
const INITIAL = new RegExp(`(?<![\\p{L}\\p{N}]${IGNORED})[\\p{Lu}\\p{Lt}]${IGNORED}\\.${IGNORED}${SPACES}$`, 'u')

/** The ends of sentences or lines, without the end of the text. */
function boundaries(text, kind) {
  if (kind === 'token') return []
  const ends =
    kind === 'line'
      ? [...text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)].map(({ 0: found, index }) => index + found.length)
      : [...segmenter.segment(text)]
          .map(({ segment, index }) => index + segment.length)
          .filter((end) => !INITIAL.test(text.slice(0, end)))
  return ends.filter((end) => end < text.length)
}

/** The result of split by definition, or undefined if a character has too many ids. */
function splitByDefinition(tokenizer, text, { maxTokens, overlap, boundary }) {
  const count = (part, options) => tokenizer.count(part, { ...PARSE, ...options })
  const bare = { addSpecialTokens: false }
  const pieces = []
  let [start, covered] = [0, 0]
  while (start < text.length) {
    const rest = text.slice(start)
    let length = longestByTryingAll(tokenizer, rest, maxTokens)
    if (!(length > 0)) return undefined
    if (length < rest.length) {
      const ends = boundaries(rest, boundary).filter((end) => end <= length)
      length = ends.slice(-16).findLast((end) => count(rest.slice(0, end)) <= maxTokens) ?? length
    }
    const end = start + length
    if (end <= covered && start < covered) {
      start = covered
      continue
    }
    const piece = text.slice(start, end)
    pieces.push({ text: piece, start, end, count: count(piece) })
    covered = end
    if (overlap === 0 || maxTokens === 1 || end === text.length) {
      start = end
      continue
    }
    const { offsets } = tokenizer.encode(piece, { ...PARSE, ...bare, truncation: false, padding: false })
    const starts = new Set()
    for (let token = Math.max(0, offsets.length / 2 - overlap); token < offsets.length / 2; token++)
      starts.add(offsets[2 * token])
    const first = starts.size > 0 ? Math.min(...starts) : piece.length
    const allowed = boundary === 'token' ? [...starts].sort((a, b) => a - b) : boundaries(piece, boundary)
    start += allowed.find((at) => at > 0 && at >= first && count(piece.slice(at), bare) <= overlap) ?? piece.length
  }
  return pieces
}

const attempt = (call) => {
  try {
    return call()
  } catch (error) {
    assert.equal(error.code, TOO_SMALL)
    return undefined
  }
}

for (const [name, tokenizer] of Object.entries(TOKENIZERS)) {
  test(`${name}: truncate gives the longest of all prefixes, and split the pieces of its definition`, () => {
    const fixed = tokenizer.count('', PARSE)
    for (let seed = 1; seed <= 25; seed++) {
      const draw = random(seed * 7 + name.length)
      const text = someText(seed * 31 + name.length)
      const limit = fixed + draw.below(12)
      const context = JSON.stringify({ name, text, limit })
      const start = tokenizer.truncate(text, limit, PARSE)
      assert.equal(start.length, longestByTryingAll(tokenizer, text, limit), context)
      const options = { maxTokens: fixed + 1 + draw.below(14), boundary: BOUNDARIES[seed % 3], overlap: 0 }
      if (seed % 2 === 0) options.overlap = draw.below(Math.min(5, options.maxTokens))
      const pieces = attempt(() => tokenizer.split(text, { ...PARSE, ...options }))
      const expected = splitByDefinition(tokenizer, text, options)
      assert.deepEqual(pieces, expected, JSON.stringify({ name, text, options }))
    }
  })
}

test('a decomposed syllable can be within a limit that its first part exceeds', () => {
  const tokenizer = byteLevel.with({ normalizer: { type: 'NFC' } })
  const text = '\u1103\u1170\u11b7\u1103\u1170'
  for (let limit = 0; limit < 12; limit++) {
    assert.equal(tokenizer.truncate(text, limit).length, longestByTryingAll(tokenizer, text, limit), `${limit}`)
  }
  const ids = new Uint32Array(3)
  const all = tokenizer.encode(text).ids
  for (let room = 0; room <= all.length; room++) {
    const { read, written } = tokenizer.encodeInto(text, ids.subarray(0, room))
    assert.equal(
      tokenizer.decode(ids.subarray(0, written)),
      text.slice(0, read).normalize('NFC'),
      'what was read is what the ids stand for',
    )
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
  for (let seed = 1; seed <= 300; seed++) {
    const draw = random(seed)
    const text = Array.from({ length: draw.below(30) }, () => draw.of(letters)).join('')
    for (const boundary of ['sentence', 'line']) {
      const options = { maxTokens: 6 + draw.below(4), overlap: 0, boundary }
      const pieces = attempt(() => tokenizer.split(text, options))
      assert.deepEqual(pieces, splitByDefinition(tokenizer, text, options), JSON.stringify({ text, options }))
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
      boundary: BOUNDARIES[seed % 3],
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
test('split encodes at most three times the text, and a constant for each piece', () => {
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
    if (name.startsWith('u_')) continue
    for (const kind of kinds) {
      const text = adversarial(kind, 100_000)
      for (const boundary of BOUNDARIES) {
        const maxTokens = 256
        const before = tokenizer.stats().encodedBytes
        const pieces = attempt(() => tokenizer.split(text, { ...PARSE, maxTokens, boundary }))
        const encoded = tokenizer.stats().encodedBytes - before
        // If prefix counts are not exact, more prefixes of each piece are encoded, at most 16 KiB.
        const perPiece = REAL.includes(name) ? 1000 : 16 << 10
        const most = 3 * Buffer.byteLength(text) + perPiece * (pieces?.length ?? 1) + 20_000
        assert.ok(encoded <= most, JSON.stringify({ name, kind, boundary, encoded, most, pieces: pieces?.length }))
      }
    }
  }
})

test('all bundled encodings split a long word of one letter', () => {
  for (const name of encodings()) {
    const tokenizer = Tokenizer.fromEncodingSync(name)
    for (const letter of ['a', ' ', '中', '\n', '👍']) {
      const text = letter.repeat(3000)
      const pieces = tokenizer.split(text, { maxTokens: 20 })
      assert.equal(pieces.map((piece) => piece.text).join(''), text)
      for (const piece of pieces.slice(0, 3)) {
        assert.equal(
          piece.text.length,
          longestByTryingAll(tokenizer, text.slice(piece.start, piece.start + 3000), 20),
          name,
        )
      }
    }
  }
})
