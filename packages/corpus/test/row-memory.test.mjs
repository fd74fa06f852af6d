// The memory of rows of many megabytes, which all shards of a job share.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'

import { parquetWriteBuffer } from 'hyparquet-writer'

import { RowMemory, LARGE_ROWS_BYTES } from '../src/row-memory.mjs'
import { Failure } from '../../../lib/files/failure.mjs'
import { openTokenizer } from '../../../lib/files/tokenizers.mjs'
import { checkOptions } from '../src/options.mjs'
import { planParts } from '../src/plan.mjs'
import { doShard } from '../src/shard.mjs'
import { openStore } from '../src/store/store.mjs'
import { MAX_JSON_ROW_BYTES } from '../../../lib/files/json-rows.mjs'
import { ShuffleWriter } from '../src/shuffle.mjs'
import { PartFile } from '../src/store/part-file.mjs'
import { CopiedTokens, PieceBuffers, WholeTokens } from '../src/tokens.mjs'
import { completeContent, findTokenizer } from '../src/tokenizer.mjs'
import { hashes, jsonl, scratch } from '../../../__test__/support/corpus.mjs'

const at = scratch()
const later = () => new Promise((resolve) => setImmediate(resolve))

test('the memory of large rows grants bytes in order, and never more than it has', async () => {
  const rowMemory = new RowMemory(10)
  const granted = []
  const take = (owner, bytes) => rowMemory.take(owner, bytes).then(() => granted.push(owner.name))
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => ({ name }))
  take(a, 6)
  take(b, 6)
  take(c, 2)
  await later()
  // There is room for c, but it waits behind b: large requests would otherwise never be granted
  // while there are small ones.
  assert.deepEqual([granted, rowMemory.used], [['a'], 6])
  rowMemory.release(a)
  await later()
  assert.deepEqual([granted, rowMemory.used], [['a', 'b', 'c'], 8])
  // More than there is: granted when nobody else has any.
  take(d, 100)
  rowMemory.release(b)
  await later()
  assert.equal(granted.length, 3)
  rowMemory.release(c)
  await later()
  assert.deepEqual([granted.at(-1), rowMemory.used], ['d', 10])
})

test('what an owner has and waits for is released when it ends', async () => {
  const rowMemory = new RowMemory(10)
  const granted = []
  const take = (owner, bytes) => rowMemory.take(owner, bytes).then(() => granted.push(owner.name))
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name }))
  take(a, 10)
  take(b, 10)
  take(c, 10)
  rowMemory.release(b)
  rowMemory.release(b)
  rowMemory.release(a)
  await later()
  assert.deepEqual([granted, rowMemory.used], [['a', 'c'], 10])
})

test('the default is one line of JSON of the greatest length', () => {
  assert.equal(LARGE_ROWS_BYTES, MAX_JSON_ROW_BYTES)
})

/** The memory of a shard, from the memory of all shards, as in src/thread.mjs. */
class Memory {
  isHeld = false
  isGranted = false
  reserved = 0
  #rowMemory
  #all
  constructor(rowMemory, all) {
    this.#rowMemory = rowMemory
    this.#all = all
  }
  async reserve(bytes) {
    if (this.isHeld) {
      // A row that is longer than the memory that it has.
      assert.ok(bytes > this.bytes, 'one row at a time')
      this.release()
    }
    this.isHeld = true
    this.bytes = bytes
    this.reserved += 1
    await this.#rowMemory.take(this, bytes)
    this.isGranted = true
    assert.equal(this.#all.filter(({ isGranted }) => isGranted).length, 1, 'the memory is enough for one row')
  }
  release() {
    this.isHeld = false
    this.isGranted = false
    this.#rowMemory.release(this)
  }
}

/** A little more than the rows that are read without asking. */
const LARGE = 'word and word '.repeat(305_000)
const FILES = {
  'large rows.jsonl': jsonl([{ text: 'small' }, { text: LARGE }, { text: 'small' }, { text: LARGE }]),
  'without an end.jsonl': jsonl([{ text: LARGE }]).trimEnd(),
  'small documents.jsonl': jsonl([
    { text: 'a', more: LARGE },
    { text: 'b', more: LARGE },
  ]),
  // Each of them fills a batch, which is not a large one by its texts.
  'documents of 3 MiB.jsonl': jsonl(Array(3).fill({ text: 'b '.repeat(3 << 19), more: 'c'.repeat(2 << 20) })),
  'skipped.jsonl': `${jsonl([{ other: LARGE }])}{"text":"${LARGE}\n`,
  'lines.txt': `${LARGE}\n`,
}
fs.mkdirSync(at('in'))
for (const [name, text] of Object.entries(FILES)) fs.writeFileSync(at('in', name), text)

/** Does shards at the same time, each with the memory that `memoryOf` makes. */
async function doShards(output, memoryOf, given, hooks = undefined) {
  const inputs = given.inputs ?? [at('in')]
  const source = await findTokenizer('gpt2')
  const tokenizer = await openTokenizer(source)
  const options = checkOptions({ output: at('out'), tokenizer: 'gpt2', onError: 'skip', ...given, inputs })
  const { content, ids } = await completeContent(tokenizer, source, options.content)
  const store = output === undefined ? undefined : await openStore(at(output))
  await store?.prepare()
  const shards = new Map()
  for await (const part of planParts({ inputs, filesFrom: undefined, content }))
    shards.set(part.shard, [...(shards.get(part.shard) ?? []), part])
  const records = [...shards].map(([shard, parts]) => {
    const memory = memoryOf()
    const context = { tokenizer, content, ids, store, memory, hooks, onProgress: () => {} }
    return doShard({ shard, parts, job: 'job' }, context).finally(() => assert.ok(!memory?.isHeld, 'all is given back'))
  })
  return Promise.all(records)
}

const sums = (records) => records.map(({ documents, tokens, skipped }) => [documents, tokens, skipped.rows])

for (const [name, given] of Object.entries({
  'two shards': { eos: true, shardSize: 20 << 20 },
  shuffled: { eos: true, shardSize: 20 << 20, shuffle: 1 },
  'rows of whole files': { rows: 'files', shardSize: 5 << 20 },
})) {
  test(`large rows wait for memory, and the files are the same: ${name}`, async () => {
    const rowMemory = new RowMemory(5 << 20)
    /** @type {Memory[]} */
    const memories = []
    const memoryOf = () => {
      const memory = new Memory(rowMemory, memories)
      memories.push(memory)
      return memory
    }
    const limited = await doShards(`${name} limited`, memoryOf, given)
    assert.ok(memories.some(({ reserved }) => reserved > 0))
    assert.equal(rowMemory.used, 0)
    const free = await doShards(`${name} free`, () => undefined, given)
    assert.deepEqual(sums(limited), sums(free))
    assert.deepEqual(hashes(at(`${name} limited`)), hashes(at(`${name} free`)))
    const counted = await doShards(undefined, memoryOf, { ...given, output: undefined, dryRun: true })
    assert.deepEqual(sums(counted), sums(free))
    assert.equal(rowMemory.used, 0)
  })
}

test('the memory of a row is released if its input is damaged', async () => {
  const whole = gzipSync(jsonl([{ text: 'small' }, { text: LARGE }]), { level: 0 })
  fs.writeFileSync(at('damaged.jsonl.gz'), whole.subarray(0, whole.length - 1000))
  const rowMemory = new RowMemory(5 << 20)
  /** @type {Memory[]} */
  const memories = []
  const memory = new Memory(rowMemory, memories)
  memories.push(memory)
  const given = { inputs: [at('damaged.jsonl.gz')], output: undefined, dryRun: true }
  const [{ documents, skipped }] = await doShards(undefined, () => memory, given)
  // Its only member is left out as a whole.
  assert.equal(documents, 0)
  assert.ok(skipped.rows >= 1)
  assert.ok(memory.reserved > 0)
  assert.equal(rowMemory.used, 0)
})

test('memory is reserved in two steps: for a medium row, and for the longest row', async () => {
  const folder = at('steps')
  fs.mkdirSync(folder)
  const sizes = [900_000, 1_500_000, 3 << 20, 6 << 20, 2_000_000]
  fs.writeFileSync(`${folder}/rows.jsonl`, jsonl(sizes.map((size) => ({ text: 'word and '.repeat(size / 9) }))))
  const asked = []
  const memory = { reserve: async (bytes) => void asked.push(bytes), release: () => {} }
  await doShards('steps of rows', () => memory, { inputs: [folder], maxRow: 8 << 20 })
  assert.deepEqual(
    asked,
    [4, 4, 4, 8, 4].map((size) => size << 20),
  )
})

test('large rows of Parquet wait for memory one by one', async () => {
  const folder = at('tables')
  fs.mkdirSync(folder)
  const texts = ['a', 'word and '.repeat(200_000), 'b', 'c', 'word and '.repeat(600_000), 'too long '.repeat(1e6), 'd']
  const columnData = /** @type {any} */ ([{ name: 'text', data: texts, type: 'STRING' }])
  fs.writeFileSync(`${folder}/t.parquet`, Buffer.from(parquetWriteBuffer({ columnData, codec: 'UNCOMPRESSED' })))
  const given = { inputs: [folder], maxRow: 8 << 20, maxRatio: 1e6 }
  const asked = []
  const memory = { reserve: async (bytes) => void asked.push(bytes), release: () => asked.push('released') }
  const limited = await doShards('tables limited', () => memory, given)
  assert.deepEqual(asked.slice(0, 3), [4 << 20, 'released', 8 << 20])
  assert.equal(asked.at(-1), 'released')
  assert.deepEqual(sums(limited), sums(await doShards('tables free', () => undefined, given)))
  assert.deepEqual(hashes(at('tables limited')), hashes(at('tables free')))
  assert.equal(limited[0].documents, texts.length - 1)
  assert.deepEqual(limited[0].skipped.codes, { ERR_TOKENLANE_TEXT_TOO_LONG: 1 })
})

test('JavaScript keeps no copy of a large row or of its tokens', async () => {
  const folder = at('one row')
  fs.mkdirSync(folder)
  // Each of these letters is three tokens of gpt2.
  fs.writeFileSync(`${folder}/row.jsonl`, jsonl([{ text: '\u{1d00}\u{1d01} '.repeat(1 << 20) }]))
  for (const [name, given] of Object.entries({
    eos: { eos: true },
    packed: { eos: true, format: 'npy', pack: 100_000 },
    jsonl: { format: 'jsonl' },
    shuffled: { shuffle: 1 },
  })) {
    let most = 0
    const look = () => {
      most = Math.max(most, process.memoryUsage().arrayBuffers)
    }
    const before = process.memoryUsage().arrayBuffers
    const [record] = await doShards(`one row, ${name}`, () => ({ reserve: look, release: look }), {
      ...given,
      inputs: [folder],
    })
    assert.ok(record.tokens > 6 << 20)
    assert.ok(most - before < 16 << 20, `${most - before} bytes of ${record.tokens} tokens`)
  }
})

test('copied tokens are those of the rows, whatever their lengths', () => {
  const lengths = [3, 0, (1 << 18) - 3, 1, 0, (1 << 18) + 5, 2, 0]
  const rowOffsets = Uint32Array.from([
    0,
    ...lengths.map((_, row) => lengths.slice(0, row + 1).reduce((a, b) => a + b)),
  ])
  const ids = Uint32Array.from({ length: rowOffsets[lengths.length] }, (_, index) => index % 60_000)
  for (const [View, bos, eos, most] of /** @type {any} */ ([
    [Uint16Array, [], [], Infinity],
    [Uint32Array, [70_000], [70_001], Infinity],
    [Uint16Array, [], [9], 2],
  ])) {
    const joined = (arrays) => Buffer.concat(Array.from(arrays, (array) => Buffer.copyBytesFrom(View.from(array))))
    const kept = Uint32Array.from(lengths, (length) => Math.min(length, most))
    const rows = lengths
      .map((length, row) => [bos, ids.subarray(rowOffsets[row], rowOffsets[row] + Math.min(length, most)), eos])
      .filter((_, row) => lengths[row] > 0)
    const length = rows.flat().reduce((sum, part) => sum + part.length, 0)
    const ends = { bos: Uint32Array.from(bos), eos: Uint32Array.from(eos), length }
    const tokens = new CopiedTokens({ ids, rowOffsets }, kept, ends, new PieceBuffers(View))
    assert.ok(joined(tokens.pieces()).equals(joined(rows.flat())))
    assert.deepEqual(Array.from(tokens.documents(), joined), rows.map(joined))
    assert.equal(tokens.length, length)
  }
})

test('documents have the same order in a shuffle, whether or not they are large', async () => {
  const shuffled = async (lengths) => {
    const rows = []
    const writer = {
      write: async ({ tokens, documents }) => {
        let index = 0
        for (const pieces of tokens.documents()) {
          const { at } = documents[index++]
          rows.push(at)
          let length = 0
          for (const piece of pieces) {
            length += piece.length
            assert.ok(piece[0] === at && piece.at(-1) === at)
          }
          assert.equal(length, lengths[at])
        }
      },
      finish: async () => {},
    }
    const create = (suffix) => PartFile.create(at(`shuffled${suffix}`))
    const shuffle = await ShuffleWriter.create(writer, {
      ...{ seed: 's', bytes: 3 << 23, View: Uint32Array, create },
    })
    for (const [document, length] of lengths.entries()) {
      const one = Uint32Array.of(length)
      const tokens = new WholeTokens(new Uint32Array(length).fill(document), one)
      await shuffle.write({ tokens, lengths: one, documents: [{ path: 'p', at: document }] })
    }
    await shuffle.finish()
    return rows
  }
  const order = await shuffled([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  assert.notDeepEqual(order, order.toSorted())
  assert.deepEqual(await shuffled([1, 1_100_000, 3, 70_000, 5, 2_000_000, 7, 1_200_000, 9, 10]), order)
})

test('a lack of memory or a fault of ours is not a row to skip', async () => {
  fs.writeFileSync(at('two.jsonl'), jsonl([{ text: 'first' }, { text: 'second' }]))
  const given = { inputs: [at('two.jsonl')], output: undefined, dryRun: true }
  const withFailure = (failure) => {
    const textOf = ({ text }) => {
      if (text === 'second') throw failure
      return text
    }
    return doShards(undefined, () => undefined, given, /** @type {any} */ ({ textOf }))
  }
  const [{ documents, skipped }] = await withFailure(new Failure('FIELD', 'it is wrong'))
  assert.deepEqual([documents, skipped.codes], [1, { ERR_TOKENLANE_FIELD: 1 }])
  await assert.rejects(withFailure(new Failure('OUT_OF_MEMORY', 'no memory')), {
    code: 'ERR_TOKENLANE_OUT_OF_MEMORY',
    message: /two\.jsonl, line 2: no memory/,
  })
  const fault = new TypeError('of ours')
  await assert.rejects(withFailure(fault), fault)
})
