// The addon's reader of the fields of lines of JSON, which corpus jobs use instead of JSON.parse.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { DocumentBatch } from '../src/document-batch.mjs'
import { DocumentReader } from '../src/document-reader.mjs'
import { finiteJson, parseJson, valueAt } from '../../../lib/files/json-rows.mjs'

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

const native = createRequire(import.meta.url)('../../../lib/native.js')

/** What the addon takes of lines: texts, ids and places by line, and the lines that it leaves. */
function takenOf(bytes, field, idField, most = 1 << 20) {
  const lines = native.lineReader(field, idField, most)
  native.loadLines(lines, bytes)
  const batch = new DocumentBatch(idField !== undefined)
  batch.startPart({ rows: 'json', path: 'p', start: 0 })
  const left = []
  let row = 0
  for (let start = 0; start < bytes.length; ) {
    const { next, end, count } = batch.take(lines, start, 1000, row)
    row += count
    start = next
    if (end === undefined) continue
    left.push(row++)
    start = end + 1
  }
  batch.seal()
  const documents = Array.from({ length: batch.length }, (_, index) => ({
    line: batch.place(index).line - 1,
    at: batch.about(index).at - 1000,
    id: batch.about(index).id,
    text: Buffer.from(batch.text(index)),
  }))
  assert.deepEqual(
    documents.map(({ text }) => text.length),
    documents.map((_, index) => batch.textBytes(index)),
  )
  return { documents, left, rows: row }
}

/** What JSON.parse finds; nothing if a field is not there or of another type. */
function parsedOf(line, field, idField) {
  try {
    // A line may have been cut inside of a character.
    const value = JSON.parse(Buffer.from(line).toString())
    const [text, id] = [valueAt(value, field), idField === undefined ? undefined : valueAt(value, idField)]
    if (typeof text !== 'string' || (idField !== undefined && !['string', 'number'].includes(typeof id)))
      return undefined
    return { text: Buffer.from(text), id: id === undefined ? undefined : String(id) }
  } catch {
    return undefined
  }
}

test('the addon takes only what JSON.parse accepts, with the same values', () => {
  const name = () => pick(['text', 'id', 'a', 'a.b', 'b', 'te\\u0078t', 'é', '', 'x'])
  const value = (depth) => {
    const kind = random(depth > 3 ? 5 : 9)
    if (kind < 3) return JSON.stringify(Array.from({ length: random(8) }, () => pick(PIECES)).join(''))
    if (kind === 3) return pick(['0', '-1', '1.5e-3', '12', '-0', '123456789012345', '1234567890123456', '1e400', '01'])
    if (kind === 4)
      return pick(['true', 'null', '"\\ud83d\\ude00\\ud83d"', '"\\ud83d\\u0041\\u0000\\/"', '"\\b\\f\\n\\r\\t"'])
    const inner = Array.from({ length: random(4) }, () => value(depth + 1))
    const space = pick(['', '', ' ', '\t'])
    if (kind === 5) return `[${space}${inner.join(`${space},`)}${space}]`
    return `{${space}${inner.map((one) => `"${name()}"${space}:${space}${one}`).join(`,${space}`)}${space}}`
  }
  const line = () => {
    const often = (text) => (random(4) > 0 ? text : value(1))
    const [id, text] = [often(pick(['7', '"é"', '"\\u0041"'])), often(JSON.stringify(pick(PIECES) + pick(PIECES)))]
    const inner = often(`{"b":${text},"id":${id},"b.a":${text}}`)
    const whole = `${pick(['', ' ', '\r'])}{"id":${id},"${random(3) > 0 ? 'c' : name()}":${value(0)},"text":${text},"a":${inner}}${pick(['', '\r'])}`
    if (random(3) > 0) return whole
    const cut = random(whole.length)
    return whole.slice(0, cut) + pick(PIECES) + whole.slice(cut + random(3))
  }
  let [taken, left] = [0, 0]
  const fields = [
    ['text'],
    ['text', 'id'],
    ['a.b'],
    ['a.b', 'a.id'],
    ['a.b', 'a.b'],
    ['a.b.a', 'id'],
    ['é', ''],
    ['x', 'text'],
  ]
  for (let round = 0; round < 600; round++) {
    const [field, idField] = fields[round % fields.length]
    const lines = Array.from({ length: 40 }, () => (random(20) === 0 ? pick(['', '\r', ' \t ']) : line()))
    const found = takenOf(Buffer.from(lines.join('\n') + pick(['', '\n'])), field, idField)
    for (const { line, at, id, text } of found.documents) {
      const expected = parsedOf(lines[line], field, idField)
      assert.ok(expected !== undefined, lines[line])
      assert.deepEqual({ id, text }, { id: expected.id, text: expected.text }, lines[line])
      assert.equal(at, Buffer.byteLength(lines.slice(0, line).join('\n')) + Number(line > 0))
    }
    for (const one of found.left) assert.notEqual(lines[one].trim(), '', 'blank lines are taken')
    const blank = lines.slice(0, found.rows).filter((one) => one.trim() === '').length
    assert.equal(found.documents.length + found.left.length + blank, found.rows)
    taken += found.documents.length
    left += found.left.length
  }
  assert.ok(taken > 2000 && left > 2000, `${taken} taken, ${left} left`)
})

test('the addon leaves lines that are too long, and those that are not UTF-8', () => {
  const lines = [
    '{"text":"a"}',
    `{"text":"${'b'.repeat(80)}"}`,
    '{"text":"é","c":"\xff"}',
    '{"text":"d"}',
    '{"text":"\xff"}',
  ]
  const found = takenOf(Buffer.from(lines.join('\n'), 'latin1'), 'text', undefined, 64)
  assert.deepEqual(found.left, [1, 2, 4])
  assert.deepEqual(
    found.documents.map(({ text }) => text.toString()),
    ['a', 'd'],
  )
  assert.equal(found.rows, 5)
})

test('the addon takes ordinary lines, long ones too, and plain text', () => {
  const text = 'é漢\u{1F600}"\\\n\u0007 plain words '.repeat(20_000)
  const row = { id: 'ü"', deep: [{ a: [1, '}', -2.5e-7, null] }], text, ü: { 'é.x': 'inner' } }
  const bytes = Buffer.from(`${JSON.stringify(row)}\n${JSON.stringify({ ...row, id: -0, text: '' })}`)
  const { documents, left } = takenOf(bytes, 'text', 'id')
  assert.deepEqual(left, [])
  assert.deepEqual(
    documents.map(({ id }) => id),
    ['ü"', '0'],
  )
  assert.equal(documents[0].text.toString(), text)
  assert.equal(documents[1].text.length, 0)
  const inner = takenOf(bytes, 'ü.é.x').documents
  assert.deepEqual(
    inner.map((one) => one.text.toString()),
    ['inner', 'inner'],
  )
  const plain = takenOf(Buffer.from('a\r\n\né\n'), undefined).documents
  assert.deepEqual(
    plain.map((one) => one.text.toString()),
    ['a', '', 'é'],
  )
})

test('calls of the addon with wrong values throw', () => {
  const lines = native.lineReader('text', undefined, 100)
  const documents = native.documents(10, 10)
  const result = new Uint32Array(4)
  assert.throws(() => native.loadLines(lines, 'text'), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  native.takeDocuments(lines, documents, 99, 0, 0, result)
  assert.deepEqual([...result], [0, 99, 99, 0])
  assert.throws(() => native.pushDocument(documents, 'text', 0, 0), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  assert.throws(() => native.pushDocument(documents, new Uint8Array(new SharedArrayBuffer(1)), 0, 0), {
    code: 'ERR_TOKENLANE_BUFFER',
  })
  assert.throws(() => native.documentText(documents, 0), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  native.clearDocuments(documents)
  assert.deepEqual(native.documentsSize(documents), [0, 0, 0])
})

test('documents are those of JSON.parse, whatever the addon takes', () => {
  const skipped = []
  let unpaired = 0
  const read = (bytes, field) => {
    const onSkip = (place, { code }) => skipped.push([place.line, code])
    const reader = new DocumentReader({ field, idField: undefined }, { onSkip, onCount: () => (unpaired += 1) })
    const part = { rows: 'json', path: 'p', start: 0 }
    reader.startPart(part)
    reader.load({ lines: bytes, at: 0 })
    assert.equal(reader.nextBatch(), undefined)
    const batch = reader.lastBatch()
    return Array.from({ length: batch.length }, (_, index) => Buffer.from(batch.text(index)).toString())
  }
  const rows = ['{"a":"1"}', '{"a":"2","a":"3"}', '', '{"\\u0061":"4"}', '{"a":5}', '[', '{"a":"\\ud800"}', '{"a":"é"}']
  assert.deepEqual(read(Buffer.from(rows.join('\n')), 'a'), ['1', '3', '4', '\ufffd', 'é'])
  assert.deepEqual(skipped, [
    [5, 'ERR_TOKENLANE_FIELD'],
    [6, 'ERR_TOKENLANE_JSON'],
  ])
  assert.equal(unpaired, 1)
  // This name is in no UTF-8, so JSON.parse alone finds it.
  assert.deepEqual(read(Buffer.from('{"\\ud800":"1","\ufffd":"2"}'), '\ud800'), ['1'])
})

test('numbers that are not finite are objects outside strings, in linear time', () => {
  const keys = (text) => Object.entries(JSON.parse(finiteJson(text))).map(([key, value]) => [key, typeof value])
  assert.deepEqual(keys('{"NaN":"NaN","a":NaN,"b":-Infinity,"c":"\\\\","d":"\\"NaN","e":1}'), [
    ...[
      ['NaN', 'string'],
      ['a', 'object'],
      ['b', 'object'],
      ['c', 'string'],
      ['d', 'string'],
      ['e', 'number'],
    ],
  ])
  for (const text of ['{"a":1}', '{"a":"NaN', 'NaNs', '"\\"']) assert.equal(finiteJson(text), text)
  // A string that does not end, with a million quotes; and one with as many escapes.
  const cut = Buffer.from(`{"a":NaN,"b":"${'say \\"hi\\" '.repeat(1e6)}`)
  assert.throws(() => parseJson(cut), { code: 'ERR_TOKENLANE_JSON' })
  assert.equal(parseJson(Buffer.from(`{"a":NaN,"text":"${'\\n'.repeat(3e6)}"}`)).text.length, 3e6)
})
