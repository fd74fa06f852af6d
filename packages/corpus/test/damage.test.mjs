// Damaged inputs: a flipped bit is refused, and with onError 'skip' the frame, the member or the
// row group that has it is left out as a whole. Documents are compared with those that went in.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { parquetMetadata } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'

import { tokenizeCorpus, trainTokenizer } from '@tokenlane/corpus'
import { record, scratch, stems } from '../../../__test__/support/corpus.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { checkedFrame } from '../../../__test__/support/zstd.mjs'
import { Damage } from '../src/damage.mjs'
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
      for (const damaged of [[2], [1, 2], [0, 3, 5]]) {
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

/** The messages of what the job left out. */
const messagesOf = (output) =>
  stems(output).flatMap((stem) => record(output, stem).skipped.listed.map((one) => one.message))

/** Damages the first block, so that nothing of the frame is decompressed. */
function withoutBlocks(bytes, start, kind) {
  const hurt = Buffer.from(bytes)
  hurt[start + (kind === 'zst' ? 9 : kind === 'gz' ? 10 : 18)] |= 6
  return hurt
}

for (const [kind, frameOf] of KINDS)
  test(`${kind}: rows of a frame damaged at its start are estimated from intact frames`, async () => {
    const { bytes, starts } = framed(frames.map((rows) => frameOf(bytesOf(rows))))
    const inputs = at(`early-${kind}.${ending(kind)}`)
    for (const frame of [0, 2, FRAMES - 1]) {
      fs.writeFileSync(inputs, withoutBlocks(bytes, starts[frame], kind))
      const { names, result, output } = await job({ inputs, onError: 'skip' })
      const lost = FRAMES * ROWS - ids(names).length
      assert.ok(Math.abs(result.skipped - lost) < 3, `frame ${frame}: ${result.skipped} of ${lost}`)
      assert.match(messagesOf(output)[0], new RegExp(`with about ${result.skipped} rows, is left out$`))
    }
    fs.writeFileSync(inputs, withoutBlocks(frameOf(bytesOf(frames[0])), 0, kind))
    const { result, output } = await job({ inputs, onError: 'skip' })
    assert.equal(result.skipped, 1)
    assert.match(messagesOf(output)[0], /with an unknown number of rows, is left out$/)
  })

for (const [kind, frameOf] of KINDS)
  test(`${kind}: a row cut off by a damaged frame counts as left out`, async () => {
    const rows = Array.from({ length: 40 }, (_, row) => ({ id: `${row}`, text: `this is row ${1000 + row}` }))
    const { bytes, starts } = framed(rows.map((row) => frameOf(bytesOf([row]))))
    const inputs = at(`single-${kind}.${ending(kind)}`)
    for (const damaged of [0, 20, 39]) {
      fs.writeFileSync(inputs, flipped(bytes, starts[damaged + 1] - 3))
      for (const shardSize of [1000, 1 << 20]) {
        const { names, result } = await job({ inputs, shardSize, onError: 'skip' })
        const lost = damaged === 39 ? 1 : 2
        assert.deepEqual([ids(names).length, result.skipped], [40 - lost, lost], `${damaged} ${shardSize}`)
      }
    }
  })

test('a damaged compressed CSV or text file is named and counted whole', async () => {
  const members = Array.from({ length: 10 }, (_, member) =>
    zlib.gzipSync(`${member === 0 ? 'id,text\n' : ''}${`${member},some text of it\n`.repeat(500)}`),
  )
  const { bytes, starts } = framed(members)
  fs.writeFileSync(at('whole.csv.gz'), flipped(bytes, starts[6] - 5))
  fs.writeFileSync(at('whole.txt.gz'), flipped(bytes, starts[6] - 5))
  const table = await job({ inputs: at('whole.csv.gz'), onError: 'skip' })
  assert.equal(table.result.documents, 0)
  assert.ok(table.result.skipped > 4500 && table.result.skipped < 5500, `${table.result.skipped}`)
  assert.match(messagesOf(table.output)[0], /; the whole file, with about \d+ rows, is left out$/)
  const options = { idField: undefined, rows: 'files', onError: 'skip' }
  const text = await job({ inputs: at('whole.txt.gz'), ...options })
  assert.deepEqual([text.result.documents, text.result.skipped], [0, 1])
  assert.match(messagesOf(text.output)[0], /; the whole file is left out$/)
})

test('little is read for the header of a member, and a long name has its end', async () => {
  const plain = zlib.gzipSync(bytesOf(frames[0]))
  const name = Buffer.concat([Buffer.alloc(6000, 'n'), Buffer.alloc(1)])
  const named = Buffer.concat([plain.subarray(0, 10), name, plain.subarray(10)])
  named[3] |= 8
  const pieces = Array.from({ length: 50 }, (_, member) => (member === 7 ? named : plain))
  const { bytes, starts } = framed([...pieces, Buffer.alloc(1 << 20)])
  const hurt = flipped(bytes, starts[20] - 5)
  let read = 0
  const slice = (from, end) => {
    read += Math.min(end, hurt.length) - from
    return hurt.subarray(from, end)
  }
  const input = {
    ...{ path: 'members.gz', size: hurt.length },
    read: async (from, length) => slice(from, from + length),
    async *chunks(from, end) {
      yield slice(from, end)
    },
  }
  const part = { path: 'members.gz', start: 0, end: hurt.length, size: hurt.length, codec: 'gzip', rows: 'jsonl' }
  const damage = new Damage()
  await damage.look(/** @type {any} */ (part), /** @type {any} */ (input), /** @type {any} */ ({}))
  const ranges = damage.of(part).map(({ start, end }) => [start, end])
  assert.deepEqual(ranges, [[starts[19], starts[20]]])
  assert.ok(read < 16 << 20, `${read} bytes`)
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

flipTests(at, 5)
