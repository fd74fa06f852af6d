// What the pages of reports are made of. They have no scripts and load nothing. All names in them
// are escaped.

import { STYLE } from './report-style.mjs'

/** The start of a page, up to the end of its head. */
export const head = (title) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>`

/** Table rows of names with their counts as bars. */
export const bars = (counts) => {
  const most = Math.max(1, ...counts.map(([, count]) => count))
  return counts.map(([name, count]) => [escape(name), bar(count, most)])
}

export const bar = (value, most) =>
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
