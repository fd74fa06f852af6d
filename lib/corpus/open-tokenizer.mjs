// Loads the tokenizer of a job. Every thread and machine loads it from the file that was found
// (tokenizer.mjs); the threads of a process share it.

import path from 'node:path'

import { Tokenizer } from '../../index.mjs'

/**
 * @param {{ file?: string, encoding?: string, hasConfigs?: boolean }} source
 * @returns {Promise<Tokenizer>}
 */
export async function openTokenizer({ file, encoding, hasConfigs }) {
  if (file === undefined) return Tokenizer.fromEncoding(encoding)
  const { loadFile } = await import('../files/tokenizers.mjs')
  return loadFile(hasConfigs ? path.dirname(file) : file, encoding)
}
