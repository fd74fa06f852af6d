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

/** The files of all specs below `folder`, in alphabetical order, without their suffix. */
const specsBelow = (folder) =>
  fs.existsSync(folder)
    ? fs
        .readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.test.mjs') && !file.includes('node_modules'))
        .map((file) => file.replaceAll(path.sep, '/').slice(0, -'.test.mjs'.length))
        .sort()
    : []

/**
 * The names of all specs: those of the main package, such as `core/encode`, and those of the other
 * packages, such as `packages/jinja/test/template`.
 */
export const specNames = (folder = root) => [
  ...specsBelow(path.join(folder, '__test__')),
  ...specsBelow(path.join(folder, 'packages')).map((name) => `packages/${name}`),
]

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
  const file = path.join(spec.startsWith('packages/') ? '' : '__test__', `${spec}.test.mjs`)
  if (!fs.existsSync(path.join(folder, file))) return stop(`there is no spec ${name}`)
  return { file, env: tokenizer === undefined ? {} : { TOKENLANE_TEST_GOLDEN: tokenizer } }
}
