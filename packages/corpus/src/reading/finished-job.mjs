// A finished job: its job.json and the records of all its shards.

import { damaged } from '../errors.mjs'
import { existingJob, recordsTest } from '../job-file.mjs'
import { isManifestOf, readManifestEnds } from '../manifest.mjs'
import { recordName, recordsOf } from '../record.mjs'
import { openStore } from '../store/store.mjs'
import { ShardTokens, checkReadable } from './shard-tokens.mjs'

export class FinishedJob {
  #store
  /** The content of job.json. */
  job
  /** @type {import('./shard-tokens.mjs').FinishedShard[]} */
  shards

  constructor(store, job, shards) {
    this.#store = store
    this.job = job
    this.shards = shards
  }

  /**
   * Opens the output folder of a finished job.
   *
   * @param {string} place a path, or s3://bucket/prefix
   */
  static async open(place) {
    const store = await openStore(place)
    const job = await existingJob(store, place)
    checkReadable(job.options, place)
    const manifest = await readManifestEnds(store)
    if (manifest === undefined || !isManifestOf(manifest, job))
      throw damaged(`${place} is not finished: it has no manifest of its job`)
    const isOfJob = recordsTest(job)
    const shards = []
    for await (const record of recordsOf(store, job.plan.shards)) {
      if (!isOfJob(record))
        throw damaged(`${store.where(recordName(shards.length))} is missing or is the record of another job`)
      const { shard, tokens, packing, textBytes, characters, files } = record
      const [documents, rows] = [packing?.pieces ?? record.documents, packing?.rows ?? record.documents]
      shards.push({ shard, tokens, documents, rows, textBytes, characters, files })
    }
    return new FinishedJob(store, job, shards)
  }

  get place() {
    return this.#store.place
  }

  /** @param {import('./shard-tokens.mjs').FinishedShard} shard */
  read(shard) {
    return new ShardTokens(this.#store, this.job.options, shard)
  }

  close() {
    return this.#store.close()
  }
}
