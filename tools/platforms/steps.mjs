// The steps of a command that runs for a long time. A record on the disk lists the steps that
// passed, so that a run that was stopped can continue, and any step can be repeated.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { performance } from 'node:perf_hooks'

import { root, stop } from '../setup.mjs'

/**
 * The options that all such commands share, for parseArgs.
 *
 * @type {{ continue: { type: 'boolean' }, only: { type: 'string', multiple: true } }}
 */
export const STEP_OPTIONS = {
  continue: { type: 'boolean' },
  only: { type: 'string', multiple: true },
}

/** @typedef {{ subject: string, date: string, seconds: number }} Passed */

export class Steps {
  #file
  #isContinued
  #only
  #passed = /** @type {Record<string, Passed>} */ ({})
  #failed = /** @type {string[]} */ ([])
  #counts = { passed: 0, before: 0 }

  /**
   * @param {string} command the command's name; the record is `folder`/`command`.json
   * @param {{ continue?: boolean, only?: string[] }} [options] `continue` leaves out the steps that
   *   passed with the same subject; `only` leaves out the steps whose names have none of these
   *   texts
   * @param {string} [folder]
   */
  constructor(command, options = {}, folder = path.join(root, 'target', 'steps')) {
    this.#file = path.join(folder, `${command}.json`)
    this.#isContinued = options.continue ?? false
    this.#only = options.only
    try {
      this.#passed = JSON.parse(fs.readFileSync(this.#file, 'utf8'))
    } catch {
      // There is no readable record, so no step is known to have passed.
    }
  }

  /** The names of the steps that failed. */
  get failed() {
    return this.#failed
  }

  /**
   * Runs a step, unless the options leave it out.
   *
   * @param {string} name
   * @param {string} subject a hash of what is tested; a step has to pass again if it differs
   * @param {() => boolean | string | undefined} work returns false or the reason if the step failed
   */
  run(name, subject, work) {
    if (this.#only !== undefined && !this.#only.some((part) => name.includes(part))) return
    const before = this.#passed[name]
    if (this.#isContinued && before?.subject === subject) {
      console.log(`── ${name}: passed on ${before.date.slice(0, 16).replace('T', ' ')}, left out`)
      this.#counts.before += 1
      return
    }
    console.log(`── ${name}`)
    const start = performance.now()
    const outcome = work()
    const seconds = Math.round((performance.now() - start) / 1000)
    const isPassed = outcome === undefined || outcome === true
    const reason = typeof outcome === 'string' ? `: ${outcome}` : ''
    console.log(`${isPassed ? 'ok    ' : 'NOT OK'} ${name}, ${seconds} s${reason}`)
    if (isPassed) this.#passed[name] = { subject, date: new Date().toISOString(), seconds }
    else delete this.#passed[name]
    this.#write()
    if (isPassed) this.#counts.passed += 1
    else this.#failed.push(name)
  }

  /** Prints how many steps passed, and ends the process with an error if one failed. */
  end() {
    const { passed, before } = this.#counts
    console.log(`${passed} steps passed${before > 0 ? `, ${before} passed before` : ''}, ${this.#failed.length} failed`)
    if (passed + before + this.#failed.length === 0) stop(`no step has a name with ${this.#only?.join(' or ')}`)
    if (this.#failed.length > 0) stop(`failed: ${this.#failed.join('; ')}`)
  }

  #write() {
    fs.mkdirSync(path.dirname(this.#file), { recursive: true })
    // If the run is stopped while it writes, the previous record stays intact.
    const part = `${this.#file}.part`
    fs.writeFileSync(part, `${JSON.stringify(this.#passed, undefined, 2)}\n`)
    fs.renameSync(part, this.#file)
  }
}

/**
 * A hash of files and of their names.
 *
 * @param {string[]} files relative to `folder`
 */
export function hashOfFiles(files, folder = root) {
  const hash = createHash('sha256')
  for (const file of [...files].sort())
    hash.update(`${file}\0`).update(
      createHash('sha256')
        .update(fs.readFileSync(path.join(folder, file)))
        .digest(),
    )
  return hash.digest('hex')
}
