// One HTML page about a finished or unfinished job, from its records. It has no scripts and loads
// nothing; every name in it is escaped.

import path from 'node:path'

import { placeOf } from './documents.mjs'
import { error, wrongType, wrongValue } from './errors.mjs'
import { readJob } from './job-file.mjs'
import { JOB } from './layout.mjs'
import { Totals } from './manifest.mjs'
import { STYLE } from './report-style.mjs'
import { recordsOf } from './shard.mjs'
import { writeWhole } from './store/part-file.mjs'
import { openStore } from './store/store.mjs'
import { createRequire } from 'node:module'

const { checkKnown } = createRequire(import.meta.url)('../options.js')

/** Sources that are counted one by one; with more, those of a folder count together. */
const MAX_SOURCES = 10_000
/** Rows of a table; the rest is one row. */
const SHOWN = 40

/**
 * Writes the page.
 *
 * @param {string} output the folder of the job
 * @param {string} file
 * @param {{ price?: number }} [options]
 */
export async function writeReport(output, file, options = {}) {
  if (typeof output !== 'string') throw wrongType('output', 'a path', output)
  if (typeof file !== 'string') throw wrongType('file', 'a path', file)
  checkKnown(options, ['price'])
  const { price } = options
  if (price !== undefined && typeof price !== 'number') throw wrongType('price', 'a number', price)
  if (price !== undefined && !(price >= 0 && price < Infinity)) throw wrongValue('price', 'a price, 0 or more', price)
  const store = await openStore(output)
  const job = await readJob(store)
  if (job === undefined) {
    throw error('ERR_TOKENLANE_FILE_NOT_FOUND', `${output}: there is no ${JOB}, so this is no output of a corpus job`)
  }
  const sums = new Sums()
  for await (const record of recordsOf(store, job.plan.shards)) if (record?.job === job.id) sums.add(record)
  await writeWhole(path.resolve(file), page(job, sums, price))
  return sums.totals.toJSON()
}

/** What the page shows, summed up over the records. */
class Sums {
  totals = new Totals()
  sources = new Groups()
  hosts = new Groups()
  groups = new Groups()
  /** When the first shard was started and the last one ended. */
  first = Infinity
  last = -Infinity
  /** As in a record: entry i counts documents with 2^i tokens and more. */
  lengths = /** @type {number[]} */ ([])
  codes = /** @type {Map<string, number>} */ (new Map())
  skipped = /** @type {any[]} */ ([])

  add(record) {
    this.totals.add(record)
    const started = Date.parse(record.started)
    this.first = Math.min(this.first, started)
    this.last = Math.max(this.last, started + record.seconds * 1000)
    for (const [name, source] of Object.entries(record.sources)) this.sources.add(name, source)
    for (const [name, group] of Object.entries(record.groups ?? {})) this.groups.add(name, group)
    this.hosts.add(record.host, { ...record, skipped: record.skipped.rows, shards: 1 })
    record.lengths.forEach((count, index) => (this.lengths[index] = (this.lengths[index] ?? 0) + count))
    for (const [code, count] of Object.entries(record.skipped.codes))
      this.codes.set(code, (this.codes.get(code) ?? 0) + count)
    if (this.skipped.length < SHOWN) this.skipped.push(...record.skipped.listed.slice(0, SHOWN - this.skipped.length))
  }
}

const COLUMNS = ['documents', 'tokens', 'textBytes', 'characters', 'skipped', 'seconds', 'shards']

/** Sums by a name. */
class Groups {
  #groups = /** @type {Map<string, Record<string, number>>} */ (new Map())
  /** Folders that are cut off the end of names, to bound their number. */
  #cut = 0

  add(name, values) {
    this.#put(this.#short(name), values)
    while (this.#groups.size > MAX_SOURCES) this.#shorten()
  }

  #short(name) {
    let short = name
    for (let cut = 0; cut < this.#cut; cut++) short = path.dirname(short)
    return short
  }

  #shorten() {
    const groups = this.#groups
    const before = groups.size
    this.#groups = new Map()
    this.#cut += 1
    for (const [name, values] of groups) this.#put(path.dirname(name), values)
    // Names without folders.
    if (this.#groups.size === before) this.#groups = new Map([['all', [...groups.values()].reduce(added)]])
  }

  #put(name, values) {
    const known = this.#groups.get(name)
    this.#groups.set(name, known === undefined ? added({}, values) : added(known, values))
  }

  get isEmpty() {
    return this.#groups.size === 0
  }

  /** The largest first, and what is left as one. @returns {[string, Record<string, number>][]} */
  largest() {
    const sorted = [...this.#groups].sort(([a, { tokens: x }], [b, { tokens: y }]) => y - x || (a < b ? -1 : 1))
    const rest = sorted.splice(SHOWN)
    if (rest.length > 0) sorted.push([`${number(rest.length)} more`, rest.map(([, values]) => values).reduce(added)])
    return sorted
  }
}

const added = (a, b) => Object.fromEntries(COLUMNS.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]))

const number = (value) => Math.round(value).toLocaleString('en')
/** Milliseconds as people say them. */
function lasting(milliseconds) {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${number(Math.floor(minutes / 60))} h ${minutes % 60} min`
}

const moment = (time) =>
  new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z/, ' UTC')
const fixed = (value) => (Number.isFinite(value) ? value.toFixed(2) : '–')
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/** Text of a page; what has no picture, or turns text around, is shown as its number. */
const escape = (text) =>
  String(text)
    .replace(/[&<>"']/g, (found) => ENTITIES[found])
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) => `‹${found.codePointAt(0).toString(16)}›`)

function page(job, sums, price) {
  const { totals } = sums
  const isWhole = totals.shards === job.plan.shards
  const cards = [
    ['documents', number(totals.documents)],
    ['tokens', number(totals.tokens)],
    ['bytes of text', number(totals.textBytes)],
    ['bytes per token', fixed(totals.textBytes / totals.tokens)],
    ['tokens per document', number(totals.tokens / Math.max(1, totals.documents))],
    ['shards', isWhole ? number(totals.shards) : `${number(totals.shards)} of ${number(job.plan.shards)}`],
    ['rows skipped', number(totals.skipped)],
    ...(totals.shards > 0 ? [['time', lasting(sums.last - sums.first)]] : []),
    ...(price === undefined ? [] : [['cost', fixed((totals.tokens / 1e6) * price)]]),
  ]
  const facts = [
    ['tokenizer', `${job.tokenizer.name} (SHA-256 ${job.tokenizer.sha256})`],
    [
      'options',
      Object.entries(job.options)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', '),
    ],
    ['job', `${job.id}, tokenlane ${job.tokenlane}`],
    ...(totals.shards > 0
      ? [['done', `${moment(sums.first)} to ${moment(sums.last)} (shards that a run kept have their own times)`]]
      : []),
    ['input', `${number(job.plan.bytes)} bytes in ${number(job.plan.parts)} parts`],
    ...(totals.empty > 0 ? [['documents without tokens', `${number(totals.empty)}, left out`]] : []),
    ...(totals.truncated > 0
      ? [['documents cut', `${number(totals.truncated)}, by ${number(totals.cutTokens)} tokens`]]
      : []),
    ...(price === undefined ? [] : [['price', `${price} per million tokens`]]),
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Corpus report: ${number(totals.tokens)} tokens</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Corpus report</h1>
${isWhole ? '' : '<p class="note">The job is not finished: the figures are those of the shards that are done.</p>'}
<dl class="cards">${cards.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')}</dl>
<h2>Tokens by source</h2>
${table(
  ['source', 'tokens', 'documents', 'bytes per token', 'skipped', ...(price === undefined ? [] : ['cost'])],
  rowsOf(sums.sources.largest(), ({ documents, tokens, textBytes, skipped }) => [
    number(documents),
    fixed(textBytes / tokens),
    number(skipped),
    ...(price === undefined ? [] : [fixed((tokens / 1e6) * price)]),
  ]),
)}
${sums.groups.isEmpty ? '' : groupSection(sums.groups, job.options.groupBy, price)}
<h2>Tokens per document</h2>
${table(['tokens', 'documents'], bars(sums.lengths.map((count = 0, index) => [`${number(2 ** index)} to ${number(2 ** (index + 1) - 1)}`, count])))}
<h2>Machines</h2>
${table(
  ['machine', 'tokens', 'shards', 'shard seconds', 'tokens per shard second'],
  rowsOf(sums.hosts.largest(), ({ tokens, shards, seconds }) => [
    number(shards),
    number(seconds),
    number(tokens / Math.max(seconds, 0.001)),
  ]),
)}
${sums.codes.size === 0 ? '' : skippedSection(sums)}
<h2>Job</h2>
<dl class="facts">${facts.map(([name, value]) => `<dt>${name}</dt><dd>${escape(value)}</dd>`).join('')}</dl>
</main>
</body>
</html>
`
}

function groupSection(groups, field, price) {
  return `<h2>Tokens by ${escape(field)}</h2>
${table(
  [
    escape(field),
    'tokens',
    'documents',
    'characters per token',
    'bytes per token',
    ...(price === undefined ? [] : ['cost']),
  ],
  rowsOf(groups.largest(), ({ documents, tokens, characters, textBytes }) => [
    number(documents),
    fixed(characters / tokens),
    fixed(textBytes / tokens),
    ...(price === undefined ? [] : [fixed((tokens / 1e6) * price)]),
  ]),
)}`
}

function skippedSection({ codes, skipped }) {
  return `<h2>Skipped rows</h2>
${table(['reason', 'rows'], bars([...codes].sort((a, b) => b[1] - a[1])))}
<details><summary>The first ${number(skipped.length)}</summary><ul>${skipped.map((row) => `<li><b>${escape(placeOf(row))}</b> ${escape(row.message)}</li>`).join('')}</ul></details>`
}

/** Rows with a bar of their tokens. */
const rowsOf = (groups, cells) => {
  const most = Math.max(1, ...groups.map(([, { tokens }]) => tokens))
  return groups.map(([name, values]) => [escape(name), bar(values.tokens, most), ...cells(values)])
}

const bars = (counts) => {
  const most = Math.max(1, ...counts.map(([, count]) => count))
  return counts.map(([name, count]) => [escape(name), bar(count, most)])
}

const bar = (value, most) =>
  `<span class="bar" style="--part:${((value / most) * 100).toFixed(2)}%">${number(value)}</span>`

function table(heads, rows) {
  const head = heads.map((name) => `<th scope="col">${name}</th>`).join('')
  const body = rows.map(
    ([name, ...cells]) => `<tr><th scope="row">${name}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
  )
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`
}
