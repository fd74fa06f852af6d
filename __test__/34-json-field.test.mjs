// The reader of one field of a line of JSON, which corpus jobs use instead of JSON.parse.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { FieldReader } from '../lib/corpus/json-field.mjs'
import { skipValue } from '../lib/corpus/json-skip.mjs'

/** Parts of JSON; lines are broken by them. */
const PIECES = [
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
  '0',
  '.',
  'e',
  '+',
  '01',
  '1.',
  '"a":',
  '""',
  '{}',
  '[]',
]

let state = 12345
const random = (count) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * count)
}
const pick = (list) => list[random(list.length)]

test('the reader accepts only what JSON.parse accepts, with the same values', () => {
  const line = () => {
    const value = ['"b"', '12', '-0.5e3', '{"text":"inner"}', '[1,"}",{}]', 'null', '"\\u0041\\n"'][random(7)]
    const text = JSON.stringify(Array.from({ length: random(12) }, () => pick(PIECES)).join(''))
    const whole = [
      `{"id":${value},"text":${text}}`,
      `{ "text" : ${text} , "id":${value}} `,
      `{"text":${text},"text":"last","id":1}`,
      `{"te\\u0078t":${text},"id":2}`,
    ][random(4)]
    if (random(2) === 0) return whole
    const cut = random(whole.length)
    return whole.slice(0, cut) + pick(PIECES) + whole.slice(cut + random(3))
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

test('a value of JSON is skipped where JSON.parse takes it, and nowhere else', () => {
  const value = (depth) => {
    const kind = random(depth > 3 ? 4 : 6)
    if (kind === 0) return pick(['0', '-1', '1.5e-3', '12', '1E+2', '-0.0'])
    if (kind === 1) return pick(['true', 'false', 'null'])
    if (kind < 4) return JSON.stringify(pick(['', 'a"b', '\\', 'é\u2028', '\u0000\n', '\u{1F600}']))
    const inner = Array.from({ length: random(4) }, () => value(depth + 1))
    const space = pick(['', ' ', '\n\t'])
    if (kind === 4) return `[${space}${inner.join(`${space},`)}${space}]`
    return `{${space}${inner.map((one, index) => `"${pick(['k', '\\u0041', ''])}${index}"${space}:${space}${one}`).join(`,${space}`)}${space}}`
  }
  let valid = 0
  for (let round = 0; round < 40_000; round++) {
    let text = value(0)
    const broken = random(3) > 0
    if (broken) {
      const cut = random(text.length + 1)
      text = text.slice(0, cut) + pick(PIECES) + text.slice(cut + random(3))
    }
    if (text.trim() !== text || text === '') continue
    let isValid = true
    try {
      JSON.parse(text)
    } catch {
      isValid = false
    }
    valid += Number(isValid)
    const bytes = Buffer.from(text)
    const end = skipValue(bytes, 0)
    if (isValid) assert.equal(end, bytes.length, text)
    // A part of it may be a value: that is for whoever looks at what follows.
    else if (end !== -1) assert.ok(end < bytes.length && parses(bytes.toString('utf8', 0, end)), text)
  }
  assert.ok(valid > 10_000, `${valid} valid`)
  const deep = Buffer.from(`${'['.repeat(1e6)}1${']'.repeat(1e6)}`)
  assert.equal(skipValue(deep, 0), deep.length)
  assert.equal(skipValue(deep.subarray(0, -1), 0), -1)
})

function parses(text) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('fields by a path, with names that are not ASCII, and in long lines', () => {
  const make = [
    (text) => ({ ü: { 'é.x': text }, id: 'ï' }),
    (text) => ({ id: 7, ü: { 'é.x': text, ü: 1 } }),
    (text) => ({ 'ü.é.x': text, id: 'a', ü: 3 }),
  ]
  const out = Buffer.alloc(8 << 20)
  for (const pad of [0, 3 << 20]) {
    for (const text of ['', 'plain', 'é漢\u{1F600}', 'a\nb"c\\', '\u0007']) {
      for (const one of make) {
        const row = { ...one(text), pad: 'x'.repeat(pad), more: [{ a: [1, '}'] }] }
        const bytes = Buffer.from(JSON.stringify(row))
        const reader = new FieldReader('ü.é.x', 'id')
        if (reader.read(bytes, out)) {
          assert.equal(out.toString('utf8', 0, reader.length), text)
          assert.equal(reader.id, row.id)
        } else assert.ok(pad > 0 || text === '\u0007', 'short lines without \\u are taken')
        const simple = Buffer.from(JSON.stringify({ pad: row.pad, more: row.more, id: row.id, text }))
        const top = new FieldReader('text', 'id')
        assert.equal(top.read(simple, out), true)
        assert.equal(out.toString('utf8', 0, top.length), text)
        assert.equal(top.id, row.id)
      }
    }
  }
})
