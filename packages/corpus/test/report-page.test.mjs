// The page of a corpus job: every text on it is in a known place, and the rows of each table, with
// the last one for all others, add up to the totals. The commands write nothing to standard error.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'
import { runIn } from '../../../__test__/support/cli.mjs'
import { jsonl, scratch } from '../../../__test__/support/corpus.mjs'
import { elements, numberOf, reportOf, rowsOf, textOf } from '../../../__test__/support/page.mjs'

const at = scratch()
const run = runIn(at())
const tokenizer = Tokenizer.fromEncodingSync('r50k_base')
const FILES = 43
/** Documents with a field of 50 values, in more files than a table has rows. */
const documents = Array.from({ length: FILES * 3 }, (_, index) => ({
  file: `${index % FILES}.jsonl`,
  lang: `l${index % 50}`,
  text: `document ${index} ${'with words '.repeat(index % 9)}größe`,
}))
fs.mkdirSync(at('data'))
for (const { file, ...row } of documents) fs.appendFileSync(at('data', file), jsonl([row]))
fs.appendFileSync(at('data', '0.jsonl'), 'no JSON\n{"text":7}\n')
const tokensOf = ({ text }) => tokenizer.encode(text).ids.length
const sum = (values) => values.reduce((total, value) => total + value, 0)
const bytesOf = (some) => sum(some.map(({ text }) => Buffer.byteLength(text)))
const charactersOf = (some) => sum(some.map(({ text }) => [...text].length))
const totalTokens = sum(documents.map(tokensOf))

const job = ['-t', 'r50k_base', '--on-error', 'skip', '--group-by', 'lang', '--shard-size', '2K', '--format', 'jsonl']
const clean = (args, stdout) => {
  const result = run(args)
  assert.deepEqual({ status: result.status, stderr: result.stderr }, { status: 0, stderr: '' }, args.join(' '))
  assert.match(result.stdout, stdout)
}

test('commands of a job, and of a training, write nothing to standard error', () => {
  clean(['corpus', 'data', ...job, '-o', 'tokens'], /^129 documents, /)
  clean(['corpus', 'data', ...job, '-o', 'tokens'], /^129 documents, /)
  clean(['corpus', 'verify', 'tokens'], /./)
  clean(['corpus', 'report', 'tokens', '-o', 'page.html', '--price', '2 EUR'], /^page\.html: [\d,]+ tokens\n$/)
  clean(['train', 'data', '--vocab-size', '270', '--on-error', 'skip', '-o', 'new.json'], /^new\.json: 270 tokens/)
})

test('the page has its parts and no other text, and tables add up to the totals', () => {
  const { title, notes, cards, sections } = reportOf(fs.readFileSync(at('page.html'), 'utf8'))
  assert.deepEqual([title, notes], ['Corpus report', []])
  const titles = ['Tokens by source', 'Tokens by lang', 'Tokens per document', 'Machines', 'Skipped rows', 'Job']
  assert.deepEqual(Object.keys(sections), titles)
  const ratio = (size, tokens) => (size / tokens).toFixed(2)
  const cost = (tokens) => `${((tokens / 1e6) * 2).toFixed(2)} EUR`
  const { shards, time, ...figures } = cards
  assert.ok(numberOf(shards) > 2)
  assert.match(time, /^\d+ (s|min)$/)
  assert.deepEqual(figures, {
    documents: '129',
    tokens: totalTokens.toLocaleString('en'),
    'bytes of text': bytesOf(documents).toLocaleString('en'),
    'characters per token': ratio(charactersOf(documents), totalTokens),
    'bytes per token': ratio(bytesOf(documents), totalTokens),
    'tokens per document': String(Math.round(totalTokens / 129)),
    'rows skipped': '2',
    cost: cost(totalTokens),
  })
  for (const [heading, field, isSkipped] of /** @type {[string, 'file' | 'lang', boolean][]} */ ([
    ['Tokens by source', 'file', true],
    ['Tokens by lang', 'lang', false],
  ])) {
    const [heads, ...lines] = rowsOf(sections[heading])
    assert.equal(lines.length, 41)
    const nameOf = (cell) => cell.slice(cell.replaceAll('\\', '/').lastIndexOf('/') + 1)
    const named = lines.slice(0, -1).map(([name]) => nameOf(name))
    assert.equal(new Set(named).size, 40)
    for (const [index, [name, ...cells]] of lines.entries()) {
      const isLast = index === lines.length - 1
      const isOfRow = (one) => (isLast ? !named.includes(one[field]) : one[field] === nameOf(name))
      const some = documents.filter(isOfRow)
      const tokens = sum(some.map(tokensOf))
      const skipped = field === 'file' && some.some(({ file }) => file === '0.jsonl') ? '2' : '0'
      assert.deepEqual(
        cells,
        [
          tokens.toLocaleString('en'),
          some.length.toLocaleString('en'),
          ratio(charactersOf(some), tokens),
          ratio(bytesOf(some), tokens),
          ...(isSkipped ? [skipped] : []),
          cost(tokens),
        ],
        name,
      )
      assert.equal(cells.length + 1, heads.length)
    }
    assert.equal(lines.at(-1)[0], `${new Set(documents.map((one) => one[field])).size - 40} more`)
    assert.equal(sum(lines.map(([, tokens]) => numberOf(tokens))), totalTokens)
    assert.equal(sum(lines.map(([, , count]) => numberOf(count))), documents.length)
  }
  const [, ...lengths] = rowsOf(sections['Tokens per document'])
  const ranges = new Map()
  for (const tokens of documents.map(tokensOf)) {
    const least = 2 ** Math.floor(Math.log2(tokens))
    const range = `${least} to ${2 * least - 1}`
    ranges.set(range, (ranges.get(range) ?? 0) + 1)
  }
  assert.deepEqual(
    lengths.filter(([, count]) => count !== '0'),
    [...ranges]
      .map(([range, count]) => [range, String(count)])
      .sort(([a], [b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
  )
  const [, ...machines] = rowsOf(sections.Machines)
  assert.deepEqual(
    machines.map(([, tokens, ofMachine]) => [numberOf(tokens), ofMachine]),
    [[totalTokens, shards]],
  )
  const [, ...reasons] = rowsOf(sections['Skipped rows'])
  assert.deepEqual(reasons.toSorted(), [
    ['ERR_TOKENLANE_FIELD', '1'],
    ['ERR_TOKENLANE_JSON', '1'],
  ])
  assert.equal(elements(sections['Skipped rows'], 'li').length, 2)
  const facts = elements(sections.Job, 'dt').map(textOf)
  const values = elements(sections.Job, 'dd').map(textOf)
  assert.equal(facts.length, values.length)
  const job = Object.fromEntries(facts.map((name, index) => [name, values[index]]))
  assert.match(job.tokenizer, /^r50k_base \(SHA-256 [\da-f]{64}\)$/)
  assert.match(job.options, /\bgroupBy: lang\b/)
  assert.equal(job.price, '2 EUR per million tokens')
})
