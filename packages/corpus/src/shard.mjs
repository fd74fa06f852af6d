// Processes one shard: reads the documents of its parts and writes its files. The bytes of the
// files depend only on the inputs, the tokenizer and the options. The record is written last, so a
// shard without a record is not done.

import { createHash } from 'node:crypto'

import { isOfRow, Failure, bareCode } from 'tokenlane/internal/files.mjs'
import { chatsOf } from './chats.mjs'
import { Damage, DamagedPart } from './damage.mjs'
import { documentsOf, isOfInput, lookForDamage, placeOf } from './documents.mjs'
import { Encoder } from './encode.mjs'
import { inputChanged } from './errors.mjs'
import { intactRecord, stemOf, writeRecord } from './record.mjs'
import { writeShardFiles } from './output-files.mjs'
import { Stats } from './stats.mjs'
import { openInput } from './store/store.mjs'
import { viewOf } from './tokens.mjs'
import { writeWords } from './words.mjs'

/**
 * @typedef {object} ShardJob
 * @property {number} shard the number in the names of its files
 * @property {import('./part.mjs').Part[]} parts
 * @property {string} job the id of the job
 * @property {string} [base] the folder that paths are relative to. Default: the current folder
 * @property {'sha256' | 'size'} [check] how the files of an earlier run are compared with their
 *   record. Default: 'sha256'
 * @property {boolean} [trustsInputs] whether the inputs of a shard that is done are not compared
 */

/**
 * @typedef {object} Context the values that all shards of a job share
 * @property {import('tokenlane').Tokenizer} [tokenizer]
 * @property {Buffer} [base] what cuts texts into words, if the job counts words
 * @property {import('./options.mjs').Content} content
 * @property {{ bos?: number, eos?: number }} ids
 * @property {import('./hooks.mjs').Hooks} [hooks]
 * @property {import('./store/types.js').Store} [store] `undefined` for a dry run
 * @property {import('./store/allowed.mjs').Allowed} [allowed] what a worker may read
 * @property {number} [threads]
 * @property {import('./document-reader.mjs').RowMemory} [memory] the memory for large rows;
 *   `undefined` if it is not limited
 * @property {number} [tableMemory] bytes for tables of words
 * @property {string} [scratch] the folder for files of tables
 * @property {() => number} [shards] the number of shards that the process works on now
 * @property {(progress: { documents: number, tokens: number, bytes: number }) => void} onProgress
 */

/**
 * Processes a shard.
 *
 * @param {ShardJob} request
 * @param {Context} context
 * @returns {Promise<object>} its record
 */
export async function doShard(request, context) {
  const damage = new Damage()
  try {
    return await tryShard(request, context, damage)
  } catch (failure) {
    if (!(failure instanceof DamagedPart)) throw failure
    const { base, parts } = request
    await lookForDamage(parts, { base, allowed: context.allowed }, context.content, damage)
    return await tryShard(request, context, damage)
  }
}

/**
 * Processes a shard without what is known to be damaged.
 *
 * @param {ShardJob} request
 * @param {Context} context
 * @param {Damage} damage
 */
async function tryShard({ shard, parts, job, base }, context, damage) {
  const { content, hooks: custom, store, allowed, memory, onProgress } = context
  const origin = { base, allowed }
  const started = Date.now()
  const stats = new Stats()
  const input = createHash('sha256')
  /** @type {number[]} */
  const mtimes = []
  let bytes = 0
  let isDamaged = false
  const report = () => {
    onProgress({ documents: stats.documents, tokens: stats.tokens, bytes })
  }
  const hooks = {
    onOpen: (mtime) => mtimes.push(mtime),
    onRead: (chunk, count = chunk.length) => {
      input.update(chunk)
      bytes += count
      report()
    },
    onSkip: (place, failure) => {
      if (content.onError === 'fail' || !isOfRow(failure)) throw atPlace(place, failure)
      stats.skip(place, failure)
    },
    custom,
    onCount: (counter) => {
      stats[counter] += 1
    },
    skippedRows: () => stats.skipped.rows,
    damage,
    onDamage: () => {
      isDamaged = true
    },
    memory,
    chats: context.tokenizer && chatsOf(context.tokenizer, content),
  }
  const batches = documentsOf(parts, origin, content, hooks)
  const make = context.base === undefined ? encodeShard : writeWords
  const { files, packing } = await make(shard, batches, context, { parts, stats, onSkip: hooks.onSkip })
  report()
  const sha256 = isDamaged ? await hashOfInputs(parts, origin, content) : input.digest('hex')
  const facts = {
    shard,
    planned: parts[0].shard,
    job,
    files,
    packing,
    ...stats.toJSON(),
    input: { bytes, sha256, mtimes: hashOfTimes(mtimes) },
  }
  return writeRecord(store, facts, started)
}

/** Encodes the documents of a shard and writes their tokens, or only counts them. */
async function encodeShard(shard, batches, context, { parts, stats, onSkip }) {
  const { tokenizer, content, ids, store, threads, memory, shards } = context
  const encoder = new Encoder(tokenizer, content, ids, stats, { threads, memory, shards })
  if (store !== undefined) return writeFiles(shard, parts, { encoder, batches, content, store, onSkip })
  await encoder.count(batches, onSkip)
  return { files: [], packing: undefined }
}

/** Writes the files of a shard. */
const writeFiles = (shard, parts, { encoder, batches, content, store, onSkip }) =>
  writeShardFiles(store, shard, content, async (inOrder, { scratch, written }) => {
    let writer = inOrder
    if (content.shuffle !== undefined) {
      const bytes = parts.reduce((sum, { start, end }) => sum + end - start, 0)
      const seed = `documents ${content.shuffle} ${parts[0].shard}`
      const { ShuffleWriter } = await import('./shuffle.mjs')
      writer = await ShuffleWriter.create(inOrder, { seed, bytes, View: viewOf(content), create: scratch })
    }
    for await (const block of encoder.blocks(batches, onSkip)) {
      await writer.write(block)
      // The memory of a large block is released before the next row is read.
      if (block.isLarge) await written()
    }
    await writer.finish()
  })

/** The error with the place of its row in the message. */
function atPlace(place, failure) {
  // A fault of this package keeps its stack.
  if (failure.code === undefined) return failure
  return new Failure(bareCode(failure), `${placeOf(place)}: ${failure.message}`, { cause: failure })
}

/**
 * The record of a shard that is done; `undefined` if a file is missing or differs from the record,
 * so that the shard has to be processed again.
 *
 * @param {ShardJob} request
 * @param {{ store: import('./store/types.js').Store, allowed?:
 *   import('./store/allowed.mjs').Allowed, content: import('./options.mjs').Content }} context
 * @throws if an input has changed since the shard was done
 */
export async function doneRecord(request, { store, allowed, content }) {
  const { shard, parts, job, base, check = 'sha256', trustsInputs } = request
  const record = await intactRecord(store, shard, job, check)
  if (record !== undefined && !trustsInputs) await checkInputs(record, parts, { base, allowed }, content)
  return record
}

const hashOfTimes = (mtimes) => createHash('sha256').update(JSON.stringify(mtimes)).digest('hex')

/**
 * Throws if the inputs of a shard have changed. They are read again if the time of the last change
 * of one of them is not the recorded one, even if it is older: copies keep the time of their
 * original. They are also read again if one was written to after the shard was started, because
 * some disks have times in whole seconds.
 */
async function checkInputs(record, parts, origin, content) {
  const started = Date.parse(record.started)
  const mtimes = []
  for (const part of parts) mtimes.push(await withInput(part, origin, async ({ mtime }) => mtime))
  const isSame = record.input.mtimes === undefined || record.input.mtimes === hashOfTimes(mtimes)
  if (isSame && mtimes.every((mtime) => mtime < started)) return
  const sha256 = await hashOfInputs(parts, origin, content)
  if (sha256 === record.input.sha256) return
  const names = parts.length === 1 ? parts[0].path : `${parts[0].path} or another input of ${stemOf(record.shard)}`
  throw inputChanged(names, `the SHA-256 of what was read was ${record.input.sha256} and is ${sha256}`)
}

/**
 * The SHA-256 of the inputs of a shard, in the order in which `documentsOf` reads them. Damaged
 * inputs are hashed to their end.
 */
async function hashOfInputs(parts, origin, content) {
  const hash = createHash('sha256')
  const onRead = (chunk) => hash.update(chunk)
  for (const part of parts) {
    await withInput(part, origin, async (input) => {
      if (part.rows === 'parquet') {
        const { hashTable } = await import('./table.mjs')
        try {
          return await hashTable(part, input, content, onRead)
        } catch (failure) {
          if (!isOfInput(failure, part)) throw failure
        }
      }
      for await (const chunk of input.chunks(part.start, part.end)) onRead(chunk)
    })
  }
  return hash.digest('hex')
}

async function withInput({ path: file, start }, origin, work) {
  const input = await openInput(file, origin, start)
  try {
    return await work(input)
  } finally {
    await input.close()
  }
}
