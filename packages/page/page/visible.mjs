// Text with visible white space: white space and invisible characters become symbols. The page
// inserts everything as text, never as markup.

/** The symbols of white space. */
export const SIGNS = { ' ': '·', '\t': '→', '\n': '⏎', '\r': '␍', '\u00a0': '⍽', '\u3000': '□' }
const INVISIBLE = /[\s\p{C}\p{Zl}\p{Zp}]/gu

/**
 * Parts of a text: strings, and `{ sign, end }` for a symbol; `end` is true at the end of a line.
 */
export function partsOf(text) {
  const parts = []
  let from = 0
  for (const { 0: found, index } of text.matchAll(INVISIBLE)) {
    if (index > from) parts.push(text.slice(from, index))
    parts.push({ sign: SIGNS[found] ?? codeOf(found), end: found === '\n' })
    from = index + found.length
  }
  if (from < text.length) parts.push(text.slice(from))
  return parts
}

const codeOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`

/** The text with symbols, as one string. */
export const signed = (text) =>
  partsOf(text)
    .map((part) => part.sign ?? part)
    .join('')

const NAMES = {
  ' ': 'space',
  '\t': 'tab',
  '\n': 'end of line',
  '\r': 'carriage return',
  '\u00a0': 'no-break space',
  '\u3000': 'wide space',
}

/** The text with the names of invisible characters, for screen readers. */
export const spoken = (text) => text.replace(INVISIBLE, (found) => ` ${NAMES[found] ?? codeOf(found)} `).trim()

export const number = (value, digits = 0) =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })

export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? '' : 's'}`
