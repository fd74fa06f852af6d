// Folders in the folder for temporary files, for files that do not outlive the work that needs
// them. Their names say whose they are, so that the next process removes those of a killed one.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { fileFailure } from './failure.mjs'
import { folderPrefix, removeDeadFolders } from './parts.mjs'

/** The variable that names the folder for temporary files. */
export const TEMPORARY_VARIABLE = process.platform === 'win32' ? 'TEMP' : 'TMPDIR'
/** How often a folder is removed to which files are added. */
const MAX_TRIES = 100
/** Folders that are not removed yet. A signal or `process.exit` does not run `finally`. */
const folders = new Set()
process.on('exit', () => folders.forEach(removeScratchNow))

/**
 * Makes a folder. It is removed by `removeScratch`, at the latest when the process ends. A thread
 * that is terminated removes nothing: the folder of its files belongs to the thread that ends it.
 * Folders of processes that have ended are removed first.
 *
 * @param {string} name a part of its name, of lower-case letters
 * @param {string} [within] another folder of `newScratch`
 */
export function newScratch(name, within) {
  if (within === undefined) removeDeadFolders(os.tmpdir())
  const parent = within ?? os.tmpdir()
  try {
    const folder = fs.mkdtempSync(path.join(parent, folderPrefix(name)))
    folders.add(folder)
    return folder
  } catch (failure) {
    throw fileFailure(`${parent}, the folder for temporary files (${TEMPORARY_VARIABLE})`, failure)
  }
}

/** Removes a folder of `newScratch`. */
export async function removeScratch(folder) {
  await fs.promises.rm(folder, { recursive: true, force: true })
  folders.delete(folder)
}

/** Removes a folder of `newScratch`, also while a thread adds files to it. */
export function removeScratchNow(folder) {
  folders.delete(folder)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    try {
      return fs.rmSync(folder, { recursive: true, force: true })
    } catch {}
  }
}

/**
 * Calls `work` with a new folder.
 *
 * @template Result
 * @param {string} name
 * @param {(folder: string) => Promise<Result>} work
 * @param {string} [within]
 */
export async function inScratch(name, work, within) {
  const folder = newScratch(name, within)
  try {
    return await work(folder)
  } finally {
    await removeScratch(folder)
  }
}
