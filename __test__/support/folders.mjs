// Folders with the files of a tokenizer.

import assert from 'node:assert/strict'
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

export const idsOf = (tokenizer, texts, options) => texts.map((text) => Array.from(tokenizer.encode(text, options).ids))

/** Asserts that a tokenizer answers as the reference that was recorded. */
export function assertRecorded(tokenizer, { texts, ids, bare, pairs, rows, decoded, skipped }) {
  assert.deepEqual(idsOf(tokenizer, texts), ids)
  assert.deepEqual(idsOf(tokenizer, texts, { addSpecialTokens: false }), bare)
  assert.deepEqual(idsOf(tokenizer, texts, { pair: texts[0] }), pairs)
  assert.deepEqual(
    rows.map((row) => tokenizer.decode(row)),
    decoded,
  )
  assert.deepEqual(
    rows.map((row) => tokenizer.decode(row, { skipSpecialTokens: true })),
    skipped,
  )
}
