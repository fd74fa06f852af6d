// Texts that change: after any edits, and for any division into parts, the ids are those of the
// whole text. The oracle is `encode`, which other specs compare with the references.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer } from '../../index.mjs'
import { generator } from '../support/random.mjs'

const code = (name) => ({ code: `ERR_TOKENLANE_${name}` })
const here = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const ENCODINGS = ['r50k_base', 'cl100k_base', 'o200k_base']
const FILES = [
  ...['bpe', 'bpe_bytes', 'unigram', 'char', 'word'].map((name) => `crates/core/testdata/sentencepiece/${name}.model`),
  ...['l_words', 's_bert_eow', 's_metaspace_first', 's_roberta', 'u_byte_fallback', 'u_xlmr_like', 'w_cased'].map(
    (name) => `crates/core/testdata/conformance/tokenizers/${name}.json`,
  ),
  // Published vocabularies, where they were fetched.
  ...['bert_base_uncased', 'gpt2', 'llama2', 'llama3_1', 'qwen2_5'].map(
    (name) => `.cache/vocabularies/${name}/tokenizer.json`,
  ),
]

function* tokenizers() {
  for (const name of ENCODINGS) yield [name, Tokenizer.fromEncodingSync(name)]
  for (const file of FILES.filter((name) => fs.existsSync(here(name)))) {
    yield [file, Tokenizer.fromBufferSync(fs.readFileSync(here(file)))]
  }
}

const PARTS = [
  'some words go on and on ',
  'const words = text.split(" ")\n',
  ' a b',
  'é à ',
  'e\u0301 x',
  '中文 字 文字',
  '😀 a 👩\u200d🚀',
  '1234 5',
  '   ',
  '\n\n  if (x) ',
  "it's ",
  '<|endoftext|> a',
  '▁ a',
  '\ud83d',
  '\ude00 b',
]
const WHOLE = { specialTokens: 'text', truncation: false, padding: false }
const OPTIONS = { specialTokens: 'text' }

/** The counts of tokens by `encode`: special tokens have the offsets of an empty place. */
const startsIn = (encoding, start, end, length) => {
  const { offsets, specialTokensMask } = encoding
  const own = [...specialTokensMask].map((isSpecial, at) => (isSpecial ? undefined : offsets[2 * at]))
  return own.filter((at) => at !== undefined && Math.min(at, length - 1) >= start && Math.min(at, length - 1) < end)
    .length
}

test('after any edits the ids, the counts and the text are those of the whole text', () => {
  const below = generator(59)
  const some = (most) => Array.from({ length: below(most) }, () => PARTS[below(PARTS.length)]).join('')
  for (const [name, tokenizer] of tokenizers()) {
    let text = some(200)
    const live = tokenizer.live(text, OPTIONS)
    for (let edit = 0; edit < 25; edit++) {
      const put = some(below(5) === 0 ? 60 : 4)
      const start = below(5) === 0 ? text.length : below(text.length + 1)
      const end = Math.min(text.length, start + below(below(10) === 0 ? 2000 : 12))
      if (start === text.length) live.append(put)
      else live.replace(start, end, put)
      text = text.slice(0, start) + put + text.slice(end)
      const whole = tokenizer.encode(text, WHOLE)
      assert.equal(live.text, text)
      assert.equal(live.length, text.length)
      assert.equal(live.count(), whole.ids.length, `${name}, edit ${edit}`)
      assert.deepEqual(live.ids(), whole.ids, `${name}, edit ${edit} at ${start}..${end}: ${JSON.stringify(put)}`)
      if (edit % 5 > 0 || text === '') continue
      const [from, to] = [below(text.length), below(text.length)].sort((one, other) => one - other)
      assert.equal(live.count(from, to), startsIn(whole, from, to, text.length), `${name}, ${from}..${to}`)
      assert.equal(live.count(0, from) + live.count(from, text.length), live.count(0, text.length))
    }
  }
})

test('edits next to the end of a chunk change it or not, as the whole text has it', () => {
  // Chunks end at the first space between two letters after 512 units.
  const text = 'ab cd '.repeat(100)
  const edits = [
    [0, '\u0301'],
    [0, '1'],
    [0, ' '],
    [1, ''],
    [1, '1'],
    [2, '\n'],
  ]
  for (const [name, tokenizer] of tokenizers()) {
    for (let start = 508; start < 520; start++) {
      for (const [removed, put] of edits) {
        const live = tokenizer.live(text, OPTIONS)
        live.replace(start, start + removed, put)
        const edited = text.slice(0, start) + put + text.slice(start + removed)
        const place = `${name}, ${start}..${start + removed}: ${JSON.stringify(put)}`
        assert.deepEqual(live.ids(), tokenizer.encode(edited, WHOLE).ids, place)
      }
    }
  }
})

test('parts of a text that are cut anywhere have the ids of the whole text', async () => {
  const below = generator(60)
  const sound = PARTS.filter((part) => !/^[\ud800-\udfff](?![\udc00-\udfff])/.test(part))
  const text = Array.from({ length: 120 }, () => sound[below(sound.length)]).join('')
  const bytes = new TextEncoder().encode(text)
  for (const [name, tokenizer] of tokenizers()) {
    const { ids } = tokenizer.encode(text, WHOLE)
    for (const whole of [text, bytes]) {
      const parts = []
      for (let at = 0; at < whole.length; ) {
        const end = at + 1 + below(40)
        parts.push(whole.slice(at, end))
        at = end
      }
      const all = []
      for await (const some of tokenizer.encodeChunks(parts, OPTIONS)) all.push(...some)
      assert.deepEqual(Uint32Array.from(all), ids, name)
    }
  }
})

test('ids come with the next space between two letters, and only the text after it is kept', async () => {
  const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
  const stream = tokenizer.encodeChunks()
  const [writer, reader] = [stream.writable.getWriter(), stream.readable.getReader()]
  writer.write('Some wor')
  assert.deepEqual((await reader.read()).value, tokenizer.encode('Some').ids)
  writer.write('ds g')
  assert.deepEqual((await reader.read()).value, tokenizer.encode(' words').ids)
  writer.close()
  assert.deepEqual((await reader.read()).value, tokenizer.encode(' g').ids)
  assert.equal((await reader.read()).done, true)
})

test('an edit encodes some chunks of a long text, and an append the last one', () => {
  const line = 'function words(text) { return text.split(" ") } // and so on and on\n'
  for (const [name, tokenizer] of tokenizers()) {
    const live = tokenizer.live(line.repeat(3000), OPTIONS)
    const before = tokenizer.stats().encodedBytes
    live.replace(100_000, 100_003, 'more')
    live.append(' x')
    const encoded = tokenizer.stats().encodedBytes - before
    assert.ok(!live.isIncremental || encoded < 4096, `${name}: ${encoded} bytes`)
  }
  const isIncremental = ([, tokenizer]) => tokenizer.live('').isIncremental
  const names = [...tokenizers()].filter(isIncremental).map(([name]) => name.split('/').at(-1))
  for (const name of [...ENCODINGS, 'bpe_bytes.model', 's_metaspace_first.json', 'u_xlmr_like.json']) {
    assert.ok(names.includes(name), `${name}, not in ${names}`)
  }
  assert.ok(!names.includes('unigram.model'))
})

test('an edit that fails changes nothing, and positions are checked', async () => {
  const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
  const live = tokenizer.live('some words', { specialTokens: 'throw' })
  assert.throws(() => live.append(' <|endoftext|>'), code('SPECIAL_TOKEN'))
  assert.throws(() => live.replace(3, 2, ''), code('ARGUMENT_VALUE'))
  assert.throws(() => live.replace(0, 11, ''), code('ARGUMENT_VALUE'))
  assert.throws(() => live.replace(0.5, 1, ''), code('ARGUMENT_VALUE'))
  assert.throws(() => live.append(7), code('ARGUMENT_TYPE'))
  assert.throws(() => live.count(0), code('ARGUMENT_VALUE'))
  assert.throws(() => tokenizer.live(null), code('ARGUMENT_TYPE'))
  assert.throws(() => tokenizer.live('', { offsets: 'utf8' }), code('UNKNOWN_OPTION'))
  assert.equal(live.text, 'some words')
  assert.deepEqual(live.ids(), tokenizer.encode('some words').ids)
  const gathered = async (parts) => {
    for await (const _ of tokenizer.encodeChunks(parts));
  }
  await assert.rejects(gathered([Uint8Array.of(0xe2, 0x82), 'a']), code('INVALID_UTF8'))
  await assert.rejects(gathered([7]), code('ARGUMENT_TYPE'))
  assert.throws(() => tokenizer.encodeChunks({ signal: 7 }), code('ARGUMENT_TYPE'))
})
