// Packs the rank files of the bundled encodings: a third of the size of a rank file, and quicker to
// load. The packages have this form only.

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

import { rightLength, tokensOf } from './splits.mjs'

/** The encodings with a rank file; the others have the ranks of one of these. */
export const ENCODINGS = ['r50k_base', 'p50k_base', 'cl100k_base', 'o200k_base']

const folder = fileURLToPath(new URL('../../encodings', import.meta.url))
/** The left part of a token that no merge makes. */
const NOT_MERGED = 0xff_ffff

/** The packed rank file of an encoding. */
export const packedFile = (name) => path.join(folder, `${name}.ranks`)

/** Packs the rank files whose packed form is missing or older. */
export function packRanks() {
  for (const name of ENCODINGS) {
    const [from, to] = [path.join(folder, `${name}.tiktoken`), packedFile(name)]
    const packedAt = fs.statSync(to, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (packedAt > fs.statSync(from).mtimeMs) continue
    const unfinished = `${to}.${process.pid}.part`
    fs.writeFileSync(unfinished, packed(name, fs.readFileSync(from)))
    fs.renameSync(unfinished, to)
  }
}

/** A rank file in the form that crates/core/src/load/ranks.rs unpacks. */
function packed(name, file) {
  const ranks = tokensOf(file)
  const tokens = withoutGaps(ranks)
  const count = tokens.length
  const columns = Buffer.alloc(6 * count)
  const notMerged = []
  tokens.forEach((token, rank) => {
    const right = token === undefined ? 0 : rightLength(token, ranks)
    const parts = [ranks.get(token?.slice(0, -right)), ranks.get(token?.slice(-right))]
    if (right > 0 && !parts.every((part) => part < rank))
      throw new Error(`${name} has a token before its parts: ${rank}`)
    if (right === 0) notMerged.push(Buffer.from(token ?? '', 'latin1'))
    const numbers = right === 0 ? [NOT_MERGED, token?.length ?? 0] : parts
    numbers.forEach((number, side) => {
      for (let byte = 0; byte < 3; byte++) columns[(3 * side + byte) * count + rank] = number >> (8 * byte)
    })
  })
  const head = Buffer.alloc(4)
  head.writeUInt32LE(count)
  return Buffer.concat([Buffer.from('\0tlranks'), head, columns, ...notMerged])
}

/** The tokens by rank; undefined for a rank without a token. */
function withoutGaps(ranks) {
  const tokens = []
  for (const [token, rank] of ranks) tokens[rank] = token
  return Array.from(tokens)
}
