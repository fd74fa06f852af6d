// Runs commands of the CLI in this thread, one after the other, without a new process for each: the
// modules stay loaded. As in a process of its own, a command reads the working folder, the
// environment and standard input, and ends by returning or by `process.exit`. With
// `isTerminal`, its outputs say that they are terminals.

import { Readable } from 'node:stream'

const main = new URL('../../cli/main.mjs', import.meta.url).href
const EVENTS = ['uncaughtException', 'unhandledRejection', 'SIGINT', 'SIGTERM', 'SIGHUP']
let runs = 0

/** The exit of a command, which is thrown so that the command does not go on. */
class Exit extends Error {}

/**
 * Runs one command. Resolves to its exit status, its output as bytes, and its CPU seconds.
 *
 * @param {string[]} args
 */
export async function runHere(args, { input = /** @type {any} */ (''), env = {}, isTerminal = false } = {}) {
  const { stdin, stdout, stderr, argv, exit, env: before } = process
  const written = { stdout: [], stderr: [] }
  const start = process.cpuUsage()
  const writeTo = (parts) => (data) => parts.push(Buffer.from(data)) > 0
  const writes = [stdout.write, stderr.write]
  let status
  try {
    process.argv = [argv[0], main, ...args]
    process.env = { ...before }
    for (const [name, value] of Object.entries(env))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    Object.defineProperty(process, 'stdin', {
      value: Readable.from([Buffer.from(input)].filter(({ length }) => length > 0)),
      configurable: true,
    })
    Object.assign(stdout, { isTTY: isTerminal || undefined })
    Object.assign(stderr, { isTTY: isTerminal || undefined })
    stdout.write = writeTo(written.stdout)
    stderr.write = writeTo(written.stderr)
    process.exitCode = undefined
    process.exit = (code = process.exitCode) => {
      status = Number(code ?? 0)
      throw new Exit()
    }
    // A new query evaluates the module again, and not those that it imports.
    await import(`${main}?run=${(runs += 1)}`).catch((error) => {
      if (!(error instanceof Exit)) throw error
    })
    status ??= Number(process.exitCode ?? 0)
    // Removes unfinished files.
    process.emit('exit', status)
  } finally {
    Object.assign(stdout, { write: writes[0] })
    Object.assign(stderr, { write: writes[1] })
    Object.assign(process, { argv, exit, env: before, exitCode: undefined })
    Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
    for (const stream of [stdout, stderr]) stream.removeAllListeners('error')
    for (const event of EVENTS) process.removeAllListeners(event)
  }
  const { user, system } = process.cpuUsage(start)
  return {
    status,
    stdout: Buffer.concat(written.stdout),
    stderr: Buffer.concat(written.stderr),
    cpu: (user + system) / 1e6,
  }
}
