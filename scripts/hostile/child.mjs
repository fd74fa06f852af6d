// Runs one round of hostile calls or files in a child process, which may crash.

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
