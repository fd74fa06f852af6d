// Which documents of which shards go into which file. It depends only on the inputs' records and
// the options.
//
// A unit is one pass over one shard of an input. An input of 2.5 epochs has three passes; in the
// last one, random documents with half of the tokens are used. Without a shuffle, a file has whole
// units, in order; or, with tokensPerShard, exactly so many tokens, so that a unit can lie in
// several files. With a shuffle, each document of each unit goes to a random file.

import { createHash } from 'node:crypto'

import { error, contradiction } from '../errors.mjs'
import { hasLossMask } from '../tokens.mjs'

/** Maximum number of files of a shuffle: each unit is read once for each of them. */
const MAX_SHUFFLED_FILES = 1 << 16
/** Maximum number of files of an exact size. Their plan is in memory. */
const MAX_EXACT_FILES = 1 << 20

/**
 * @typedef {object} Unit
 * @property {number} input
 * @property {number} pass
 * @property {number} shard the number of the shard in the input
 * @property {number} share the share of the tokens that is used; 1 for a whole pass
 * @property {number} tokens the expected number of tokens
 * @property {number} [from] the first of its tokens that is used. Default: 0
 * @property {number} [to] the end of those that are used. Default: all
 */

/**
 * The inputs with their epochs, once their sizes are known.
 *
 * @param {import('./options.mjs').MergeInput[]} inputs
 * @param {number[]} sizes tokens of each input
 * @param {number} [budget] the number of tokens of the output
 */
export function epochsOf(inputs, sizes, budget) {
  if (budget === undefined)
    return inputs.map(({ epochs, tokens }, index) => {
      if (tokens === undefined) return epochs
      if (sizes[index] > 0) return tokens / sizes[index]
      throw error('ERR_TOKENLANE_ARGUMENT_VALUE', `inputs[${index}] has no tokens, so it cannot give ${tokens}`)
    })
  const weights = inputs.map(({ weight, epochs }, index) => weight ?? epochs * sizes[index])
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight, index) => (sizes[index] === 0 ? 0 : (budget * weight) / all / sizes[index]))
}

/**
 * @param {import('../reading/finished-job.mjs').FinishedJob[]} jobs
 * @param {number[]} epochs of each job
 * @returns {Unit[]}
 */
export function unitsOf(jobs, epochs) {
  const units = []
  jobs.forEach(({ shards }, input) => {
    for (let pass = 0; pass < epochs[input]; pass++) {
      const share = Math.min(1, epochs[input] - pass)
      for (const one of shards) {
        const tokens = tokensOf(one)
        if (tokens > 0) units.push({ input, pass, shard: one.shard, share, tokens: tokens * share })
      }
    }
  })
  return units
}

/**
 * The units of each file without a shuffle: units in order until they have `tokensPerFile`.
 *
 * @param {Unit[]} units
 * @returns {Unit[][]}
 */
export function filesInOrder(units, tokensPerFile) {
  const files = []
  let tokens = Infinity
  for (const unit of units) {
    if (tokens + unit.tokens > tokensPerFile) {
      files.push([])
      tokens = 0
    }
    files.at(-1).push(unit)
    tokens += unit.tokens
  }
  return files
}

/**
 * The units of each file of exactly `tokensPerShard` tokens; the last one may be shorter.
 *
 * @param {Unit[]} units
 * @returns {Unit[][]}
 */
export function exactFiles(units, tokensPerShard) {
  const files = []
  let room = 0
  const tokens = units.reduce((sum, unit) => sum + unit.tokens, 0)
  if (tokens / tokensPerShard > MAX_EXACT_FILES)
    throw error(
      'ERR_TOKENLANE_ARGUMENT_VALUE',
      `a merge writes at most ${MAX_EXACT_FILES} files: set tokensPerShard to ${Math.ceil(tokens / MAX_EXACT_FILES)} or more`,
    )
  for (const unit of units) {
    if (unit.share < 1)
      throw contradiction(
        'tokensPerShard needs inputs that are used whole: mix first, and merge the result with tokensPerShard alone',
      )
    for (let from = 0; from < unit.tokens; ) {
      if (room === 0) {
        files.push([])
        room = tokensPerShard
      }
      const to = Math.min(unit.tokens, from + room)
      files.at(-1).push({ ...unit, from, to })
      room -= to - from
      from = to
    }
  }
  return files
}

/** The number of files of a shuffle. */
export function shuffledFiles(units, tokensPerFile) {
  const tokens = units.reduce((sum, unit) => sum + unit.tokens, 0)
  const files = Math.max(1, Math.ceil(tokens / tokensPerFile))
  if (files <= MAX_SHUFFLED_FILES) return files
  const least = Math.ceil(tokens / MAX_SHUFFLED_FILES)
  throw error(
    'ERR_TOKENLANE_ARGUMENT_VALUE',
    `a shuffle writes at most ${MAX_SHUFFLED_FILES} files: set tokensPerFile to ${least} or more`,
  )
}

/** The plan.jsonl of a merge, and its summary. */
export function planText(units, jobs, files) {
  const line = ({ input, pass, shard, share }) => {
    const { files: written, unique } = jobs[input].shards[shard]
    const about = { tokens: tokensOf(jobs[input].shards[shard]), duplicates: unique?.duplicates }
    return JSON.stringify({ input, pass, from: shard, share, ...about, files: written.map(({ sha256 }) => sha256) })
  }
  const lines = [
    ...units.map(line),
    ...files.map((own, shard) => JSON.stringify({ shard, units: own?.length ?? units.length, ...rangeOf(own) })),
  ]
  const text = `${lines.join('\n')}\n`
  const bytes = jobs.reduce((sum, { shards }) => sum + shards.reduce((all, shard) => all + sizeOf(shard), 0), 0)
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { text, summary: { shards: files.length, parts: lines.length, bytes: Math.max(bytes, lines.length), sha256 } }
}

/** Where the tokens of a file of exact size start and end in its first and last unit. */
const rangeOf = (own) => (own?.[0].from === undefined ? {} : { from: own[0].from, to: own.at(-1).to })

/** The tokens of a shard, without those of duplicates if these are left out. */
export const tokensOf = ({ tokens, unique = /** @type {any} */ (undefined) }) => unique?.tokens ?? tokens

export const sizeOf = ({ files }) => files.reduce((sum, { bytes }) => sum + bytes, 0)

/** The tokenizer and the type of all inputs; throws if they differ. */
export function common(jobs) {
  const [first, ...others] = jobs
  const about = ({ tokenizer }) => JSON.stringify([tokenizer.sha256, tokenizer.encoding, tokenizer.vocabSize])
  for (const { job, place } of others) {
    if (about(job) === about(first.job)) continue
    const names = `${JSON.stringify(first.job.tokenizer.name)} and ${JSON.stringify(job.tokenizer.name)}`
    throw contradiction(`${first.place} and ${place} have different tokenizers: ${names}`)
  }
  const other = jobs.find(({ job }) => hasLossMask(job.options) !== hasLossMask(first.job.options))
  if (other !== undefined)
    throw contradiction(
      `one of ${first.place} and ${other.place} has chats with loss masks, and the other one has texts: merge them apart`,
    )
  const isNarrow = jobs.every(({ job }) => job.options.type === 'u16')
  return { tokenizer: first.job.tokenizer, type: isNarrow ? 'u16' : 'u32' }
}
