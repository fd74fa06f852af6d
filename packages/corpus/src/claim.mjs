// claim.json: who plans a new job in an output folder. It is written before the inputs are planned,
// which may take long, so that a second, different job is refused at once. It is removed when
// job.json exists. Both files are created exclusively: what decides which job a folder holds is
// job.json, so a claim that was lost or taken over by mistake mixes no data.

import { createHash } from 'node:crypto'
import os from 'node:os'

import { isGone, thisProcess } from 'tokenlane/internal/files.mjs'
import { pause } from 'tokenlane/internal/corpus.js'
import { otherJob } from './errors.mjs'
import { isStart, startText } from './job-file.mjs'
import { CLAIM } from './layout.mjs'
import { isHash, isObject } from './values.mjs'

/** Maximum size in bytes of a claim.json. */
const MAX_CLAIM_BYTES = 1 << 20
/** Maximum number of inputs that a claim and a job.json name. */
const MAX_NAMED_INPUTS = 8
/**
 * How often a file is read that other processes create and remove, while it is missing or
 * incomplete, and the time in milliseconds between two attempts.
 */
export const READ_TRIES = 20
export const READ_PAUSE_MS = 50

/**
 * Who started a job, when and with what.
 *
 * @typedef {{ inputs: string[], inputsSha256?: string, tokenizer: string, host: string, time:
 *   string }} Start `inputs` has the first names, `inputsSha256` is the hash of all of them
 */

/**
 * The start of a job by this process.
 *
 * @returns {Start}
 */
export function startOf({ inputs, filesFrom }, tokenizer) {
  const names = [...inputs, ...(filesFrom === undefined ? [] : [filesFrom])]
  const shown = names.slice(0, MAX_NAMED_INPUTS)
  if (names.length > shown.length) shown.push(`${names.length - shown.length} more`)
  return {
    inputs: shown,
    inputsSha256: digestOf(names),
    tokenizer,
    host: os.hostname(),
    time: new Date().toISOString(),
  }
}

/** The SHA-256 of everything that determines a job before it is planned. */
export const digestOf = (known) => createHash('sha256').update(JSON.stringify(known)).digest('hex')

/**
 * Claims a folder for a job. Returns a function that ends the claim. The same job may be started
 * by several processes; the first one has the claim.
 *
 * @param {import('./store/types.js').Store} store
 * @param {string} digest result of `digestOf`
 * @param {Start} start
 * @returns {Promise<() => Promise<void>>}
 * @throws if the folder is claimed by another job whose process may still run
 */
export async function claim(store, digest, start) {
  const text = `${JSON.stringify({ digest, start, process: thisProcess() }, undefined, 2)}\n`
  const release = () => store.remove(CLAIM)
  for (let tries = 1; ; tries++) {
    if (await store.createWhole(CLAIM, text)) return release
    const found = await readClaim(store)
    if (found !== undefined && isGone(found.process)) {
      await store.writeWhole(CLAIM, text)
      return release
    }
    if (found?.digest === digest) return async () => {}
    if (found !== undefined)
      throw otherJob(
        `the output folder ${store.place} is claimed by another job, ${startText(found.start)}, which is still being planned: name another folder, or, if that process is gone, remove ${store.where(CLAIM)}`,
      )
    if (tries >= READ_TRIES) throw otherJob(`${store.where(CLAIM)} was not written by tokenlane: name another folder`)
    await pause(READ_PAUSE_MS)
  }
}

/**
 * Removes the claim of a folder if its process has ended, or if it is older than an age in
 * milliseconds and of another machine. That of a process which still plans a job, or appends to
 * one, stays. Returns whether it was removed.
 */
export async function removeStale(store, age) {
  if ((await store.sizeOf(CLAIM)) === undefined) return false
  const found = await readClaim(store)
  const isOld = Date.now() - Date.parse(found?.start.time) >= age
  const isHere = found?.process?.system === thisProcess().system
  if (!(found === undefined || isGone(found.process) || (isOld && !isHere))) return false
  await store.remove(CLAIM)
  return true
}

/** The claim of a folder; `undefined` if there is none, or if it is incomplete. */
async function readClaim(store) {
  try {
    const found = JSON.parse((await store.readText(CLAIM, MAX_CLAIM_BYTES)) ?? 'null')
    return isObject(found) && isHash(found.digest) && isStart(found.start) ? found : undefined
  } catch (failure) {
    if (failure instanceof SyntaxError) return undefined
    throw failure
  }
}
