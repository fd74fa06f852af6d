// Jobs that count words, from which a tokenizer is trained. A shard becomes a sorted file of words
// with their counts (crates/train/src/count/mod.rs has its format). Instead of a tokenizer, such a
// job has base.json: the parts of a tokenizer.json that cut texts into words.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

import { fileFailure, inScratch } from 'tokenlane/internal/files.mjs'
import { native, enqueue } from 'tokenlane/internal/corpus.js'
import { countDocuments, defaultMemory } from './count-words.mjs'
import { damaged } from './errors.mjs'
import { BASE } from './layout.mjs'
import { pipelined } from './pipelined.mjs'
import { recordName, recordsOf } from './record.mjs'
import { writeShardFiles } from './output-files.mjs'
import { isAddress } from './store/address.mjs'

/** Maximum size in bytes of a base.json. */
const MAX_BASE_BYTES = 64 << 20
/** Number of bytes of a file of words that are copied at once. */
const COPY_BYTES = 1 << 20

/** What a job says of its base, in place of a tokenizer. */
export const sourceOfBase = (base) => ({
  name: BASE,
  kind: /** @type {const} */ ('base'),
  sha256: createHash('sha256').update(base).digest('hex'),
})

/**
 * Writes the base of a job, unless it is there.
 *
 * @param {import('./store/types.js').Store} store
 * @param {string} base
 */
export async function writeBase(store, base) {
  const found = await store.hashOf(BASE)
  if (found?.sha256 !== sourceOfBase(base).sha256) await store.writeWhole(BASE, base)
}

/**
 * Reads the base of a job.
 *
 * @param {import('./store/types.js').Store} store
 * @param {string} sha256 from job.json
 */
export async function readBase(store, sha256) {
  const base = (await store.readText(BASE, MAX_BASE_BYTES)) ?? ''
  if (sourceOfBase(base).sha256 === sha256) return Buffer.from(base)
  throw damaged(`${store.where(BASE)} is missing or was changed: run the job again`)
}

/**
 * Counts the words of a shard and writes its file.
 *
 * @param {number} shard
 * @param {AsyncIterable<import('./document-batch.mjs').DocumentBatch>} batches
 * @param {{ base?: Buffer, content: import('./options.mjs').Content, store?:
 *   import('./store/types.js').Store, memory?: import('./document-reader.mjs').RowMemory,
 *   tableMemory?: number, scratch?: string, shards?: () => number }} context
 * @param {{ stats: import('./stats.mjs').Stats, onSkip: (place:
 *   import('./document-batch.mjs').Place, failure: any) => void }} hooks
 */
export function writeWords(shard, batches, context, { stats, onSkip }) {
  const { base, content, store, memory, tableMemory, scratch, shards } = context
  const options = { isSkipping: content.onError === 'skip', onSkip }
  return inScratch(
    'train',
    async (folder) => {
      const training = native.training(base, tableMemory ?? defaultMemory(), folder)
      const count = async (batch) => {
        const { length, bytes, isLarge } = batch
        await countDocuments(training, batch, options)
        stats.documents += length
        stats.textBytes += bytes
        if (isLarge) memory?.release()
      }
      for await (const _ of pipelined(batches, count, shards));
      const words = path.join(folder, 'words')
      await enqueue((entry) => native.writeWords(entry, training, words))
      return writeShardFiles(store, shard, content, async (file) => {
        for await (const chunk of fs.createReadStream(words, { highWaterMark: COPY_BYTES })) await file.write(chunk)
      })
    },
    scratch,
  )
}

/**
 * The files of words of a finished job, as paths on this machine. Those in S3 are copied to
 * `folder`.
 *
 * @param {import('./store/types.js').Store} store
 * @param {any} job the content of job.json
 * @param {string} folder
 */
export async function wordFiles(store, job, folder) {
  const paths = []
  for await (const record of recordsOf(store, job.plan.shards)) {
    if (record?.job !== job.id) throw damaged(`${store.where(recordName(paths.length))} is missing: run the job again`)
    const [{ name, bytes }] = record.files
    paths.push(isAddress(store.place) ? await copied(store, name, bytes, folder) : store.where(name))
  }
  return paths
}

async function copied(store, name, bytes, folder) {
  const copy = path.join(folder, name)
  const handle = await fs.promises.open(copy, 'wx')
  try {
    for (let from = 0; from < bytes; from += COPY_BYTES)
      await handle.writeFile(await store.readRange(name, from, Math.min(bytes, from + COPY_BYTES)))
  } catch (failure) {
    throw failure.syscall === undefined ? failure : fileFailure(copy, failure)
  } finally {
    await handle.close()
  }
  return copy
}
