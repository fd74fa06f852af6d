// Runs the CLI of this working copy in its own process.

import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MessageChannel, Worker, receiveMessageOnPort } from 'node:worker_threads'

import { removeFolder } from './open-files.mjs'
import { bytesOf, tiny } from './tiny.mjs'

export const main = fileURLToPath(new URL('../../cli/main.mjs', import.meta.url))

/** A temporary folder with a small tokenizer. The spec fails if a file in it stays open. */
export function folderWithTokenizer() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-cli-'))
  fs.writeFileSync(path.join(folder, 'tiny.json'), bytesOf(tiny()))
  test.after(() => removeFolder(folder))
  return folder
}

/** The environment without the variables that select colours. */
const { FORCE_COLOR, ...environment } = /** @type {NodeJS.ProcessEnv} */ ({ ...process.env, NO_COLOR: '' })

/** Runs the CLI in a folder, in a process of its own; `input` is its standard input. */
export const processIn =
  (folder) =>
  (args, { input = '', env = {}, encoding = /** @type {any} */ ('utf8') } = {}) =>
    spawnSync(process.execPath, [main, ...args], {
      cwd: folder,
      input,
      encoding,
      env: { ...environment, ...env },
      maxBuffer: 1 << 28,
    })

const done = new Int32Array(new SharedArrayBuffer(4))
let thread

/** Starts the thread that runs commands. */
function startThread() {
  const { port1, port2 } = new MessageChannel()
  const workerData = { port: port2, done }
  new Worker(new URL('cli-thread.mjs', import.meta.url), {
    workerData,
    transferList: [port2],
    env: environment,
  }).unref()
  port1.unref()
  return port1
}

/**
 * Runs the CLI in a folder like `processIn`, but in a thread, which takes a twentieth of the time.
 */
export const runIn =
  (folder) =>
  (args, { encoding = /** @type {any} */ ('utf8'), ...options } = {}) => {
    thread ??= startThread()
    const before = process.cwd()
    process.chdir(folder)
    done[0] = 0
    thread.postMessage({ args, options })
    const ended = Atomics.wait(done, 0, 0, 300_000)
    process.chdir(before)
    if (ended === 'timed-out') throw new Error(`the command does not end: ${args.join(' ')}`)
    const { error, status, ...written } = receiveMessageOnPort(thread)?.message ?? {}
    if (error !== undefined) throw error
    const [stdout, stderr] = [written.stdout, written.stderr].map((bytes) => {
      const buffer = Buffer.from(bytes)
      return encoding === 'utf8' ? buffer.toString() : buffer
    })
    return { status, signal: null, stdout, stderr }
  }

/** Starts the CLI. `written` collects its output, and `ended` resolves to how it ended. */
export function startIn(folder, args, env = {}) {
  const child = spawn(process.execPath, [main, ...args], { cwd: folder, env: { ...environment, ...env } })
  const written = { stdout: '', stderr: '' }
  for (const name of Object.keys(written)) child[name].setEncoding('utf8').on('data', (text) => (written[name] += text))
  const ended = new Promise((resolve) => child.on('close', (status, signal) => resolve({ status, signal, ...written })))
  return { child, written, ended }
}

/** Runs the CLI as if a package were not installed. */
export function withoutPackage(name) {
  const missing = `Object.assign(new Error('Cannot find package ${name}'), { code: 'ERR_MODULE_NOT_FOUND' })`
  const hook = `export const resolve = (name, context, next) => { if (name === '${name}') throw ${missing}; return next(name, context) }`
  const moduleOf = (text) => `data:text/javascript,${encodeURIComponent(text)}`
  const register = `import fs from 'node:fs'
import Module, { register } from 'node:module'
const exists = fs.existsSync
fs.existsSync = (file) => !file.replaceAll('\\\\', '/').endsWith('/${name}/package.json') && exists(file)
register(${JSON.stringify(moduleOf(hook))})
const find = Module._resolveFilename
Module._resolveFilename = (...args) => {
  if (args[0] !== '${name}') return find(...args)
  throw Object.assign(new Error('Cannot find module ${name}'), { code: 'MODULE_NOT_FOUND' })
}`
  return (args, env = {}) =>
    spawnSync(process.execPath, ['--import', moduleOf(register), main, ...args], {
      encoding: 'utf8',
      env: { ...environment, ...env },
    })
}

/** Starts the page; `url` is its address. */
export async function servePage(folder, args = [], env = {}) {
  const { child, written, ended } = startIn(folder, ['inspect', '--web', ...args], env)
  while (!written.stdout.includes('\n')) {
    if (child.exitCode !== null) throw new Error(written.stderr)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { child, ended, url: written.stdout.trim() }
}
