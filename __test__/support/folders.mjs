// Folders with the files of a tokenizer.

import fs from 'node:fs'
import path from 'node:path'

/**
 * A function that writes files into a new folder below `root` and returns its path. Objects become
 * JSON.
 *
 * @param {string} root
 * @returns {(files: Record<string, unknown>) => string}
 */
export function folderWriter(root) {
  let count = 0
  return (files) => {
    const folder = path.join(root, String(count++))
    fs.mkdirSync(folder)
    for (const [name, content] of Object.entries(files)) {
      const isText = typeof content === 'string' || content instanceof Uint8Array
      fs.writeFileSync(path.join(folder, name), isText ? content : JSON.stringify(content))
    }
    return folder
  }
}
