// job.json: what the shards of an output folder depend on.

import fs from 'node:fs'
import path from 'node:path'

import { fileFailure } from '../files/failure.mjs'
import { otherJob } from './errors.mjs'
import { JOB } from './layout.mjs'

/** The version of the files in the output folder. */
export const LAYOUT = 1

/** What job.json of a folder says; nothing if there is none. */
export async function readJob(output) {
  const file = path.join(output, JOB)
  let text
  try {
    text = await fs.promises.readFile(file, 'utf8')
  } catch (failure) {
    if (failure.code === 'ENOENT') return undefined
    throw fileFailure(file, failure)
  }
  try {
    const job = JSON.parse(text)
    if (job.version === LAYOUT && typeof job.plan?.sha256 === 'string') return job
  } catch {
    // Said below.
  }
  throw otherJob(`${file} is not one that this version of tokenlane writes: name another output folder`)
}
