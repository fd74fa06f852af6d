// Compressed inputs that are cut between their frames. The slow twin decompresses everything and
// reads it as one part.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { piecesOf } from '../src/compressed.mjs'
import { documentsOf } from '../src/documents.mjs'
import { tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { checkContent } from '../src/options.mjs'
import { planParts } from '../src/plan.mjs'
import { seekTable } from '../src/frames.mjs'
import { hashes, jsonl, scratch } from '../../../__test__/support/corpus.mjs'
import { parseJsonLines } from '../../../__test__/support/json-lines.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { bgzipMember, frameOf, seekable, skippable, stored } from '../../../__test__/support/zstd.mjs'

const at = scratch()
const SHARD_BYTES = 2000

/** A generator of numbers below a limit. */
function random(seed) {
  let state = seed >>> 0
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) % most
  }
}

/** Cuts bytes anywhere, also within characters. Some pieces are empty. */
function cut(bytes, next, most) {
  const pieces = []
  for (let from = 0; from < bytes.length; ) {
    const length = next(5) === 0 ? 0 : 1 + next(most)
    pieces.push(bytes.subarray(from, from + length))
    from += length
  }
  return pieces
}

/** The parts of a file, and its documents with their positions. */
async function read(file, options = {}) {
  const content = checkContent({ format: 'jsonl', rows: 'lines', ...options })
  const parts = []
  for await (const part of planParts({ inputs: [file], content })) parts.push(part)
  const found = []
  const skipped = []
  for (const part of parts) {
    const hooks = {
      onRead() {},
      onDamage() {},
      onSkip: (_place, { code }) => {
        if (content.onError === 'fail') throw Object.assign(new Error('a row'), { code })
        skipped.push(code)
      },
    }
    for await (const batch of documentsOf([part], undefined, content, hooks)) {
      for (let index = 0; index < batch.length; index++)
        found.push([batch.about(index).at, Buffer.from(batch.text(index)).toString()])
    }
  }
  return { parts, found, skipped }
}

/** Asserts that a compressed file has the documents of its content, in several parts. */
async function same(name, compressed, bytes, options = {}) {
  fs.writeFileSync(at(`${name}.plain`), bytes)
  fs.writeFileSync(at(name), compressed)
  const twin = await read(at(`${name}.plain`), options)
  const result = await read(at(name), { shardSize: SHARD_BYTES, ...options })
  assert.deepEqual(result.found, twin.found, name)
  const { parts } = result
  assert.ok(parts.every(({ start, end }, index) => start < end && start === (parts[index - 1]?.end ?? 0)))
  assert.equal(parts.at(-1).end, compressed.length)
  return parts
}

const lines = (next, count) =>
  Buffer.from(
    Array.from({ length: count }, () => {
      const text = ['', 'a', 'größe 𝄞 漢字', 'x'.repeat(next(40)), 'y'.repeat(next(400)), '\r'][next(6)]
      return `${text}${next(12) === 0 ? '\r\n' : '\n'}`
    }).join(''),
  )

for (const kind of ['zstd', 'seekable', 'bgzip']) {
  test(`${kind}: frames that end anywhere have the rows of the whole file`, async () => {
    let [cuts, partsOfOne] = [0, 0]
    for (let seed = 1; seed <= 16; seed++) {
      const next = random(seed)
      let bytes = lines(next, 30 + next(400))
      if (next(3) === 0) bytes = bytes.subarray(0, bytes.length - 1)
      if (next(4) === 0) bytes = Buffer.concat([Buffer.from('\uFEFF'), bytes])
      const pieces = cut(bytes, next, [30, 300, 4000][next(3)])
      const compressed =
        kind === 'bgzip'
          ? Buffer.concat([...pieces, Buffer.alloc(0)].map(bgzipMember))
          : kind === 'seekable'
            ? seekable(pieces.map(frameOf), pieces)
            : Buffer.concat(
                pieces.flatMap((one) => [...(next(4) ? [] : [skippable(Buffer.alloc(next(50)))]), frameOf(one)]),
              )
      const parts = await same(`${kind}-${seed}`, compressed, bytes)
      cuts += parts.length - 1
      partsOfOne += Number(parts.length === 1)
    }
    assert.ok(cuts > 40, `${cuts} cuts`)
    assert.ok(partsOfOne < 8)
  })
}

test('frames: cuts within a row, within a character, at the end of a row, and rows longer than parts', async () => {
  const long = `${'long '.repeat(2000)}\n`
  const cases = {
    row: ['one row\nthe first half', ' and the second\nlast\n'],
    end: ['one\ntwo\n', 'three\n', 'four\n'],
    start: ['one', '\ntwo\n', '\n\nthree'],
    longer: ['a\n', long.slice(0, 3000), long.slice(3000, 6000), `${long.slice(6000)}b\n`, 'c\n'],
    none: ['no line feed ', 'in any ', 'frame'],
    blank: ['\n\n\n', '\n', '', '\n\na'],
  }
  for (const [name, texts] of Object.entries(cases)) {
    const pieces = texts.map((text) => Buffer.from(text))
    const bytes = Buffer.concat(pieces)
    const frames = Buffer.concat(pieces.map(frameOf))
    const parts = await same(`${name}.zst`, frames, bytes, { shardSize: 1 })
    assert.equal(parts.length, texts.filter((text) => text !== '').length)
    await same(`${name}.gz`, Buffer.concat(pieces.map(bgzipMember)), bytes, { shardSize: 1 })
  }
  const character = Buffer.from('größe\n漢字\n')
  for (let to = 1; to < character.length; to++) {
    const pieces = [character.subarray(0, to), character.subarray(to)]
    await same('character.zst', Buffer.concat(pieces.map(frameOf)), character, { shardSize: 1 })
  }
})

test('frames that do not say how many bytes they have: positions count from the part', async () => {
  const rows = Array.from({ length: 60 }, (_, index) => `row ${index} ${'x'.repeat(index)}`)
  const bytes = Buffer.from(rows.join('\n'))
  const pieces = cut(bytes, random(5), 400).filter(({ length }) => length > 0)
  const frames = pieces.map((piece, index) => (index < 2 ? frameOf(piece) : stored(piece)))
  // As pzstd: a skippable frame before each other one.
  fs.writeFileSync(at('pzstd.zst'), Buffer.concat(frames.flatMap((frame) => [skippable(Buffer.alloc(4)), frame])))
  const { parts, found } = await read(at('pzstd.zst'), { shardSize: 1 })
  assert.equal(parts.length, pieces.length)
  assert.deepEqual(
    found.map(([, text]) => text),
    rows,
  )
  assert.deepEqual(
    parts.slice(0, 4).map(({ offset }) => offset),
    [undefined, pieces[0].length, pieces[0].length + pieces[1].length, undefined],
  )
  for (const [at, text] of found)
    assert.ok(pieces.some((_, index) => Buffer.concat(pieces.slice(index)).toString('utf8', at).startsWith(text)))
  const bad = [Buffer.from('{"text":"a"}\n{"text":"b"}\n'), Buffer.from('{"text":"c"}\n{"text":1}\n')]
  fs.writeFileSync(at('bad.jsonl.zst'), Buffer.concat([stored(bad[0]), stored(bad[1])]))
  const { message } = await failure(() =>
    tokenizeCorpus({ inputs: at('bad.jsonl.zst'), tokenizer: 'r50k_base', output: at('bad'), shardSize: 1 }),
  )
  assert.match(message, /bad\.jsonl\.zst, byte 13 of what the frames from byte \d+ on decompress to: /)
})

test('frames: what has no known frames is one part', async () => {
  const pieces = cut(lines(random(3), 400), random(4), 500)
  const bytes = Buffer.concat(pieces)
  const one = async (name, compressed) => assert.equal((await same(name, compressed, bytes)).length, 1, name)
  await one('single.zst', frameOf(bytes))
  await one('members.gz', Buffer.concat(pieces.map((piece) => zlib.gzipSync(piece))))
  fs.writeFileSync(at('whole.zst'), Buffer.concat(pieces.map(frameOf)))
  assert.equal((await read(at('whole.zst'), { rows: 'files', shardSize: SHARD_BYTES })).parts.length, 1)
})

test('frames that lie about their size: positions that are no numbers are not planned', async () => {
  const piece = Buffer.from('a row\n')
  const lying = frameOf(piece)
  // A header with a window and a size of eight bytes, which no file has.
  const huge = Buffer.concat([lying.subarray(0, 4), Buffer.from([0xc0, 0x38]), Buffer.alloc(8, 255), lying.subarray(9)])
  fs.writeFileSync(at('lying.zst'), Buffer.concat([lying, huge, lying, lying]))
  const content = checkContent({ format: 'jsonl', rows: 'lines', shardSize: 1 })
  const offsets = []
  for await (const { offset } of planParts({ inputs: [at('lying.zst')], content })) offsets.push(offset)
  assert.deepEqual(offsets, [undefined, 6, undefined, undefined])
  // A table that is too large, or that does not describe the file, is not used.
  const table = seekable([lying, lying], [piece, piece])
  const read = async (from, length) => table.subarray(from, from + length)
  assert.equal((await seekTable(table.length, read)).length, 3)
  for (const [at, value] of [
    [9, 2 ** 31],
    [9, 3],
    [9 + 8, 1],
  ]) {
    const before = table.readUInt32LE(table.length - at)
    table.writeUInt32LE(value, table.length - at)
    assert.equal(await seekTable(table.length, read), undefined, `${at}`)
    table.writeUInt32LE(before, table.length - at)
  }
})

test('frames: a store in which reads are requests only uses the table of the file', async () => {
  const pieces = cut(lines(random(8), 200), random(9), 400)
  const stored = (bytes) => {
    const requests = []
    const read = async (from, length) => {
      requests.push([from, length])
      return bytes.subarray(from, from + length)
    }
    return { input: { path: 's3://lake/a.zst', size: bytes.length, read }, requests }
  }
  const all = async (input) => {
    const found = []
    for await (const piece of piecesOf(input, 'zstd', 4)) found.push(piece)
    return found
  }
  const frames = pieces.map(frameOf)
  const table = stored(seekable(frames, pieces))
  const found = await all(table.input)
  assert.equal(found.length, pieces.filter(({ length }) => length > 0).length)
  assert.equal(
    found.reduce((sum, { content }) => sum + content, 0),
    Buffer.concat(pieces).length,
  )
  assert.equal(table.requests.length, 2)
  const plain = stored(Buffer.concat(frames))
  assert.deepEqual(await all(plain.input), [{ end: plain.input.size, weight: plain.input.size * 4 }])
  assert.equal(plain.requests.length, 1)
})

test('frames: a truncated last frame, zeros and garbage after the last member, a wrong table', async () => {
  const texts = Array.from({ length: 12 }, (_, index) => `${`row ${index} `.repeat(200)}\n`)
  const pieces = texts.map((text) => Buffer.from(text))
  const rows = texts.map((text) => text.trimEnd())
  const short = (list) => list.map(([, text]) => text.trimEnd())
  for (const [name, frame] of [
    ['cut.zst', frameOf],
    ['cut.gz', bgzipMember],
  ]) {
    const whole = Buffer.concat(pieces.map(frame))
    fs.writeFileSync(at(name), whole.subarray(0, whole.length - 40))
    const error = await failure(() => read(at(name), { shardSize: SHARD_BYTES }))
    assert.equal(error.code, 'ERR_TOKENLANE_DECOMPRESS')
    const { found, parts, skipped } = await read(at(name), { shardSize: SHARD_BYTES, onError: 'skip' })
    assert.ok(parts.length > 3)
    assert.deepEqual(short(found).slice(0, 11), rows.slice(0, 11))
    assert.ok(skipped.every((code) => code === 'ERR_TOKENLANE_DECOMPRESS'))
  }
  const members = Buffer.concat(pieces.map(bgzipMember))
  const padded = await same('padded.gz', Buffer.concat([members, Buffer.alloc(600)]), Buffer.concat(pieces))
  assert.ok(padded.length > 3)
  fs.writeFileSync(at('garbage.gz'), Buffer.concat([members, Buffer.from('garbage\n'.repeat(9))]))
  const garbage = await failure(() => read(at('garbage.gz'), { shardSize: SHARD_BYTES }))
  assert.equal(garbage.code, 'ERR_TOKENLANE_DECOMPRESS')

  const table = seekable(pieces.map(frameOf), pieces)
  table.writeUInt32LE(table.readUInt32LE(table.length - 9 - 12 * 8) - 1, table.length - 9 - 12 * 8)
  table.writeUInt32LE(table.readUInt32LE(table.length - 9 - 11 * 8) + 1, table.length - 9 - 11 * 8)
  fs.writeFileSync(at('wrong.zst'), table)
  const wrong = await failure(() => read(at('wrong.zst'), { shardSize: SHARD_BYTES }))
  assert.equal(wrong.code, 'ERR_TOKENLANE_DECOMPRESS')
  assert.match(wrong.message, /table of frames is wrong/)
})

test('frames: the shards have the same bytes for any number of threads, and the tokens of the plain file', async () => {
  const rows = Array.from({ length: 300 }, (_, index) => ({
    id: index,
    text: `document ${index} ${'größe '.repeat(index % 50)}`,
  }))
  const bytes = Buffer.from(jsonl(rows))
  fs.writeFileSync(at('rows.jsonl'), bytes)
  fs.writeFileSync(at('rows.jsonl.zst'), Buffer.concat(cut(bytes, random(7), 3000).map(frameOf)))
  const request = { tokenizer: 'r50k_base', format: 'jsonl', idField: 'id', shardSize: 8000 }
  const outputs = []
  for (const concurrency of [1, 3]) {
    const output = at(`threads-${concurrency}`)
    const { shards } = await tokenizeCorpus({ ...request, inputs: at('rows.jsonl.zst'), output, concurrency })
    assert.ok(shards > 4)
    outputs.push(output)
  }
  const [one, three] = outputs
  assert.deepEqual(hashes(one), hashes(three))
  assert.ok((await verifyCorpus(one)).isWhole)
  await tokenizeCorpus({ ...request, inputs: at('rows.jsonl'), output: at('plain'), shardSize: 1 << 20 })
  const documentsIn = (output) =>
    fs
      .readdirSync(output)
      .filter((name) => name.endsWith('.jsonl') && name.startsWith('shard'))
      .sort()
      .flatMap((name) => parseJsonLines(fs.readFileSync(`${output}/${name}`, 'utf8')))
  assert.deepEqual(documentsIn(one), documentsIn(at('plain')))
})
