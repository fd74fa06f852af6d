// The HTML page about a job.

import { placeOf } from './documents.mjs'
import { withCurrency } from './price.mjs'
import { MAX_SHOWN } from './report-groups.mjs'
import { bars, escape, fixed, number, page, rowsOf, table } from './report-parts.mjs'

/** The page about a job. `price` is that of a million tokens, with its currency. */
export function jobPage(job, sums, price) {
  const { totals } = sums
  const facts = factsOf(job, sums, price).map(([name, value]) => `<dt>${name}</dt><dd>${escape(value)}</dd>`)
  return page({
    title: `Corpus report: ${number(totals.tokens)} tokens`,
    heading: 'Corpus report',
    note:
      totals.shards === job.plan.shards
        ? undefined
        : 'The job is not finished: the figures are those of the shards that are done.',
    cards: cardsOf(job, sums, price),
    sections: [
      isMixture(job.options) ? mixtureSection(job.options, sums) : '',
      sourceSection(sums.sources, price),
      sums.groups.isEmpty ? '' : groupSection(sums.groups, job.options.groupBy, price),
      lengthSection(sums.lengths),
      machineSection(sums.hosts),
      sums.codes.size === 0 ? '' : skippedSection(sums),
      `<h2>Job</h2>\n<dl class="facts">${facts.join('')}</dl>`,
    ],
  })
}

/** The figures at the top of the page, with their names. */
function cardsOf(job, { totals, first, last }, price) {
  const ofAll = totals.shards === job.plan.shards ? '' : ` of ${number(job.plan.shards)}`
  return [
    ['documents', number(totals.documents)],
    ['tokens', number(totals.tokens)],
    ['bytes of text', number(totals.textBytes)],
    ['characters per token', perToken('characters', totals)],
    ['bytes per token', perToken('textBytes', totals)],
    ['tokens per document', number(totals.tokens / Math.max(1, totals.documents))],
    ['shards', `${number(totals.shards)}${ofAll}`],
    ['rows skipped', number(totals.skipped)],
    ...(totals.shards > 0 ? [['time', duration(last - first)]] : []),
    ...(price === undefined ? [] : [['cost', costOf(totals.tokens, price)]]),
  ]
}

/** The facts about the job at the end of the page, with their names. */
function factsOf(job, { totals, first, last }, price) {
  const shown = (value) => (typeof value === 'object' ? JSON.stringify(value) : value)
  const options = Object.entries(job.options).map(([name, value]) => `${name}: ${shown(value)}`)
  const facts = [
    ['tokenizer', `${job.tokenizer.name} (SHA-256 ${job.tokenizer.sha256})`],
    ['options', options.join(', ')],
    ['job', `${job.id}, tokenlane ${job.tokenlane}`],
  ]
  if (totals.shards > 0)
    facts.push(['done', `${moment(first)} to ${moment(last)} (shards that a run kept have their own times)`])
  facts.push([
    'input',
    `${number(job.plan.bytes)} bytes in ${number(job.plan.parts)} part${job.plan.parts === 1 ? '' : 's'}`,
  ])
  if (totals.empty > 0) facts.push(['documents without tokens', `${number(totals.empty)}, left out`])
  if (totals.truncated > 0)
    facts.push(['documents cut', `${number(totals.truncated)}, by ${number(totals.cutTokens)} tokens`])
  if (totals.unlearned > 0) facts.push(['chats without a token to learn from', `${number(totals.unlearned)}, left out`])
  const { pack } = job.options
  if (pack !== undefined && totals.rows > 0) {
    const percent = (part, all) => `${fixed((part / Math.max(1, all)) * 100)} %`
    facts.push(['rows', `${number(totals.rows)}, ${percent(totals.padding, totals.rows * pack)} padding if filled up`])
    facts.push([
      'documents cut by rows',
      `${number(totals.cutDocuments)}, ${percent(totals.cutDocuments, totals.documents)}`,
    ])
  }
  if (totals.filtered > 0) facts.push(['documents that hooks left out', number(totals.filtered)])
  if (totals.unsampled > 0) facts.push(['documents outside of the sample', number(totals.unsampled)])
  if (totals.lossTokens !== undefined) facts.push(['tokens of the assistant', number(totals.lossTokens)])
  if (totals.unpaired > 0) facts.push(['documents with unpaired surrogates', `${number(totals.unpaired)}, as U+FFFD`])
  if (price !== undefined) facts.push(['price', `${withCurrency(price.value, price.currency)} per million tokens`])
  return facts
}

function sourceSection(sources, price) {
  const heads = ['source', 'tokens', 'documents', ...RATIO_HEADS, 'skipped', ...costHead(price)]
  const rows = rowsOf(sources.largest(), (sums) => [
    number(sums.documents),
    ...ratiosOf(sums),
    number(sums.skipped),
    ...costCell(sums.tokens, price),
  ])
  return `<h2>Tokens by source</h2>\n${table(heads, rows)}`
}

/** The shares of a mixture: what was planned, and what the files have. */
function mixtureSection({ inputs }, { sources }) {
  const all = inputs.reduce((sum, { planned }) => sum + planned, 0)
  const known = new Map(sources.largest())
  const hasDuplicates = inputs.every(({ duplicates }) => Number.isFinite(duplicates))
  const has = inputs.map(({ name }) => known.get(name)?.tokens ?? 0)
  const written = has.reduce((sum, tokens) => sum + tokens, 0)
  const share = (tokens, of) => `${fixed((tokens / Math.max(1, of)) * 100)} %`
  const rows = inputs.map(({ name, epochs, planned, duplicates }, input) => [
    escape(name),
    number(planned),
    share(planned, all),
    number(has[input]),
    share(has[input], written),
    fixed(epochs),
    ...(hasDuplicates ? [number(duplicates)] : []),
  ])
  return `<h2>Mixture</h2>
${table(['input', 'tokens planned', 'share', 'tokens', 'share', 'epochs', ...(hasDuplicates ? ['duplicates left out'] : [])], rows)}`
}

/** Whether a job is a merge that knows what was planned of its inputs. */
const isMixture = ({ inputs }) =>
  Array.isArray(inputs) &&
  inputs.length <= MAX_SHOWN &&
  inputs.every((one) => typeof one?.name === 'string' && Number.isFinite(one.planned) && Number.isFinite(one.epochs))

function groupSection(groups, field, price) {
  const name = escape(field)
  const heads = [name, 'tokens', 'documents', ...RATIO_HEADS, ...costHead(price)]
  const rows = rowsOf(groups.largest(), (sums) => [
    number(sums.documents),
    ...ratiosOf(sums),
    ...costCell(sums.tokens, price),
  ])
  return `<h2>Tokens by ${name}</h2>\n${table(heads, rows)}`
}

function lengthSection(lengths) {
  const rangeOf = (index) => (index === 0 ? '1' : `${number(2 ** index)} to ${number(2 ** (index + 1) - 1)}`)
  const first = lengths.findIndex((count = 0) => count > 0)
  const counts = lengths.map((count = 0, index) => [rangeOf(index), count]).slice(Math.max(0, first))
  return `<h2>Tokens per document</h2>\n${table(['tokens', 'documents'], bars(counts))}`
}

function machineSection(hosts) {
  const heads = ['machine', 'tokens', 'shards', 'shard seconds', 'tokens per shard second']
  const rows = rowsOf(hosts.largest(), ({ tokens, shards, seconds }) => [
    number(shards),
    number(seconds),
    number(tokens / Math.max(seconds, 0.001)),
  ])
  return `<h2>Machines</h2>\n${table(heads, rows)}`
}

function skippedSection({ codes, skipped }) {
  const counts = [...codes].sort((a, b) => b[1] - a[1])
  const items = skipped.map((row) => `<li><b>${escape(placeOf(row))}</b> ${escape(row.message)}</li>`)
  return `<h2>Skipped rows</h2>
${table(['reason', 'rows'], bars(counts))}
<details><summary>The first ${number(skipped.length)}</summary><ul>${items.join('')}</ul></details>`
}

/**
 * The size of texts per token, counting the tokens that --max-tokens cut off. Merged jobs do not
 * know the texts of their tokens.
 */
const perToken = (size, sums) => (sums[size] === 0 ? '–' : fixed(sums[size] / (sums.tokens + sums.cutTokens)))
const RATIO_HEADS = ['characters per token', 'bytes per token']
const ratiosOf = (sums) => [perToken('characters', sums), perToken('textBytes', sums)]

const costOf = (tokens, { value, currency }) => withCurrency(fixed((tokens / 1e6) * value), currency)
/** The head and the cell of the column that tables have if a price is given. */
const costHead = (price) => (price === undefined ? [] : ['cost'])
const costCell = (tokens, price) => (price === undefined ? [] : [costOf(tokens, price)])

/** Milliseconds in the largest fitting unit. */
function duration(milliseconds) {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${number(Math.floor(minutes / 60))} h ${minutes % 60} min`
}

/** A time in milliseconds as date and time in UTC. */
const moment = (time) =>
  new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z/, ' UTC')
