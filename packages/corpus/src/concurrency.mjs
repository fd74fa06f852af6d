// The default number of shards that a process works on at a time. Each has a thread of JavaScript,
// which reads, hashes and writes, while the threads of the addon parse lines and encode.

import os from 'node:os'

import { addonReads } from './document-reader.mjs'
import { NUMBER_FORMATS } from './formats/names.mjs'

/** Number of processors that one thread keeps busy if it leaves the documents to the addon. */
const PROCESSORS_PER_READER = 2

/** The default of the largest number of shards at a time. */
export const defaultConcurrency = (processors = os.availableParallelism()) =>
  Math.min(4, Math.max(2, Math.ceil(processors / 2)))

/**
 * The default number of shards at a time while a shard with these parts is one of them. On two
 * processors a second thread only helps if JavaScript works on each document or decompresses;
 * otherwise its start costs more than it gains.
 *
 * @param {import('./part.mjs').Part[]} parts
 * @param {import('./options.mjs').Content} content
 * @param {number} [processors]
 */
export function shardsAtOnce(parts, content, processors = os.availableParallelism()) {
  const { format = '', shuffle, packing, hooksSha256 } = content
  const isPlain = NUMBER_FORMATS.includes(format) && shuffle === undefined && packing !== 'best-fit'
  const isLeft =
    isPlain &&
    hooksSha256 === undefined &&
    parts.every(({ rows, codec }) => codec === undefined && addonReads(rows, content))
  return isLeft && processors <= PROCESSORS_PER_READER ? 1 : defaultConcurrency(processors)
}
