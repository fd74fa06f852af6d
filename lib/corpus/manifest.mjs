// manifest.json: what a finished job was made of and what it made. It is written as a stream, with
// a shard per line.

import fs from 'node:fs'
import path from 'node:path'

import { fileFailure } from '../files/failure.mjs'
import { error } from './errors.mjs'
import { MANIFEST } from './layout.mjs'
import { PartFile, syncFolder } from './part-file.mjs'
import { readRecord } from './shard.mjs'

const BUFFER = 1 << 16

/** The sums over all shards. */
export class Totals {
  shards = 0
  documents = 0
  tokens = 0
  textBytes = 0
  empty = 0
  truncated = 0
  cutTokens = 0
  skipped = 0
  /** Seconds of all shards, which ran beside each other. */
  seconds = 0

  add(record) {
    this.shards += 1
    for (const name of ['documents', 'tokens', 'textBytes', 'empty', 'truncated', 'cutTokens', 'seconds'])
      this[name] += record[name]
    this.skipped += record.skipped.rows
  }

  toJSON() {
    return { ...this, seconds: Math.round(this.seconds * 1000) / 1000 }
  }
}

/**
 * Writes the manifest from the records of all shards.
 *
 * @param {string} output
 * @param {any} job what job.json says
 * @returns {Promise<Totals>}
 */
export async function writeManifest(output, job) {
  const totals = new Totals()
  const file = await PartFile.create(path.join(output, MANIFEST))
  try {
    const { version, tokenlane, tokenizer, options, plan, id } = job
    let text = `${JSON.stringify({ version, id, tokenlane, tokenizer, options, plan }).slice(0, -1)},"shards":[\n`
    for (let shard = 0; shard < plan.shards; shard++) {
      const record = await readRecord(output, shard)
      if (record === undefined)
        throw error('ERR_TOKENLANE_CORPUS_DAMAGED', `the record of shard ${shard} is missing: run the job again`)
      totals.add(record)
      text += `${JSON.stringify(lineOf(record))}${shard + 1 < plan.shards ? ',' : ''}\n`
      if (text.length < BUFFER) continue
      await file.write(Buffer.from(text))
      text = ''
    }
    await file.write(Buffer.from(`${text}],"totals":${JSON.stringify(totals)}}\n`))
    await file.complete()
    await file.rename()
  } catch (failure) {
    await file.discard()
    throw failure
  }
  await syncFolder(output)
  return totals
}

const lineOf = ({
  shard,
  planned,
  files,
  documents,
  tokens,
  textBytes,
  empty,
  truncated,
  skipped,
  input,
  host,
  started,
  seconds,
}) => ({
  ...{
    shard,
    planned,
    documents,
    tokens,
    textBytes,
    empty,
    truncated,
    skipped: skipped.rows,
    files,
    input,
    host,
    started,
    seconds,
  },
})

/**
 * Bytes at each end of a manifest, where its job and its sums are; its length grows with the
 * shards.
 */
const ENDS = 4096

/**
 * The start of the manifest, and its sums as they are written; nothing if there is none.
 *
 * @param {string} output
 * @returns {Promise<{ start: string, totals: string | undefined } | undefined>}
 */
export async function readManifestEnds(output) {
  const file = path.join(output, MANIFEST)
  let handle
  try {
    handle = await fs.promises.open(file)
    const { size } = await handle.stat()
    const length = Math.min(size, ENDS)
    const [start, end] = [Buffer.alloc(length), Buffer.alloc(length)]
    await handle.read(start, 0, length, 0)
    await handle.read(end, 0, length, size - length)
    return { start: start.toString(), totals: /"totals":(\{[^{}]*\})\}\n$/.exec(end.toString())?.[1] }
  } catch (failure) {
    if (failure.code === 'ENOENT') return undefined
    throw fileFailure(file, failure)
  } finally {
    await handle?.close()
  }
}

/** The sums of a manifest that was written. */
export async function readTotals(output) {
  const text = (await readManifestEnds(output))?.totals
  if (text === undefined)
    throw error('ERR_TOKENLANE_CORPUS_DAMAGED', `${path.join(output, MANIFEST)} is missing or is no manifest`)
  return JSON.parse(text)
}
