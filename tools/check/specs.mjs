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

/** The names of all specs, such as `core/encode`, in alphabetical order. */
export const specNames = (folder = root) =>
  fs
    .readdirSync(path.join(folder, '__test__'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.mjs'))
    .map((file) => file.replaceAll(path.sep, '/').slice(0, -'.test.mjs'.length))
    .sort()

/** Names of specs in a folder: `named('core', 'load encode')` is `core/load` and `core/encode`. */
export const named = (folder, names) => names.split(' ').map((name) => `${folder}/${name}`)

/** Specs of the addon's calls that need no other program, and measure neither time nor memory. */
export const CORE_SPECS = [
  ...named('core', 'load encode decode batch queue abort workers bad-input outputs stream change'),
  ...named('core', 'token-limits service-limits'),
]

/**
 * Finds a spec.
 *
 * @param {string} name its folder and name, such as `core/encode`; `conformance/golden:gpt2` is the
 *   golden data of one tokenizer
 * @param {string} [folder] the folder of the package
 * @returns {{ file: string, env: Record<string, string> }} its path, and the variables that it
 *   needs
 */
export function specOf(name, folder = root) {
  const [spec, tokenizer] = name.split(':')
  const file = path.join('__test__', `${spec}.test.mjs`)
  if (!fs.existsSync(path.join(folder, file))) return stop(`there is no spec ${name}`)
  return { file, env: tokenizer === undefined ? {} : { TOKENLANE_TEST_GOLDEN: tokenizer } }
}
