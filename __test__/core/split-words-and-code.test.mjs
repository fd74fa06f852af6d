// Pieces that end at words and at blocks of code, tables that repeat their heads, and the ends of
// texts.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'

const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
const code = (name) => ({ code: `ERR_TOKENLANE_${name}` })
const own = fs.readFileSync(new URL('../../lib/markdown.js', import.meta.url), 'utf8')

function checkPieces(text, pieces, { maxTokens }) {
  assert.equal(pieces.map((piece) => piece.text).join(''), text)
  for (const { text: part, start, end, count } of pieces) {
    assert.equal(text.slice(start, end), part)
    assert.equal(tokenizer.count(part), count)
    assert.ok(count <= maxTokens)
  }
}

test('no piece ends within a word, with every boundary, if the word fits', () => {
  const long = 'Donaudampfschifffahrtsgesellschaftskapitän'
  const text = `Ein ${long} und eine Rechtsschutzversicherungsgesellschaft, `.repeat(20).trim()
  const words = new Set()
  for (const { segment, index } of new Intl.Segmenter('de', { granularity: 'word' }).segment(text))
    words.add(index + segment.length)
  for (const boundary of ['word', 'sentence', 'line', 'paragraph', 'markdown', 'code']) {
    const options = { maxTokens: 32, boundary }
    const pieces = tokenizer.split(text, options)
    checkPieces(text, pieces, options)
    for (const { end } of pieces) assert.ok(words.has(end), `${boundary}: …${text.slice(end - 9, end)}|`)
  }
})

test('words of an overlap are whole', () => {
  const text = 'unbelievable incomprehensibilities '.repeat(30)
  const pieces = tokenizer.split(text, { maxTokens: 20, overlap: 6, boundary: 'word' })
  for (const { start } of pieces.slice(1)) assert.equal(text[start], ' ')
})

test('code is split between its blocks, with comments and decorators before them', () => {
  const text = `import os
import sys

# About f.
@cached
def f(a):
    if a:
        return 1

    return 2
def g():
    return 3

class C:
    def m(self):
        pass

    def n(self):
        pass
`
  const starts = (maxTokens) =>
    tokenizer.split(text, { maxTokens, boundary: 'code' }).map((piece) => piece.text.split('\n')[0])
  assert.deepEqual(starts(35), ['import os', 'def g():'])
  assert.deepEqual(starts(30), ['import os', '# About f.', 'def g():'])
  assert.deepEqual(starts(17).slice(-2), ['class C:', '    def n(self):'])
  const braces = 'function f() {\n  one()\n}\nfunction g() {\n  if (x) {\n    two()\n  } else {\n    three()\n  }\n}\n'
  const parts = tokenizer.split(braces, { maxTokens: 28, boundary: 'code' }).map((piece) => piece.text)
  assert.deepEqual(parts, [braces.slice(0, braces.indexOf('function g')), braces.slice(braces.indexOf('function g'))])
})

test('pieces of code have all of the text, at once and in parts', async () => {
  const nested = Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}x`).join('\n')
  for (const text of [
    own,
    nested,
    '\n\n',
    '',
    'a',
    '}\n}\n',
    `\t${own.slice(0, 999)}`,
    'x'.repeat(5000),
    own.replaceAll('\n', '\r\n'),
  ]) {
    for (const maxTokens of [8, 60, 400]) {
      const options = { maxTokens, boundary: 'code' }
      const pieces = tokenizer.split(text, options)
      checkPieces(text, pieces, options)
      const parts = text.match(/[^]{1,100}/g) ?? []
      const streamed = []
      for await (const piece of tokenizer.splitStream(parts, options)) streamed.push(piece)
      assert.deepEqual(streamed, pieces)
      assert.deepEqual(await tokenizer.splitAsync(text, options), pieces)
    }
  }
})

test('pieces of a table repeat its head on request', async () => {
  const head = '| name | value |\n|---|---|\n'
  const rows = Array.from({ length: 40 }, (_, row) => `| row ${row} | ${row * row} |\n`)
  const text = `# T\n\n${head}${rows.join('')}\nafter\n`
  const options = { maxTokens: 60, boundary: 'markdown', repeatTableHeaders: true }
  const pieces = tokenizer.split(text, options)
  const ofTable = pieces.filter((piece) => piece.text.includes('| row'))
  assert.ok(ofTable.length > 5)
  for (const { text: part, start, end, count } of ofTable) {
    assert.ok(part.includes(head))
    assert.equal(part.replace(head, ''), text.slice(start, end).replace(head, ''))
    assert.ok(count === tokenizer.count(part) && count <= 60)
  }
  assert.equal(pieces.map(({ start, end }) => text.slice(start, end)).join(''), text)
  assert.deepEqual(await tokenizer.splitAsync(text, options), pieces)
  assert.ok(!tokenizer.split(text, { ...options, repeatTableHeaders: false })[2].text.includes(head))
  const wide = `| ${'long head '.repeat(30)} |\n|---|\n${rows.join('')}`
  checkPieces(wide, tokenizer.split(wide, options), options)
  for (const boundary of ['token', 'paragraph', 'code'])
    assert.throws(() => tokenizer.split(text, { ...options, boundary }), code('ARGUMENT_VALUE'))
  assert.throws(() => tokenizer.split(text, { ...options, repeatTableHeaders: 1 }), code('ARGUMENT_TYPE'))
})

test('truncate keeps the end of a text with the direction left', () => {
  const text = 'The quick brown fox — größer als 👩‍🚀 — jumps over the lazy dog. '.repeat(300)
  for (const limit of [0, 1, 2, 3, 7, 20, 500, 100_000]) {
    const end = tokenizer.truncate(text, limit, { direction: 'left' })
    assert.ok(text.endsWith(end) && tokenizer.count(end) <= limit)
    assert.ok(limit > 100_000 || tokenizer.count(end) >= limit - 4 || end === text, `${limit}: ${tokenizer.count(end)}`)
    const bytes = tokenizer.truncate(new TextEncoder().encode(text), limit, { direction: 'left' })
    assert.equal(new TextDecoder('utf-8', { fatal: true }).decode(bytes), end)
    assert.equal(tokenizer.truncate(text, limit, { direction: 'right' }), tokenizer.truncate(text, limit))
  }
  assert.equal(tokenizer.truncate('short', 10, { direction: 'left' }), 'short')
  assert.equal(tokenizer.truncate('', 0, { direction: 'left' }), '')
  assert.equal(tokenizer.truncate('👩', 1, { direction: 'left' }), '')
  assert.equal(tokenizer.truncate('x'.repeat(50_000), 3, { direction: 'left' }).length > 3, true)
  assert.throws(() => tokenizer.truncate('a', 1, { direction: 'up' }), code('ARGUMENT_VALUE'))
  assert.throws(() => tokenizer.count('a', { direction: 'left' }), code('UNKNOWN_OPTION'))
})

test('pieces have offsets in the unit asked for, of texts, of streams and of blocks', async () => {
  const text =
    '# Tïtle 🚀\n\nOne séntence. 中文 here!\n\n- a 🙂\n- b\n\n## Two\n\ndef f():\n  return "é"\n\nx\n'.repeat(40)
  const bytes = Buffer.from(text)
  const points = [...text]
  const slices = {
    utf16: (start, end) => text.slice(start, end),
    codepoint: (start, end) => points.slice(start, end).join(''),
    byte: (start, end) => bytes.subarray(start, end).toString(),
  }
  const parts = text.match(/[^]{1,7}/g)
  for (const boundary of ['token', 'word', 'sentence', 'line', 'paragraph', 'markdown', 'code']) {
    for (const [offsets, slice] of Object.entries(slices)) {
      const options = { maxTokens: 24, overlap: 6, boundary, offsets }
      const pieces = tokenizer.split(text, options)
      for (const piece of pieces) assert.equal(slice(piece.start, piece.end), piece.text, `${boundary} ${offsets}`)
      assert.deepEqual(await tokenizer.splitAsync(text, options), pieces)
      const streamed = []
      for await (const piece of tokenizer.splitStream(parts, options)) streamed.push(piece)
      for (const piece of streamed) assert.equal(slice(piece.start, piece.end), piece.text, `${boundary} ${offsets}`)
      assert.equal(streamed.at(-1).end, { utf16: text.length, codepoint: points.length, byte: bytes.length }[offsets])
    }
  }
  const half = 'a\ud800b'
  assert.deepEqual(
    tokenizer.split(half, { maxTokens: 9, offsets: 'byte' }).map(({ end }) => end),
    [5],
  )
  for (const offsets of /** @type {any[]} */ (['bytes', false, 1]))
    for (const boundary of ['token', 'markdown'])
      assert.throws(() => tokenizer.split('a', { maxTokens: 3, boundary, offsets }), /offsets must be 'utf16'/)
})
