// The names of the files of a job in its output folder, beside those of the shards.

export const PLAN = 'plan.jsonl'
export const JOB = 'job.json'
export const MANIFEST = 'manifest.json'
