// @tokenlane/corpus: random cuts of inputs, and options together, on one machine and on a queue.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { parquetWriteBuffer } from 'hyparquet-writer'

import { Tokenizer } from 'tokenlane'
import { documentsOf } from '../src/documents.mjs'
import { createWorker, tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { checkContent } from '../src/options.mjs'
import { FORMATS } from '../src/formats/names.mjs'
import { planParts } from '../src/plan.mjs'
import { documents, hashes, jsonl, readMegatron, readNpy, scratch, stems } from '../../../__test__/support/corpus.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'

const at = scratch()

let state = 20261123
const random = (count) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * count)
}
const pick = (list) => list[random(list.length)]

/** A file of random lines, with everything that can stand at their ends. */
function randomText() {
  const words = ['a', 'word', 'é', '漢字', '\u{1F600}', ' ', '\t', 'x'.repeat(50), '\u2028', '"', '\\']
  const lines = Array.from({ length: random(40) }, () => Array.from({ length: random(12) }, () => pick(words)).join(''))
  return `${pick(['', '\ufeff'])}${lines.map((line) => line + pick(['\n', '\r\n', '\n\n'])).join('')}${pick(['', 'no end'])}`
}

/** The same as rows of JSON. */
function randomJson() {
  const rows = randomText()
    .split('\n')
    .map((text, row) =>
      JSON.stringify(
        pick([
          { text, id: row },
          { id: `r${row}`, text },
          { id: row, n: { a: [1, '}'] }, text },
        ]),
      ),
    )
  return pick(['', '\ufeff']) + rows.map((row) => row + pick(['\n', '\r\n', '\n \t\n'])).join('')
}

/** All documents of a plan, shard after shard. */
async function documentsOfPlan(inputs, content) {
  const shards = new Map()
  for await (const part of planParts({ inputs, content })) {
    if (!shards.has(part.shard)) shards.set(part.shard, [])
    shards.get(part.shard).push(part)
  }
  const hooks = {
    onRead: () => {},
    onSkip: (place, failure) => {
      throw new Error(`${JSON.stringify(place)}: ${failure.message}`)
    },
  }
  const found = []
  for (const parts of shards.values()) {
    for await (const batch of documentsOf(parts, undefined, content, hooks)) {
      for (let index = 0; index < batch.length; index++) {
        const { id, path: file, at: position } = batch.about(index)
        const text = Buffer.from(batch.text(index)).toString()
        found.push({ text, id, file: path.basename(file), position })
      }
      batch.release()
    }
  }
  return { found, shards: shards.size }
}

test('any cut of files at record ends gives the same documents', { timeout: 900_000 }, async () => {
  let most = 0
  for (let round = 0; round < 30; round++) {
    const folder = at(`cut-${round}`)
    fs.mkdirSync(folder)
    const isJson = round % 2 === 0
    for (let file = 0; file <= random(3); file++)
      fs.writeFileSync(
        path.join(folder, isJson ? `${file}.jsonl` : `${file}.txt`),
        isJson ? randomJson() : randomText(),
      )
    const content = (shardSize) => checkContent({ shardSize, ...(isJson && { idField: 'id', format: 'npy' }) })
    const whole = await documentsOfPlan([folder], content(2 ** 40))
    for (const size of [1, 1 + random(20), 1 + random(400)]) {
      const cut = await documentsOfPlan([folder], content(size))
      most = Math.max(most, cut.shards)
      assert.deepEqual(cut.found, whole.found, `round ${round}, shards of ${size} bytes`)
    }
  }
  assert.ok(most > 30, `${most} shards`)
})

test('any shard size of a Parquet file gives the same documents', async () => {
  const rows = documents(230, 3)
  const columnData = [
    { name: 'text', data: rows.map(({ text }) => text), type: /** @type {const} */ ('STRING') },
    { name: 'id', data: rows.map(({ id }) => id), type: /** @type {const} */ ('STRING') },
  ]
  for (const rowGroupSize of [1, 7, 100, 1000]) {
    fs.writeFileSync(at('cut.parquet'), Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize, pageSize: 1000 })))
    for (const size of [1, 5000, 2 ** 40]) {
      const { found } = await documentsOfPlan(
        [at('cut.parquet')],
        checkContent({ shardSize: size, idField: 'id', format: 'npy' }),
      )
      assert.deepEqual(
        found.map(({ text, id }) => ({ id, text })),
        rows,
      )
    }
  }
})

const EOS = 50256
const good = documents(400, 8)
/** Rows that fail stand among them. */
const bad = [{ text: 'a <|endoftext|> b' }, { text: 7 }, { texts: 'x' }]

function writeInputs() {
  fs.mkdirSync(at('mixed'), { recursive: true })
  const lines = jsonl(good.slice(0, 200)).split('\n')
  lines.splice(50, 0, ...bad.map((row) => JSON.stringify(row)), '{"text": "cut')
  fs.writeFileSync(at('mixed', 'a.jsonl'), lines.join('\n'))
  const column = good.slice(200).map(({ text }) => text)
  const ids = good.slice(200).map(({ id }) => id)
  fs.writeFileSync(
    at('mixed', 'b.parquet'),
    Buffer.from(
      parquetWriteBuffer({
        columnData: [
          { name: 'id', data: ['null', ...ids], type: 'STRING' },
          { name: 'text', data: [null, ...column], type: 'STRING' },
        ],
        rowGroupSize: 30,
      }),
    ),
  )
}

const JOB = {
  ...{ inputs: at('mixed'), tokenizer: 'r50k_base', specialTokens: /** @type {const} */ ('throw') },
  ...{ shardSize: 40_000, eos: true, pack: 128, shuffle: 9, maxTokens: 100, onError: /** @type {const} */ ('skip') },
}

/** The tokens of each document, whatever their order. */
async function expectedDocuments() {
  const tokenizer = await Tokenizer.fromEncoding('r50k_base')
  return good
    .map(({ text }) => [...tokenizer.encode(text, { addSpecialTokens: false }).ids.slice(0, 99)])
    .filter((ids) => ids.length > 0)
    .map((ids) => [...ids, EOS].join(' '))
    .sort()
}

test('--pack, --shuffle, --eos, --max-tokens and --on-error skip with JSON Lines and Parquet', async () => {
  writeInputs()
  const expected = await expectedDocuments()
  const result = await tokenizeCorpus({ ...JOB, output: at('alone') })
  assert.equal(result.skipped, bad.length + 2)
  const found = []
  for (const stem of stems(at('alone'))) {
    const { rows } = readMegatron(at('alone', stem))
    assert.ok(rows.slice(0, -1).every((row) => row.length === 128))
    const tokens = rows.flat()
    const starts = readNpy(at('alone', `${stem}.docs.npy`)).values
    for (let index = 0; index + 1 < starts.length; index++)
      found.push(tokens.slice(starts[index], starts[index + 1]).join(' '))
  }
  assert.deepEqual(found.sort(), expected)
  const counted = await tokenizeCorpus({ ...JOB, dryRun: true })
  for (const name of ['documents', 'tokens', 'textBytes', 'empty', 'truncated', 'cutTokens', 'skipped', 'shards'])
    assert.equal(counted[name], result[name], name)
  for (const how of [{ concurrency: 1, threads: 1 }, { concurrency: 6 }]) {
    const again = at(`again-${how.concurrency}`)
    await tokenizeCorpus({ ...JOB, ...how, output: again })
    assert.deepEqual(hashes(again), hashes(at('alone')))
  }
})

test('the same on a queue has the same bytes, in every format', { skip: missing, timeout: 120_000 }, async () => {
  const redis = await TestRedis.start()
  try {
    const queue = { queue: redis.url, queueName: 'combinations' }
    const workers = await Promise.all([1, 2].map(() => createWorker({ ...queue, allow: at(), concurrency: 2 })))
    for (const format of FORMATS.filter((format) => format !== 'llmc')) {
      const options = { ...JOB, format }
      await tokenizeCorpus({ ...options, output: at(`one-${format}`) })
      await tokenizeCorpus({ ...options, ...queue, output: at(`queue-${format}`) })
      assert.deepEqual(hashes(at(`queue-${format}`)), hashes(at(`one-${format}`)), format)
      assert.equal((await verifyCorpus(at(`queue-${format}`))).isWhole, true)
    }
    await Promise.all(workers.map((worker) => worker.close()))
  } finally {
    await redis.end()
  }
})
