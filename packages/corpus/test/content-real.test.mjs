// What corpus jobs write has the documents that went in, with the real internal sizes: more than
// one packing window, chunk of masks, row group, block of a shuffle and of a merge. The same with
// sizes of 4: content.test.mjs.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { SIZES } from '../src/sizes.mjs'
import { scratch } from '../../../__test__/support/corpus.mjs'
import {
  checkCopied,
  checkMerge,
  checkShard,
  checkShuffle,
  contentOf,
  tokenDocuments,
  writeShard,
} from './support/shards.mjs'

const at = scratch()
let folders = 0
const folder = () => at(`shard-${(folders += 1)}`)

test('best fit: real windows, of which three are filled', async () => {
  const documents = tokenDocuments(2.5 * SIZES.packingWindow, 3000)
  for (const format of ['npy', 'megatron']) {
    const content = contentOf(format, { pack: 2048, packing: 'best-fit' })
    const { stem, packing } = await writeShard(folder(), content, {
      documents,
      View: Uint16Array,
      perBlock: 500,
      piece: 4096,
    })
    await checkShard(stem, content, documents)
    const tokens = documents.reduce((sum, one) => sum + one.tokens.length, 0)
    assert.equal(packing.padding, packing.rows * 2048 - tokens)
    assert.equal(packing.cutDocuments, documents.filter((one) => one.tokens.length > 2048).length)
  }
})

test('masks and indexes: more than a real unit of each', async () => {
  const long = tokenDocuments(2.5 * SIZES.piece, 2 * SIZES.piece, { hasMask: true })
  const many = tokenDocuments(1.3 * SIZES.indexEntries, 1, { hasMask: true })
  for (const documents of [long, many])
    for (const format of documents === long ? ['megatron', 'npy'] : ['megatron', 'mds', 'jsonl']) {
      const content = contentOf(format, { messages: 'messages' })
      const { stem } = await writeShard(folder(), content, {
        documents,
        View: Uint32Array,
        perBlock: 30_000,
        piece: SIZES.piece,
      })
      await checkShard(stem, content, documents)
    }
})

test('Parquet: more than a real row group', async () => {
  for (const documents of [tokenDocuments(2.2 * SIZES.groupIds, 5000), tokenDocuments(1.2 * SIZES.groupRows, 1)]) {
    const content = contentOf('parquet', {})
    const { stem } = await writeShard(folder(), content, { documents, View: Uint32Array, perBlock: 4000, piece: 4096 })
    await checkShard(stem, content, documents)
  }
})

test('a shuffle keeps every document: buckets, blocks, and documents that are larger than a block', async () => {
  const large = tokenDocuments(300, 40)
  large.push({ id: 'huge', tokens: Array.from({ length: 3 * 2 ** 20 }, (_, token) => token % 50_000) })
  await checkShuffle(folder, large, { sizes: SIZES, bytes: 1000 })
  await checkShuffle(folder, tokenDocuments(5 * 2 ** 20, 60_000), { sizes: SIZES, bytes: 5 * SIZES.bucketBytes })
})

test('a merge keeps every document: in order, cut, shuffled and without duplicates', () =>
  checkMerge(folder, tokenDocuments(2 * SIZES.mergedBlock, 50_000), SIZES))

test('tokens that are copied out of a batch', () =>
  checkCopied(tokenDocuments(2.5 * SIZES.piece, 1.2 * SIZES.piece), SIZES.piece))
