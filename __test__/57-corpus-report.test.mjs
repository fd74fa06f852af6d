// tokenlane corpus report: the page about a job.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { tokenizeCorpus, writeReport } from '../lib/corpus/index.js'
import { runIn } from './support/cli.mjs'
import { jsonl, record, scratch, stems, writeCorpus } from './support/corpus.mjs'
import { failure } from './support/texts.mjs'

const at = scratch()
const all = writeCorpus(at('data'), 2, 80)
const NAME = `<script>alert("x")&'\u202e.jsonl`
fs.writeFileSync(at('data', NAME), `${jsonl([{ text: 'a hundred tokens '.repeat(40) }])}no JSON <img src=x>\n`)
const options = { inputs: at('data'), output: at('tokens'), tokenizer: 'r50k_base', shardSize: 20_000, onError: 'skip' }
const result = await tokenizeCorpus(/** @type {any} */ (options))
const number = (value) => value.toLocaleString('en')

/** The cells of the rows of a table, as text. */
function rows(page, title) {
  const table = page.split(`<h2>${title}</h2>`)[1].split('</table>')[0].split('<tbody>')[1]
  const text = (cell) => cell.replace(/<[^>]*>/g, '').trim()
  return table
    .split('</tr>')
    .slice(0, -1)
    .map((row) =>
      row
        .split(/<\/t[hd]>/)
        .slice(0, -1)
        .map(text),
    )
}

test('sums, sources, lengths, machines, skipped rows and cost are those of the records', async () => {
  const totals = await writeReport(at('tokens'), at('report.html'), { price: 2 })
  assert.equal(totals.tokens, result.tokens)
  const page = fs.readFileSync(at('report.html'), 'utf8')
  assert.ok(page.includes(`<dt>tokens</dt><dd>${number(result.tokens)}</dd>`))
  assert.ok(page.includes(`<dt>cost</dt><dd>${((result.tokens / 1e6) * 2).toFixed(2)}</dd>`))
  const sources = rows(page, 'Tokens by source')
  assert.equal(sources.length, 3)
  const sum = (cells) => cells.reduce((total, cell) => total + Number(cell.replaceAll(',', '')), 0)
  assert.equal(sum(sources.map(([, tokens]) => tokens)), result.tokens)
  assert.equal(sum(sources.map(([, , documents]) => documents)), all.filter(({ text }) => text !== '').length + 1)
  assert.equal(sum(rows(page, 'Tokens per document').map(([, count]) => count)), result.documents)
  assert.equal(sum(rows(page, 'Machines').map(([, tokens]) => tokens)), result.tokens)
  assert.deepEqual(rows(page, 'Skipped rows'), [['ERR_TOKENLANE_JSON', '1']])
})

test('the page loads nothing and shows names as text', async () => {
  await writeReport(at('tokens'), at('report.html'))
  const page = fs.readFileSync(at('report.html'), 'utf8')
  assert.doesNotMatch(page, /<script|<img|\u202e|url\(|https?:|src=["']/)
  assert.match(page, /&lt;script&gt;alert\(&quot;x&quot;\)&amp;&#39;‹202e›\.jsonl/)
  assert.match(page, /default-src 'none'/)
  assert.match(page, /prefers-color-scheme: dark/)
})

test('a job that is not finished, no job, and wrong arguments', async () => {
  fs.cpSync(at('tokens'), at('part'), { recursive: true })
  const [first] = stems(at('part'))
  const { tokens } = record(at('part'), first)
  fs.rmSync(at('part', `${first}.json`))
  assert.equal((await writeReport(at('part'), at('part.html'))).tokens, result.tokens - tokens)
  assert.match(fs.readFileSync(at('part.html'), 'utf8'), /The job is not finished/)
  assert.equal((await failure(() => writeReport(at('data'), at('x.html')))).code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
  assert.equal(
    (await failure(() => writeReport(at('tokens'), at('x.html'), { price: -1 }))).code,
    'ERR_TOKENLANE_ARGUMENT_VALUE',
  )
  const run = runIn(at())
  assert.match(
    run(['corpus', 'report', 'tokens', '-o', 'cli.html', '--price', '0.5']).stdout,
    /^cli\.html: [\d,]+ tokens\n$/,
  )
  for (const args of [
    ['tokens'],
    ['-o', 'x.html'],
    ['tokens', '-o', 'x.html', '--price', 'x'],
    ['tokens', '-o', 'x.html', '--eos'],
  ]) {
    assert.equal(run(['corpus', 'report', ...args]).status, 2, String(args))
  }
})

test('very many sources are counted by folders', async () => {
  fs.mkdirSync(at('many'))
  const names = Array.from({ length: 10_050 }, (_, index) => `folder-${index % 7}/${index}.txt`)
  fs.cpSync(at('tokens'), at('wide'), { recursive: true })
  const [stem] = stems(at('wide'))
  const found = record(at('wide'), stem)
  found.sources = Object.fromEntries(names.map((name) => [name, { documents: 1, tokens: 2, textBytes: 3, skipped: 0 }]))
  fs.writeFileSync(at('wide', `${stem}.json`), JSON.stringify(found))
  await writeReport(at('wide'), at('wide.html'))
  const sources = rows(fs.readFileSync(at('wide.html'), 'utf8'), 'Tokens by source')
  assert.ok(
    sources.some(([name, tokens]) => name === 'folder-0' && Number(tokens.replaceAll(',', '')) > 2000),
    JSON.stringify(sources),
  )
})
