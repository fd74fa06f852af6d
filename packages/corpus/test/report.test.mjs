// tokenlane corpus report: the page about a job.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { Tokenizer } from 'tokenlane'
import { tokenizeCorpus, writeReport } from '@tokenlane/corpus'
import { Progress } from '../src/progress.mjs'
import { Stats } from '../src/stats.mjs'
import { machinesOf } from '../commands/corpus-progress.mjs'
import { launch, whyNot } from '../../../__test__/support/chromium.mjs'
import { runIn } from '../../../__test__/support/cli.mjs'
import { jsonl, record, scratch, stems, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
const all = writeCorpus(at('data'), 2, 80)
const NAME = `<script>alert("x")&'\u202e.jsonl`
fs.writeFileSync(at('data', NAME), `${jsonl([{ text: 'a hundred tokens '.repeat(40) }])}no JSON <img src=x>\n`)
const options = { inputs: at('data'), output: at('tokens'), tokenizer: 'r50k_base', shardSize: 20_000, onError: 'skip' }
const result = await tokenizeCorpus(/** @type {any} */ (options))
const number = (value) => value.toLocaleString('en')
const posix = { skip: process.platform === 'win32' && 'there are no such files' }

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
  assert.match(page, /<dt>time<\/dt><dd>\d+ s<\/dd>/)
  assert.match(page, /<dd>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC to \d{4}-/)
  const sources = rows(page, 'Tokens by source')
  const costs = sources.map(([, tokens, , , , , cost]) => [
    cost,
    ((Number(tokens.replaceAll(',', '')) / 1e6) * 2).toFixed(2),
  ])
  for (const [cost, own] of costs) assert.equal(cost, own)
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

test('links stay, a pipe is written directly, and files of the job stay', posix, async () => {
  fs.symlinkSync('later.html', at('link.html'))
  await writeReport(at('tokens'), at('link.html'))
  assert.equal(fs.readlinkSync(at('link.html')), 'later.html')
  const page = fs.readFileSync(at('later.html'), 'utf8')
  execFileSync('mkfifo', [at('pipe.html')])
  const reader = promisify(execFile)('cat', [at('pipe.html')])
  await writeReport(at('tokens'), at('pipe.html'))
  assert.equal((await reader).stdout, page)
  assert.ok(fs.statSync(at('pipe.html')).isFIFO())
  const job = fs.readFileSync(at('tokens', 'job.json'))
  for (const name of ['job.json', 'manifest.json', 'plan.jsonl', 'shard-00000000.json']) {
    const { code } = await failure(() => writeReport(at('tokens'), at('tokens', name)))
    assert.equal(code, 'ERR_TOKENLANE_OUTPUT_IS_INPUT')
  }
  assert.deepEqual(fs.readFileSync(at('tokens', 'job.json')), job)
  // What is no file may refuse the page, too.
  if (fs.existsSync('/dev/full')) {
    const { code, message } = await failure(() => writeReport(at('tokens'), '/dev/full'))
    assert.equal(code, 'ERR_TOKENLANE_FILE', message)
  }
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
    ['tokens', '-o', 'x.html', '--price', '$2 EUR'],
    ['tokens', '-o', 'x.html', '--price', '<b>2'],
    ['tokens', '-o', 'x.html', '--eos'],
  ]) {
    assert.equal(run(['corpus', 'report', ...args]).status, 2, String(args))
  }
})

test('a cost has the currency of its price', async () => {
  const cost = ((result.tokens / 1e6) * 2).toFixed(2)
  const run = runIn(at())
  for (const [price, options, shown] of [
    ['$2', { price: 2, currency: '$' }, `$${cost}`],
    ['2 EUR', { price: 2, currency: 'EUR' }, `${cost} EUR`],
  ]) {
    await writeReport(at('tokens'), at('report.html'), options)
    const page = fs.readFileSync(at('report.html'), 'utf8')
    assert.ok(page.includes(`<dt>cost</dt><dd>${shown}</dd>`), shown)
    run(['corpus', 'report', 'tokens', '-o', 'cli.html', '--price', price])
    assert.equal(fs.readFileSync(at('cli.html'), 'utf8'), page)
  }
  for (const wrong of [
    { price: 2, currency: '<b>' },
    { price: 2, currency: '' },
    { price: 2, currency: 5 },
    { currency: '$' },
  ]) {
    const error = await failure(() => writeReport(at('tokens'), at('x.html'), wrong))
    assert.equal(error.code, 'ERR_TOKENLANE_ARGUMENT_VALUE')
  }
})

test('tokens and characters per token by a field', async () => {
  const documents = [
    { lang: 'el', text: 'καλημέρα κόσμε', id: 1 },
    { lang: 'en', text: 'good morning world', id: 2 },
    { lang: 'el', text: 'ναι 😀', id: 3 },
    { lang: 7, text: 'a number', id: 4 },
    { text: 'no field', id: 5 },
    { lang: ['en'], text: 'an array', id: 6 },
    { lang: true, text: 'a boolean', id: 7 },
    { lang: '<b>', text: 'a tag', id: 8 },
    { lang: 'en', text: '', id: 9 },
  ]
  fs.mkdirSync(at('languages'))
  fs.writeFileSync(at('languages', 'a.jsonl'), jsonl(documents))
  fs.writeFileSync(at('languages', 'b.txt'), 'a line\n')
  const tokenizer = Tokenizer.fromEncodingSync('r50k_base')
  const expected = new Map()
  const all = [...documents, { lang: undefined, text: 'a line' }].filter(({ text }) => text !== '')
  for (const { lang, text } of all) {
    const name = lang === undefined || typeof lang === 'object' ? '(none)' : String(lang)
    const sum = expected.get(name) ?? { documents: 0, tokens: 0, cutTokens: 0, textBytes: 0, characters: 0 }
    sum.documents += 1
    sum.tokens += tokenizer.encode(text).ids.length
    sum.textBytes += Buffer.byteLength(text)
    sum.characters += [...text].length
    expected.set(name, sum)
  }
  const given = { tokenizer: 'r50k_base', groupBy: 'lang', format: 'jsonl' }
  await tokenizeCorpus({ ...given, inputs: at('languages'), output: at('by-lang') })
  assert.deepEqual(record(at('by-lang'), 'shard-00000000').groups, Object.fromEntries(expected))
  await writeReport(at('by-lang'), at('by-lang.html'), { price: 1 })
  const shown = rows(fs.readFileSync(at('by-lang.html'), 'utf8'), 'Tokens by lang')
  const { documents: count, tokens, characters } = expected.get('el')
  assert.deepEqual(shown.find(([name]) => name === 'el').slice(0, 4), [
    'el',
    String(tokens),
    String(count),
    (characters / tokens).toFixed(2),
  ])
  assert.ok(shown.some(([name]) => name === '&lt;b&gt;'))
  // With ids, both fields are read in another way.
  await tokenizeCorpus({ ...given, idField: 'id', inputs: at('languages', 'a.jsonl'), output: at('with-ids') })
  const { groups } = record(at('with-ids'), 'shard-00000000')
  const none = { ...expected.get('(none)') }
  const tokensOfLine = tokenizer.encode('a line').ids.length
  const line = { documents: 1, tokens: tokensOfLine, cutTokens: 0, textBytes: 6, characters: 6 }
  for (const column of Object.keys(none)) none[column] -= line[column]
  assert.deepEqual(groups, { ...Object.fromEntries(expected), '(none)': none })
  const ids = fs.readFileSync(at('with-ids', 'shard-00000000.jsonl'), 'utf8').trimEnd().split('\n')
  assert.deepEqual(
    ids.map((text) => JSON.parse(text).id),
    documents.filter(({ text }) => text !== '').map(({ id }) => String(id)),
  )
})

test('characters and bytes per token of each source count the tokens that were cut off', async () => {
  fs.mkdirSync(at('cut'))
  const texts = { 'el.txt': 'καλημέρα κόσμε', 'emoji.txt': '😀 😀 😀 ok', 'en.txt': 'good morning to the whole world' }
  for (const [name, text] of Object.entries(texts)) fs.writeFileSync(at('cut', name), `${text}\n`)
  const tokenizer = Tokenizer.fromEncodingSync('r50k_base')
  for (const maxTokens of [undefined, 2]) {
    const output = at(`cut at ${maxTokens}`)
    const { characters } = await tokenizeCorpus({ inputs: at('cut'), output, tokenizer: 'r50k_base', maxTokens })
    assert.equal(
      characters,
      Object.values(texts).reduce((sum, text) => sum + [...text].length, 0),
    )
    await writeReport(output, at('cut.html'))
    const shown = rows(fs.readFileSync(at('cut.html'), 'utf8'), 'Tokens by source')
    for (const [name, text] of Object.entries(texts)) {
      const all = tokenizer.encode(text).ids.length
      const ratio = (size) => (size / all).toFixed(2)
      const cells = [Math.min(all, maxTokens ?? all), 1, ratio([...text].length), ratio(Buffer.byteLength(text)), 0]
      assert.deepEqual(shown.find(([source]) => source.endsWith(name))?.slice(1), cells.map(String))
    }
  }
})

test('lengths start with those that occur', async () => {
  const lengths = async (name, texts) => {
    fs.writeFileSync(at(`${name}.jsonl`), jsonl(texts.map((text) => ({ text }))))
    await tokenizeCorpus(/** @type {any} */ ({ ...options, inputs: at(`${name}.jsonl`), output: at(name) }))
    await writeReport(at(name), at(`${name}.html`))
    return rows(fs.readFileSync(at(`${name}.html`), 'utf8'), 'Tokens per document')
  }
  assert.deepEqual(await lengths('longer', ['a b c d e']), [['4 to 7', '1']])
  assert.deepEqual(await lengths('shorter', ['a', 'a b']), [
    ['1', '1'],
    ['2 to 3', '1'],
  ])
})

test('groups beyond a thousand are one group', () => {
  const stats = new Stats()
  const one = { tokens: 2, cutTokens: 1, textBytes: 3, characters: 3 }
  for (let name = 0; name < 1500; name++) stats.document('a', one, String(name))
  stats.document('a', one, '7')
  const groups = new Map(Object.entries(/** @type {any} */ (stats.toJSON()).groups))
  assert.equal(groups.size, 1001)
  assert.equal(groups.get('7').documents, 2)
  const sums = { documents: 500, tokens: 1000, cutTokens: 500, textBytes: 1500, characters: 1500 }
  assert.deepEqual(groups.get('(others)'), sums)
  assert.equal('groups' in new Stats().toJSON(), false)
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

test('the page fits a phone and a screen, light and dark', { skip: whyNot }, async () => {
  const browser = await launch()
  try {
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      for (const width of [360, 1280]) {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } })
        await page.goto(`file://${at('report.html')}`)
        const look = await page.evaluate(() => {
          const luminance = (color) =>
            color
              .match(/\d+/g)
              .slice(0, 3)
              .reduce((sum, part) => sum + Number(part), 0)
          const style = getComputedStyle(document.body)
          return {
            wide: document.documentElement.scrollWidth,
            ink: luminance(style.color),
            ground: luminance(style.backgroundColor),
          }
        })
        assert.equal(look.wide, width, 'nothing reaches over the edge')
        assert.ok(
          colorScheme === 'dark' ? look.ink > look.ground + 300 : look.ground > look.ink + 300,
          JSON.stringify(look),
        )
        if (process.env.REPORT_PICTURES)
          await page.screenshot({
            path: `${process.env.REPORT_PICTURES}/report-${colorScheme}-${width}.png`,
            fullPage: true,
          })
        await page.close()
      }
    }
  } finally {
    await browser.close()
  }
})

test('progress: sums by machine, time left, and the line of a terminal', () => {
  const progress = new Progress({ shards: 4, bytes: 4000 })
  assert.equal(progress.event.left, undefined)
  const done = { documents: 10, tokens: 100, bytes: 1000 }
  progress.end(0, { host: 'before', isNew: false, ...done })
  assert.equal(progress.event.left, undefined, 'what a run before did tells nothing about this one')
  progress.update(1, { host: 'a', ...done })
  progress.update(2, { host: 'b', documents: 1, tokens: 10, bytes: 100 })
  progress.end(1, { host: 'a', isNew: true, ...done })
  const { hosts, left, shards, kept, documents, tokens, bytes } = progress.event
  assert.deepEqual(
    { shards, kept, documents, tokens, bytes },
    { shards: 2, kept: 1, documents: 21, tokens: 210, bytes: 2100 },
  )
  assert.ok(left > 0)
  const own = ({ seconds: _seconds, ...rest }) => rest
  assert.deepEqual(own(hosts.a), { running: 0, shards: 1, ...done })
  assert.deepEqual(own(hosts.b), { running: 1, shards: 0, documents: 1, tokens: 10, bytes: 100 })
  assert.deepEqual(Object.keys(hosts), ['a', 'b'])
  progress.update(3, { host: 'late', ...done, seconds: 60 })
  assert.ok(progress.event.hosts.late.seconds >= 60, 'the first rate is not that of no time')
  progress.drop(3)
  progress.drop(2)
  assert.equal(progress.event.hosts.b.running, 0)
  const host = (tokens) => ({ running: 1, shards: 0, documents: 1, tokens, bytes: 1, seconds: 1 })
  assert.equal(machinesOf({ one: host(5) }), '')
  const line = machinesOf({
    'slow\u001b[2J': host(5),
    fast: host(5000),
    c: host(4),
    d: host(3),
    e: host(2),
    f: host(1),
  })
  assert.equal(line.startsWith('fast: 5,000 tokens/s, slow'), true, line)
  assert.equal(line.includes('\u001b'), false)
  assert.match(line, /, 2 more machines$/)
})

test('the figures that the command prints', () => {
  fs.writeFileSync(at('rows.txt'), `a\n${'a '.repeat(11)}a\n\na a\n`)
  const job = ['corpus', 'rows.txt', '--rows', 'lines', '-t', 'r50k_base', '-f', 'npy']
  const said = (...more) => {
    const { status, stdout, stderr } = runIn(at())([...job, ...more])
    assert.equal(status, 0, stderr)
    return stdout.trimEnd().split('\n')
  }
  // 1, 12, 0 and 2 tokens; 27 bytes of text.
  const documents = '3 documents, 15 tokens, 1.80 bytes per token'
  const empty = 'left out: 1 document without tokens'
  assert.deepEqual(said('-o', 'plain'), [documents, empty, '1 shard in plain'])
  assert.deepEqual(said('-o', 'plain'), [documents, empty, '1 shard in plain, 1 of them from an earlier run'])
  // Four rows of four tokens, and one of the 16 is padding.
  const packed = '4 rows, 6.25 % padding; cut: 1 document (33.33 %)'
  assert.deepEqual(said('-o', 'packed', '--pack', '4'), [documents, empty, packed, '1 shard in packed'])
})
