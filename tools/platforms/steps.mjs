// The steps of a command that runs for a long time. A run that was stopped goes on with `--from`.

import { performance } from 'node:perf_hooks'

import { stop } from '../setup.mjs'

/**
 * The options that all such commands share, for parseArgs.
 *
 * @type {{ from: { type: 'string' }, only: { type: 'string', multiple: true } }}
 */
export const STEP_OPTIONS = {
  from: { type: 'string' },
  only: { type: 'string', multiple: true },
}

export class Steps {
  #from
  #only
  /** How many steps passed. */
  passed = 0
  /** The names of the steps that failed. */
  failed = /** @type {string[]} */ ([])

  /**
   * @param {{ from?: string, only?: string[] }} [options] `from` leaves out the steps before the
   *   first one whose name has this text; `only` those whose names have none of these texts
   */
  constructor({ from, only } = {}) {
    this.#from = from
    this.#only = only
  }

  /**
   * Runs a step, unless the options leave it out.
   *
   * @param {string} name
   * @param {() => boolean | string | undefined} work returns false or the reason if the step failed
   */
  run(name, work) {
    if (this.#from !== undefined && !name.includes(this.#from)) return
    this.#from = undefined
    if (this.#only !== undefined && !this.#only.some((part) => name.includes(part))) return
    console.log(`── ${name}`)
    const start = performance.now()
    const outcome = work()
    const seconds = Math.round((performance.now() - start) / 1000)
    const isPassed = outcome === undefined || outcome === true
    const reason = typeof outcome === 'string' ? `: ${outcome}` : ''
    console.log(`${isPassed ? 'ok    ' : 'NOT OK'} ${name}, ${seconds} s${reason}`)
    if (isPassed) this.passed += 1
    else this.failed.push(name)
  }

  /** Prints how many steps passed, and ends the process with an error if one failed. */
  end() {
    console.log(`${this.passed} steps passed, ${this.failed.length} failed`)
    if (this.passed + this.failed.length === 0) stop('no step has such a name')
    if (this.failed.length > 0) stop(`failed: ${this.failed.join('; ')}`)
  }
}
