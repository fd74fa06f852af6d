// Damaged inputs: a flipped bit is refused, and with onError 'skip' the frame, the member or the
// row group that has it is left out as a whole. Documents are compared with those that went in.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { parquetMetadata } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'

import { tokenizeCorpus, trainTokenizer } from '@tokenlane/corpus'
import { record, scratch, stems } from '../../../__test__/support/corpus.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { checkedFrame } from '../../../__test__/support/zstd.mjs'
import { jobsIn } from './support/corpus-jobs.mjs'
import { FRAMES, KINDS, ROWS, bytesOf, ending, flipTests, flipped, framed, frames, ids } from './support/flips.mjs'

const at = scratch()
const job = jobsIn(at, { tokenizer: 'r50k_base', format: 'jsonl', idField: 'id', concurrency: 1, threads: 1 })

for (const [kind, frameOf] of KINDS) {
  test(`${kind}: a flipped bit is refused, in texts and in training`, async () => {
    const { bytes, starts } = framed(frames.map((rows) => frameOf(bytesOf(rows))))
    const inputs = at(`flipped-${kind}.${ending(kind)}`)
    fs.writeFileSync(inputs, flipped(bytes, starts[2] + 90))
    const error = await failure(() => tokenizeCorpus({ inputs, tokenizer: 'r50k_base', dryRun: true }))
    assert.equal(error.code, 'ERR_TOKENLANE_DECOMPRESS')
    const trained = await failure(() => trainTokenizer({ inputs, vocabSize: 300 }))
    assert.equal(trained.code, 'ERR_TOKENLANE_DECOMPRESS')
  })

  test(`${kind}: a damaged frame is left out whole; frames before and after it count`, async () => {
    const { bytes, starts } = framed(frames.map((rows) => frameOf(bytesOf(rows))))
    const inputs = at(`damaged-${kind}.${ending(kind)}`)
    for (const shardSize of [1000, 1 << 20]) {
      for (const damaged of [[0], [2], [5], [1, 2], [0, 3, 5]]) {
        let hurt = bytes
        for (const frame of damaged) hurt = flipped(hurt, starts[frame + 1] - 20)
        fs.writeFileSync(inputs, hurt)
        const { names, result, output } = await job({ inputs, shardSize, onError: 'skip' })
        // A row belongs to the frame with the line feed before it, so the next frame loses one.
        const isLost = (frame, row) => damaged.includes(frame) || (row === 0 && damaged.includes(frame - 1))
        const expected = frames.flatMap((rows, frame) => rows.filter((_, row) => !isLost(frame, row)))
        const label = `${kind} ${shardSize} ${damaged}`
        assert.deepEqual(
          ids(names),
          expected.map(({ id }) => id),
          label,
        )
        const lost = damaged.length * ROWS
        assert.ok(result.skipped > 0.7 * lost && result.skipped < 1.4 * lost, `${label}: ${result.skipped} of ${lost}`)
        const listed = stems(output).flatMap((stem) => record(output, stem).skipped.listed)
        const frame = listed.find(({ message }) => !message.includes('the row before byte'))
        assert.match(frame.message, /(member|frame) in bytes \d+ to \d+, with about \d+ rows, is left out/)
        assert.equal(frame.code, 'ERR_TOKENLANE_DECOMPRESS')
      }
    }
  })

  test(`${kind}: training leaves out a damaged frame, too`, async () => {
    const pieces = frames.map((rows) => frameOf(bytesOf(rows)))
    const { bytes, starts } = framed(pieces)
    const whole = at(`good-${kind}.${ending(kind)}`)
    // What is left of the frame after the damaged one has no first row.
    fs.writeFileSync(
      whole,
      Buffer.concat([...pieces.slice(0, 2), frameOf(bytesOf(frames[3].slice(1))), ...pieces.slice(4)]),
    )
    const hurt = at(`hurt-${kind}.${ending(kind)}`)
    fs.writeFileSync(hurt, flipped(bytes, starts[3] - 20))
    const train = async (inputs) =>
      Buffer.from((await trainTokenizer({ inputs, vocabSize: 400, onError: 'skip' })).toBuffer()).toString()
    assert.equal(await train(hurt), await train(whole))
  })
}

test('rows that lie across the ends of a damaged frame are left out', async () => {
  const all = bytesOf(frames.flat())
  const cut = [0, 3000, 6000, 9000, all.length]
  const { bytes, starts } = framed(cut.slice(1).map((end, index) => checkedFrame(all.subarray(cut[index], end))))
  const inputs = at('across.jsonl.zst')
  fs.writeFileSync(inputs, flipped(bytes, starts[1] + 100))
  for (const shardSize of [1000, 1 << 20]) {
    const { names } = await job({ inputs, shardSize, onError: 'skip' })
    let position = 0
    const expected = []
    for (const row of frames.flat()) {
      const end = position + bytesOf([row]).length
      // The row that starts with the frame after it may also have lost its start.
      if (end <= cut[1] || position > cut[2]) expected.push(row.id)
      position = end
    }
    assert.deepEqual(ids(names), expected)
  }
})

/** A Parquet file with a row group for each frame. */
function table(name, codec) {
  const data = (field) => frames.flat().map((row) => row[field])
  const columnData = ['id', 'text'].map((field) => ({
    name: field,
    data: data(field),
    type: /** @type {const} */ ('STRING'),
  }))
  const bytes = Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: ROWS, codec }))
  fs.writeFileSync(at(name), bytes)
  const length = bytes.readUInt32LE(bytes.length - 8)
  const footer = Uint8Array.from(bytes.subarray(-length - 8)).buffer
  return { bytes, groups: parquetMetadata(footer).row_groups }
}

test('Parquet: a damaged row group is left out whole and counts by the rows of the footer', async () => {
  const { bytes, groups } = table('groups.parquet', 'SNAPPY')
  const column = groups[2].columns[1].meta_data
  const start = Number(column.dictionary_page_offset ?? column.data_page_offset)
  const hurt = Buffer.from(bytes).fill(0xff, start, start + 30)
  fs.writeFileSync(at('hurt.parquet'), hurt)
  for (const shardSize of [1000, 1 << 20]) {
    const { names, result } = await job({ inputs: at('hurt.parquet'), shardSize, onError: 'skip' })
    assert.deepEqual(
      ids(names),
      frames.flatMap((rows, frame) => (frame === 2 ? [] : rows.map(({ id }) => id))),
    )
    assert.equal(result.skipped, ROWS)
  }
  const error = await failure(() =>
    tokenizeCorpus({ inputs: at('hurt.parquet'), tokenizer: 'r50k_base', dryRun: true }),
  )
  assert.equal(error.code, 'ERR_TOKENLANE_PARQUET')
  // A column that is not there.
  const { result } = await job({ inputs: at('groups.parquet'), field: 'nothing', idField: undefined, onError: 'skip' })
  assert.deepEqual([result.documents, result.skipped], [0, FRAMES * ROWS])
})

flipTests(at, 8)
