// split with the boundaries 'paragraph' and 'markdown'.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { folderWithTokenizer, runIn } from '../support/cli.mjs'
import { parseJsonLines } from '../support/json-lines.mjs'

const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
const split = (text, maxTokens, more = {}) =>
  tokenizer.split(text, { maxTokens, boundary: 'markdown', specialTokens: 'text', ...more })
const texts = (pieces) => pieces.map(({ text }) => text)

/** What holds for every text and all limits. */
function check(text, pieces, maxTokens, what) {
  for (const { text: part, start, end, count } of pieces) {
    assert.equal(part, text.slice(start, end), what)
    assert.equal(count, tokenizer.count(part, { specialTokens: 'text' }), what)
    assert.ok(count <= maxTokens, what)
  }
  assert.equal(pieces.map(({ text: part }) => part).join(''), text, what)
}

/** The same for pieces that have their titles in front. */
function checkIncluded(text, maxTokens, what) {
  const pieces = split(text, maxTokens, { headings: 'include' })
  let end = 0
  for (const piece of pieces) {
    const body = text.slice(piece.start, piece.end)
    const titles = piece.headings.length === 0 ? '' : `${piece.headings.join(' > ')}\n\n`
    assert.ok(piece.text === titles + body || piece.text === body, `${what}: ${piece.text}`)
    assert.equal(piece.count, tokenizer.count(piece.text, { specialTokens: 'text' }), what)
    assert.ok(piece.count <= maxTokens, what)
    // Titles that do not fit are left in the text, with all headings right before them.
    const isHeading = /^\s*#/.test(body) || /\n *[=-]/.test(body)
    if (piece.text === body && titles !== '' && !isHeading) assert.ok(!fitsTwice(titles, maxTokens), what)
    // What no piece has are headings, whose titles are in front of the piece behind them.
    const left = text.slice(end, piece.start)
    for (const line of left.split('\n').filter((one) => !/^[\s=-]*$/.test(one))) {
      const title = line.trim().replace(/^#+[ \t]*|[ \t]+#+$|^#+$/g, '')
      assert.ok(titles.includes(title), `${what}: ${JSON.stringify(line)} before ${JSON.stringify(piece.text)}`)
    }
    end = piece.end
  }
  assert.equal(text.slice(end).trim(), '', what)
  return pieces
}

const fitsTwice = (text, maxTokens) => tokenizer.isWithin(text, maxTokens >> 1, { specialTokens: 'text' })

const DOCUMENT = `# Title

Intro.

## Install

Run this:

\`\`\`sh
# not a heading
npm install

npm test
\`\`\`

- one
- two

  more of two
- three

| a | b |
|---|---|
| 1 | 2 |

Setext
------

Last paragraph.
`

test('headings start pieces, and each piece has their titles', () => {
  const pieces = split(DOCUMENT, 1000)
  assert.deepEqual(
    pieces.map(({ headings }) => headings),
    [['Title'], ['Title', 'Install'], ['Title', 'Setext']],
  )
  assert.ok(pieces[1].text.startsWith('## Install') && pieces[1].text.endsWith('| 1 | 2 |\n\n'))
  assert.equal(pieces[2].text, 'Setext\n------\n\nLast paragraph.\n')
})

test('code, tables and lists stay whole where they fit', () => {
  const code = '```sh\n# not a heading\nnpm install\n\nnpm test\n```\n\n'
  const list = '- one\n- two\n\n  more of two\n- three\n\n'
  const table = '| a | b |\n|---|---|\n| 1 | 2 |\n\n'
  for (const block of [code, list, table]) {
    const most = tokenizer.count(block)
    for (let maxTokens = most; maxTokens < most + 40; maxTokens++) {
      const found = texts(split(DOCUMENT, maxTokens)).filter((text) => text.includes(block))
      assert.equal(found.length, 1, `${JSON.stringify(block)} with ${maxTokens}`)
    }
  }
  // A list that does not fit is split between its items.
  const items = texts(split(list, tokenizer.count('- two\n\n  more of two\n')))
  assert.deepEqual(items, ['- one\n', '- two\n\n  more of two\n', '- three\n\n'])
  // Code that does not fit is split between lines.
  for (const part of texts(split('```\n' + 'let x = 1\n'.repeat(20) + '```\n', 12))) assert.match(part, /\n$/)
  // Text that does not fit is split between sentences.
  for (const part of texts(split('One sentence here. '.repeat(20), 12))) assert.match(part, /^One .*\. $/)
})

test('headings that follow each other stay together, and levels end sections', () => {
  const text =
    '# A\n\n## B\n\n### C\n\nc\n\n## D #\n\nd\n\n# E\n\n#### F ####\n\nf\n\n#no heading\n\n####### nor this\n'
  assert.deepEqual(
    split(text, 1000).map(({ headings, text: part }) => [headings, part.slice(0, 7)]),
    [
      [['A', 'B', 'C'], '# A\n\n##'],
      [['A', 'D'], '## D #\n'],
      [['E', 'F'], '# E\n\n##'],
    ],
  )
  assert.deepEqual(split('Two lines\nof a title\n===\n\ntext', 100)[0].headings, ['Two lines of a title'])
  assert.deepEqual(split('# C# and F#\n\nx', 100)[0].headings, ['C# and F#'])
  assert.deepEqual(split('no heading', 100)[0].headings, [])
})

test('what looks like Markdown and is not', () => {
  const one = [
    '```\n# a\n\n## b\n', // a fence that is not closed
    '~~~ md\n```\n# a\n```\n~~~\n',
    '    # indented code\n\n    # more\n',
    '---\ntitle: "# x"\n---\n',
    'a\n***\n',
    '| no table\n\n',
    'text\n    # not code, but text\n',
  ]
  for (const text of one) {
    assert.deepEqual(texts(split(text, 1000)), [text])
    assert.deepEqual(split(text, 1000)[0].headings, [], text)
  }
  assert.deepEqual(texts(split('', 10)), [])
  assert.deepEqual(texts(split('\n\n', 10)), ['\n\n'])
  assert.deepEqual(texts(split('\n\n# a\r\n\r\nb\r\n# c\r\n', 100)), ['\n\n# a\r\n\r\nb\r\n', '# c\r\n'])
  // A heading without text.
  assert.deepEqual(texts(split('# a\n\nb\n#\n\nc\n', 100)), ['# a\n\nb\n', '#\n\nc\n'])
})

test('what interrupts a paragraph, by the rules of CommonMark', () => {
  const paragraph = 'one two three four five six\n'
  // The overlap is whole blocks, so the second piece starts with a line that is a block.
  const isBlock = (lines) => {
    const block = `${lines}\n\n`
    const [maxTokens, overlap] = [paragraph + block, block].map((text) => tokenizer.count(text))
    const pieces = texts(split(`${paragraph}${block}last\n`, maxTokens, { overlap }))
    assert.ok(pieces[0].startsWith(paragraph) && pieces.at(-1).endsWith('last\n'), JSON.stringify(pieces))
    return pieces.at(-1).startsWith(lines)
  }
  for (const lines of ['- a', '* a', '+ a', '   - a', '1. a', '1) a', '-\ta', '```\na\n```', '***', '| a |\n|---|'])
    assert.equal(isBlock(lines), true, lines)
  for (const lines of ['2. a', '2) a', '-a', '1.a', '    - a', '+', '1.', 'a'])
    assert.equal(isBlock(lines), false, lines)
})

test('paragraphs', () => {
  const text = 'One.\nStill one.\n\nTwo.\n \nThree.\n\n\n\nFour.'
  assert.deepEqual(texts(split(text, 6, { boundary: 'paragraph' })), [
    'One.\nStill one.\n\n',
    'Two.\n \nThree.\n\n\n\n',
    'Four.',
  ])
  assert.deepEqual(texts(split(text, 100, { boundary: 'paragraph' })), [text])
  assert.equal(split(text, 100, { boundary: 'paragraph' })[0].headings, undefined)
})

test("with headings: 'include', pieces start with their titles, and are within the limit with them", async () => {
  const included = (text, maxTokens, more) => texts(split(text, maxTokens, { headings: 'include', ...more }))
  const page = '# Guide\n\nIntroduction.\n\n## Install\n\nRun it.\n\n## Use\n\nCall it. Then call it again.\n'
  assert.deepEqual(included(page, 20), [
    'Guide\n\nIntroduction.\n\n',
    'Guide > Install\n\nRun it.\n\n',
    'Guide > Use\n\nCall it. Then call it again.\n',
  ])
  // Sentences, items, rows and lines of a section that does not fit each have its titles.
  const long = `# A\n\n## B\n\n${'One sentence here. '.repeat(9)}\n\n- one\n- two\n\n| a |\n|---|\n| 1 |\n| 2 |\n\n\`\`\`\nx\ny\n\`\`\`\n`
  for (const maxTokens of [11, 14, 20, 40]) {
    const pieces = included(long, maxTokens)
    assert.ok(pieces.length > 2)
    for (const piece of pieces) assert.match(piece, /^A > B\n\n/)
  }
  const tables = included(`# T\n\n| head |\n|---|\n${'| row |\n'.repeat(9)}`, 24, { repeatTableHeaders: true })
  for (const piece of tables) assert.match(piece, /^T\n\n\| head \|\n\|---\|\n\| row \|\n/)
  // Headings without a text, and a text without headings.
  assert.deepEqual(included('x\n\n# A\n\n## B\n\n## C\n\nc\n\n# D\n', 50), [
    'x\n\n',
    'A > B\n\n',
    'A > C\n\nc\n\n',
    'D\n\n',
  ])
  // Titles of more than half of a piece stay where they are.
  const title = 'long '.repeat(20).trim()
  const [first, ...others] = included(`# ${title}\n\n${'A text. '.repeat(20)}`, 30)
  assert.ok(first.startsWith('# long') && others.every((piece) => !piece.includes('\n\nA')))
  const { text, start, end } = split(page, 20, { headings: 'include' })[1]
  assert.equal(text, `Guide > Install\n\n${page.slice(start, end)}`)
  const options = /** @type {const} */ ({
    maxTokens: 60,
    boundary: 'markdown',
    headings: 'include',
    specialTokens: 'text',
  })
  for (const name of ['README.md', 'docs/guide/chats.md']) {
    const whole = fs.readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
    const pieces = tokenizer.split(whole, options)
    assert.deepEqual(await tokenizer.splitAsync(whole, options), pieces)
    for (const size of [7, 1000, 5000]) {
      const parts = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) =>
        whole.slice(i * size, (i + 1) * size),
      )
      const streamed = []
      for await (const piece of tokenizer.splitStream(parts, options)) streamed.push(piece)
      assert.deepEqual(streamed, pieces, `${name} ${size}`)
    }
  }
})

test('the overlap is whole blocks of the same section', () => {
  const text = 'aaa bbb.\n\nccc ddd.\n\neee fff.\n\nggg hhh.\n\n# X\n\niii jjj.\n'
  const pieces = split(text, 10, { overlap: 5 })
  for (const [index, { start }] of pieces.entries()) {
    if (index === 0) continue
    assert.ok(start <= pieces[index - 1].end)
    assert.ok(tokenizer.count(text.slice(start, pieces[index - 1].end)) <= 5)
  }
  assert.ok(
    pieces.some(({ start }, index) => index > 0 && start < pieces[index - 1].end),
    'some overlap',
  )
  const heading = pieces.findIndex(({ text: part }) => part.includes('# X'))
  assert.ok(pieces[heading].text.startsWith('# X'))
  assert.equal(pieces.at(-1).end, text.length)
})

test('the documents of this repository, with every limit', () => {
  for (const name of [
    'README.md',
    'CHANGELOG.md',
    'docs/drop-ins/transformers.md',
    'docs/guide/cli.md',
    'docs/guide/chats.md',
  ]) {
    const text = fs.readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
    for (const maxTokens of [8, 16, 50, 128, 300, 1000, 100_000]) {
      check(text, split(text, maxTokens), maxTokens, `${name} ${maxTokens}`)
      check(text, split(text, maxTokens, { boundary: 'paragraph' }), maxTokens, `${name} ${maxTokens}`)
    }
    for (const maxTokens of [8, 16, 50, 128, 512]) checkIncluded(text, maxTokens, `${name} ${maxTokens}`)
    // A fence of these documents is opened and closed in the same piece, if pieces are long enough.
    for (const piece of split(text, 1500)) assert.equal((piece.text.match(/^```/gm) ?? []).length % 2, 0, piece.text)
  }
})

test('random texts of Markdown', () => {
  const parts = [
    '# h\n',
    '## h #\n',
    'text\n',
    '\n',
    '```\n',
    '~~~\n',
    '- item\n',
    '  more\n',
    '1. one\n',
    '|a|b|\n',
    '|-|-|\n',
    '---\n',
    '===\n',
    '> q\n',
    '    code\n',
    '\t\n',
    'x'.repeat(30),
    '\r\n',
    'é🚀\n',
    '<|endoftext|>\n',
  ]
  let seed = 7
  const random = (most) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most
  for (let round = 0; round < 400; round++) {
    const text = Array.from({ length: random(40) }, () => parts[random(parts.length)]).join('')
    const maxTokens = 7 + random(40)
    check(text, split(text, maxTokens), maxTokens, JSON.stringify(text))
    check(text, split(text, maxTokens, { boundary: 'paragraph' }), maxTokens, JSON.stringify(text))
    checkIncluded(text, maxTokens, JSON.stringify(text))
    const overlapped = split(text, maxTokens, { overlap: 5 })
    assert.equal(overlapped.at(-1)?.end ?? 0, text.length)
    for (const [index, { start }] of overlapped.entries())
      assert.ok(index === 0 ? start === 0 : start <= overlapped[index - 1].end)
  }
})

test('wrong options', () => {
  const wrong = [
    [{}, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ maxTokens: 0 }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ maxTokens: 5, overlap: 5 }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ maxTokens: 5, overlap: '1' }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ maxTokens: 5, headings: true }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ maxTokens: 5, headings: 'exclude' }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ maxTokens: 5, headings: 'include', boundary: 'paragraph' }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ maxTokens: 5, headings: 'include', boundary: 'sentence' }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ maxTokens: 5, heading: 'include' }, 'ERR_TOKENLANE_UNKNOWN_OPTION'],
    [{ maxTokens: 5, specialTokens: 'no' }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
  ]
  for (const [options, code] of wrong)
    assert.throws(() => tokenizer.split('a', { boundary: 'markdown', ...options }), { code })
  for (const boundary of ['token', 'word', 'paragraph', 'markdown'])
    assert.throws(() => tokenizer.split('a', { maxTokens: 0, boundary }), { message: /^maxTokens must be at least 1/ })
  assert.throws(() => split('', 5, { specialTokens: 'no' }), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  assert.throws(() => tokenizer.split(7, { boundary: 'markdown', maxTokens: 5 }), {
    code: 'ERR_TOKENLANE_ARGUMENT_TYPE',
  })
  assert.throws(() => split('🧑🏿‍🎓', 1), { code: 'ERR_TOKENLANE_LIMIT_TOO_SMALL' })
  assert.throws(() => tokenizer.splitStream({ boundary: 'markdown', maxTokens: 0 }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
  })
})

test('the command line writes the titles', () => {
  const folder = folderWithTokenizer()
  fs.writeFileSync(`${folder}/a.md`, DOCUMENT)
  const { status, stdout, stderr } = runIn(folder)(['split', '-n', '200', '--boundary', 'markdown', 'a.md'])
  assert.equal(status, 0, stderr)
  const pieces = parseJsonLines(stdout)
  assert.deepEqual(
    pieces.map(({ headings }) => headings.join('/')),
    ['Title', 'Title/Install', 'Title/Setext'],
  )
  assert.equal(pieces.map(({ text }) => text).join(''), DOCUMENT)
})
