// `isWithin` reads only the start of a long text that exceeds the limit. Encoded bytes are counted,
// not time.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'

const file = (path) =>
  Tokenizer.fromBufferSync(fs.readFileSync(new URL(`../../crates/core/testdata/${path}`, import.meta.url)))
const fixture = (name) => file(`conformance/tokenizers/${name}.json`)
const model = (name) => file(`sentencepiece/${name}.model`)

const LENGTH = 3_000_000
const LIMIT = 100
const TEXTS = {
  english: 'it is the time of the year that we go on and on. ',
  letters: 'qwzkjxvprtnqzhjklmnbvcxzasdfghjkl',
  letter: 'a',
  digits: '31415926535897932384626433832795028841971',
  punctuation: '!',
}
const ALL = Object.keys(TEXTS)

// WordPiece and WordLevel make one token of a word of unknown length.
const FAMILIES = {
  'byte-level, bundled': [Tokenizer.fromEncodingSync('o200k_base'), ALL],
  'byte-level with tokens that take spaces': [fixture('s_roberta'), ALL],
  'BPE with a suffix': [fixture('s_bert_eow'), ALL],
  'BPE with a prefix': [fixture('s_prefix'), ALL],
  'BPE of CLIP': [fixture('s_clip'), ALL],
  'BPE of SentencePiece, tokenizer.json': [fixture('s_metaspace_first'), ALL],
  'BPE of SentencePiece': [model('bpe'), ['english', 'letters', 'letter', 'digits']],
  'Unigram of SentencePiece': [model('unigram'), ['english', 'letters', 'letter', 'digits']],
  'Unigram with bytes': [fixture('u_byte_fallback'), ALL],
  Unigram: [fixture('u_xlmr_like'), ALL],
  WordPiece: [fixture('w_cased'), ['english', 'punctuation']],
  WordLevel: [fixture('l_words'), ['english']],
}

test('of a text of 3 MB that exceeds a limit of 100 tokens, at most 64 KB are encoded', () => {
  for (const [family, [tokenizer, names]] of Object.entries(FAMILIES)) {
    for (const name of names) {
      const text = TEXTS[name].repeat(LENGTH / TEXTS[name].length)
      for (const value of [text, new TextEncoder().encode(text)]) {
        const before = tokenizer.stats().encodedBytes
        assert.equal(tokenizer.isWithin(value, LIMIT), false, `${family}, ${name}`)
        const bytes = tokenizer.stats().encodedBytes - before
        assert.ok(bytes <= 65_536, `${family}, ${name}: ${bytes} bytes`)
      }
    }
  }
})

test('a long text of few tokens is within the limit, and one that exceeds it at its end is not', () => {
  const bert = fixture('w_cased')
  const word = 'a'.repeat(200_000)
  assert.equal(bert.isWithin(word, 3), true)
  assert.equal(bert.isWithin(`${word} b c d`, 3), false)
  assert.equal(bert.isWithin(`${word}${' some words'.repeat(20_000)}`, LIMIT), false)
  for (const [tokenizer] of Object.values(FAMILIES)) {
    const text = ' some 1,234 words, é 中文 😀'.repeat(20)
    const count = tokenizer.count(text)
    assert.deepEqual(
      [count - 1, count].map((limit) => tokenizer.isWithin(text, limit)),
      [false, true],
    )
  }
})
