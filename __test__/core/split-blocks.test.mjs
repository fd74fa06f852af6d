// Markdown and paragraphs that arrive in parts: splitStream and splitAsync give the pieces and the
// headings of split, whatever the parts are.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { folderWithTokenizer, runIn } from '../support/cli.mjs'
import { parseJsonLines } from '../support/json-lines.mjs'
import { generator } from '../support/random.mjs'

const tokenizer = Tokenizer.fromEncodingSync('r50k_base')

const LINES = [
  ...['# One', '## Two', '### Three ###', '#no heading', '#', 'Setext', '===', '---', '***', '- item', '* other'],
  ...['1. first', '2) second', '  under', '\tcode', '    code', '> quote', '| a | b |', '|---|---|', 'a | b', '--|--'],
  ...['```js', '```', '~~~', '````', 'A sentence. Another one! And more text?', 'word '.repeat(40), '', '', '', ' '],
  ...['Straße 🚀 東京', '<div>', '...', 'x\r'],
]

function documentOf(random, lines) {
  const start = random(4) === 0 ? ['---', 'title: x', '# no heading', random(2) === 0 ? '---' : '', ''] : []
  const rest = Array.from({ length: lines }, () => LINES[random(LINES.length)])
  return [...start, ...rest].join('\n')
}

/** Cuts a text into parts of up to `most` UTF-16 units. */
function partsOf(text, random, most) {
  const parts = []
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + random(most)
    parts.push(text.slice(at, end))
    at = end
  }
  return parts
}

async function streamed(parts, options) {
  const pieces = []
  for await (const piece of ReadableStream.from(parts).pipeThrough(tokenizer.splitStream(options))) pieces.push(piece)
  return pieces
}

test('streams and asynchronous calls give the pieces of split', async () => {
  const random = generator(7)
  for (let round = 0; round < 48; round++) {
    const text = documentOf(random, [3, 40, 200, 600][round % 4])
    const maxTokens = [8, 30, 200][random(3)]
    const options = {
      maxTokens,
      overlap: random(3) === 0 ? random(maxTokens) : 0,
      boundary: ['markdown', 'paragraph'][random(2)],
    }
    const expected = tokenizer.split(text, options)
    const name = JSON.stringify({ round, options })
    assert.deepEqual(await streamed(partsOf(text, random, [1, 20, 5000][random(3)]), options), expected, name)
    assert.deepEqual(await tokenizer.splitAsync(text, options), expected, name)
    if (options.overlap === 0) assert.equal(expected.map((piece) => piece.text).join(''), text, name)
    assert.equal(
      expected.every((piece) => Array.isArray(piece.headings)),
      options.boundary === 'markdown',
    )
  }
})

test('pieces come as soon as later text cannot change them', async () => {
  const section = (number) => `# Part ${number}\n\n${'Some words of a paragraph. '.repeat(40)}\n\n`
  const { readable, writable } = tokenizer.splitStream({ maxTokens: 300, boundary: 'markdown' })
  const [reader, writer] = [readable.getReader(), writable.getWriter()]
  const writing = (async () => {
    for (let number = 0; number < 40; number++) await writer.write(section(number))
  })()
  const { value } = await reader.read()
  assert.deepEqual(value.headings, ['Part 0'])
  assert.equal(value.text, section(0))
  // The writer was never closed.
  for (let number = 1; number < 30; number++) assert.deepEqual((await reader.read()).value.headings, [`Part ${number}`])
  await reader.cancel()
  await writing.catch(() => {})
})

test('splitAsync of megabytes of Markdown lets the event loop turn', async () => {
  const part = documentOf(generator(3), 500).replaceAll('```', '').replaceAll('~~~', '')
  const long = `${part}\n\n# End\n\n`.repeat(300)
  assert.ok(long.length > 1 << 20)
  const options = { maxTokens: 256, boundary: 'markdown' }
  let turns = 0
  const timer = setInterval(() => (turns += 1), 1)
  const pieces = await tokenizer.splitAsync(long, options)
  clearInterval(timer)
  assert.ok(turns > 3, 'the event loop has its turns')
  assert.equal(pieces.map(({ text }) => text).join(''), long)
})

test('errors, aborts, and the options that are checked', async () => {
  const options = { maxTokens: 50, boundary: 'markdown' }
  const code = (promise) =>
    promise.then(
      () => undefined,
      (error) => error.code,
    )
  assert.equal(await code(tokenizer.splitAsync(7, options)), 'ERR_TOKENLANE_ARGUMENT_TYPE')
  assert.equal(await code(tokenizer.splitAsync('', { ...options, maxTokens: 0 })), 'ERR_TOKENLANE_ARGUMENT_VALUE')
  assert.equal(await code(tokenizer.splitAsync('', { ...options, threads: 1 })), 'ERR_TOKENLANE_UNKNOWN_OPTION')
  assert.equal(await code(tokenizer.splitAsync('', { ...options, signal: 1 })), 'ERR_TOKENLANE_ARGUMENT_TYPE')
  assert.equal(
    await code(tokenizer.splitAsync('🧑🏿‍🎓', { ...options, maxTokens: 1 })),
    'ERR_TOKENLANE_LIMIT_TOO_SMALL',
  )
  assert.deepEqual(await tokenizer.splitAsync('', options), [])
  const reason = new Error('enough')
  await assert.rejects(tokenizer.splitAsync('x', { ...options, signal: AbortSignal.abort(reason) }), reason)
  const controller = new AbortController()
  const running = tokenizer.splitAsync('# A\n\ntext\n\n'.repeat(50_000), { ...options, signal: controller.signal })
  controller.abort(reason)
  await assert.rejects(running, reason)
  assert.equal(await code(streamed(['a', 7], options)), 'ERR_TOKENLANE_ARGUMENT_TYPE')
})

test('the command line streams Markdown too', () => {
  const folder = folderWithTokenizer()
  const text = documentOf(generator(11), 3000)
  fs.writeFileSync(`${folder}/a.md`, text)
  const { status, stdout, stderr } = runIn(folder)([
    'split',
    '-t',
    'r50k_base',
    '-n',
    '60',
    '--boundary',
    'markdown',
    'a.md',
  ])
  assert.equal(status, 0, stderr)
  const own = parseJsonLines(stdout)
  const expected = tokenizer.split(text, { maxTokens: 60, boundary: 'markdown', specialTokens: 'text' })
  assert.deepEqual(
    own.map(({ start, end, text, headings }) => ({ start, end, text, headings })),
    expected.map(({ start, end, text, headings }) => ({ start, end, text, headings })),
  )
})

test('a byte order mark does not hide the first heading', () => {
  const [first] = tokenizer.split('\ufeff# A\n\ntext\n\n# B\n', { maxTokens: 300, boundary: 'markdown' })
  assert.deepEqual(first.headings, ['A'])
  assert.ok(first.text.startsWith('\ufeff# A'))
})
