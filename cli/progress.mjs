// A progress bar with the rate and the remaining time. It is shown on a terminal while results go
// to a file.

import fs from 'node:fs'

import { barOf } from './bar.mjs'

const MIB = 2 ** 20
/** The bar is shown only for work that takes longer, in milliseconds. */
const MIN_DURATION_MS = 400

/**
 * Returns a progress bar: `read` adds to the number of bytes that were read.
 *
 * @param {import('./input/files.mjs').Source[]} sources
 * @param {{ output?: string, quiet?: boolean }} options
 */
export function progressOf(sources, { output, quiet }) {
  // The reader of a pipe may draw on the terminal itself.
  const isFile = output === undefined || output === '-' ? fs.fstatSync(1).isFile() : true
  const sizes = sources.map(({ size }) => size)
  return new Progress(
    sizes.includes(undefined) ? undefined : sizes.reduce((sum, size) => sum + size, 0),
    barOf({ quiet: quiet || !isFile }),
  )
}

class Progress {
  #total
  #read = 0
  #start = performance.now()
  #bar

  constructor(total, bar) {
    this.#total = total
    this.#bar = bar
  }

  read(bytes) {
    this.#read += bytes
    const elapsed = performance.now() - this.#start
    if (elapsed > MIN_DURATION_MS) this.#bar.update(...this.#state(elapsed / 1e3))
  }

  stop() {
    this.#bar.stop()
  }

  /** @returns {[part: number | undefined, words: string[]]} */
  #state(seconds) {
    const mib = (bytes) => (bytes / MIB).toFixed(1)
    const rate = `${mib(this.#read / seconds)} MiB/s`
    if (this.#total === undefined) return [undefined, [`${mib(this.#read)} MiB`, rate]]
    const part = Math.min(1, this.#read / Math.max(1, this.#total))
    const left = ((this.#total - this.#read) / this.#read) * seconds
    const amount = `${mib(this.#read)} of ${mib(this.#total)} MiB`
    return [part, [`${Math.floor(part * 100)}%`, amount, rate, `${duration(left)} left`]]
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
