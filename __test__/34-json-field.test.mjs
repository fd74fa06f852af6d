// The reader of one field of a line of JSON, which corpus jobs use instead of JSON.parse.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { FieldReader } from '../lib/corpus/json-field.mjs'

test('the reader accepts only what JSON.parse accepts, with the same values', () => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '\\',
    ' ',
    'text',
    'id',
    'a',
    'é',
    '\u{1F600}',
    '1',
    '-',
    '.5',
    'e3',
    'true',
    'null',
    '\\n',
    '\\u00e9',
    '\\ud83d',
    '\\ude00',
    '\\"',
    '\t',
    '\u0001',
    '"text":"',
    '","',
    '"id":"',
  ]
  let state = 12345
  const random = (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * count)
  }
  const line = () => {
    const value = ['"b"', '12', '-0.5e3', '{"text":"inner"}', '[1,"}",{}]', 'null', '"\\u0041\\n"'][random(7)]
    const text = JSON.stringify(Array.from({ length: random(12) }, () => pieces[random(pieces.length)]).join(''))
    const whole = [
      `{"id":${value},"text":${text}}`,
      `{ "text" : ${text} , "id":${value}} `,
      `{"text":${text},"text":"last","id":1}`,
      `{"te\\u0078t":${text},"id":2}`,
    ][random(4)]
    if (random(2) === 0) return whole
    const cut = random(whole.length)
    return whole.slice(0, cut) + pieces[random(pieces.length)] + whole.slice(cut + random(3))
  }
  const reader = new FieldReader('text', 'id')
  const out = Buffer.alloc(4096)
  let taken = 0
  for (let round = 0; round < 40_000; round++) {
    const bytes = Buffer.from(line())
    if (!reader.read(bytes, out)) continue
    taken += 1
    const value = JSON.parse(bytes.toString())
    assert.equal(out.toString('utf8', 0, reader.length), Buffer.from(value.text).toString(), bytes.toString())
    assert.deepEqual(reader.id, value.id)
  }
  assert.ok(taken > 5000, `${taken} taken`)
})
