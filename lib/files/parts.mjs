// Names of unfinished files and of temporary folders, and the removal of those that killed
// processes left behind.
//
//   .NAME.tokenlane-SYSTEM-PID-START-N.part
//   tokenlane-NAME-SYSTEM-PID-START-XXXXXX   a folder (scratch.mjs)
//
// SYSTEM identifies the running system: on Linux this boot of this machine, and the container;
// elsewhere the machine. PID and START identify the process; START tells processes with the same
// PID apart. A process is looked up only in its own system. Files of other machines that share a
// folder, and on Linux those from before a reboot, are removed by their age, and only at the end of
// a corpus job or by `tokenlane corpus clean`.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

const OWNER = '([0-9a-f]{12})-(\\d+)-(\\d+)'
const PART_NAME = new RegExp(`^\\..*\\.tokenlane-${OWNER}-\\d+\\.part$`, 's')
const FOLDER_NAME = new RegExp(`^tokenlane-[a-z]+-${OWNER}-\\w{6}$`)
/** Bytes of the output's name in the name of its unfinished file. File names have at most 255. */
const KEPT_NAME_BYTES = 100

const attempt = (work) => {
  try {
    return work()
  } catch {
    return ''
  }
}

/** The id of this boot; without one, the addresses of the network cards. */
const machine = () =>
  attempt(() => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) ||
  attempt(() =>
    Object.values(os.networkInterfaces())
      .flat()
      .map(({ mac }) => mac)
      .sort(),
  )

const SYSTEM = createHash('sha256')
  .update(
    JSON.stringify([process.platform, os.hostname(), machine(), attempt(() => fs.readlinkSync('/proc/self/ns/pid'))]),
  )
  .digest('hex')
  .slice(0, 12)

/** The start time of a process, in ticks since the boot; 0 if the system does not provide it. */
function startOf(pid) {
  if (process.platform !== 'linux') return '0'
  // The name of the program, in parentheses, can contain anything.
  const stat = attempt(() => fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

const PROCESS_START = startOf(process.pid)
/** This process in names. */
const THIS_OWNER = `${SYSTEM}-${process.pid}-${PROCESS_START}`
let made = 0

/** A name beside a file that no other process uses. */
export function partOf(file) {
  const shown = Buffer.from(path.basename(file))
    .subarray(0, KEPT_NAME_BYTES)
    .toString()
    .replace(/\ufffd+$/, '')
  return path.join(path.dirname(file), `.${shown}.tokenlane-${THIS_OWNER}-${(made += 1)}.part`)
}

/** The start of the name of a temporary folder of this process; six characters follow. */
export const folderPrefix = (name) => `tokenlane-${name}-${THIS_OWNER}-`

/**
 * Removes the unfinished files that ended processes of this system left in a folder. Returns their
 * names.
 */
export const removeDeadParts = (folder) =>
  removeDead(folder, PART_NAME, (place) => fs.lstatSync(place).isFile() && fs.unlinkSync(place))

/**
 * Removes the temporary folders that ended processes of this user and this system left in a folder,
 * which other users may write to. Returns their names.
 */
export const removeDeadFolders = (folder) =>
  removeDead(folder, FOLDER_NAME, (place) => {
    const stat = fs.lstatSync(place)
    const isOwn = process.getuid === undefined || stat.uid === process.getuid()
    return stat.isDirectory() && isOwn && fs.rmSync(place, { recursive: true, force: true })
  })

function removeDead(folder, pattern, remove) {
  return (attempt(() => fs.readdirSync(folder)) || []).filter((name) => {
    const [, system, pid, start] = pattern.exec(name) ?? []
    if (system !== SYSTEM || !isDead(Number(pid), start)) return false
    return attempt(() => remove(path.join(folder, name))) === undefined
  })
}

/**
 * Removes the unfinished files in a folder that match a pattern and belong to other systems, of
 * which nothing is known, if they were last written to before a time. Returns their names.
 *
 * @param {string} folder
 * @param {RegExp} pattern of the names, which start with the name of the output after a dot
 * @param {number} before in milliseconds
 * @returns {string[]}
 */
export function removeOldParts(folder, pattern, before) {
  return (attempt(() => fs.readdirSync(folder)) || []).filter((name) => {
    const [, system] = PART_NAME.exec(name) ?? []
    if (system === undefined || system === SYSTEM || !pattern.test(name)) return false
    const place = path.join(folder, name)
    const stat = attempt(() => fs.lstatSync(place)) || undefined
    return stat?.isFile() && stat.mtimeMs < before && attempt(() => fs.unlinkSync(place)) === undefined
  })
}

/** What identifies this process for {@link isGone}. */
export const thisProcess = () => ({ system: SYSTEM, pid: process.pid, start: PROCESS_START })

/**
 * Whether a process of this system has ended. Nothing is known about those of other systems, and
 * the description may come from anyone.
 *
 * @param {any} one result of `thisProcess`
 */
export const isGone = (one) =>
  one?.system === SYSTEM && Number.isSafeInteger(one.pid) && one.pid > 0 && isDead(one.pid, String(one.start))

function isDead(pid, start) {
  if (pid === process.pid) return start !== PROCESS_START
  try {
    process.kill(pid, 0)
  } catch (error) {
    return error.code === 'ESRCH'
  }
  // A process with this PID is running. It is another one if its start differs; if the start is
  // unknown, it counts as the same.
  const now = startOf(pid)
  return start !== '0' && now !== '0' && now !== start
}

/** Removes the unfinished files of this process in a folder. */
export function removeOwnParts(folder) {
  for (const name of attempt(() => fs.readdirSync(folder)) || []) {
    const [, system, pid, start] = PART_NAME.exec(name) ?? []
    if (system === SYSTEM && Number(pid) === process.pid && start === PROCESS_START)
      attempt(() => fs.unlinkSync(path.join(folder, name)))
  }
}

/** Milliseconds for which another process may have a file open that is replaced. */
const BUSY_LIMIT = 5000
const BUSY_CODES = new Set(['EACCES', 'EBUSY', 'EPERM'])

/**
 * Gives a part its name. Windows does not replace a file that another process is reading, so it is
 * tried again until that process has closed it.
 *
 * @param {string} part
 * @param {string} place
 */
export async function renamePart(part, place) {
  const end = performance.now() + (process.platform === 'win32' ? BUSY_LIMIT : 0)
  for (;;) {
    try {
      return await fs.promises.rename(part, place)
    } catch (failure) {
      if (performance.now() >= end || !BUSY_CODES.has(failure.code)) throw failure
      await wait(10)
    }
  }
}
