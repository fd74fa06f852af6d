// job.json: everything that the shards of an output folder depend on. Whoever can write to the
// folder can have written it, so its values are checked.

import { createHash } from 'node:crypto'

import { error, otherJob } from './errors.mjs'
import { JOB, JOB_ID_LENGTH, planName } from './layout.mjs'
import { FORMATS } from './formats/names.mjs'
import { WORDS, checkContent } from './options.mjs'
import { isHash, isObject, isSize, isText } from './values.mjs'

/** The version of the files in the output folder. */
export const LAYOUT_VERSION = 1
/** Maximum size in bytes of a job.json. */
const MAX_JOB_BYTES = 1 << 20
/** Maximum id of a token before or after each document. */
const MAX_TOKEN_ID = 2 ** 31 - 1
const MAX_NAME_LENGTH = 4096
/** Maximum number of segments of a job. */
export const MAX_SEGMENTS = 1000
/** Maximum number of shards if there is no plan to compare it with. */
const MAX_UNPLANNED_SHARDS = 2 ** 24

/**
 * Reads the job.json of a folder; `undefined` if there is none.
 *
 * @param {import('./store/types.js').Store} store
 */
export async function readJob(store) {
  const text = await store.readText(JOB, MAX_JOB_BYTES)
  if (text === undefined) return undefined
  try {
    const job = JSON.parse(text)
    if (isJob(job)) return job
  } catch {
    // Reported below.
  }
  throw otherJob(`${store.where(JOB)} was not written by this version of tokenlane: name another output folder`)
}

/** Like `readJob`, but throws if there is none. `output` is the folder as the caller named it. */
export async function existingJob(store, output) {
  const job = await readJob(store)
  if (job !== undefined) {
    for (const { plan, file } of segmentsOf(job)) {
      const bytes = (await store.sizeOf(file))?.bytes ?? MAX_UNPLANNED_SHARDS
      if (plan.shards > bytes)
        throw otherJob(`${store.where(JOB)} has ${plan.shards} shards, which ${file} does not have`)
    }
    return job
  }
  const reason = `there is no ${JOB}, so this is not the output of a corpus job`
  throw error('ERR_TOKENLANE_FILE_NOT_FOUND', `${output}: ${reason}`)
}

/**
 * The id of a job, which depends on all of its job.json but the tokenizer's name, the start, and
 * the commits, which the plan has too.
 */
export function idOf({ version, tokenlane, tokenizer, options, plan, segments = undefined }) {
  const known = { version, tokenlane, tokenizer: { ...tokenizer, name: undefined }, options, plan, segments }
  return createHash('sha256').update(JSON.stringify(known)).digest('hex').slice(0, 32)
}

/**
 * The segments of a job: the shards of its first run, and those that were appended.
 *
 * @returns {{ id: string, plan: any, first: number, file: string }[]} the id that the records of
 *   the shards have, the plan, the number of the first shard, and the file of the plan
 */
export function segmentsOf({ id, plan, segments = [{ id, plan }] }) {
  let first = 0
  return segments.map((one, index) => {
    const segment = { ...one, first, file: planName(index) }
    first += one.plan.shards
    return segment
  })
}

/** Returns a function that tests whether a record is that of a shard of a job. */
export function recordsTest(job) {
  const segments = segmentsOf(job)
  return (record) => {
    if (record === undefined) return false
    const segment = segments.findLast(({ first }) => first <= record.shard)
    return record.job === segment?.id
  }
}

/** The plan of several segments. */
export const planOf = (segments) => ({
  shards: segments.reduce((sum, { plan }) => sum + plan.shards, 0),
  parts: segments.reduce((sum, { plan }) => sum + plan.parts, 0),
  bytes: segments.reduce((sum, { plan }) => sum + plan.bytes, 0),
  sha256: createHash('sha256')
    .update(JSON.stringify(segments.map(({ plan }) => plan.sha256)))
    .digest('hex'),
})

/** Who started a job, and when, for messages; '' if the file does not say. */
export const startText = (start) =>
  start === undefined
    ? ''
    : `${start.inputs.map((name) => JSON.stringify(name)).join(', ')} with ${JSON.stringify(start.tokenizer)}, started on ${JSON.stringify(start.host)} at ${start.time}`

/** Whether a value says who started a job. */
export const isStart = (start) =>
  isObject(start) &&
  Array.isArray(start.inputs) &&
  start.inputs.length <= 32 &&
  [...start.inputs, start.tokenizer, start.host].every((name) => isText(name, MAX_NAME_LENGTH)) &&
  (start.inputsSha256 === undefined || isHash(start.inputsSha256)) &&
  isText(start.time, 64) &&
  Number.isFinite(Date.parse(start.time))

function isJob(job) {
  return (
    isObject(job) &&
    job.version === LAYOUT_VERSION &&
    isText(job.id, JOB_ID_LENGTH) &&
    isText(job.tokenlane, MAX_NAME_LENGTH) &&
    isTokenizer(job.tokenizer) &&
    isContent(job.options) &&
    (job.start === undefined || isStart(job.start)) &&
    (job.commits === undefined || areCommits(job.commits)) &&
    isPlan(job.plan) &&
    (job.segments === undefined || areSegments(job.segments, job.plan))
  )
}

/** Whether a value has options of a job, each with a value that the option can have. */
function isContent(options) {
  if (!isObject(options)) return false
  try {
    checkContent(options, [...FORMATS, WORDS])
    return true
  } catch {
    return false
  }
}

/** Whether a value has the commits of datasets by their addresses. */
const areCommits = (commits) =>
  isObject(commits) && Object.values(commits).every((one) => typeof one === 'string' && /^[0-9a-f]{40}$/.test(one))

const areSegments = (segments, plan) =>
  Array.isArray(segments) &&
  segments.length <= MAX_SEGMENTS &&
  segments.every((one) => isObject(one) && isText(one.id, JOB_ID_LENGTH) && isPlan(one.plan)) &&
  JSON.stringify(planOf(segments)) === JSON.stringify(plan)

function isTokenizer(tokenizer) {
  const isEdge = (id) => id === undefined || (isSize(id) && id <= MAX_TOKEN_ID)
  return (
    isObject(tokenizer) &&
    isText(tokenizer.name, MAX_NAME_LENGTH) &&
    ['file', 'encoding', 'hub', 'base'].includes(tokenizer.kind) &&
    (tokenizer.encoding === undefined || isText(tokenizer.encoding, MAX_NAME_LENGTH)) &&
    isHash(tokenizer.sha256) &&
    isSize(tokenizer.vocabSize) &&
    isEdge(tokenizer.bos) &&
    isEdge(tokenizer.eos)
  )
}

/** Each shard has at least one part, and each part at least one byte. */
const isPlan = (plan) =>
  isObject(plan) &&
  [plan.shards, plan.parts, plan.bytes].every(isSize) &&
  plan.shards >= 1 &&
  plan.shards <= plan.parts &&
  plan.parts <= plan.bytes &&
  isHash(plan.sha256)
