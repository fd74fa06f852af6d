// Makes the corpus of the measurements in this folder.

import fs from 'node:fs'
import path from 'node:path'

/**
 * Cuts documents of 200 to 8,000 characters out of the *.txt files of a folder in turn, and writes
 * them as JSON Lines. Returns their number.
 *
 * @param {string} folder
 * @param {string} file
 * @param {number} mib size of the file
 */
export function writeDocuments(folder, file, mib) {
  const texts = fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => fs.readFileSync(path.join(folder, name), 'utf8'))
  const places = texts.map(() => 0)
  const out = fs.openSync(file, 'w')
  const most = mib * 2 ** 20
  let state = 7
  let documents = 0
  for (let bytes = 0; bytes < most; documents++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const which = documents % texts.length
    const length = 200 + ((state >>> 8) % 7800)
    if (places[which] + length > texts[which].length) places[which] = state % 97
    const text = texts[which].slice(places[which], (places[which] += length)).toWellFormed()
    bytes += fs.writeSync(out, `${JSON.stringify({ id: documents, text, meta: { source: which } })}\n`)
  }
  fs.closeSync(out)
  return documents
}
