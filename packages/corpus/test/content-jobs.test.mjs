// The documents of whole jobs: each document of the inputs is in the output once, as `encode` makes
// it, after planning over files and stores, appending, going on, shuffling and merging. The rows of
// Parquet inputs keep their numbers in every row group.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'

import { parquetWriteBuffer } from 'hyparquet-writer'

import { Tokenizer } from 'tokenlane'
import { mergeCorpora, tokenizeCorpus } from '@tokenlane/corpus'
import { planParts, writePlan, readPlan, planSlices } from '../src/plan.mjs'
import { SIZES } from '../src/sizes.mjs'
import { documents, jsonl, readTable, scratch, stems } from '../../../__test__/support/corpus.mjs'
import { TestS3 } from './support/s3.mjs'
import { multiset, readShard } from './support/shards.mjs'

const at = scratch()
const FOUR = /** @type {typeof SIZES} */ (Object.fromEntries(Object.keys(SIZES).map((name) => [name, 4])))
const tokenizer = Tokenizer.fromEncodingSync('r50k_base')
const NPY = { format: /** @type {const} */ ('npy'), tokenizer: 'r50k_base', idField: 'id', eos: true }
const CONTENT = { ...NPY, type: 'u16' }
/** @type {TestS3} */
let s3

before(async () => {
  s3 = await TestS3.start()
  Object.assign(process.env, s3.env)
})
after(() => s3.stop())

/** What rows become; those without tokens are left out. */
const encoded = (rows) =>
  rows
    .map(({ id, text }) => ({ id, tokens: [...tokenizer.encode(text).ids] }))
    .filter(({ tokens }) => tokens.length > 0)
    .map(({ id, tokens }) => ({ id, tokens: [...tokens, 50256] }))

/** The documents of all shards of an output. */
async function contentOf(output, content = CONTENT) {
  const shards = []
  for (const stem of stems(output)) shards.push(await readShard(path.join(output, stem), content))
  return shards.flatMap(({ pieces }) => pieces)
}

async function check(output, rows, content = CONTENT) {
  const [found, wanted] = [multiset(await contentOf(output, content)), multiset(encoded(rows))]
  assert.equal(found.length, wanted.length)
  const different = found.findIndex((one, index) => one !== wanted[index])
  assert.equal(different, -1, `${found[different]?.slice(0, 100)} and ${wanted[different]?.slice(0, 100)}`)
}

async function all(iterable) {
  const found = []
  for await (const one of iterable) found.push(one)
  return found
}

/** Writes inputs of a line to a folder or to the store, and returns their names with slashes. */
function inputsOf(name, count, isStored) {
  if (!isStored) fs.mkdirSync(at(name), { recursive: true })
  return Array.from({ length: count }, (_, index) => {
    const line = `{"text":"${name} ${index}"}\n`
    const file = `${String(index).padStart(4, '0')}.jsonl`
    if (isStored) s3.put(`lake/${name}/${file}`, line)
    else fs.writeFileSync(at(name, file), line)
    return { path: isStored ? `s3://lake/${name}/${file}` : at(name, file).replaceAll('\\', '/'), size: line.length }
  })
}

test('plans over files and objects, in turns: every input, in order and whole', { timeout: 300_000 }, async () => {
  for (const [sizes, locals, stored, name] of /** @type {any[]} */ ([
    [FOUR, 13, 5, 'few'],
    [SIZES, 300, 100, 'many'],
  ])) {
    const files = { a: inputsOf(`${name}-a`, locals, false), b: inputsOf(`${name}-b`, locals, false) }
    const objects = { x: inputsOf(`${name}-x`, stored, true), y: inputsOf(`${name}-y`, stored, true) }
    const known = { a: at(`${name}-a`), b: at(`${name}-b`), x: `s3://lake/${name}-x/`, y: `s3://lake/${name}-y/` }
    const inputs = { ...files, ...objects }
    const orders = name === 'few' ? ['ax', 'xa', 'axby', 'xyab', 'abxy', 'a', 'x'] : ['ax', 'xbya']
    // Smaller shards than an input: each is one that is handed out before others.
    const cases = orders.map((order) => ({ order, shardSize: 100 }))
    if (name === 'few') cases.push({ order: 'xaby', shardSize: 9 })
    for (const { order, shardSize } of cases) {
      const expected = [...order].flatMap((letter) => inputs[letter])
      const plan = await all(
        planParts({ inputs: [...order].map((letter) => known[letter]), content: { shardSize }, sizes }),
      )
      assert.deepEqual(
        plan.map((part) => ({ path: part.path.replaceAll('\\', '/'), size: part.size })),
        expected,
        order,
      )
      assert.ok(plan.every(({ start, end, size }) => start === 0 && end === size))
      const shards = Array.from({ length: plan.at(-1).shard + 1 }, (_, shard) =>
        plan.filter((part) => part.shard === shard),
      )
      for (const parts of shards) assert.ok(parts.length > 0 && parts.length <= sizes.shardParts)
      assert.deepEqual(shards.flat(), plan)
      // What is written is read again, whole and by the ranges that a queue has.
      const file = at(`${name}-${order}.jsonl`)
      const handle = await fs.promises.open(file, 'w')
      const { summary, large } = await writePlan(
        handle,
        (async function* () {
          yield* plan
        })(),
        { shardSize },
      )
      await handle.close()
      assert.equal(summary.parts, expected.length)
      assert.equal(large.length, shardSize === 9 ? expected.length : 0)
      const read = (await all(readPlan(file, large))).sort(([a], [b]) => a.shard - b.shard)
      assert.deepEqual(read.flat(), plan)
      const numbers = (await all(planSlices(file, large))).map(({ shard }) => shard)
      assert.deepEqual(
        numbers.sort((a, b) => a - b),
        shards.map((_, shard) => shard),
      )
      const bytes = fs.readFileSync(file)
      for await (const { shard, from, to } of planSlices(file, large)) {
        const lines = bytes
          .toString('utf8', from, to)
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
        assert.deepEqual(lines, shards[shard])
      }
    }
  }
})

test('large files are cut between rows, and no byte is left out or read twice', async () => {
  const rows = documents(120, 7)
  fs.writeFileSync(at('cut.jsonl'), jsonl(rows))
  const bytes = fs.readFileSync(at('cut.jsonl'))
  for (const shardSize of [1, 300, 4096, 1e6]) {
    const plan = await all(
      planParts({ inputs: [at('cut.jsonl')], content: /** @type {any} */ ({ shardSize }), sizes: FOUR }),
    )
    let end = 0
    for (const part of plan) {
      assert.equal(part.start, end)
      end = part.end
      assert.equal(bytes[end - 1], 10)
    }
    assert.equal(end, bytes.length)
  }
})

test('jobs over files and objects, appended, gone on with, shuffled and packed', { timeout: 300_000 }, async () => {
  const rows = [1, 2, 3, 4].map((seed) => documents(90, seed))
  fs.mkdirSync(at('jobs'))
  fs.writeFileSync(at('jobs', 'a.jsonl'), jsonl(rows[0]))
  s3.put('lake/jobs/b.jsonl', jsonl(rows[1]))
  fs.writeFileSync(at('jobs', 'c.jsonl'), jsonl(rows[2]))
  const inputs = [at('jobs', 'a.jsonl'), 's3://lake/jobs/', at('jobs', 'c.jsonl')]
  for (const [index, more] of [{}, { shuffle: 5 }, { pack: 100 }, { pack: 4000, packing: 'best-fit' }].entries()) {
    const options = /** @type {any} */ ({ ...NPY, inputs, output: at(`job-${index}`), shardSize: 15_000, ...more })
    const content = { ...CONTENT, ...more }
    await tokenizeCorpus(options)
    await check(options.output, rows.slice(0, 3).flat(), content)
    // Some shards are lost, and made again.
    for (const stem of stems(options.output).slice(1, 4)) fs.rmSync(path.join(options.output, `${stem}.npy`))
    await tokenizeCorpus(options)
    await check(options.output, rows.slice(0, 3).flat(), content)
    s3.put('lake/jobs/d.jsonl', jsonl(rows[3]))
    await tokenizeCorpus({ ...options, append: true })
    await check(options.output, rows.flat(), content)
    s3.objects.delete('lake/jobs/d.jsonl')
  }
})

test('merges: in order, shuffled, of an exact size, in part and without duplicates', { timeout: 300_000 }, async () => {
  const rows = [documents(150, 11), documents(150, 12)]
  const again = rows[0].slice(10, 60).map(({ text }, index) => ({ id: `again-${index}`, text }))
  for (const [index, own] of [rows[0], [...rows[1], ...again]].entries()) {
    fs.writeFileSync(at(`merged-${index}.jsonl`), jsonl(own))
    await tokenizeCorpus({
      ...NPY,
      inputs: at(`merged-${index}.jsonl`),
      output: at(`part-${index}`),
      shardSize: 20_000,
    })
  }
  const everything = [...rows.flat(), ...again]
  const inputs = [at('part-0'), at('part-1')]
  const merged = async (name, options) => {
    const result = await mergeCorpora({ inputs, output: at(name), ...options })
    return { result, output: at(name) }
  }
  await check((await merged('in-order', { tokensPerFile: 20_000 })).output, everything)
  await check((await merged('shuffled', { tokensPerFile: 20_000, shuffle: 3 })).output, everything)
  // The first of equal documents stays, and empty ones have no tokens.
  const first = new Map()
  for (const row of everything) if (!first.has(row.text)) first.set(row.text, row)
  for (const more of [{}, { shuffle: 3 }]) {
    const { output, result } = await merged(`unique-${more.shuffle}`, { tokensPerFile: 20_000, dedup: true, ...more })
    await check(output, [...first.values()])
    assert.equal(
      result.inputs.reduce((sum, { duplicates }) => sum + duplicates, 0),
      encoded(everything).length - encoded([...first.values()]).length,
    )
  }
  const twice = await merged('twice', { inputs: [{ path: at('part-0'), epochs: 2 }], tokensPerFile: 20_000 })
  await check(twice.output, [...rows[0], ...rows[0]])
  const exact = await merged('exact', { tokensPerShard: 10_007 })
  const tokens = (await contentOf(exact.output)).flatMap((piece) => piece.tokens)
  assert.ok(
    tokens.join() ===
      encoded(everything)
        .flatMap((one) => one.tokens)
        .join(),
  )
  for (const stem of stems(exact.output).slice(0, -1))
    assert.equal(
      (await readShard(path.join(exact.output, stem), CONTENT)).rows.reduce((sum, one) => sum + one, 0),
      10_007,
    )
})

test('rows of Parquet keep their numbers, ids and groups in every row group and shard', async () => {
  const rows = documents(50, 21).map((row, index) => ({ ...row, id: `row ${index}` }))
  for (const [rowGroupSize, shardSize] of [
    [4, 1e6],
    [4, 5000],
    [7, 1],
    [1000, 1e6],
  ]) {
    const name = `rows-${rowGroupSize}-${shardSize}`
    const columnData = ['id', 'text'].map((column) => ({
      name: column,
      data: rows.map((row) => row[column]),
      type: /** @type {const} */ ('STRING'),
    }))
    fs.writeFileSync(at(`${name}.parquet`), Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize, pageSize: 40 })))
    await tokenizeCorpus({ ...NPY, inputs: at(`${name}.parquet`), output: at(name), shardSize })
    await check(at(name), rows)
    const table = stems(at(name)).flatMap((stem) => readTable(at(name, `${stem}.csv.gz`)))
    for (const { id, at: row } of table) assert.equal(id, `row ${row}`)
    assert.equal(table.length, rows.filter(({ text }) => text !== '').length)
  }
})
