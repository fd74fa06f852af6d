// Loads the tokenizer of a job. Every thread and machine loads it from the file that was found
// (tokenizer.mjs); the threads of a process share it.

import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(import.meta.url)
const { Tokenizer } = /** @type {typeof import('../../index.js')} */ (require('../tokenizer.js'))

/**
 * @param {{ file?: string, encoding?: string, hasConfigs?: boolean }} source
 * @returns {Promise<import('../../index.js').Tokenizer>}
 */
export async function openTokenizer({ file, encoding, hasConfigs }) {
  if (file === undefined) return Tokenizer.fromEncoding(encoding)
  const { loadFile } = await import('../files/tokenizers.mjs')
  return loadFile(hasConfigs ? path.dirname(file) : file, encoding)
}
