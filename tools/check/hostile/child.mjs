// Runs rounds of hostile calls, files or chains in child processes, which may crash.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/**
 * Runs `script --child SEED COUNT`. Returns whether it failed, and the totals that it printed last.
 * The script writes its current case to the file that the variable TOKENLANE_LAST names; after a
 * failure, this function prints the case. The script runs in the folder `cwd`, or by default in a
 * temporary one.
 */
export function runChild(script, seed, count, cwd) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-hostile-'))
  const place = path.join(folder, 'last')
  const args = ['--expose-gc', script, '--child', String(seed), String(count)]
  const env = { ...process.env, TOKENLANE_LAST: place }
  const made = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    timeout: 540_000,
    env,
    cwd: cwd ?? folder,
  })
  const last = fs.existsSync(place) ? fs.readFileSync(place, 'utf8').trim() : 'none'
  fs.rmSync(folder, { recursive: true })
  const line = made.stdout.trim().split('\n').at(-1)
  const totals = line.startsWith('{') ? JSON.parse(line) : undefined
  const failed = made.status !== 0 || made.signal !== null || totals === undefined
  if (failed)
    console.log(
      `seed ${seed}: status ${made.status}, signal ${made.signal}, last: ${last}\n${made.stdout.slice(-6000)}${made.stderr.slice(-3000)}`,
    )
  return { failed, totals }
}

/** Whether an error is one that the package documents; an internal one is not. */
export const isDocumented = ({ code }) => /^ERR_TOKENLANE_[A-Z0-9_]+$/.test(code) && code !== 'ERR_TOKENLANE_PANIC'

/**
 * @callback RunCases
 * @param {number} seed
 * @param {number} count
 * @returns {{ failed: boolean, totals?: Record<string, any> }}
 */

/** Totals for which the maximum over all children counts; the others are summed. */
const MAXIMA = ['slowestMs', 'mostMiB', 'functions']

/**
 * Runs `count` cases, up to `perChild` in each child process, with consecutive seeds. Prints the
 * totals of all children, and ends this process with status 1 if a child failed.
 *
 * @param {{ count: number, seed: number, perChild: number, inChild: RunCases }} options
 * @param {Record<string, any>} totals the totals before the first child
 */
export function runChildren({ count, seed, perChild, inChild }, totals) {
  let failed = false
  for (let done = 0; done < count; done += perChild) {
    const report = inChild(seed + done / perChild, Math.min(perChild, count - done))
    failed ||= report.failed
    const { codes, ...numbers } = report.totals ?? {}
    for (const [name, number] of Object.entries(numbers))
      totals[name] = MAXIMA.includes(name) ? Math.max(totals[name], number) : totals[name] + number
    for (const [code, times] of Object.entries(codes ?? {})) totals.codes[code] = (totals.codes[code] ?? 0) + times
  }
  console.log(JSON.stringify(totals, null, 1))
  if (failed) process.exit(1)
}
