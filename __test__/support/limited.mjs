// Runs processes with limits of CPU seconds and memory. The kernel enforces them, so that a test
// does not depend on how busy the machine is.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

const PRLIMIT = '/usr/bin/prlimit'

/** Whether this machine can enforce limits. Elsewhere tests run without them. */
export const areEnforced = process.platform === 'linux' && fs.existsSync(PRLIMIT)

/** The command line with limits. `data` limits the private memory of the process (RLIMIT_DATA). */
export function limited(
  command,
  { cpu = /** @type {number | null} */ (2), data = /** @type {number | null} */ (2 ** 30), nofile } = {},
) {
  const limits = Object.entries({ cpu, data, nofile }).filter(([, limit]) => limit != null)
  return areEnforced ? [PRLIMIT, ...limits.map(([name, limit]) => `--${name}=${limit}`), ...command] : command
}

/** Runs a command with limits. Resolves to its exit status and its output. */
export function runLimited(command, { limits, ...options } = {}) {
  const [program, ...args] = limited(command, limits)
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
    const written = { stdout: '', stderr: '' }
    for (const name of Object.keys(written))
      child[name].setEncoding('utf8').on('data', (text) => (written[name] += text))
    child.on('error', reject)
    child.on('close', (status, signal) => resolve({ status, signal, ...written }))
  })
}

/**
 * A process that answers calls one after the other, each with its own CPU seconds. Starting Node.js
 * takes more time than most calls. The script uses `answer` of answer.mjs. After a call that the
 * process does not survive, the next one starts another.
 */
export class LimitedProcess {
  #script
  #options
  #child
  #used = 0

  constructor(script, { env = process.env, flags = [], data = /** @type {number | null} */ (2 ** 30) } = {}) {
    this.#script = fileURLToPath(new URL(script, import.meta.url))
    this.#options = { env, flags, data }
    after(() => this.#end())
  }

  /**
   * With `isFresh` in a new process. Resolves to what the script returns, or to how the process
   * ended: `{ signal, stderr }`.
   */
  async call(message, { cpu = 4, isFresh = false } = {}) {
    if (isFresh) await this.#end()
    const child = (this.#child ??= this.#start())
    // The limit is a whole number of seconds, those before the call included.
    const limit = Math.ceil(this.#used + cpu)
    if (areEnforced) assert.equal(spawnSync(PRLIMIT, ['--pid', child.pid, `--cpu=${limit}:`]).status, 0)
    let stderr = ''
    child.stderr.removeAllListeners('data').on('data', (text) => (stderr += text))
    child.ref()
    child.send(message)
    const result = await new Promise((resolve) => {
      child.once('message', resolve).once('close', (status, signal) => resolve({ status, signal, stderr }))
    })
    child.removeAllListeners()
    child.unref()
    if ('used' in result) this.#used = result.used
    else this.#child = undefined
    return result.used === undefined ? result : result.outcome
  }

  async #end() {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    child.ref()
    child.disconnect()
    await once(child, 'exit')
  }

  #start() {
    this.#used = 0
    const { env, flags, data } = this.#options
    const [program, ...args] = limited([process.execPath, '--expose-gc', ...flags, this.#script], { cpu: null, data })
    const child = spawn(program, args, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...env, NODE_OPTIONS: '' },
    })
    child.stderr.setEncoding('utf8')
    return child
  }
}
