// The page about a tokenizer says what the texts and tokenizers are: each figure is counted again
// with calls for single texts, and the sums over groups are those of the whole.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'
import { trainTokenizer } from '@tokenlane/corpus'
import { smallerOnes } from '../src/train/smaller.mjs'
import { folderWithTokenizer, runIn } from '../../../__test__/support/cli.mjs'
import { elements, numberOf, reportOf, rowsOf, textOf } from '../../../__test__/support/page.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)
const at = (...names) => path.join(folder, ...names)
const GROUPS = 45
/** A word that falls apart: no other text has it. */
const rare = (row) =>
  (row * 7919 * 104_729 + 98_765_432_101).toString(30).replace(/\d/g, (digit) => 'ghjkmpqvwz'[digit])
// Wide characters, and texts of very different lengths.
const rows = Array.from({ length: 180 }, (_, row) => ({
  text: `row ${row} has the cat number ${row % 7}, ${'fox '.repeat(row % 13)}${row % 3 ? rare(row) : 'größe 東京'}`,
  language: `l${row % GROUPS}`,
}))
const texts = rows.map(({ text }) => text)
const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
fs.writeFileSync(at('rows.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
const VOCAB_SIZE = 400
const options = { texts, vocabSize: VOCAB_SIZE, model: /** @type {const} */ ('bpe') }
const own = await trainTokenizer(options)
fs.writeFileSync(at('own.json'), own.toBuffer())
const r50k = Tokenizer.fromEncodingSync('r50k_base')
const idsOf = (tokenizer, text) => [...tokenizer.encode(text, { addSpecialTokens: false, specialTokens: 'text' }).ids]
const tokensOf = (tokenizer, some = texts) => some.reduce((sum, text) => sum + idsOf(tokenizer, text).length, 0)
const ratio = (size, tokens) => (size / tokens).toFixed(2)

const args = ['train', 'report', 'own.json', 'rows.jsonl', '--against', 'r50k_base', '-o', 'page.html']
const written = run([...args, '--group-by', 'language'])
const page = fs.readFileSync(at('page.html'), 'utf8')
const { title, notes, cards, sections } = reportOf(page)

test('a clean run writes one line, and nothing to standard error', () => {
  const size = (bytes / 2 ** 20).toFixed(1)
  assert.deepEqual(written, {
    status: 0,
    signal: null,
    stdout: `page.html: 180 texts (${size} MiB)\n`,
    stderr: '',
  })
  assert.deepEqual([title, notes], ['own.json', []])
  assert.deepEqual(Object.keys(sections), [
    'Compared',
    'By language or source',
    'Bytes per token by size of the vocabulary',
    'Examples',
    'Words that fall apart',
    'Tokens',
  ])
})

test('the figures at the top are those of the texts', () => {
  const characters = texts.reduce((sum, text) => sum + [...text].length, 0)
  const tokens = tokensOf(own)
  const used = new Set(texts.flatMap((text) => idsOf(own, text))).size
  assert.deepEqual(cards, {
    'tokens of the vocabulary': String(VOCAB_SIZE),
    'bytes per token': ratio(bytes, tokens),
    'characters per token': ratio(characters, tokens),
    texts: '180',
    'bytes of text': bytes.toLocaleString('en'),
    'tokens of these texts': tokens.toLocaleString('en'),
    'of the vocabulary used': `${((100 * used) / VOCAB_SIZE).toFixed(1)} %`,
  })
  const line = (name, tokenizer, size) => {
    const count = tokensOf(tokenizer)
    const change = 100 * (count / tokens - 1)
    return [
      ...[name, count.toLocaleString('en'), size, ratio(bytes, count), ratio(characters, count)],
      `${change > 0 ? '+' : ''}${change.toFixed(1)} %`,
    ]
  }
  const [heads, ...lines] = rowsOf(sections.Compared)
  assert.equal(heads.length, 6)
  assert.deepEqual(lines, [line('own.json', own, String(VOCAB_SIZE)), line('r50k_base', r50k, '50,257')])
})

test('each group has a row, or is in the last one: their sum is the total', () => {
  const [, ...lines] = rowsOf(sections['By language or source'])
  assert.equal(lines.length, 41)
  const ofGroup = (name) => rows.filter(({ language }) => language === name).map(({ text }) => text)
  const size = (some) => some.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const named = lines.slice(0, -1).map(([name]) => name)
  for (const [name, tokens, ...ratios] of lines.slice(0, -1)) {
    const some = ofGroup(name)
    assert.equal(numberOf(tokens), tokensOf(own, some), name)
    assert.deepEqual(
      ratios,
      [own, r50k].map((one) => ratio(size(some), tokensOf(one, some))),
    )
  }
  const others = rows.filter(({ language }) => !named.includes(language)).map(({ text }) => text)
  assert.deepEqual(lines.at(-1), [
    '5 more',
    String(tokensOf(own, others)),
    ...[own, r50k].map((one) => ratio(size(others), tokensOf(one, others))),
  ])
  assert.equal(
    lines.reduce((sum, [, tokens]) => sum + numberOf(tokens), 0),
    tokensOf(own),
  )
  const sizes = named.map((name) => size(ofGroup(name)))
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => b - a),
    'the largest first',
  )
})

test('without a field, files of one name in two folders are two groups', () => {
  for (const [name, text] of [
    ['de', 'ein Satz\n'],
    ['en', 'a sentence, and another one\n'],
  ]) {
    fs.mkdirSync(at(name))
    fs.writeFileSync(at(name, 'train.txt'), text)
  }
  assert.equal(run(['train', 'report', 'own.json', 'de', 'en', '-o', 'files.html']).status, 0)
  const [, ...lines] = rowsOf(reportOf(fs.readFileSync(at('files.html'), 'utf8')).sections['By language or source'])
  assert.deepEqual(
    lines.map(([name, tokens]) => [name.replaceAll('\\', '/').split('/').slice(-2).join('/'), numberOf(tokens)]),
    [
      ['en/train.txt', tokensOf(own, ['a sentence, and another one\n'])],
      ['de/train.txt', tokensOf(own, ['ein Satz\n'])],
    ],
  )
})

test('the curve has the values of trainings that stop at its sizes', async () => {
  const [curve] = elements(sections['Bytes per token by size of the vocabulary'], 'table')
  const [, ...lines] = rowsOf(curve)
  assert.deepEqual(lines.at(-1), ['r50k_base', '50,257', ratio(bytes, tokensOf(r50k))])
  const sizes = lines.slice(0, -1).map(([, size]) => numberOf(size))
  assert.deepEqual(sizes, [300, VOCAB_SIZE])
  for (const [index, size] of sizes.entries()) {
    const stopped = await trainTokenizer({ ...options, vocabSize: size })
    assert.deepEqual(lines[index], ['', String(size), ratio(bytes, tokensOf(stopped))])
  }
})

test('the smaller vocabularies of a Unigram tokenizer have its best pieces', async () => {
  const unigram = await trainTokenizer({ texts, vocabSize: 80, model: 'unigram' })
  const { vocab } = unigram.toJSON().model
  const isCharacter = ([token]) => [...token].length <= 1
  const smaller = [...smallerOnes(unigram)]
  assert.deepEqual(
    smaller.map(({ size }) => size),
    [0.75, 1].map((part) => Math.round(vocab.length * part)),
  )
  for (const { size, file } of smaller) {
    const kept = JSON.parse(file.toString()).model.vocab
    const pieces = kept.filter((entry) => !isCharacter(entry) && entry[0] !== '<unk>')
    const left = vocab.filter(([token]) => !kept.some(([name]) => name === token))
    assert.ok(kept.length <= size && kept.length > size * 0.9, `${kept.length} of ${size}`)
    assert.ok(left.every(([, score]) => pieces.every(([, best]) => best > score)))
    assert.equal(kept.filter(isCharacter).length, vocab.filter(isCharacter).length)
  }
})

test('examples are starts of texts, with the tokens of each tokenizer', () => {
  const pieces = elements(sections.Examples, 'div').map((one) => elements(one, 'span').map(textOf).join(''))
  const counts = elements(sections.Examples, 'p').map(textOf)
  assert.deepEqual([pieces.length, counts.length], [8, 8])
  pieces.forEach((text, index) => {
    assert.ok(texts.includes(text), text)
    const [name, tokenizer] = index % 2 === 0 ? ['own.json', own] : ['r50k_base', r50k]
    assert.equal(counts[index], `${name}: ${idsOf(tokenizer, text).length} tokens`)
  })
  assert.equal(new Set(pieces).size, 4)
})

test('words that fall apart: how often they occur, and the tokens of each', () => {
  const [, ...lines] = rowsOf(sections['Words that fall apart'])
  const all = texts.flatMap((text) => text.match(/\p{L}{2,}/gu) ?? [])
  assert.ok(lines.length > 1)
  const costs = lines.map(([word, times, tokens, pieces]) => {
    assert.equal(numberOf(times), all.filter((one) => one === word).length, word)
    assert.equal(numberOf(tokens), idsOf(own, ` ${word}`).length, word)
    assert.equal(pieces.replaceAll(' | ', ''), ` ${word}`)
    assert.ok(numberOf(tokens) >= 3)
    return (numberOf(tokens) - 1) * numberOf(times)
  })
  // The thirty that cost the most.
  const words = [...new Set(all)].map((word) => [word, idsOf(own, ` ${word}`).length])
  const fallApart = words.filter(([, tokens]) => tokens >= 3)
  const expected = fallApart.map(([word, tokens]) => (tokens - 1) * all.filter((one) => one === word).length)
  assert.ok(expected.length > 30)
  assert.deepEqual(costs, expected.sort((a, b) => b - a).slice(0, 30))
})

test('tokens: the longest, rarest, newest and most frequent ones, and those without use', () => {
  const uses = new Map()
  for (const id of texts.flatMap((text) => idsOf(own, text))) uses.set(id, (uses.get(id) ?? 0) + 1)
  const all = Array.from({ length: VOCAB_SIZE }, (_, id) => ({ id, times: uses.get(id) ?? 0, text: own.decode([id]) }))
  const used = all.filter(({ times }) => times > 0)
  const length = ({ text }) => [...text].length
  const expected = {
    'The longest tokens': used.toSorted((a, b) => length(b) - length(a) || a.id - b.id),
    'The rarest tokens': used.toSorted((a, b) => a.times - b.times || b.id - a.id),
    'The newest tokens': all.toReversed(),
    'The most frequent tokens': used.toSorted((a, b) => b.times - a.times),
  }
  const details = elements(sections.Tokens, 'details')
  const titles = details.map((one) => textOf(elements(one, 'summary')[0]))
  const unused = all.length - used.length
  assert.deepEqual(titles, [...Object.keys(expected), `Never used here: ${unused}`])
  Object.values(expected).forEach((list, index) => {
    const [, ...lines] = rowsOf(details[index])
    assert.deepEqual(
      lines.map(([, id, times]) => [numberOf(id), numberOf(times)]),
      list.slice(0, 30).map(({ id, times }) => [id, times]),
      titles[index],
    )
    const [text] = lines[0]
    assert.equal(text, list[0].text.replaceAll(' ', '␣'))
  })
  assert.equal(elements(details.at(-1), 'li').length, unused)
})
