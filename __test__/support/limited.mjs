// Runs processes with limits of CPU seconds and memory. The kernel enforces them, so that a test
// does not depend on how busy the machine is.

import { spawn } from 'node:child_process'
import fs from 'node:fs'

const PRLIMIT = '/usr/bin/prlimit'

/** Whether this machine can enforce limits. Elsewhere tests run without them. */
export const areEnforced = process.platform === 'linux' && fs.existsSync(PRLIMIT)

/** The command line with limits. `data` limits the private memory of the process (RLIMIT_DATA). */
export function limited(command, { cpu = 2, data = 2 ** 30, nofile } = {}) {
  if (!areEnforced) return command
  return [PRLIMIT, `--cpu=${cpu}`, `--data=${data}`, ...(nofile ? [`--nofile=${nofile}`] : []), ...command]
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
