// Processes with limits of their own: seconds of CPU and bytes of memory, which the system enforces, so that a test does not depend on
// how busy the machine is.

import { spawn } from 'node:child_process'
import fs from 'node:fs'

const PRLIMIT = '/usr/bin/prlimit'

/** Whether limits are enforced on this machine; elsewhere tests run without them. */
export const areEnforced = process.platform === 'linux' && fs.existsSync(PRLIMIT)

/** The command that runs `command` within limits. `data` is the private memory of the process, as RLIMIT_DATA counts it. */
export function limited(command, { cpu = 2, data = 2 ** 30, nofile } = {}) {
  if (!areEnforced) return command
  return [PRLIMIT, `--cpu=${cpu}`, `--data=${data}`, ...(nofile ? [`--nofile=${nofile}`] : []), ...command]
}

/** Runs a command within limits; resolves to how it ended and what it wrote. */
export function runLimited(command, { limits, ...options } = {}) {
  const [program, ...args] = limited(command, limits)
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
    const written = { stdout: '', stderr: '' }
    for (const name of Object.keys(written)) child[name].setEncoding('utf8').on('data', (text) => (written[name] += text))
    child.on('error', reject)
    child.on('close', (status, signal) => resolve({ status, signal, ...written }))
  })
}
