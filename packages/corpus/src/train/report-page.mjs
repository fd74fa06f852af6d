// The HTML page about a tokenizer.

import { escape, fixed, number, page, rowsOf, table } from '../report-parts.mjs'

/** Rows of a table of tokens or words. */
const ROWS = 30
/** Groups that the page shows. */
const GROUPS = 40
/** Tokens that are listed as never used. */
const UNUSED = 300

/** The page. */
export function tokenizerPage({ sample, all, curve, words, examples }) {
  const [first, ...others] = all
  const { bytes, characters, texts } = sample
  const used = first.uses.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0)
  return page({
    title: `Tokenizer report: ${first.name}`,
    heading: first.name,
    note: sample.isCut ? 'The figures are those of the first texts: 32 MiB are measured at most.' : undefined,
    cards: [
      ['tokens of the vocabulary', number(first.size)],
      ['bytes per token', fixed(bytes / first.tokens)],
      ['characters per token', fixed(characters / first.tokens)],
      ['texts', number(texts.length)],
      ['bytes of text', number(bytes)],
      ['tokens of these texts', number(first.tokens)],
      ['of the vocabulary used', `${((100 * used) / Math.max(1, first.size)).toFixed(1)} %`],
    ],
    sections: [
      others.length === 0 ? '' : comparison(all, sample),
      groupSection(all),
      curve.own.length < 2 ? '' : curveSection(curve),
      exampleSection(examples),
      wordSection(words),
      tokenSections(first),
    ],
  })
}

function comparison(all, { bytes, characters }) {
  const rows = rowsOf(
    all.map((measured) => [measured.name, measured]),
    ({ size, tokens }) => [
      number(size),
      fixed(bytes / tokens),
      fixed(characters / tokens),
      percent(tokens / all[0].tokens - 1),
    ],
  )
  const heads = ['tokenizer', 'tokens', 'vocabulary', 'bytes per token', 'characters per token', 'difference']
  return `<h2>Compared</h2>\n${table(heads, rows)}`
}

const percent = (part) => (Number.isFinite(part) ? `${part > 0 ? '+' : ''}${(100 * part).toFixed(1)} %` : '–')

/**
 * Bytes per token of each tokenizer, by file or by the field of `--group-by`. The last row is the
 * sum of the groups that have none of their own.
 */
function groupSection(all) {
  const names = [...all[0].byGroup].sort(([, a], [, b]) => b.bytes - a.bytes).map(([name]) => name)
  if (names.length < 2) return ''
  const others = names.splice(GROUPS)
  const groups = names.map((name) => [name, [name]])
  if (others.length > 0) groups.push([`${number(others.length)} more`, others])
  const rows = rowsOf(
    groups.map(([label, ofLabel]) => {
      const sums = all.map(({ byGroup }) => sumOf(byGroup, ofLabel))
      return [label, { tokens: sums[0].tokens, sums }]
    }),
    ({ sums }) => sums.map(({ bytes, tokens }) => fixed(bytes / tokens)),
  )
  const heads = ['', 'tokens', ...all.map(({ name }) => `bytes per token, ${escape(name)}`)]
  return `<h2>By language or source</h2>\n${table(heads, rows)}`
}

const sumOf = (byGroup, names) =>
  names.reduce(
    (sum, name) => {
      const { bytes, tokens } = byGroup.get(name)
      return { bytes: sum.bytes + bytes, tokens: sum.tokens + tokens }
    },
    { bytes: 0, tokens: 0 },
  )

/** Round values from 0 to `top`, at least three and at most seven of them, without 0. */
function ticksUpTo(top) {
  const power = 10 ** Math.floor(Math.log10(top))
  const step = [0.2, 0.5, 1, 2].map((part) => part * power).find((part) => top / part <= 7)
  const digits = Math.max(0, -Math.floor(Math.log10(step)))
  const count = Math.floor(top / step + 1e-9)
  return Array.from({ length: count }, (_, index) => ((index + 1) * step).toFixed(digits))
}

/**
 * The curve, as a picture of 640 by 300, and its points as a table for those who cannot see it.
 */
function curveSection({ own, compared }) {
  const points = [...own, ...compared]
  const [least, most] = [Math.min(...points.map(({ size }) => size)), Math.max(...points.map(({ size }) => size))]
  const top = Math.max(...points.map(({ value }) => value))
  const x = (size) => 70 + (550 * Math.log2(size / least)) / Math.max(1e-9, Math.log2(most / least))
  const y = (value) => 265 - (225 * value) / top
  const circle = ({ size, value }, kind) =>
    `<circle class="${kind}" cx="${x(size).toFixed(1)}" cy="${y(value).toFixed(1)}" r="4"/>`
  const text = (left, bottom, words, anchor = 'middle') =>
    `<text x="${left.toFixed(1)}" y="${bottom.toFixed(1)}" text-anchor="${anchor}">${words}</text>`
  const label = ({ size, value }, words) => text(x(size), y(value) - 8, words, x(size) > 500 ? 'end' : 'middle')
  const lines = ticksUpTo(top).map((value) => {
    const height = y(Number(value)).toFixed(1)
    return `<line x1="40" x2="620" y1="${height}" y2="${height}"/>${text(34, Number(height) + 4, value, 'end')}`
  })
  const ticks = points
    .map(({ size }) => size)
    .toSorted((a, b) => a - b)
    .filter((size, index, sizes) => index === 0 || x(size) - x(sizes[index - 1]) >= 24)
    .map((size) => text(x(size), 284, short(size)))
  const ours = own.map((point) => circle(point, 'own') + label(point, point.value.toFixed(2)))
  const theirs = compared.map((point) => circle(point, 'other') + label(point, escape(point.name)))
  const curve = own.map(({ size, value }) => `${x(size).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  const rows = points.map(({ name = '', size, value }) => [escape(name), number(size), fixed(value)])
  return `<h2>Bytes per token by size of the vocabulary</h2>
<div class="curve-frame"><svg class="curve" viewBox="0 0 640 300" role="img" aria-label="Bytes per token over the size of the vocabulary">
${lines.join('')}${ticks.join('')}<polyline points="${curve}"/>${ours.join('')}${theirs.join('')}
</svg></div>
<details><summary>As a table</summary>${table(['', 'tokens', 'bytes per token'], rows)}</details>`
}

const short = (size) => (size >= 1000 ? `${(size / 1000).toFixed(size < 10_000 ? 1 : 0)}k` : String(size))

function exampleSection(examples) {
  const parts = examples.map((tokenizers) =>
    tokenizers
      .map(({ name, pieces }) => {
        const tokens = pieces.reduce((sum, piece) => sum + piece.tokens, 0)
        return `<p><b>${escape(name)}</b>: ${number(tokens)} tokens</p>${shown(pieces)}`
      })
      .join('\n'),
  )
  return `<h2>Examples</h2>\n${parts.join('\n<hr>\n')}`
}

const shown = (pieces) =>
  `<div class="pieces">${pieces.map(({ text }) => `<span>${visible(text)}</span>`).join('')}</div>`

/** A text with line ends and tabs that can be seen. */
const visible = (text) => escape(text.replaceAll('\r', '␍').replaceAll('\t', '→')).replaceAll('‹a›', '⏎\n')

/** A token, with its spaces. */
const spelled = (text) => visible(text.replaceAll(' ', '␣'))

function wordSection(words) {
  if (words.length === 0) return ''
  const rows = words.map(({ word, count, pieces }) => [
    escape(word),
    number(count),
    number(pieces.reduce((sum, { tokens }) => sum + tokens, 0)),
    `<code>${pieces.map(({ text }) => visible(text)).join(' | ')}</code>`,
  ])
  return `<h2>Words that fall apart</h2>
<p>Words of three tokens or more, those first that cost the most.</p>
${table(['word', 'times', 'tokens', 'pieces'], rows)}`
}

function tokenSections({ tokenizer, uses, size }) {
  const tokens = Array.from({ length: size }, (_, id) => ({ id, token: tokenizer.idToToken(id), count: uses[id] }))
    .filter(({ token }) => token !== undefined)
    .map((one) => ({ ...one, text: tokenizer.decode([one.id]) }))
  const used = tokens.filter(({ count }) => count > 0)
  const unused = tokens.filter(({ count }) => count === 0)
  const length = ({ text }) => [...text].length
  /** @type {[string, any[]][]} */
  const sections = [
    ['The longest tokens', used.toSorted((a, b) => length(b) - length(a) || a.id - b.id)],
    ['The rarest tokens', used.toSorted((a, b) => a.count - b.count || b.id - a.id)],
    ['The newest tokens', tokens.toReversed()],
    ['The most frequent tokens', used.toSorted((a, b) => b.count - a.count)],
  ]
  const parts = sections.map(([name, list], index) => {
    const rows = list
      .slice(0, ROWS)
      .map(({ id, text, count }) => [`<code>${spelled(text)}</code>`, number(id), number(count)])
    return `<details${index === 0 ? ' open' : ''}><summary>${name}</summary>${table(['token', 'id', 'times'], rows)}</details>`
  })
  const listed = unused.slice(0, UNUSED).map(({ text }) => `<li>${spelled(text)}</li>`)
  return `<h2>Tokens</h2>
${parts.join('\n')}
<details><summary>Never used here: ${number(unused.length)}</summary><ul class="tokens">${listed.join('')}</ul></details>`
}
