// Offsets of SentencePiece models against recorded answers of the library, and loops over
// `encodeInto`.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import zlib from 'node:zlib'

import { describe, LOOK } from '../../lib/internal/tokens.mjs'
import { Tokenizer } from '../../index.mjs'

const models = fileURLToPath(new URL('../../crates/core/testdata/sentencepiece/', import.meta.url))
const cases = JSON.parse(zlib.gunzipSync(fs.readFileSync(path.join(models, 'cases.json.gz'))))
const load = (name) => Tokenizer.fromFileSync(path.join(models, `${name}.model`))

/** Positions in bytes of a text in each unit. */
function inUnits(text, places) {
  const bytes = Buffer.from(text)
  const before = places.map((place) => bytes.subarray(0, place).toString())
  return {
    byte: places,
    codepoint: before.map((part) => [...part].length),
    utf16: before.map((part) => part.length),
  }
}

for (const [name, { texts }] of Object.entries(cases.models)) {
  test(`offsets of ${name} are those of sentencepiece ${cases.sentencepiece} in each unit`, async () => {
    const tokenizer = load(name)
    for (const unit of ['byte', 'codepoint', 'utf16']) {
      const batch = await tokenizer.encodeBatch(
        texts.map(([text]) => text),
        { offsets: unit },
      )
      texts.forEach(([text, , , places], row) => {
        const expected = inUnits(text, places)[unit]
        assert.deepEqual([...tokenizer.encode(text, { offsets: unit }).offsets], expected, `${unit} of ${text}`)
        assert.deepEqual([...batch.offsetsOf(row)], expected, `${unit} of ${text} in a batch`)
      })
    }
  })

  test(`a loop over encodeInto reads each text of ${name} once`, () => {
    const tokenizer = load(name)
    for (const [text] of texts) {
      for (const size of [2, 5]) {
        const reads = []
        for (let [at, capacity] = [0, size]; at < text.length; ) {
          const into = new Uint32Array(capacity)
          const { read, written } = tokenizer.encodeInto(text.slice(at), into)
          const [rest, taken] = [text.slice(at), text.slice(at, at + read)].map((part) => tokenizer.encode(part).ids)
          assert.deepEqual([...into.subarray(0, written)], read === 0 ? [] : [...taken], `${text} from ${at}`)
          assert.equal(read === text.length - at, rest.length <= capacity, `${text} from ${at}`)
          reads.push(text.slice(at, at + read))
          at += read
          capacity = read === 0 ? 2 * capacity : size
        }
        assert.equal(reads.join(''), text)
      }
    }
  })
}

/** Offsets as pairs, in UTF-16 units. */
function spans(tokenizer, text) {
  const { offsets } = tokenizer.encode(text)
  return Array.from({ length: offsets.length / 2 }, (_, at) => [...offsets.subarray(2 * at, 2 * at + 2)])
}

test('a user-defined symbol and a composed character have the offsets of all their characters', () => {
  const bpe = load('bpe')
  assert.deepEqual(spans(bpe, '<turn>'), [
    [0, 0],
    [0, 6],
  ])
  assert.deepEqual(bpe.encode('to\n\n\n\nto').tokens, ['▁to', '\n\n', '\n\n', 't', 'o'])
  assert.deepEqual(bpe.encodeInto('to\n\n\n\nto', new Uint32Array(2)), { read: 4, written: 2 })
  const char = load('char')
  for (const composed of ['ᄒ\u1161\u11ab', 'ﾊﾟ', 'か\u3099', 'e\u0301']) {
    const end = composed.length
    assert.deepEqual(spans(char, `${composed}a`).slice(1), [
      [0, end],
      [end, end + 1],
    ])
    assert.deepEqual(char.encodeInto(`${composed}a`, new Uint32Array(2)), { read: end, written: 2 })
  }
})

test('byte pieces, removed spaces and the inserted meta symbol follow the library', () => {
  const bytes = load('unigram_bytes')
  assert.deepEqual(spans(bytes, '🙂x'), [
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 2],
    [2, 3],
  ])
  const encoding = bytes.encode('🙂x')
  assert.deepEqual([encoding.charToToken(0), encoding.charToToken(2)], [4, 5])
  for (let room = 0; room < 5; room++)
    assert.deepEqual(bytes.encodeInto('🙂x', new Uint32Array(room)), { read: 0, written: 0 })
  assert.deepEqual(bytes.encodeInto('🙂x', new Uint32Array(5)), { read: 2, written: 5 })
  assert.deepEqual(spans(load('char'), '  a   b  '), [
    [2, 2],
    [2, 3],
    [3, 6],
    [6, 7],
  ])
})

test('a byte of a character is shown with the whole character', () => {
  const tokenizer = load('unigram_bytes')
  const shown = describe(tokenizer, '🙂x', tokenizer.encode('🙂x', LOOK))
  assert.deepEqual(
    shown.slice(1).map(({ kind, start, end, text }) => [kind, start, end, text]),
    [...Array(4).fill(['half', 0, 2, '🙂']), ['text', 2, 3, 'x']],
  )
})
