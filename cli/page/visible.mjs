// Text as it is drawn: white space and what has no picture become signs. Everything is put on the page as text, never as markup.

const SIGNS = { ' ': '·', '\t': '→', '\n': '⏎', '\r': '␍', '\u00a0': '⍽', '\u3000': '□' }
const UNSEEN = /[\s\p{C}\p{Zl}\p{Zp}]/gu

/** Parts of a text: strings as they are, and `{ sign, end }` for what is shown by a sign; `end` at the end of a line. */
export function partsOf(text) {
  const parts = []
  let from = 0
  for (const { 0: found, index } of text.matchAll(UNSEEN)) {
    if (index > from) parts.push(text.slice(from, index))
    parts.push({ sign: SIGNS[found] ?? codeOf(found), end: found === '\n' })
    from = index + found.length
  }
  if (from < text.length) parts.push(text.slice(from))
  return parts
}

const codeOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`

/** The same in one string. */
export const signed = (text) =>
  partsOf(text)
    .map((part) => part.sign ?? part)
    .join('')

const NAMES = { ' ': 'space', '\t': 'tab', '\n': 'end of line', '\r': 'carriage return', '\u00a0': 'no-break space', '\u3000': 'wide space' }

/** The same in words, for who listens. */
export const spoken = (text) => text.replace(UNSEEN, (found) => ` ${NAMES[found] ?? codeOf(found)} `).trim()

export const number = (value, digits = 0) => value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })

export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? '' : 's'}`
