// Text on a terminal: colours if they are wanted, and no characters that move the cursor or reverse
// text.

/** Pale background colours; neighbouring tokens get different ones. */
const GROUNDS = [153, 186, 217, 151]

export const COLOUR_OPTION = {
  choices: ['auto', 'always', 'never'],
  default: 'auto',
  help: 'whether to use colours; auto: on a terminal without NO_COLOR',
}

/** Whether to write colours to standard output. */
export function hasColours(wish) {
  if (wish !== 'auto') return wish === 'always'
  // Unlike in Node, an empty NO_COLOR has no effect (no-color.org).
  const { NO_COLOR, FORCE_COLOR, ...rest } = process.env
  if (NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0'
  return process.stdout.isTTY === true && process.stdout.getColorDepth(rest) >= 8
}

export const onGround = (text, index) => `\x1b[38;5;16;48;5;${GROUNDS[index % GROUNDS.length]}m${text}\x1b[0m`
export const marked = (text) => `\x1b[1;38;5;231;48;5;96m${text}\x1b[0m`
export const broken = (text) => `\x1b[38;5;231;48;5;130m${text}\x1b[0m`
export const dim = (text) => `\x1b[2m${text}\x1b[0m`

/** C0 except tab and end of line, C1, and what changes the direction of text or ends a line. */
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** The code point of a character in brackets, such as ‹001b›. */
const codeOf = (found) => `‹${found.codePointAt(0).toString(16).padStart(4, '0')}›`

/** Replaces control characters in text for a terminal with their code points. */
export const forTerminal = (text) => text.replace(CONTROLS, codeOf)

/**
 * Text for standard output, which a program may read: only a terminal needs it without controls.
 */
export const forOutput = (text) => (process.stdout.isTTY ? forTerminal(text) : text)

/** Prints lines of text. */
export const print = (text) => process.stdout.write(forOutput(`${text}\n`))

/** A name within a line of standard output: on a terminal it cannot start another line either. */
export const nameForOutput = (name) => (process.stdout.isTTY ? name.replace(INVISIBLE, codeOf) : name)

/** Returns text as one line, with all invisible characters replaced. */
export const oneLine = (text) => text.replace(/\s*\n\s*/g, ' ').replace(INVISIBLE, codeOf)

/** The symbols of white space, as on the page (packages/page). */
const SIGNS = { ' ': '·', '\t': '→', '\n': '⏎', '\r': '␍', '\u00a0': '⍽', '\u3000': '□' }

/**
 * Replaces white space with symbols, and invisible or formatting characters with their code points.
 */
export const visible = (text) => text.replace(/[\s\p{C}\p{Zl}\p{Zp}]/gu, (found) => SIGNS[found] ?? codeOf(found))
