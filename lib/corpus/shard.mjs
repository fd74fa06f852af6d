// One shard, from its part of the plan to files with their final names. The bytes of the files
// depend on the inputs, the tokenizer and the options alone. The record is written last: a shard
// without one is not done.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { Failure, fileFailure } from '../files/failure.mjs'
import { documentsOf, placeOf } from './documents.mjs'
import { Encoder, viewOf } from './encode.mjs'
import { inputChanged } from './errors.mjs'
import { writerOf } from './formats/formats.mjs'
import { Input } from './inputs.mjs'
import { PartFile, hashOf, syncFolder, writeWhole } from './part-file.mjs'
import { ShuffleWriter } from './shuffle.mjs'
import { Stats } from './stats.mjs'

const DIGITS = 8

/** The names of a shard's files without their ends. */
export const stemOf = (shard) => `shard-${String(shard).padStart(DIGITS, '0')}`

/** The record of a shard. */
export const recordFile = (output, shard) => path.join(output, `${stemOf(shard)}.json`)

/**
 * @typedef {object} ShardJob
 * @property {number} shard the number in the names of its files
 * @property {import('./plan.mjs').Part[]} parts
 * @property {string} job the id of the job
 * @property {string} [base] the folder that paths are relative to; nothing for the current one
 */

/**
 * @typedef {object} Context what all shards of a job share
 * @property {import('../../index.js').Tokenizer} tokenizer
 * @property {import('./options.mjs').Content} content
 * @property {{ bos?: number, eos?: number }} ids
 * @property {string} [output] nothing for a dry run
 * @property {number} [threads]
 * @property {(progress: { documents: number, tokens: number, bytes: number }) => void} onProgress
 */

/**
 * Does a shard.
 *
 * @param {ShardJob} request
 * @param {Context} context
 * @returns {Promise<object>} its record
 */
export async function doShard({ shard, parts, job, base }, { tokenizer, content, ids, output, threads, onProgress }) {
  const started = Date.now()
  const stats = new Stats()
  const input = createHash('sha256')
  let bytes = 0
  const report = () => {
    onProgress({ documents: stats.documents, tokens: stats.tokens, bytes })
  }
  const hooks = {
    onRead: (chunk) => {
      input.update(chunk)
      bytes += chunk.length
      report()
    },
    onSkip: (place, failure) => {
      if (content.onError === 'fail') throw atPlace(place, failure)
      stats.skip(place, failure)
    },
  }
  const encoder = new Encoder(tokenizer, content, ids, stats, threads)
  const batches = documentsOf(parts, base, content, hooks)
  const files =
    output === undefined
      ? []
      : await writeFiles(shard, parts, { encoder, batches, content, output, onSkip: hooks.onSkip })
  if (output === undefined) await encoder.count(batches, hooks.onSkip)
  report()
  const record = {
    shard,
    planned: parts[0].shard,
    job,
    files,
    ...stats.toJSON(),
    input: { bytes, sha256: input.digest('hex') },
    host: os.hostname(),
    started: new Date(started).toISOString(),
    seconds: (Date.now() - started) / 1000,
  }
  if (output !== undefined) await writeWhole(recordFile(output, shard), `${JSON.stringify(record)}\n`)
  return record
}

/** Writes the files of a shard and gives them their names. */
async function writeFiles(shard, parts, { encoder, batches, content, output, onSkip }) {
  /** @type {PartFile[]} */
  const files = []
  /** @type {PartFile[]} */
  const scratch = []
  const create = async (list, suffix) => {
    const file = await PartFile.create(path.join(output, `${stemOf(shard)}${suffix}`))
    list.push(file)
    return file
  }
  try {
    let writer = await writerOf(content, (suffix) => create(files, suffix))
    if (content.shuffle !== undefined) {
      const bytes = parts.reduce((sum, { start, end }) => sum + end - start, 0)
      const seed = `documents ${content.shuffle} ${parts[0].shard}`
      writer = await ShuffleWriter.create(writer, {
        seed,
        bytes,
        View: viewOf(content),
        create: (suffix) => create(scratch, suffix),
      })
    }
    for await (const block of encoder.blocks(batches, onSkip)) await writer.write(block)
    await writer.finish()
    const written = []
    for (const file of files) written.push(await file.complete())
    for (const file of files) await file.rename()
    await syncFolder(output)
    return written
  } catch (failure) {
    await Promise.all(files.map((file) => file.discard()))
    throw failure
  } finally {
    await Promise.all(scratch.map((file) => file.discard()))
  }
}

function atPlace(place, failure) {
  const code = failure.code?.startsWith?.('ERR_TOKENLANE_') ? failure.code.slice('ERR_TOKENLANE_'.length) : 'FILE'
  return new Failure(code, `${placeOf(place)}: ${failure.message}`, { cause: failure })
}

/**
 * The record of a shard that is done; nothing if anything is missing or differs, so that it must be
 * done again.
 *
 * @param {ShardJob} request
 * @param {string} output
 * @param {'sha256' | 'size'} check how files are compared with the record
 * @throws if an input has changed since the shard was done
 */
export async function doneRecord({ shard, parts, job, base }, output, check) {
  const record = await readRecord(output, shard)
  if (record === undefined || record.job !== job || record.shard !== shard || !Array.isArray(record.files))
    return undefined
  for (const file of record.files) if ((await differenceOf(output, file, check)) !== undefined) return undefined
  await checkInputs(record, parts, base)
  return record
}

/** The record of a shard; nothing if there is none that can be read. */
export async function readRecord(output, shard) {
  const file = recordFile(output, shard)
  try {
    return JSON.parse(await fs.promises.readFile(file, 'utf8'))
  } catch (failure) {
    if (failure.code === 'ENOENT' || failure instanceof SyntaxError) return undefined
    throw fileFailure(file, failure)
  }
}

/** How a file differs from what a record says of it; nothing if it does not. */
export async function differenceOf(output, { name, bytes, sha256 }, check) {
  const place = path.join(output, path.basename(name))
  const found = check === 'sha256' ? await hashOf(place) : await sizeOf(place)
  if (found === undefined) return 'it is missing'
  if (found.bytes !== bytes) return `it has ${found.bytes} bytes, and its record says ${bytes}`
  if (found.sha256 !== undefined && found.sha256 !== sha256)
    return `its SHA-256 is ${found.sha256}, and its record says ${sha256}`
  return undefined
}

/** @returns {Promise<{ bytes: number, sha256?: string } | undefined>} */
async function sizeOf(place) {
  try {
    return { bytes: (await fs.promises.stat(place)).size }
  } catch (failure) {
    if (failure.code === 'ENOENT') return undefined
    throw fileFailure(place, failure)
  }
}

/** Reads the inputs of a shard again if one of them was written to after the shard was started. */
async function checkInputs(record, parts, base) {
  const started = Date.parse(record.started)
  let isOlder = true
  for (const part of parts) isOlder &&= await withInput(part, base, async ({ mtime }) => mtime < started)
  if (isOlder) return
  const hash = createHash('sha256')
  for (const part of parts) {
    await withInput(part, base, async (input) => {
      for await (const chunk of input.chunks(part.start, part.end)) hash.update(chunk)
    })
  }
  const sha256 = hash.digest('hex')
  if (sha256 === record.input.sha256) return
  const names = parts.length === 1 ? parts[0].path : `${parts[0].path} or another input of ${stemOf(record.shard)}`
  throw inputChanged(names, `the SHA-256 of what was read was ${record.input.sha256} and is ${sha256}`)
}

async function withInput({ path: file }, base, work) {
  const input = await Input.open(file, base)
  try {
    return await work(input)
  } finally {
    await input.close()
  }
}
