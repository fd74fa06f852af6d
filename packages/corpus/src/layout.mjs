// The names of a job's files in its output folder, except those of the shards.

export const PLAN = 'plan.jsonl'
/** The plan of a segment of a job: the first one, or what was appended. */
export const planName = (segment) => (segment === 0 ? PLAN : `plan-${String(segment).padStart(4, '0')}.jsonl`)
export const JOB = 'job.json'
export const MANIFEST = 'manifest.json'
/** Of a job that counts words: what cuts texts into words. */
export const BASE = 'base.json'
/** Exists while a new job is planned. */
export const CLAIM = 'claim.json'

/** The names of the files of jobs. */
export const JOB_FILE = /^(?:shard-\d{8,}\..+|plan(?:-\d{4})?\.jsonl|job\.json|manifest\.json)$/

/** Maximum length of the id of a job. */
export const JOB_ID_LENGTH = 64
