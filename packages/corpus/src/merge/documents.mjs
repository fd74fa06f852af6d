// The documents of a unit, in blocks for a writer.

import { WholeTokens } from '../tokens.mjs'
import { randomOf, shuffle } from '../shuffle.mjs'
import { SIZES } from '../sizes.mjs'

/**
 * Reads the documents of a unit that are used, in blocks of documents that follow each other.
 * Memory grows with the largest document.
 *
 * @param {import('../reading/finished-job.mjs').FinishedJob} job
 * @param {import('./plan.mjs').Unit} unit
 * @param {string} seed
 * @param {import('../sizes.mjs').Sizes} [sizes]
 * @returns {AsyncGenerator<{ tokens: Uint16Array | Uint32Array, starts: number[], facts: object[]
 *   }>} `starts` has where each used document starts in `tokens`, and where the last one ends
 */
export async function* documentsOfUnit(job, unit, seed, sizes = SIZES) {
  const reader = job.read(job.shards[unit.shard])
  const { ends, facts, start: begin } = clipped(await reader.documentEnds(), await reader.facts(), unit)
  const { unique } = job.shards[unit.shard]
  const isUsed = unit.share < 1 ? chosen(ends, unit, seed, unique) : unique?.isNew
  const limit = sizes.mergedBlock / reader.View.BYTES_PER_ELEMENT
  for (let first = 0; first < ends.length; ) {
    const from = first === 0 ? begin : ends[first - 1]
    let end = first + 1
    while (end < ends.length && ends[end] - from <= limit) end += 1
    const tokens = await reader.read(from, ends[end - 1])
    for (const run of usedRuns(first, end, isUsed)) {
      const start = (index) => (index === 0 ? begin : ends[index - 1]) - from
      const starts = Array.from({ length: run.end - run.first + 1 }, (_, index) => start(run.first + index))
      yield { tokens, starts, facts: facts.slice(run.first, run.end) }
    }
    first = end
  }
}

/**
 * The documents with tokens in the range of a unit. One that lies across its start or its end is
 * cut there.
 */
function clipped(ends, facts, { from = 0, to = Infinity }) {
  if (from === 0 && to >= (ends.at(-1) ?? 0)) return { ends, facts, start: 0 }
  const first = ends.findIndex((end) => end > from)
  const last = ends.findIndex((end) => end >= to)
  const own = ends.slice(first, last + 1)
  own[own.length - 1] = to
  return { ends: own, facts: facts.slice(first, last + 1), start: from }
}

/**
 * Which documents are used of a unit that is used in part: random ones with the expected number of
 * tokens. The last one is taken with a probability, so that the sum over many units is right.
 */
function chosen(ends, { input, pass, shard, share }, seed, unique) {
  const random = randomOf(`share ${seed} ${input} ${pass} ${shard}`)
  const order = Uint32Array.from({ length: ends.length }, (_, index) => index)
  shuffle(order, random)
  const isUsed = new Uint8Array(ends.length)
  let left = (unique?.tokens ?? ends.at(-1) ?? 0) * share
  for (const index of order) {
    if (unique?.isNew[index] === 0) continue
    const length = ends[index] - (index === 0 ? 0 : ends[index - 1])
    if (length > left && random() >= left / length) break
    isUsed[index] = 1
    left -= length
    if (left <= 0) break
  }
  return isUsed
}

/** Runs of documents that are used; without a choice, all are. */
function* usedRuns(first, end, isUsed) {
  let start = first
  for (let at = first; at <= end; at++) {
    if (at < end && (isUsed === undefined || isUsed[at] === 1)) continue
    if (at > start) yield { first: start, end: at }
    start = at + 1
  }
}

/**
 * A block of documents that follow each other.
 *
 * @param {{ tokens: Uint16Array | Uint32Array, starts: number[], facts: any[] }} documents
 * @param {Uint16ArrayConstructor | Uint32ArrayConstructor} View the type of the output
 * @returns {import('../formats/rows.mjs').Block}
 */
export function blockOf({ tokens, starts, facts }, View) {
  const lengths = Uint32Array.from(facts, (_, index) => starts[index + 1] - starts[index])
  const used = tokens.subarray(starts[0], starts.at(-1))
  return { tokens: new WholeTokens(used instanceof View ? used : View.from(used), lengths), lengths, documents: facts }
}
