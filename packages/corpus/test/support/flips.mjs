// Inputs of frames, and a generator that flips their bits.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { parseJsonLines } from '../../../../__test__/support/json-lines.mjs'
import { generator } from '../../../../__test__/support/random.mjs'
import { failure } from '../../../../__test__/support/texts.mjs'
import { bgzipMember, checkedFrame } from '../../../../__test__/support/zstd.mjs'
import { jobsIn } from './corpus-jobs.mjs'

export const FRAMES = 6
export const ROWS = 40
const rowOf = (frame, row) => ({ id: `${frame}-${row}`, text: `row ${row} of frame ${frame}, ${Math.sin(row)}` })
const rowsOf = (frame) => Array.from({ length: ROWS }, (_, row) => rowOf(frame, row))
export const frames = Array.from({ length: FRAMES }, (_, frame) => rowsOf(frame))
export const bytesOf = (rows) => Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
export const ids = (names) =>
  names.flatMap((name) => parseJsonLines(fs.readFileSync(`${name}.jsonl`, 'utf8')).map(({ id }) => id))

/** A file of frames, and the position of each. */
export function framed(pieces) {
  const starts = pieces.map((_, index) => pieces.slice(0, index).reduce((sum, { length }) => sum + length, 0))
  return { bytes: Buffer.concat(pieces), starts: [...starts, Buffer.concat(pieces).length] }
}

export const ending = (kind) => (kind === 'zst' ? 'jsonl.zst' : 'jsonl.gz')

export function flipped(bytes, position, bit = 0) {
  const copy = Buffer.from(bytes)
  copy[position] ^= 1 << bit
  return copy
}

export const KINDS = /** @type {const} */ ([
  ['zst', checkedFrame],
  ['bgzip', bgzipMember],
  ['gz', (bytes) => zlib.gzipSync(bytes)],
])

const CASES = {
  ...Object.fromEntries(
    KINDS.map(([kind, frameOf]) => [
      `${kind}.${ending(kind)}`,
      () => Buffer.concat(frames.map((rows) => frameOf(bytesOf(rows)))),
    ]),
  ),
  'pyarrow-crc.parquet': () =>
    fs.readFileSync(new URL('../../../../__test__/testdata/pyarrow-crc.parquet', import.meta.url)),
}

/**
 * Tests of flipped bits in every compressed and Parquet input: each job is refused, or has the
 * tokens of the whole input.
 *
 * @param {(...names: string[]) => string} folder of `scratch`
 * @param {number} count of flips for each input
 * @param {number} [seed]
 */
export function flipTests(folder, count, seed = 1) {
  const at = (...names) => folder('flips', ...names)
  fs.mkdirSync(at())
  const job = jobsIn(at, { tokenizer: 'r50k_base', format: 'jsonl', idField: 'id', concurrency: 1, threads: 1 })
  for (const [name, make] of Object.entries(CASES)) {
    test(`${name}: a job with a flipped bit is refused, or has the same tokens`, { timeout: 600_000 }, async () => {
      const bytes = make()
      const inputs = at(`flips-${name}`)
      const contents = async (given) => {
        fs.writeFileSync(inputs, given)
        const { names } = await job({ inputs, shardSize: 3000 })
        return names.map((file) => fs.readFileSync(`${file}.jsonl`, 'utf8')).join('')
      }
      const whole = await contents(bytes)
      const random = generator(seed)
      let refused = 0
      for (let flip = 0; flip < count; flip++) {
        const [position, bit] = [random(bytes.length), random(8)]
        const error = await failure(async () => {
          assert.equal(await contents(flipped(bytes, position, bit)), whole, `bit ${bit} of byte ${position}`)
          throw Object.assign(new Error('same'), { code: 'SAME' })
        })
        assert.match(error.code ?? '', /^(SAME|ERR_TOKENLANE_\w+)$/, `bit ${bit} of byte ${position}: ${error.stack}`)
        refused += Number(error.code !== 'SAME')
      }
      assert.ok(refused > count / 2, `${refused} of ${count}`)
    })
  }
}
