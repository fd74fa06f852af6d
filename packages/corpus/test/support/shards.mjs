// Shards of made-up tokens for specs, and what is read back from their files by readers that share
// no code with the writers: pieces of documents with their ids, and the lengths of rows.

import { createHash } from 'node:crypto'
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'

import { parquetReadObjects } from 'hyparquet'

import { markDuplicates } from '../../src/merge/duplicates.mjs'
import { blockOf, documentsOfUnit } from '../../src/merge/documents.mjs'
import { Scattered, scatter } from '../../src/merge/scatter.mjs'
import { exactFiles } from '../../src/merge/plan.mjs'
import { ShardTokens } from '../../src/reading/shard-tokens.mjs'
import { ShuffleWriter } from '../../src/shuffle.mjs'
import { CopiedTokens, PieceBuffers } from '../../src/tokens.mjs'
import { SIZES } from '../../src/sizes.mjs'
import { writeShardFiles } from '../../src/output-files.mjs'
import { LocalStore } from '../../src/store/local-store.mjs'
import { numbers, readMegatron, readMds, readNpy, readTable } from '../../../../__test__/support/corpus.mjs'
import { generator } from '../../../../__test__/support/random.mjs'

const MASK = 2 ** 31
const hash = (bytes) => createHash('sha256').update(bytes).digest('hex')

/**
 * A document of a test: `tokens` have their masks in the highest bit.
 *
 * @typedef {{ id: string, tokens: number[] }} TestDocument
 */

/** Documents of 1 to `longest` tokens with `total` tokens or a few more. */
export function tokenDocuments(total, longest, { hasMask = false, largest = 60_000, seed = 1 } = {}) {
  const random = generator(seed)
  const documents = []
  for (let sum = 0; sum < total; ) {
    const length = 1 + random(longest)
    const token = () => random(largest) + (hasMask && random(5) < 2 ? MASK : 0)
    documents.push({ id: `d${documents.length}`, tokens: Array.from({ length }, token) })
    sum += length
  }
  return documents
}

/** Tokens in arrays of up to a length, whose memory is used again, as that of batches is. */
class TestTokens {
  #documents
  #buffer
  constructor(documents, View, piece) {
    this.#documents = documents
    this.#buffer = new View(piece)
    this.length = documents.reduce((sum, { tokens }) => sum + tokens.length, 0)
  }
  *#of(tokens) {
    for (let from = 0; from < tokens.length; from += this.#buffer.length) {
      const part = tokens.slice(from, from + this.#buffer.length)
      this.#buffer.set(part)
      yield this.#buffer.subarray(0, part.length)
    }
  }
  *pieces() {
    for (const { tokens } of this.#documents)
      for (let from = 0; from < tokens.length; from += 1 << 16)
        yield this.#buffer.constructor.from(tokens.slice(from, from + (1 << 16)))
  }
  *documents() {
    for (const { tokens } of this.#documents) yield this.#of(tokens)
  }
}

/** Documents in blocks of up to a number, as the encoder passes them on. */
export function blocksOf(documents, View, { perBlock = 7, piece = 5 } = {}) {
  return Array.from({ length: Math.ceil(documents.length / perBlock) }, (_, block) => {
    const own = documents.slice(block * perBlock, (block + 1) * perBlock)
    return {
      tokens: new TestTokens(own, View, piece),
      lengths: Uint32Array.from(own, ({ tokens }) => tokens.length),
      documents: own.map(({ id }, index) => ({ id, path: 'in.jsonl', at: block * perBlock + index })),
    }
  })
}

/**
 * Writes a shard. Returns its folder, and what a record would say.
 *
 * @param {string} folder
 * @param {any} content
 * @param {{ documents: TestDocument[], View: any, sizes?: any, perBlock?: number, piece?: number,
 *   through?: (writer: any, scratch: any) => any, shard?: number }} request
 */
export async function writeShard(folder, content, { documents, View, sizes, through, shard = 0, ...how }) {
  const store = new LocalStore(folder)
  await store.prepare()
  const fill = async (inOrder, { scratch }) => {
    const writer = through === undefined ? inOrder : await through(inOrder, scratch)
    for (const block of blocksOf(documents, View, how)) await writer.write(block)
    await writer.finish()
  }
  const { files, packing } = await writeShardFiles(store, shard, content, fill, sizes)
  const tokens = documents.reduce((sum, one) => sum + one.tokens.length, 0)
  const sums = { tokens, documents: packing?.pieces ?? documents.length, rows: packing?.rows ?? documents.length }
  return { store, record: { shard, files, ...sums }, packing, stem: path.join(folder, `shard-0000000${shard}`) }
}

const split = (values, lengths) => {
  let at = 0
  return lengths.map((length) => values.slice(at, (at += length)))
}
const differences = (ends) => ends.slice(1).map((end, index) => end - ends[index])
const joined = (ids, masks) => (masks === undefined ? ids : ids.map((id, at) => id + masks[at] * MASK))

/** Cuts all tokens at the positions where documents start. */
function fromStarts(rows) {
  const [all, starts, ids] = [[], [], []]
  for (const row of rows) {
    for (const start of row.starts) starts.push(all.length + start)
    for (const id of row.documents ?? []) ids.push(id)
    for (const token of row.tokens) all.push(token)
  }
  const pieces = split(all, differences([...starts, all.length]))
  return {
    pieces: pieces.map((tokens, index) => ({ id: ids[index], tokens })),
    rows: rows.map((row) => row.tokens.length),
  }
}

const READERS = {
  megatron(stem, { pack, hasMask }) {
    const { rows, starts } = readMegatron(stem)
    // Each row is a document of its own for Megatron.
    assert.deepEqual(
      starts,
      Array.from({ length: rows.length + 1 }, (_, row) => row),
    )
    const masks = hasMask ? readMegatron(`${stem}.mask`).rows : undefined
    const tokens = joined(rows.flat(), masks?.flat())
    const lengths = rows.map((row) => row.length)
    const ends = pack === undefined ? undefined : readNpy(`${stem}.docs.npy`).values
    const pieces = split(tokens, ends === undefined ? lengths : differences(ends))
    return { pieces: pieces.map((tokens) => ({ id: undefined, tokens })), rows: lengths }
  },
  npy: (stem, content) => binary((suffix) => readNpy(`${stem}${suffix}.npy`).values, stem, content),
  bin(stem, content) {
    const types = { '': content.type === 'u16' ? '<u2' : '<u4', '.mask': '|u1' }
    return binary((suffix) => numbers(fs.readFileSync(`${stem}${suffix}.bin`), types[suffix] ?? '<u8'), stem, content)
  },
  llmc(stem, { type, hasMask }) {
    const bytes = fs.readFileSync(`${stem}.bin`)
    const tokens = numbers(bytes.subarray(1024), type === 'u16' ? '<u2' : '<u4')
    const masks = hasMask ? numbers(fs.readFileSync(`${stem}.mask.bin`), '|u1') : undefined
    return { pieces: [{ id: undefined, tokens: joined(tokens, masks) }], rows: [bytes.readInt32LE(8)] }
  },
  mds(stem, { pack, packing }) {
    const { samples, config } = mdsFile(`${stem}.mds`)
    if (config.column_names.includes('id'))
      return {
        pieces: samples.map(({ id, tokens, loss_mask }) => ({ id, tokens: joined(tokens, loss_mask) })),
        rows: samples.map(({ tokens }) => tokens.length),
      }
    const pieces = []
    for (const { tokens, loss_mask, cu_seqlens: ends, documents } of samples)
      for (const [index, part] of split(joined(tokens, loss_mask), differences(ends)).entries()) {
        const id = documents[index]
        // A document that goes on in the next row is there again.
        if (packing === undefined && pieces.at(-1)?.id === id) pieces.at(-1).tokens.push(...part)
        else pieces.push({ id, tokens: part })
      }
    return { pieces, rows: pack === undefined ? [] : samples.map(({ tokens }) => tokens.length) }
  },
  jsonl(stem, { pack }) {
    const rows = fs
      .readFileSync(`${stem}.jsonl`, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    return ofRows(rows, pack)
  },
  async parquet(stem, { pack }) {
    const { buffer } = Uint8Array.from(fs.readFileSync(`${stem}.parquet`))
    const file = { byteLength: buffer.byteLength, slice: (from, to) => buffer.slice(from, to) }
    return ofRows(await parquetReadObjects({ file }), pack)
  },
}

function ofRows(rows, pack) {
  const known = rows.map(({ ids, loss_mask, ...row }) => ({ ...row, tokens: joined(ids, loss_mask) }))
  if (pack !== undefined) return fromStarts(known)
  return { pieces: known.map(({ id, tokens }) => ({ id, tokens })), rows: known.map(({ tokens }) => tokens.length) }
}

function binary(values, stem, { pack, hasMask }) {
  const tokens = joined(values(''), hasMask ? values('.mask') : undefined)
  const rows = differences(values('.rows'))
  const lengths = pack === undefined ? rows : differences(values('.docs'))
  const table = readTable(`${stem}.csv.gz`)
  const pieces = table.map(({ id, start, end }) => ({ id, tokens: tokens.slice(start, end) }))
  if (table.some(({ start, end }, index) => end - start !== lengths[index])) throw new Error('the table is another')
  return { pieces, rows }
}

/** A file of MDS, by the reader of whole folders. */
function mdsFile(file) {
  const bytes = fs.readFileSync(file)
  const count = bytes.readUInt32LE(0)
  const config = JSON.parse(bytes.toString('utf8', 8 + count * 4, bytes.readUInt32LE(4)))
  const folder = fs.mkdtempSync(`${file}-`)
  fs.copyFileSync(file, path.join(folder, 'one.mds'))
  const sha256 = hash(bytes)
  const shard = {
    raw_data: { basename: 'one.mds', bytes: bytes.length, hashes: { sha256 } },
    samples: count,
    zip_data: null,
  }
  fs.writeFileSync(path.join(folder, 'index.json'), JSON.stringify({ version: 2, shards: [{ ...shard, ...config }] }))
  return { samples: readMds(folder), config }
}

/** What the files of a shard have. */
export const readShard = (stem, content) =>
  READERS[content.format](stem, { ...content, hasMask: content.messages !== undefined })

/** A text for each document, in the order of these texts: equal for the same multiset. */
export const multiset = (documents, hasIds = true) =>
  documents.map(({ id, tokens }) => `${hasIds ? id : ''}: ${tokens.join(' ')}`).sort()

const hasIds = ({ format }) => !['megatron', 'llmc'].includes(format)
export const contentOf = (format, more) => ({
  format,
  ...(!['jsonl', 'parquet'].includes(format) && { type: more.messages ? 'u32' : 'u16' }),
  ...(hasIds({ format }) && { idField: 'id' }),
  ...more,
})
export const viewFor = ({ type = 'u32', messages }) =>
  type === 'u16' && messages === undefined ? Uint16Array : Uint32Array

/** The parts of documents that lie in rows of best fit. */
const cut = (documents, pack) =>
  documents.flatMap(({ id, tokens }) =>
    Array.from({ length: Math.ceil(tokens.length / pack) }, (_, part) => ({
      id,
      tokens: tokens.slice(part * pack, (part + 1) * pack),
    })),
  )

/** Compares a shard with the documents that were written. */
export async function checkShard(stem, content, documents, isShuffled = false) {
  const { pack, packing, format } = content
  const { pieces, rows } = await readShard(stem, content)
  const what = JSON.stringify(content)
  const total = documents.reduce((sum, { tokens }) => sum + tokens.length, 0)
  if (format === 'llmc') {
    assert.deepEqual(
      pieces[0].tokens,
      documents.flatMap(({ tokens }) => tokens),
      what,
    )
    assert.deepEqual(rows, [total])
    return
  }
  const expected = packing === 'best-fit' ? cut(documents, pack) : documents
  const [found, wanted] = [multiset(pieces, hasIds(content)), multiset(expected, hasIds(content))]
  // Two long texts would be compared for minutes.
  assert.equal(found.length, wanted.length, what)
  const different = found.findIndex((text, index) => text !== wanted[index])
  assert.equal(different, -1, `${what}: ${found[different]?.slice(0, 200)} and ${wanted[different]?.slice(0, 200)}`)
  if (packing === undefined && !isShuffled)
    assert.ok(
      pieces.every(({ tokens }, index) => tokens.join() === documents[index].tokens.join()),
      what,
    )
  if (pack === undefined) return
  assert.equal(
    rows.reduce((sum, length) => sum + length, 0),
    total,
    what,
  )
  if (packing === undefined)
    assert.deepEqual(
      rows,
      Array.from({ length: Math.ceil(total / pack) }, (_, row) => Math.min(pack, total - row * pack)),
      what,
    )
  else {
    // Each row ends where a piece ends.
    const ends = new Set()
    let end = 0
    for (const { tokens } of pieces) ends.add((end += tokens.length))
    end = 0
    for (const length of rows) assert.ok(length <= pack && ends.has((end += length)), `${what}: a row of ${length}`)
  }
}

/** Compares what a shuffle writes. `bytes` is the size of its input. */
export async function checkShuffle(folder, documents, { sizes, bytes }) {
  for (const how of [{}, { pack: 9 }]) {
    const content = contentOf('npy', { shuffle: 1, ...how })
    const options = { seed: 'x', bytes, View: Uint16Array, sizes }
    const through = (writer, create) => ShuffleWriter.create(writer, { ...options, create })
    const { stem } = await writeShard(folder(), content, {
      documents,
      View: Uint16Array,
      sizes,
      through,
      piece: 70_000,
    })
    await checkShard(stem, content, documents, true)
    const ids = (await readShard(stem, content)).pieces.map(({ id }) => id)
    assert.notDeepEqual(
      ids,
      documents.map(({ id }) => id),
    )
  }
}

/** The text of the documents that a block of a merge has. */
const inBlock = ({ tokens, starts, facts }) =>
  facts.map(({ id }, index) => ({ id, tokens: [...tokens.subarray(starts[index], starts[index + 1])] }))

async function finished(folder, documents, content, shards = 3) {
  const parts = Array.from({ length: shards }, (_, shard) =>
    documents.filter((_one, index) => Math.floor((index * shards) / documents.length) === shard),
  )
  const place = folder()
  const written = []
  for (const [shard, part] of parts.entries())
    written.push(
      await writeShard(place, content, { documents: part, View: viewFor(content), perBlock: 300, piece: 4096, shard }),
    )
  const { store } = written[0]
  const job = { shards: written.map(({ record }) => record), read: (record) => new ShardTokens(store, content, record) }
  return { job: /** @type {any} */ (job), store, parts }
}

/** Merges shards of documents by the modules of a merge, and compares what they yield. */
export async function checkMerge(folder, documents, sizes) {
  const twice = [...documents, ...documents.slice(0, 40).map(({ tokens }, index) => ({ id: `again-${index}`, tokens }))]
  const content = contentOf('npy', {})
  const { job, store, parts } = await finished(folder, twice, content)
  const units = job.shards.map(({ shard, tokens }) => ({ input: 0, pass: 0, shard, share: 1, tokens }))
  // In order.
  for (const unit of units) {
    const merged = []
    for await (const block of documentsOfUnit(job, unit, 'x', sizes)) {
      merged.push(...inBlock(block))
      const { tokens, lengths } = blockOf(/** @type {any} */ (block), Uint32Array)
      assert.equal(
        tokens.length,
        lengths.reduce((sum, length) => sum + length, 0),
      )
    }
    assert.deepEqual(
      merged.map(({ id }) => id),
      parts[unit.shard].map(({ id }) => id),
    )
    assert.deepEqual(multiset(merged), multiset(parts[unit.shard]))
  }
  // In files of an exact size: the tokens follow each other, and documents are cut at the ends.
  const all = twice.flatMap(({ tokens }) => tokens)
  const bytesOf = (tokens) => Buffer.from(Uint32Array.from(tokens).buffer)
  // The second size ends with a document.
  const firstTen = twice.slice(0, 10).reduce((sum, { tokens }) => sum + tokens.length, 0)
  for (const size of [Math.ceil(all.length / 7), firstTen])
    for (const [file, ownUnits] of exactFiles(units, size).entries()) {
      const tokens = []
      for (const unit of ownUnits)
        for await (const block of documentsOfUnit(job, unit, 'x', sizes))
          for (const one of inBlock(block)) {
            assert.ok(one.tokens.length > 0)
            for (const token of one.tokens) tokens.push(token)
          }
      assert.ok(bytesOf(tokens).equals(bytesOf(all.slice(file * size, (file + 1) * size))))
    }
  // Shuffled.
  const files = 3
  for (const [index, unit] of units.entries()) await scatter(store, job, { unit, index, files, seed: 'x' }, sizes)
  const scattered = new Scattered(store, files, sizes)
  const shuffled = []
  for (let file = 0; file < files; file++)
    for await (const block of scattered.blocks(file, { units, views: [Uint16Array], seed: 'x' }))
      for (const { tokens, facts } of block) shuffled.push({ id: facts.id, tokens: [...tokens] })
  assert.deepEqual(multiset(shuffled), multiset(twice))
  // Without duplicates: the first of equal documents stays.
  await markDuplicates([job], { onEvent() {} }, sizes)
  const unique = new Map()
  for (const one of twice) if (!unique.has(one.tokens.join())) unique.set(one.tokens.join(), one)
  const kept = []
  for (const unit of units)
    for await (const block of documentsOfUnit(job, unit, 'x', sizes)) kept.push(...inBlock(block))
  assert.deepEqual(multiset(kept), multiset([...unique.values()]))
  const duplicates = job.shards.reduce((sum, shard) => sum + shard.unique.duplicates, 0)
  assert.equal(duplicates, twice.length - unique.size)
}

/** Compares tokens that are copied out of a batch, with what is before and after each document. */
export function checkCopied(documents, piece) {
  for (const [bos, eos] of [
    [[], []],
    [[1], []],
    [[], [2]],
    [[1, 3], [2]],
  ])
    for (const most of [Infinity, 5, 3]) {
      const ids = Uint32Array.from(documents.flatMap(({ tokens }) => tokens))
      let end = 0
      const rowOffsets = Uint32Array.from([0, ...documents.map(({ tokens }) => (end += tokens.length))])
      const kept = Uint32Array.from(documents, ({ tokens }) => Math.min(tokens.length, most))
      const expected = documents.map(({ tokens }) => [...bos, ...tokens.slice(0, most), ...eos])
      const length = expected.reduce((sum, one) => sum + one.length, 0)
      const ends = { bos: Uint32Array.from(bos), eos: Uint32Array.from(eos), length }
      const tokens = new CopiedTokens(
        { ids, rowOffsets },
        kept,
        ends,
        new PieceBuffers(Uint16Array, { ...SIZES, piece }),
      )
      // An array of a block is still written while the next one is made.
      const copied = (pieces, isHeld = false) => {
        const [all, held] = [[], []]
        const take = (array) => {
          for (const token of array) all.push(token)
        }
        for (const array of pieces) {
          assert.ok(array.length > 0 && array.length <= piece)
          held.push(array)
          if (held.length > Number(isHeld)) take(held.shift())
        }
        held.forEach(take)
        return all.join()
      }
      assert.ok(copied(tokens.pieces(), true) === expected.flat().join(), `${piece} ${bos} ${eos} ${most}`)
      const each = []
      for (const pieces of tokens.documents()) each.push(copied(pieces))
      assert.ok(each.every((text, index) => text === expected[index].join()) && each.length === expected.length)
    }
}
