// Draws a progress bar in the last line of a terminal.

import readline from 'node:readline'
import util from 'node:util'

/** Minimum time in milliseconds between two drawings. */
const REDRAW_MS = 100
/** Maximum and minimum length of the bar. */
const MAX_BAR_COLUMNS = 40
const MIN_BAR_COLUMNS = 8
/** The width of a terminal that does not report it. */
const DEFAULT_COLUMNS = 80

const HIDE_CURSOR = '\x1b[?25l'
const SHOW_CURSOR = '\x1b[?25h'

/** Whether a bar can be drawn on a stream: it is a terminal whose cursor can be moved. */
export const canDraw = (stream) => stream.isTTY === true && process.env.TERM !== 'dumb'

/**
 * A bar on standard error; one that draws nothing if the user wants none or there is no terminal.
 *
 * @param {{ json?: boolean, quiet?: boolean }} values the options of a command
 * @returns {Pick<Bar, 'update' | 'stop'>}
 */
export const barOf = ({ json, quiet }) =>
  json || quiet || !canDraw(process.stderr) ? { update() {}, stop() {} } : new Bar(process.stderr)

/** The bars on the screen. */
const shown = new Set()

/** Removes all bars, so that other text can be written to the terminal. */
export function stopBars() {
  for (const bar of shown) bar.stop()
}

export class Bar {
  #stream
  #now
  #last = -Infinity
  /** The line that is on the screen. */
  #drawn = ''
  /** @type {[part: number | undefined, words: string[]] | undefined} */
  #state
  #isShown = false
  #onResize = () => this.#state && this.#draw()
  #onExit = () => this.stop()

  /**
   * @param {NodeJS.WriteStream} stream
   * @param {() => number} [now] milliseconds
   */
  constructor(stream, now = () => performance.now()) {
    this.#stream = stream
    this.#now = now
  }

  /**
   * Shows a state, unless the last one was drawn less than `REDRAW_MS` ago.
   *
   * @param {number | undefined} part from 0 to 1; undefined draws the words only
   * @param {string[]} words the most important first; those that do not fit are left out
   */
  update(part, words) {
    this.#state = [part, words]
    if (this.#now() - this.#last < REDRAW_MS) return
    this.#draw()
  }

  /** Removes the line and shows the cursor again. May be called more than once. */
  stop() {
    this.#state = undefined
    if (!this.#isShown) return
    this.#isShown = false
    shown.delete(this)
    this.#stream.off('resize', this.#onResize)
    process.off('exit', this.#onExit)
    this.#erase()
    this.#stream.write(SHOW_CURSOR)
  }

  #draw() {
    this.#last = this.#now()
    if (!this.#isShown) {
      this.#isShown = true
      shown.add(this)
      // The cursor is shown again however the process ends.
      process.on('exit', this.#onExit)
      this.#stream.on('resize', this.#onResize)
      this.#stream.write(HIDE_CURSOR)
    }
    this.#erase()
    // The last column stays free: a full line would wrap on some terminals.
    this.#drawn = barLine(...this.#state, this.#columns - 1).text
    this.#stream.write(this.#drawn)
  }

  /** Erases the line. A terminal that became narrower has wrapped it to several rows. */
  #erase() {
    const wrapped = rowsOf(util.stripVTControlCharacters(this.#drawn), this.#columns) - 1
    if (wrapped > 0) readline.moveCursor(this.#stream, 0, -wrapped)
    readline.cursorTo(this.#stream, 0)
    readline.clearScreenDown(this.#stream)
    this.#drawn = ''
  }

  get #columns() {
    return this.#stream.columns > 0 ? this.#stream.columns : DEFAULT_COLUMNS
  }
}

/**
 * A bar, and the words that fit into the line.
 *
 * @param {number | undefined} part
 * @param {string[]} words
 * @param {number} columns the width of the line
 * @returns {{ text: string, columns: number }}
 */
export function barLine(part, words, columns) {
  const kept = []
  let used = 0
  for (const word of words) {
    const more = columnsOf(word) + (kept.length > 0 ? 3 : 0)
    if (used + more > columns) break
    kept.push(word)
    used += more
  }
  const text = kept.join(' · ')
  const free = columns - used - (used > 0 ? 1 : 0)
  if (part === undefined || free < MIN_BAR_COLUMNS) return { text, columns: used }
  const length = Math.min(MAX_BAR_COLUMNS, free)
  const full = Math.round(length * Math.min(1, Math.max(0, part)))
  const bar = `${'█'.repeat(full)}${dim('░'.repeat(length - full))}`
  return { text: used > 0 ? `${bar} ${text}` : bar, columns: length + (used > 0 ? used + 1 : 0) }
}

/** Dims a text, with Node 20.12 or newer and if the user wants colours. */
const dim = (text) =>
  text !== '' && util.styleText !== undefined && process.stderr.hasColors?.() ? util.styleText('dim', text) : text

/** The number of rows of a text on a terminal. A wide character is never split over two rows. */
function rowsOf(text, columns) {
  let rows = 1
  let column = 0
  for (const character of text) {
    const width = columnsOf(character)
    if (column + width > columns) {
      rows += 1
      column = 0
    }
    column += width
  }
  return rows
}

const MARKS = /[\p{M}\p{Cf}\p{Cc}]/u
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

/** The number of columns of a text: East Asian characters and emoji have two, marks none. */
export function columnsOf(text) {
  let columns = 0
  for (const character of text) columns += MARKS.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return columns
}
