// Programs of crates/core/benches under callgrind (valgrind), for instructions.mjs and linear.mjs.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { spawnSync } from 'node:child_process'

import { root, stop } from '../setup.mjs'

/** Whether valgrind is installed. If not, says so. */
export function hasValgrind() {
  if (spawnSync('valgrind', ['--version']).status === 0) return true
  console.log('skipped: valgrind is not installed (Debian: apt install valgrind)')
  return false
}

/**
 * Builds a program and returns its path.
 *
 * @param {string} name
 */
export function compiled(name) {
  const args = ['bench', '--package', 'tokenlane-core', '--bench', name, '--no-run', '--message-format=json']
  const options = /** @type {any} */ ({
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  })
  const { status, stdout } = spawnSync('cargo', args, options)
  if (status !== 0) stop('the build of the measured program failed; the output of the compiler is above')
  const messages = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  return messages.find(({ target, executable }) => target?.name === name && executable).executable
}

/**
 * Runs a program and returns what it prints and the number of instructions of each stage. A stage
 * is between two calls of the program's function `mark`.
 *
 * @param {string} name
 * @param {string} program its path
 * @param {string[]} args
 * @param {number} stages
 */
export function countedStages(name, program, args, stages) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-callgrind-'))
  try {
    const output = `--callgrind-out-file=${path.join(folder, 'out')}`
    const options = ['--tool=callgrind', output, `--dump-after=${name}::mark`, program, ...args]
    const { status, stdout, stderr } = spawnSync('valgrind', options, { encoding: 'utf8' })
    if (status !== 0) stop(`valgrind failed on ${args.join(' ')}:\n${stderr}`)
    const counts = Array.from({ length: stages }, (_, stage) => {
      // Each mark writes a file. The file before a stage counts the code between two stages, and
      // the file after it counts the stage.
      const dump = fs.readFileSync(path.join(folder, `out.${2 * stage + 2}`), 'utf8')
      return Number(/** @type {RegExpExecArray} */ (/^totals: (\d+)$/m.exec(dump))[1])
    })
    return { counts, stdout }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}
