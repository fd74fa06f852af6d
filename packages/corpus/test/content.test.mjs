// What corpus jobs write has the documents that went in, each once, with its id and its loss mask:
// with internal sizes of 4, so that small inputs reach the second unit of each module. The same
// with the real sizes: content-real.test.mjs.

import { test } from 'node:test'

import { FORMATS } from '../src/formats/names.mjs'
import { SIZES } from '../src/sizes.mjs'
import { scratch } from '../../../__test__/support/corpus.mjs'
import {
  checkCopied,
  checkMerge,
  checkShard,
  checkShuffle,
  contentOf,
  tokenDocuments,
  viewFor,
  writeShard,
} from './support/shards.mjs'

const at = scratch()
const SMALL = /** @type {typeof SIZES} */ (Object.fromEntries(Object.keys(SIZES).map((name) => [name, 4])))
/** Small sizes with a window in which rows wait, and row groups of several rows. */
const KEEPING = { ...SMALL, packingWindow: 64, packedBlock: 24, groupIds: 64 }
/** A window of many rows. */
const WIDE = { ...KEEPING, packingWindow: 1024 }
let folders = 0
const folder = () => at(`shard-${(folders += 1)}`)

for (const format of FORMATS)
  test(`${format}: small units`, async () => {
    const isSlow = ['mds', 'parquet'].includes(format)
    for (const messages of [undefined, 'messages']) {
      const documents = tokenDocuments(isSlow ? 300 : 1500, 17, { hasMask: messages !== undefined })
      const packs =
        format === 'llmc'
          ? [{}]
          : [{}, { pack: 7 }, { pack: 7, packing: 'best-fit' }, { pack: 40, packing: 'best-fit' }]
      for (const how of packs)
        for (const sizes of how.packing === undefined ? [SMALL, KEEPING] : [SMALL, KEEPING, ...(isSlow ? [] : [WIDE])])
          for (const [perBlock, piece] of [
            [1, 5],
            [1000, 1000],
          ]) {
            const content = contentOf(format, { ...how, ...(messages && { messages }) })
            const { stem } = await writeShard(folder(), content, {
              documents,
              View: viewFor(content),
              sizes,
              perBlock,
              piece,
            })
            await checkShard(stem, content, documents)
          }
    }
  })

test('a shuffle keeps every document, with buckets and blocks of any size', async () => {
  for (const shuffledBlock of [4, 16, 64])
    for (const bytes of [1, 1000])
      await checkShuffle(folder, tokenDocuments(2000, 17), { sizes: { ...SMALL, shuffledBlock }, bytes })
})

const MERGED = {
  'of one document each': SMALL,
  'of some documents each': { ...SMALL, mergedBlock: 64, scatteredSlice: 128 },
}
for (const [name, sizes] of Object.entries(MERGED))
  test(`a merge keeps every document: in order, cut, shuffled and without duplicates; units ${name}`, () =>
    checkMerge(folder, tokenDocuments(900, 12), sizes))

test('tokens that are copied out of a batch: every document with what is before and after it', () =>
  checkCopied(tokenDocuments(300, 11), 4))
