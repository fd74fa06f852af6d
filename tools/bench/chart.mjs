// benchmarks.svg: a bar chart of throughput, readable on light and on dark pages.

import { reader, row } from './figures.mjs'

// Sizes are in pixels.
const WIDTH = 760
const LABEL_WIDTH = 170 // for the names at the left
const VALUE_WIDTH = 60 // for the numbers at the right
const BAR_HEIGHT = 11
const GROUP_GAP = 14 // between two groups of bars
const TOP = 56

const SERIES = [
  { name: 'ids only', light: '#2563eb', dark: '#60a5fa', of: (figures) => figures.ids },
  { name: 'with offsets (utf16)', light: '#d97706', dark: '#fbbf24', of: (figures) => figures.offsets[0] },
  { name: 'count', light: '#059669', dark: '#34d399', of: (figures) => figures.count },
]

/** Returns the SVG file. */
export function chart({ tokenizers, corpora, samples }) {
  const read = reader(samples)
  const groups = tokenizers.flatMap((tokenizer) =>
    corpora.map((corpus) => ({
      label: `${tokenizer.name} · ${corpus.name}`,
      values: SERIES.map(({ of }) => of(row(read, tokenizer, corpus)).median),
    })),
  )
  const most = Math.max(...groups.flatMap(({ values }) => values))
  const length = (value) => ((value / most) * (WIDTH - LABEL_WIDTH - VALUE_WIDTH)).toFixed(1)
  const step = BAR_HEIGHT * SERIES.length + GROUP_GAP
  const bars = groups.flatMap(({ label, values }, at) => {
    const top = TOP + at * step
    const name = text(LABEL_WIDTH - 8, top + (BAR_HEIGHT * SERIES.length) / 2 + 4, label, 'end')
    return [
      name,
      ...values.map((value, i) => bar(LABEL_WIDTH, top + i * BAR_HEIGHT, length(value), i, Math.round(value))),
    ]
  })
  const height = TOP + groups.length * step
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="11">
<title>Throughput of tokenlane on one thread, MiB per second of processor time, fresh text</title>
<style>
${style('light')}
@media (prefers-color-scheme: dark) {
${style('dark')}
}
</style>
${text(8, 18, 'MiB per second of processor time, one thread, fresh text', 'start')}
${SERIES.map(({ name }, i) => bar(8 + i * 160, 28, BAR_HEIGHT, i) + text(24 + i * 160, 37, name, 'start')).join('\n')}
${bars.join('\n')}
</svg>
`
}

function style(scheme) {
  const colours = SERIES.map((series, i) => `.s${i} { fill: ${series[scheme]} }`).join(' ')
  return `text { fill: ${scheme === 'light' ? '#1f2937' : '#e5e7eb'} } ${colours}`
}

function bar(x, y, width, series, value) {
  const label = value === undefined ? '' : text(x + Number(width) + 4, y + BAR_HEIGHT - 2, value, 'start')
  return `<rect class="s${series}" x="${x}" y="${y}" width="${width}" height="${BAR_HEIGHT - 1}" rx="1"/>${label}`
}

function text(x, y, content, anchor) {
  const escaped = String(content).replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c])
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped}</text>`
}
