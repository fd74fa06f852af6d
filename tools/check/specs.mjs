// Finds specs by name, for the commands that run some specs with another addon, CPU level or Node.

import fs from 'node:fs'
import path from 'node:path'

import { root, stop } from '../setup.mjs'

const GOLDEN = 'conformance/golden'
const GOLDEN_DATA = path.join(root, 'crates', 'core', 'testdata', 'conformance', 'golden')

/** A spec name for the golden data of each tokenizer. In an emulator one of them takes minutes. */
export const goldenSpecs = () =>
  fs
    .readdirSync(GOLDEN_DATA)
    .map((file) => `${GOLDEN}:${file.replace(/\..*$/s, '')}`)
    .sort()

/**
 * Finds a spec.
 *
 * @param {string} name the start of its file name below __test__, such as `02` or
 *   `conformance/limits`; `conformance/golden:gpt2` is the golden data of one tokenizer
 * @param {string} [folder] the folder of the package
 * @returns {{ file: string, env: Record<string, string> }} its path, and the variables that it
 *   needs
 */
export function specOf(name, folder = root) {
  const [start, tokenizer] = name.split(':')
  const tests = path.join('__test__', path.dirname(start))
  const file = fs
    .readdirSync(path.join(folder, tests))
    .find((file) => file.startsWith(path.basename(start)) && file.endsWith('.test.mjs'))
  if (file === undefined) return stop(`there is no spec ${name}`)
  return {
    file: path.join(tests, file),
    env: tokenizer === undefined ? {} : { TOKENLANE_TEST_GOLDEN: tokenizer },
  }
}
