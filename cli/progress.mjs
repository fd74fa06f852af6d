// A progress bar with the rate and the remaining time. It is shown on a terminal while results go
// to a file, if the package of the bar is installed.

import fs from 'node:fs'

const MIB = 2 ** 20
/** Work that takes fewer milliseconds shows no bar. */
const PATIENCE = 400

/**
 * Returns an object that is told how many bytes were read, and shows them.
 *
 * @param {import('./input/files.mjs').Source[]} sources
 * @param {{ output?: string, quiet?: boolean }} options
 */
export function progressOf(sources, { output, quiet }) {
  // The reader of a pipe may draw on the terminal itself.
  const isFile = output === undefined || output === '-' ? fs.fstatSync(1).isFile() : true
  if (!process.stderr.isTTY || quiet || !isFile) return { read() {}, stop() {} }
  const sizes = sources.map(({ size }) => size)
  return new Progress(sizes.includes(undefined) ? undefined : sizes.reduce((sum, size) => sum + size, 0))
}

class Progress {
  #total
  #read = 0
  #start = performance.now()
  #bar
  #timer
  #library
  #isOver = false

  constructor(total) {
    this.#total = total
    // Loaded early, because the event loop may be busy later.
    this.#library = import('cli-progress').catch(() => undefined)
    this.#timer = setTimeout(() => this.#show(), PATIENCE)
    this.#timer.unref()
    // The cursor is shown again, no matter how the process ends.
    process.on('exit', () => this.stop())
  }

  read(bytes) {
    this.#read += bytes
    this.#bar?.update(this.#total === undefined ? 0 : this.#read, this.#words())
  }

  stop() {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#bar?.stop()
    this.#bar = undefined
  }

  async #show() {
    const cli = await this.#library
    // A bar that starts after the end would never stop, and keep the process alive.
    if (cli === undefined || this.#isOver) return
    const known = '{bar} {percentage}% · {done} of {all} MiB · {rate} MiB/s · {left} left'
    const format = this.#total === undefined ? '{done} MiB · {rate} MiB/s' : known
    this.#bar = new cli.default.SingleBar(
      { format, clearOnComplete: true, hideCursor: true, stream: process.stderr },
      cli.default.Presets.shades_classic,
    )
    this.#bar.start(this.#total ?? 1, this.#total === undefined ? 0 : this.#read, this.#words())
  }

  #words() {
    const seconds = (performance.now() - this.#start) / 1e3
    const mib = (bytes) => (bytes / MIB).toFixed(1)
    const left = ((this.#total - this.#read) / this.#read) * seconds
    return { done: mib(this.#read), all: mib(this.#total ?? 0), rate: mib(this.#read / seconds), left: duration(left) }
  }
}

/** Formats a number of seconds. */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return '?'
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60]
  return minutes < 60 ? `${minutes} min ${rest} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
