// benchmarks.md: the results as tables.

import os from 'node:os'
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'

import { reader, row, singles } from './figures.mjs'

const { version } = createRequire(import.meta.url)('../../package.json')

/** Returns the Markdown file. */
export function markdown({ tokenizers, corpora, samples, reps, command }) {
  const read = reader(samples)
  const rows = tokenizers.flatMap((tokenizer) =>
    corpora.map((corpus) => ({ name: [tokenizer.name, corpus.name], ...row(read, tokenizer, corpus) })),
  )
  const sections = [
    introduction(command, corpora, reps),
    batches(rows),
    threads(rows),
    singleTexts(read, tokenizers, corpora[0]),
    streams(read, tokenizers, corpora[0]),
    loading(read, tokenizers),
  ]
  return `${sections.join('\n\n')}\n`
}

function introduction(command, corpora, reps) {
  return `# Benchmarks

Written by \`${command}\`; do not edit. [peers.md](peers.md) compares other packages.

${table(['', ''], facts())}

Medians of ${reps} ${reps === 1 ? 'process' : 'processes'} with their minimum and maximum. Texts are documents of at least 6,500 bytes
that end with a line. A process encodes the first half of the corpus, releases the result with
\`dispose()\`, and is timed on the second half, from the call to the result in JavaScript.

${table(
  ['corpus', 'text'],
  corpora.map(({ name, about }) => [name, about]),
)}`
}

function batches(rows) {
  return `## Batches on one thread: MiB per second of processor time

Offsets are in UTF-16 units, with the ratio to ids only; other units cost the same.

${table(
  ['encoding', 'corpus', 'ids only', 'offsets', 'count', 'decode'],
  rows.map(({ name, ids, offsets, count, decode }) => [
    ...name,
    cell(ids),
    ...offsets.map((unit) => `${cell(unit)} × ${(unit.median / ids.median).toFixed(2)}`),
    cell(count),
    cell(decode),
  ]),
)}`
}

function threads(rows) {
  return `## Threads and the event loop

MiB per second of wall time, ids only; and the longest stop of the event loop while a batch of
6.5 MB was encoded on all processors and every row was read.

${table(
  ['encoding', 'corpus', '1 thread', '2 threads', 'ratio', 'longest block, ms'],
  rows.map(({ name, oneThread, twoThreads, stop }) => [
    ...name,
    cell(oneThread),
    cell(twoThreads),
    (twoThreads.median / oneThread.median).toFixed(2),
    cell(stop, 1),
  ]),
)}`
}

function singleTexts(read, tokenizers, corpus) {
  return `## One text at a time: thousands of calls per second

\`encode(text).ids\` and \`count(text)\` of pieces of ${corpus.name}: fresh pieces once each, then one
piece repeatedly.

${table(
  ['encoding', 'call', 'fresh', 'repeated'],
  tokenizers.flatMap((tokenizer) =>
    singles(read, tokenizer, corpus).map(({ what, fresh, again }) => [
      tokenizer.name,
      what,
      cell(thousands(fresh)),
      cell(thousands(again)),
    ]),
  ),
)}`
}

function streams(read, tokenizers, corpus) {
  return `## Streams of ids: thousands of ids per second of processor time

\`decodeStream\` and \`stopStream\` with 16 stops, one id for each push or 1,000; and the
milliseconds of \`tokenBytes()\`.

${table(
  ['encoding', 'decode', 'stop', 'stop, lists', 'tokenBytes, ms'],
  tokenizers.map(({ name }) => {
    const job = { name, kind: 'streams', corpus: corpus.file }
    const perSecond = (field) => cell(thousands(read(job, field)))
    return [name, perSecond('decoded'), perSecond('stopped'), perSecond('lists'), cell(read(job, 'tokenBytes'), 1)]
  }),
)}`
}

function loading(read, tokenizers) {
  return `## Loading: milliseconds

The time to read the file and to build the tokenizer; then the time of the first short text.

${table(
  ['encoding', 'load', 'first text'],
  tokenizers.map(({ name }) => {
    const job = { name, kind: 'load' }
    return [name, cell(read(job, 'load'), 1), cell(read(job, 'first'), 2)]
  }),
)}`
}

function facts() {
  const [first] = os.cpus()
  const versionOf = (command) => spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? 'unknown'
  return [
    ['date', new Date().toISOString().slice(0, 10)],
    ['machine', `${first?.model ?? 'unknown'}, ${os.cpus().length} processors, ${os.type()} ${os.arch()}`],
    ['versions', `tokenlane ${version}, Node ${process.version}, ${versionOf('rustc')}`],
    [
      'load average at the end',
      os
        .loadavg()
        .map((load) => load.toFixed(1))
        .join(', '),
    ],
  ]
}

function cell({ median, least, most }, digits) {
  const number = (value) => value.toLocaleString('en', { maximumFractionDigits: digits ?? (median < 10 ? 1 : 0) })
  return `${number(median)} (${number(least)}–${number(most)})`
}

function thousands({ median, least, most }) {
  return { median: median / 1e3, least: least / 1e3, most: most / 1e3 }
}

/** A table of Markdown; with `isNumeric`, all columns but the first are aligned to the right. */
export function table(head, rows, isNumeric = false) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, at) => (isNumeric && at > 0 ? '---:' : '---'))), ...rows.map(line)].join('\n')
}
