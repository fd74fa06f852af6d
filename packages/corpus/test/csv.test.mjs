// Tables of text, CSV and TSV, written as Python's csv module writes them: the tokens are those of
// the same rows as JSON Lines.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { withoutPackage } from '../../../__test__/support/cli.mjs'
import { jsonl, record, scratch, stems } from '../../../__test__/support/corpus.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { checkedFrame } from '../../../__test__/support/zstd.mjs'
import { jobsIn } from './support/corpus-jobs.mjs'

const at = scratch()
const job = jobsIn(at, { tokenizer: 'r50k_base', format: 'jsonl', idField: 'id', concurrency: 1, threads: 1 })
const TEXTS = [
  'plain',
  'with, comma\tand tab',
  'two\nlines\r\nand more',
  'a "quoted" word',
  'größe 漢字 𝄞',
  ' spaces ',
  '"',
]
const rows = Array.from({ length: 1500 }, (_, index) => ({
  id: `r${index}`,
  text: `${TEXTS[index % TEXTS.length]} ${index}`,
}))
fs.writeFileSync(at('rows.jsonl'), jsonl(rows))

const field = (value, delimiter) =>
  new RegExp(`["\\r\\n${delimiter}]`).test(value) ? `"${value.replaceAll('"', '""')}"` : value
const csv = (list, delimiter, end) =>
  [['id', 'other', 'text'], ...list.map(({ id, text }) => [id, '', text])]
    .map((values) => values.map((value) => field(value, delimiter)).join(delimiter) + end)
    .join('')
const linesOf = (names) => names.map((name) => fs.readFileSync(`${name}.jsonl`, 'utf8')).join('')

test('the tokens of CSV and TSV are those of the same rows as JSON Lines', async () => {
  const expected = linesOf((await job({ inputs: at('rows.jsonl') })).names)
  for (const [name, bytes] of /** @type {[string, Buffer][]} */ ([
    ['a.csv', Buffer.from(csv(rows, ',', '\r\n'))],
    ['a.TSV', Buffer.from(csv(rows, '\t', '\n'))],
    ['mark.csv', Buffer.from(`\uFEFF${csv(rows, ',', '\n')}`)],
    ['a.csv.gz', zlib.gzipSync(csv(rows, ',', '\n'))],
    ['a.csv.zst', checkedFrame(Buffer.from(csv(rows, ',', '\n')))],
  ])) {
    fs.writeFileSync(at(name), bytes)
    // A table is one part, whatever the size of a shard.
    assert.equal(linesOf((await job({ inputs: at(name), shardSize: 1000 })).names), expected, name)
  }
})

test('rows of CSV that are not text, and files that are no tables', async () => {
  fs.writeFileSync(
    at('bad.csv'),
    Buffer.concat([Buffer.from('id,text\n1,a\n2,'), Buffer.from([0xff]), Buffer.from('\n3,b\n')]),
  )
  const { result, output } = await job({ inputs: at('bad.csv'), onError: 'skip' })
  assert.deepEqual([result.documents, result.skipped], [2, 1])
  assert.equal(record(output, stems(output)[0]).skipped.listed[0].row, 2)
  assert.match((await failure(() => job({ inputs: at('bad.csv') }))).message, /bad\.csv, row 2: it is not valid UTF-8/)
  fs.writeFileSync(at('columns.csv'), 'id,body\n1,a\n')
  const missing = await failure(() => job({ inputs: at('columns.csv') }))
  assert.equal(missing.code, 'ERR_TOKENLANE_FIELD')
  assert.match(missing.message, /columns\.csv.* there is no column for the field 'text'; the columns are id, body/)
  fs.writeFileSync(at('quotes.csv'), 'id,text\n1,a\n2,b"c\n3,d\n')
  const wrong = await failure(() => job({ inputs: at('quotes.csv') }))
  assert.equal(wrong.code, 'ERR_TOKENLANE_UNSUPPORTED')
  assert.match(wrong.message, /quotes\.csv.*not a table of text/)
})

test('a row with more or fewer values than columns is one row; those around it are documents', async () => {
  const texts = Array.from({ length: 2000 }, (_, index) => `${index},text ${index}`)
  texts[700] += ',more'
  texts[1200] = '1200'
  fs.writeFileSync(at('ragged.csv'), ['id,text', ...texts, ''].join('\n'))
  const { result, output, names } = await job({ inputs: at('ragged.csv'), onError: 'skip' })
  assert.deepEqual([result.documents, result.skipped], [1998, 2])
  assert.deepEqual(
    record(output, stems(output)[0]).skipped.listed.map(({ row }) => row),
    [701, 1201],
  )
  const ids = linesOf(names)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id)
  assert.deepEqual(
    ids,
    texts.map((_, index) => String(index)).filter((id) => id !== '700' && id !== '1200'),
  )
  const { message } = await failure(() => job({ inputs: at('ragged.csv') }))
  assert.match(message, /ragged\.csv, row 701: it has 3 values, and the table has 2 columns/)
})

test('line ends of a table may be mixed', async () => {
  fs.writeFileSync(at('lines.jsonl'), jsonl(['aa', 'bb', 'cc'].map((text) => ({ id: 1, text }))))
  const expected = linesOf((await job({ inputs: at('lines.jsonl') })).names)
  for (const [name, text] of Object.entries({ a: '\r\n1,aa\n1,bb\r\n1,cc\n', b: '\n1,aa\r\n1,bb\n1,cc\r\n' })) {
    fs.writeFileSync(at(`${name}.csv`), `id,text${text}`)
    assert.equal(linesOf((await job({ inputs: at(`${name}.csv`) })).names), expected, name)
  }
})

test('without csv-parse, the error names it', () => {
  const { stderr } = withoutPackage('csv-parse')(['corpus', at('a.csv'), '-t', 'r50k_base', '--dry-run'])
  assert.match(stderr, /CSV and TSV need the package csv-parse: run "npm install csv-parse"/)
})
