// Reads the rows of a finished job, in order or shuffled, for training loops.

import { inOrder } from 'tokenlane/internal/files.mjs'
import { checkKnown } from 'tokenlane/internal/corpus.js'
import { wrongType, wrongValue } from '../errors.mjs'
import { flag, whole } from '../options.mjs'
import { permutation } from '../shuffle.mjs'
import { hasLossMask } from '../tokens.mjs'
import { FinishedJob } from './finished-job.mjs'

/** Number of rows that are read before they are requested. */
const READ_AHEAD = 16
/** Number of shards whose row ends are in memory. */
const OPEN_SHARDS = 64

/**
 * Opens the tokens of a finished job.
 *
 * @param {string} output the folder of the job
 */
export async function openTokens(output) {
  if (typeof output !== 'string') throw wrongType('output', 'a path', output)
  return new CorpusTokens(await FinishedJob.open(output))
}

/** The index of the first of sorted numbers that is above a limit. */
function firstAbove(numbers, limit) {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (numbers[middle] > limit) high = middle
    else low = middle + 1
  }
  return low
}

/** The position of each token of a row in its document. */
function positionsOf(cuSeqlens) {
  const positions = new Int32Array(cuSeqlens.at(-1))
  for (let document = 1; document < cuSeqlens.length; document++)
    for (let at = cuSeqlens[document - 1]; at < cuSeqlens[document]; at++) positions[at] = at - cuSeqlens[document - 1]
  return positions
}

class CorpusTokens {
  #finished
  /** For each shard, the number of rows before it; at the end, that of all. */
  #starts
  /** The shards that were used last, the latest one at the end. */
  #open = /** @type {Map<number, import('./shard-tokens.mjs').ShardTokens>} */ (new Map())

  /** @param {FinishedJob} finished */
  constructor(finished) {
    const { shards } = finished
    this.#finished = finished
    this.#starts = new Float64Array(shards.length + 1)
    shards.forEach(({ rows }, shard) => {
      this.#starts[shard + 1] = this.#starts[shard] + rows
    })
    const sum = (name) => shards.reduce((total, shard) => total + shard[name], 0)
    this.documents = sum('documents')
    this.tokens = sum('tokens')
    this.length = sum('rows')
    this.pack = finished.job.options.pack
    this.type = finished.job.options.type ?? 'u32'
    this.hasLossMask = hasLossMask(finished.job.options)
    this.tokenizer = finished.job.tokenizer
  }

  /** The ids of a row. */
  async row(index) {
    const { tokens, from, to } = await this.#rangeOf(index)
    return tokens.ids(from, to)
  }

  /** The loss mask of a row; undefined if the job has none. */
  async lossMask(index) {
    const { tokens, from, to } = await this.#rangeOf(index)
    return this.hasLossMask ? tokens.lossMask(from, to) : undefined
  }

  /** Where the tokens of a row are. */
  async #rangeOf(index) {
    if (!Number.isSafeInteger(index)) throw wrongType('index', 'a whole number', index)
    if (index < 0 || index >= this.length) throw wrongValue('index', `a row from 0 to ${this.length - 1}`, index)
    const shard = this.#shardOf(index)
    const tokens = this.#tokensOf(shard)
    const ends = await tokens.rowEnds()
    const row = index - this.#starts[shard]
    return { tokens, from: row === 0 ? 0 : ends[row - 1], to: ends[row] }
  }

  /** Where the documents of a row start in it, and where the last one ends, as cu_seqlens. */
  async documentsOfRow(index) {
    const { tokens, from, to } = await this.#rangeOf(index)
    const ends = await tokens.documentEnds()
    const found = [0]
    for (let at = firstAbove(ends, from); at < ends.length && ends[at] < to; at++) found.push(ends[at] - from)
    return Int32Array.of(...found, to - from)
  }

  /** Yields rows with their numbers. */
  async *rows(options = {}) {
    checkKnown(options, ['shuffle', 'rank', 'ranks', 'start', 'documents'])
    const most = Number.MAX_SAFE_INTEGER
    const seed = whole(options, 'shuffle', 0, most)
    const ranks = whole(options, 'ranks', 1, most) ?? 1
    const rank = whole(options, 'rank', 0, ranks - 1) ?? 0
    const start = whole(options, 'start', 0, most) ?? 0
    const withDocuments = flag(options, 'documents')
    const order = seed === undefined ? (at) => at : permutation(`rows ${seed}`, this.length)
    function* indexes(end) {
      for (let at = rank + start * ranks; at < end; at += ranks) yield order(at)
    }
    const columnsOf = async (index) => {
      const columns = [this.row(index), this.lossMask(index), withDocuments ? this.documentsOfRow(index) : undefined]
      const [ids, lossMask, cuSeqlens] = await Promise.all(columns)
      return {
        index,
        ids,
        ...(lossMask && { lossMask }),
        ...(cuSeqlens && { cuSeqlens, positionIds: positionsOf(cuSeqlens) }),
      }
    }
    yield* inOrder(indexes(this.length), columnsOf, () => READ_AHEAD)
  }

  /** Closes the folder. */
  close() {
    this.#open.clear()
    return this.#finished.close()
  }

  #tokensOf(shard) {
    let tokens = this.#open.get(shard)
    if (tokens === undefined) {
      tokens = this.#finished.read(this.#finished.shards[shard])
      if (this.#open.size >= OPEN_SHARDS) this.#open.delete(this.#open.keys().next().value)
    }
    this.#open.delete(shard)
    this.#open.set(shard, tokens)
    return tokens
  }

  /** The shard of a row: the last one that starts at it or before it, and is not empty. */
  #shardOf(index) {
    return firstAbove(this.#starts, index) - 1
  }
}
