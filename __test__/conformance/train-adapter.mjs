// Adapts the crate tokenlane-train to the judge of trainers (train_check.py): each call runs the
// crate's example train_json, which cargo builds first.

import { execFileSync, spawnSync } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const build = ['build', '--quiet', '--package', 'tokenlane-train', '--example', 'train_json']
execFileSync('cargo', build, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
const program = path.join(root, process.env.CARGO_TARGET_DIR ?? 'target', 'debug/examples/train_json')

/**
 * Trains a tokenizer.
 *
 * @param {{ base: string, files: string[], trainer: object }} task the text of a tokenizer.json,
 *   names of files, and the options under their Python names
 * @returns {Promise<string>} the text of a tokenizer.json
 */
export async function train(task) {
  const { status, stdout, stderr } = spawnSync(program, {
    input: JSON.stringify(task),
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  if (status !== 0) throw new Error(stderr)
  return stdout
}
