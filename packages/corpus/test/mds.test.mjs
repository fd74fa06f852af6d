// @tokenlane/corpus: the format of MosaicML's streaming.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { mergeCorpora, openTokens, tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { MdsWriter } from '../src/formats/mds.mjs'
import { checkContent } from '../src/options.mjs'
import { hashes, jsonl, readMds, scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { jobsIn } from './support/corpus-jobs.mjs'
import { parseJsonLines } from '../../../__test__/support/json-lines.mjs'
import { TestS3 } from './support/s3.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
writeCorpus(at('data'))
// An array of more than 65,535 numbers, and a shard without tokens.
fs.writeFileSync(at('data', 'q-long.jsonl'), jsonl([{ id: 'é,long', text: ' word'.repeat(70_000) }]))
fs.writeFileSync(at('data', 'r-empty.jsonl'), jsonl(Array(2000).fill({ id: 'none', text: '' })))
const BASE = {
  inputs: at('data'),
  tokenizer: 'r50k_base',
  shardSize: 20_000,
  eos: true,
  format: 'mds',
  idField: 'id',
  concurrency: 1,
}
const PACK = 300
const run = jobsIn(at, BASE)

const lines = await run({ format: 'jsonl' })
/** The documents: `{ id, ids }`. */
const documents = lines.names.flatMap((name) => parseJsonLines(fs.readFileSync(`${name}.jsonl`, 'utf8')))
const indexOf = (output) => fs.readFileSync(path.join(output, 'index.json'), 'utf8')

/** The parts of documents in packed rows. */
const partsOf = (samples) =>
  samples.flatMap(({ cu_seqlens: ends, documents: ids, tokens }) => {
    assert.deepEqual([ends[0], ends.at(-1), ids.length], [0, tokens.length, ends.length - 1])
    return ids.map((id, part) => ({ id, ids: tokens.slice(ends[part], ends[part + 1]) }))
  })

test('mds: a sample per document, with its id, in u16 and u32', async () => {
  for (const [type, encoding] of [
    ['u16', 'ndarray:uint16'],
    ['u32', 'ndarray:int32'],
  ]) {
    const { output, result } = await run({ type })
    const samples = readMds(output)
    assert.deepEqual(
      samples,
      documents.map(({ id, ids }) => ({ id, tokens: ids })),
    )
    assert.equal(samples.length, result.documents)
    const { shards } = JSON.parse(indexOf(output))
    assert.deepEqual(
      [shards[0].column_names, shards[0].column_encodings],
      [
        ['id', 'tokens'],
        ['str', encoding],
      ],
    )
    assert.ok(shards.length < result.shards, 'the shard without documents is left out')
    assert.equal((await verifyCorpus(output)).isWhole, true)
  }
  const [sample] = readMds((await run({ idField: undefined })).output)
  assert.deepEqual(sample, { tokens: documents[0].ids })
})

test('mds: packed rows have the ends of documents and their ids', async () => {
  const { output } = await run({ pack: PACK })
  const rows = readMds(output)
  const lengths = rows.map(({ tokens }) => tokens.length)
  assert.ok(lengths.filter((length) => length < PACK).length <= lines.names.length)
  const whole = []
  for (const { id, ids } of partsOf(rows)) {
    if (whole.at(-1)?.id === id) whole.at(-1).ids.push(...ids)
    else whole.push({ id, ids: [...ids] })
  }
  assert.deepEqual(whole, documents)

  const best = await run({ pack: PACK, packing: 'best-fit' })
  const fitted = readMds(best.output)
  assert.equal(fitted.length, best.result.rows)
  assert.ok(fitted.every(({ tokens }) => tokens.length <= PACK))
  const pieces = documents.flatMap(({ id, ids }) =>
    Array.from({ length: Math.ceil(ids.length / PACK) }, (_, piece) => ({
      id,
      ids: ids.slice(piece * PACK, (piece + 1) * PACK),
    })),
  )
  const sorted = (parts) => parts.map((part) => JSON.stringify(part)).sort()
  assert.deepEqual(sorted(partsOf(fitted)), sorted(pieces))
  const { shards } = JSON.parse(indexOf((await run({ pack: PACK, idField: undefined })).output))
  assert.deepEqual(shards[0].column_names, ['cu_seqlens', 'tokens'])
})

test('mds: a run that goes on, threads, a shuffle and appended files give the bytes of one run', async () => {
  const first = await run({ shuffle: 3 })
  const [whole, index] = [hashes(first.output), indexOf(first.output)]
  fs.rmSync(path.join(first.output, 'index.json'))
  fs.rmSync(path.join(first.output, 'shard-00000002.json'))
  fs.truncateSync(path.join(first.output, 'shard-00000003.mds'), 100)
  const { listed } = await verifyCorpus(first.output)
  assert.ok(listed.some(({ file, problem }) => file === 'index.json' && /missing/.test(problem)))
  await tokenizeCorpus({ ...BASE, shuffle: 3, output: first.output, concurrency: 2, threads: 1 })
  assert.deepEqual([hashes(first.output), indexOf(first.output)], [whole, index])
  fs.writeFileSync(path.join(first.output, 'index.json'), index.replace('"samples": ', '"samples": 1'))
  assert.deepEqual((await verifyCorpus(first.output)).listed, [
    { file: 'index.json', problem: 'it is not that of the records' },
  ])

  const grown = await run({})
  fs.writeFileSync(at('more.jsonl'), jsonl([{ id: 'more', text: 'one more' }]))
  await tokenizeCorpus({ ...BASE, inputs: at('more.jsonl'), output: grown.output, append: true })
  const samples = readMds(grown.output)
  assert.equal(samples.length, documents.length + 1)
  assert.equal(samples.at(-1).id, 'more')
  assert.equal((await verifyCorpus(grown.output)).isWhole, true)
})

test('mds: objects in S3 are the files of a disk', async () => {
  const { output } = await run({ pack: PACK })
  const s3 = await TestS3.start(['lake'])
  Object.assign(process.env, s3.env)
  try {
    await tokenizeCorpus({ ...BASE, pack: PACK, output: 's3://lake/tokens' })
    for (const name of ['index.json', ...Object.keys(hashes(output))])
      assert.ok(s3.get(`lake/tokens/${name}`).equals(fs.readFileSync(path.join(output, name))), name)
    assert.equal((await verifyCorpus('s3://lake/tokens')).isWhole, true)
  } finally {
    await s3.stop()
  }
})

test('mds: the output of a merge, and not an input', async () => {
  const arrays = await run({ format: 'npy' })
  const options = { inputs: [arrays.output], format: 'mds', tokensPerFile: 20_000 }
  await mergeCorpora({ ...options, output: at('joined') })
  assert.deepEqual(
    readMds(at('joined')),
    documents.map(({ id, ids }) => ({ id, tokens: ids })),
  )
  assert.equal((await verifyCorpus(at('joined'))).isWhole, true)
  await mergeCorpora({ ...options, output: at('shuffled'), shuffle: 1, pack: PACK })
  const tokens = (samples) => samples.reduce((sum, one) => sum + one.tokens.length, 0)
  assert.equal(tokens(readMds(at('shuffled'))), tokens(readMds(at('joined'))))
  for (const read of [
    () => openTokens(at('joined')),
    () => mergeCorpora({ inputs: [at('joined')], output: at('no') }),
  ]) {
    const error = await failure(read)
    assert.equal(error.code, 'ERR_TOKENLANE_UNSUPPORTED')
    assert.match(error.message, /has the format mds: only megatron, npy and bin/)
  }
})

test('mds: a row or a file that is too large is an error', async () => {
  const discard = {
    appendOnly: () => discard,
    write: async () => {},
    writeNumbers: async () => {},
    written: async () => {},
  }
  const writerOf = (options) =>
    MdsWriter.create(
      checkContent({ format: 'mds', type: 'u32', ...options }),
      async () => discard,
      async () => discard,
    )
  const piece = new Uint32Array(1 << 18)
  /** A document of some pieces. */
  const block = (pieces) => ({
    tokens: { documents: () => [Array(pieces).fill(piece)] },
    lengths: Uint32Array.of(pieces * piece.length),
    documents: [{ path: 'p', at: 0 }],
  })
  const long = await failure(async () => (await writerOf({})).write(block(257)))
  assert.equal(long.code, 'ERR_TOKENLANE_UNSUPPORTED')
  assert.match(long.message, /a row of MDS has at most 67108864 ids/)
  const many = await failure(async () => (await writerOf({ pack: piece.length })).write(block(4097)))
  assert.equal(many.code, 'ERR_TOKENLANE_ARGUMENT_VALUE')
  assert.match(many.message, /choose smaller shards/)
})
