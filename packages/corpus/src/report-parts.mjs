// What the pages of reports are made of. They have no scripts and load nothing. All names in them
// are escaped.

import { STYLE } from './report-style.mjs'

/** A page: a note or none, figures with their names, and sections, of which some can be empty. */
export const page = ({ title, heading, note, cards, sections }) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escape(heading)}</h1>
${note === undefined ? '' : `<p class="note">${note}</p>`}
<dl class="cards">${cards.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')}</dl>
${sections.filter((section) => section !== '').join('\n')}
</main>
</body>
</html>
`

/**
 * Table rows: the name, the tokens as a bar, and what `cells` returns for the sums of the name.
 *
 * @param {[name: string, sums: any][]} named
 */
export const rowsOf = (named, cells) => {
  const most = Math.max(1, ...named.map(([, { tokens }]) => tokens))
  return named.map(([name, sums]) => [escape(name), bar(sums.tokens, most), ...cells(sums)])
}

/** Table rows of names with their counts as bars. */
export const bars = (counts) =>
  rowsOf(
    counts.map(([name, tokens]) => [name, { tokens }]),
    () => [],
  )

const bar = (value, most) =>
  `<span class="bar" style="--part:${((value / most) * 100).toFixed(2)}%">${number(value)}</span>`

/** A table. The first cell of each row is its head. */
export function table(heads, rows) {
  const head = heads.map((name) => `<th scope="col">${name}</th>`).join('')
  const body = rows.map(
    ([name, ...cells]) => `<tr><th scope="row">${name}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
  )
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`
}

export const number = (value) => Math.round(value).toLocaleString('en')

export const fixed = (value) => (Number.isFinite(value) ? value.toFixed(2) : '–')

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/**
 * Escapes a text for the page. Characters that are invisible or change the direction of text are
 * shown as their numbers.
 */
export const escape = (text) =>
  String(text)
    .replace(/[&<>"']/g, (found) => ENTITIES[found])
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) => `‹${found.codePointAt(0).toString(16)}›`)
