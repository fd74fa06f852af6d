// Rows that fail. By default the first one ends the command. With `--on-error skip` they are
// skipped and listed in a report.

import path from 'node:path'

import { isOfRow, withoutFailures } from '../lib/files/failing-rows.mjs'
import { realPathIfThere } from '../lib/files/stat.mjs'
import { Failure, UsageError, at } from './failure.mjs'
import { stopBars } from './bar.mjs'
import { NotText } from './input/not-text.mjs'
import { placeOf } from './input/place.mjs'
import { number, plural } from './numbers.mjs'
import { openOutput } from './output/file.mjs'
import { oneLine } from './terminal.mjs'

export const ON_ERROR_OPTIONS = {
  'on-error': {
    choices: ['fail', 'skip'],
    default: 'fail',
    help: 'skip: continue without rows and files that cannot be read or encoded, and print their number at the end',
  },
  report: { value: 'FILE', help: 'list what was skipped in JSON Lines: {"file", "line", "code", "reason"}' },
}

/** Maximum number of skipped rows that are printed if there is no report. */
const MAX_PRINTED = 10
/** Maximum number of files that are not text and are named. */
const MAX_NAMED_FILES = 3
const PREFIX = 'ERR_TOKENLANE_'

export class Skips {
  #isOn
  #report
  #file
  #hasHint = false
  #printed = []
  #counts = new Map()
  #notText = new Set()
  /** Errors that end the command; they pass through the readers of rows and of sources. */
  #thrown = new WeakSet()
  #done = 0
  #skipped = 0

  /** @param {{ onError?: string, report?: string }} values the options of the command */
  constructor(values = {}) {
    this.#isOn = values.onError === 'skip'
    this.#report = values.report
  }

  get isOn() {
    return this.#isOn
  }

  /**
   * Opens the report.
   *
   * @param {object} options
   * @param {import('./output/same-file.mjs').Input[]} options.inputs
   * @param {string} [options.output]
   * @param {boolean} [options.isOneRow] whether skipping the only row would leave nothing
   */
  open({ inputs, output, isOneRow = false }) {
    this.#hasHint = !isOneRow
    if (this.#report === undefined) return
    if (placeOfOutput(this.#report) === placeOfOutput(output)) {
      throw new UsageError("'--report' and the output are the same file: name another one")
    }
    this.#file = openOutput(this.#report, inputs)
  }

  /** Counts rows that were written. */
  done(rows) {
    this.#done += rows
  }

  /**
   * Calls `call` with the rows that do not fail, in one call or in several. A row that fails is
   * skipped, or ends the command.
   *
   * @template {import('./input/place.mjs').Place} Row
   * @template Result
   * @param {Row[]} rows
   * @param {(rows: Row[]) => Promise<Result>} call rejects with an error that has the index of a
   *   row in `row`
   * @returns {Promise<{ rows: Row[], result: Result }[]>}
   */
  async run(rows, call) {
    const onFailure = (index, error) => this.row(rows[index], at(placeOf(rows[index]), error))
    const parts = await withoutFailures(
      { first: 0, end: rows.length },
      ({ first, end }) => call(rows.slice(first, end)),
      { isSkipping: this.#isOn, onFailure },
    )
    for (const { first, end } of parts) this.#done += end - first
    return parts.map(({ first, end, result }) => ({ rows: rows.slice(first, end), result }))
  }

  /**
   * Writes a row and returns true. A row that does not fit is skipped, or ends the command.
   *
   * @param {import('./input/place.mjs').Place} row
   * @param {() => Promise<void>} write
   * @returns {Promise<boolean>} whether the row was written
   */
  async attempt(row, write) {
    try {
      await write()
      return true
    } catch (error) {
      this.row(row, error)
      this.#done -= 1
      return false
    }
  }

  /**
   * Skips a row, or throws its error.
   *
   * @param {import('./input/place.mjs').Place} place
   * @param {any} error
   */
  row({ source, line }, error) {
    this.#skip(source, line, error)
  }

  /**
   * Skips a source that cannot be read, from the error's `line` on, or throws the error.
   *
   * @param {import('./input/files.mjs').Source} source
   * @param {any} error
   */
  source(source, error) {
    if (error instanceof NotText) {
      this.#notText.add(source.name)
      this.#list({ file: source.name, code: error.code, reason: error.message })
      return
    }
    this.#skip(source, error.line, error)
  }

  #skip(source, line, error) {
    if (!(error instanceof Failure) || !isOfRow(error) || this.#thrown.has(error)) throw error
    const code = error.code.slice(PREFIX.length)
    if (!this.#isOn) throw this.#final(code, error)
    this.#skipped += 1
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1)
    const place = placeOf({ source, line })
    const reason = [place, source.name].includes(error.place) ? error.reason : error.message
    if (this.#report === undefined && this.#printed.length < MAX_PRINTED) {
      this.#printed.push(`skipped ${place}: ${reason} (${error.code})`)
    }
    this.#list({ file: source.name, line, code: error.code, reason })
  }

  #final(code, error) {
    const hint = " ('--on-error skip' continues without it)"
    const failure = this.#hasHint ? new Failure(code, error.message + hint, { cause: error }) : error
    this.#thrown.add(failure)
    return failure
  }

  #list(entry) {
    this.#file?.write(`${JSON.stringify(entry)}\n`)
  }

  /** Prints what was skipped; call it before the output is committed. Throws if no row is left. */
  async finish() {
    await this.#file?.commit()
    for (const line of this.#printed) say(line)
    if (this.#notText.size > 0) say(this.#notTextLine())
    if (this.#skipped > 0) say(this.#summary())
    if (this.#done > 0 || this.#skipped + this.#notText.size === 0) return
    throw new Failure('ALL_SKIPPED', 'every row was skipped')
  }

  #summary() {
    const counts = [...this.#counts].map(([code, count]) => `${number(count)} ${code}`).join(', ')
    const where = this.#report === undefined ? "'--report FILE' lists all" : `${this.#report} lists them`
    const isListed = this.#report === undefined && this.#skipped <= MAX_PRINTED
    const rows = `${plural(this.#done, 'row')} done`
    return `${rows}, ${number(this.#skipped)} skipped (${counts})${isListed ? '' : `; ${where}`}`
  }

  #notTextLine() {
    const count = this.#notText.size
    const rest = count - MAX_NAMED_FILES
    const names = [...[...this.#notText].slice(0, MAX_NAMED_FILES), ...(rest > 0 ? [`${number(rest)} more`] : [])].join(
      ', ',
    )
    return `skipped ${number(count)} ${count === 1 ? 'file that is' : 'files that are'} not text: ${names}`
  }
}

/** The real path of an output, the same for all names of a file; `-` for standard output. */
function placeOfOutput(name) {
  if (name === undefined || name === '-') return '-'
  return realPathIfThere(name) ?? path.resolve(name)
}

function say(text) {
  stopBars()
  process.stderr.write(`tokenlane: ${oneLine(text)}\n`)
}
