// The documents of a unit, in blocks for a writer.

import { WholeTokens } from '../tokens.mjs'
import { randomOf } from '../shuffle.mjs'

/** Size in bytes up to which the tokens of several documents are read at once. */
const BLOCK_BYTES = 4 << 20

/**
 * Reads the documents of a unit that are used, in blocks of documents that follow each other.
 * Memory grows with the largest document.
 *
 * @param {import('../reading/finished-job.mjs').FinishedJob} job
 * @param {import('./plan.mjs').Unit} unit
 * @param {string} seed
 * @returns {AsyncGenerator<{ tokens: Uint16Array | Uint32Array, starts: number[], facts: object[]
 *   }>} `starts` has where each used document starts in `tokens`, and where the last one ends
 */
export async function* documentsOfUnit(job, unit, seed) {
  const reader = job.read(job.shards[unit.shard])
  const [ends, facts] = [await reader.documentEnds(), await reader.facts()]
  const random = unit.share < 1 ? randomOf(`share ${seed} ${unit.input} ${unit.pass} ${unit.shard}`) : () => 0
  const limit = BLOCK_BYTES / reader.View.BYTES_PER_ELEMENT
  for (let first = 0; first < ends.length; ) {
    const from = first === 0 ? 0 : ends[first - 1]
    let end = first + 1
    while (end < ends.length && ends[end] - from <= limit) end += 1
    const tokens = await reader.read(from, ends[end - 1])
    for (const run of usedRuns(first, end, random, unit.share)) {
      const start = (index) => (index === 0 ? 0 : ends[index - 1]) - from
      const starts = Array.from({ length: run.end - run.first + 1 }, (_, index) => start(run.first + index))
      yield { tokens, starts, facts: facts.slice(run.first, run.end) }
    }
    first = end
  }
}

/** Runs of documents that are used. */
function* usedRuns(first, end, random, share) {
  let start = first
  for (let at = first; at <= end; at++) {
    if (at < end && random() < share) continue
    if (at > start) yield { first: start, end: at }
    start = at + 1
  }
}

/**
 * A block of documents that follow each other.
 *
 * @param {{ tokens: Uint16Array | Uint32Array, starts: number[], facts: any[] }} documents
 * @param {Uint16ArrayConstructor | Uint32ArrayConstructor} View the type of the output
 * @returns {import('../formats/formats.mjs').Block}
 */
export function blockOf({ tokens, starts, facts }, View) {
  const lengths = Uint32Array.from(facts, (_, index) => starts[index + 1] - starts[index])
  const used = tokens.subarray(starts[0], starts.at(-1))
  return { tokens: new WholeTokens(used instanceof View ? used : View.from(used), lengths), lengths, documents: facts }
}
