// A progress bar in the last line of a terminal, drawn with Node's own terminal calls.

import readline from 'node:readline'
import util from 'node:util'

/** Milliseconds between two drawings. */
const PAUSE = 100
const WIDEST = 40
const NARROWEST = 8
/** A terminal that does not say how wide it is. */
const USUAL_COLUMNS = 80

const HIDE_CURSOR = '\x1b[?25l'
const SHOW_CURSOR = '\x1b[?25h'

/** Whether a bar can be drawn on a stream: it is a terminal whose cursor can be moved. */
export const canDraw = (stream) => stream.isTTY === true && process.env.TERM !== 'dumb'

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
  /** The line on the screen. */
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
   * Shows a state, but not more often than the eye needs.
   *
   * @param {number | undefined} part from 0 to 1; undefined draws the words only
   * @param {string[]} words the most important first; those that do not fit are left out
   */
  update(part, words) {
    this.#state = [part, words]
    if (this.#now() - this.#last < PAUSE) return
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
      // However the process ends, the cursor comes back.
      process.on('exit', this.#onExit)
      this.#stream.on('resize', this.#onResize)
      this.#stream.write(HIDE_CURSOR)
    }
    this.#erase()
    // The last column stays free: a full line would wrap on some terminals.
    this.#drawn = lineOf(...this.#state, this.#columns - 1).text
    this.#stream.write(this.#drawn)
  }

  /** Erases the line, which a terminal that became narrower has wrapped to several. */
  #erase() {
    const wrapped = rowsOf(util.stripVTControlCharacters(this.#drawn), this.#columns) - 1
    if (wrapped > 0) readline.moveCursor(this.#stream, 0, -wrapped)
    readline.cursorTo(this.#stream, 0)
    readline.clearScreenDown(this.#stream)
    this.#drawn = ''
  }

  get #columns() {
    return this.#stream.columns > 0 ? this.#stream.columns : USUAL_COLUMNS
  }
}

/**
 * A bar and as many words as fit into a line.
 *
 * @param {number | undefined} part
 * @param {string[]} words
 * @param {number} room columns
 * @returns {{ text: string, columns: number }}
 */
export function lineOf(part, words, room) {
  const kept = []
  let used = 0
  for (const word of words) {
    const more = columnsOf(word) + (kept.length > 0 ? 3 : 0)
    if (used + more > room) break
    kept.push(word)
    used += more
  }
  const text = kept.join(' · ')
  const free = room - used - (used > 0 ? 1 : 0)
  if (part === undefined || free < NARROWEST) return { text, columns: used }
  const length = Math.min(WIDEST, free)
  const full = Math.round(length * Math.min(1, Math.max(0, part)))
  const bar = `${'█'.repeat(full)}${dim('░'.repeat(length - full))}`
  return { text: used > 0 ? `${bar} ${text}` : bar, columns: length + (used > 0 ? used + 1 : 0) }
}

/** Node 20.12 and newer; no colours where the user wants none. */
const dim = (text) =>
  text !== '' && util.styleText !== undefined && process.stderr.hasColors?.() ? util.styleText('dim', text) : text

/** Rows of a text on a terminal; a wide character does not stand at the end of one and the next. */
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

/** Columns of a text on a terminal: characters of East Asia and emoji take two, marks none. */
export function columnsOf(text) {
  let columns = 0
  for (const character of text) columns += MARKS.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return columns
}
