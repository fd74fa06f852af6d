// Loads the tokenizer of a job. Every thread and machine loads it from the file that was found
// (tokenizer.mjs); the threads of a process share it.

import path from 'node:path'

import { Tokenizer } from '../../index.mjs'

/**
 * @param {{ file?: string, encoding?: string, hasConfigs?: boolean, repository?: string }} source
 * @returns {Promise<Tokenizer>}
 */
export async function openTokenizer({ file, encoding, hasConfigs, repository }) {
  if (file === undefined) return Tokenizer.fromEncoding(encoding)
  if (repository !== undefined) {
    // The class can depend on the name. The folder in the cache is named after the commit.
    const revision = path.basename(path.dirname(file))
    return Tokenizer.fromPretrained(repository, { revision, localFilesOnly: true })
  }
  const { loadFile } = await import('../files/tokenizers.mjs')
  return loadFile(hasConfigs ? path.dirname(file) : file, encoding)
}
