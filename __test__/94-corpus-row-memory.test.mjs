// The memory of rows of many megabytes, which all shards of a job share.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { ByteBudget, LARGE_ROWS_BYTES } from '../lib/corpus/byte-budget.mjs'
import { checkOptions } from '../lib/corpus/options.mjs'
import { planParts } from '../lib/corpus/plan.mjs'
import { doShard } from '../lib/corpus/shard.mjs'
import { openStore } from '../lib/corpus/store/store.mjs'
import { MAX_JSON } from '../lib/files/rows.mjs'
import { completeContent, findTokenizer, openTokenizer } from '../lib/corpus/tokenizer.mjs'
import { hashes, jsonl, scratch } from './support/corpus.mjs'

const at = scratch()
const later = () => new Promise((resolve) => setImmediate(resolve))

test('a budget grants bytes in order, and never more than it has', async () => {
  const budget = new ByteBudget(10)
  const granted = []
  const take = (owner, bytes) => budget.take(owner, bytes).then(() => granted.push(owner.name))
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => ({ name }))
  take(a, 6)
  take(b, 6)
  take(c, 2)
  await later()
  // Otherwise large requests would wait for as long as there are small ones.
  assert.deepEqual([granted, budget.used], [['a'], 6])
  budget.release(a)
  await later()
  assert.deepEqual([granted, budget.used], [['a', 'b', 'c'], 8])
  // More than there is: granted when nobody else has any.
  take(d, 100)
  budget.release(b)
  await later()
  assert.equal(granted.length, 3)
  budget.release(c)
  await later()
  assert.deepEqual([granted.at(-1), budget.used], ['d', 10])
})

test('what an owner has and waits for is released when it ends', async () => {
  const budget = new ByteBudget(10)
  const granted = []
  const take = (owner, bytes) => budget.take(owner, bytes).then(() => granted.push(owner.name))
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name }))
  take(a, 10)
  take(b, 10)
  take(c, 10)
  budget.release(b)
  budget.release(b)
  budget.release(a)
  await later()
  assert.deepEqual([granted, budget.used], [['a', 'c'], 10])
})

test('the default is one line of JSON of the greatest length', () => {
  assert.equal(LARGE_ROWS_BYTES, MAX_JSON)
})

/** The memory of a shard, from a budget of all shards, as in lib/corpus/thread.mjs. */
class Memory {
  isHeld = false
  isGranted = false
  reserved = 0
  #budget
  #all
  constructor(budget, all) {
    this.#budget = budget
    this.#all = all
  }
  async reserve(bytes) {
    assert.ok(!this.isHeld, 'one row at a time')
    this.isHeld = true
    this.reserved += 1
    await this.#budget.take(this, bytes)
    this.isGranted = true
    assert.equal(this.#all.filter(({ isGranted }) => isGranted).length, 1, 'the budget is enough for one row')
  }
  release() {
    this.isHeld = false
    this.isGranted = false
    this.#budget.release(this)
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
  'lines.txt': `$LARGE\n`,
}
fs.mkdirSync(at('in'))
for (const [name, text] of Object.entries(FILES)) fs.writeFileSync(at('in', name), text)

/** Does shards at the same time, each with the memory that `memoryOf` makes. */
async function doShards(output, memoryOf, given) {
  const inputs = [at('in')]
  const source = await findTokenizer('gpt2')
  const tokenizer = await openTokenizer(source)
  const options = checkOptions({ inputs, output: at('out'), tokenizer: 'gpt2', onError: 'skip', ...given })
  const { content, ids } = await completeContent(tokenizer, source, options.content)
  const store = output === undefined ? undefined : await openStore(at(output))
  await store?.prepare()
  const shards = new Map()
  for await (const part of planParts({ inputs, filesFrom: undefined, content }))
    shards.set(part.shard, [...(shards.get(part.shard) ?? []), part])
  const records = [...shards].map(([shard, parts]) => {
    const memory = memoryOf()
    const context = { tokenizer, content, ids, store, memory, onProgress: () => {} }
    return doShard({ shard, parts, job: 'job' }, context).finally(() => assert.ok(!memory?.isHeld, 'all is given back'))
  })
  return Promise.all(records)
}

const sums = (records) => records.map(({ documents, tokens, skipped }) => [documents, tokens, skipped.rows])

for (const [name, given] of Object.entries({
  'two shards': { eos: true, shardSize: 20 << 20 },
  'rows of whole files': { rows: 'files', shardSize: 5 << 20 },
})) {
  test(`large rows wait for memory, and the files are the same: ${name}`, async () => {
    const budget = new ByteBudget(5 << 20)
    /** @type {Memory[]} */
    const memories = []
    const memoryOf = () => {
      const memory = new Memory(budget, memories)
      memories.push(memory)
      return memory
    }
    const limited = await doShards(`${name} limited`, memoryOf, given)
    assert.ok(memories.some(({ reserved }) => reserved > 0))
    assert.equal(budget.used, 0)
    const free = await doShards(`${name} free`, () => undefined, given)
    assert.deepEqual(sums(limited), sums(free))
    assert.deepEqual(hashes(at(`${name} limited`)), hashes(at(`${name} free`)))
    const counted = await doShards(undefined, memoryOf, { ...given, output: undefined, dryRun: true })
    assert.deepEqual(sums(counted), sums(free))
    assert.equal(budget.used, 0)
  })
}
