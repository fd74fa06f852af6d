// Removes the folder of a spec, in which no file may be open: Windows would keep the folder, and a
// service that leaves files open runs out of descriptors.

import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** How long streams may take to close their files after a call has ended, on a busy machine. */
const PATIENCE_MS = 20_000

/** The files in a folder that this process has open, removed ones too; none where nothing tells. */
function openFiles(folder) {
  if (process.platform !== 'linux') return []
  return fs.readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const file = fs.readlinkSync(`/proc/self/fd/${descriptor}`)
      return file.startsWith(`${folder}/`) ? [file] : []
    } catch {
      return []
    }
  })
}

/**
 * @param {string} folder
 * @throws {Error} if a file in it stays open
 */
export async function removeFolder(folder) {
  const end = Date.now() + PATIENCE_MS
  let open = openFiles(folder)
  for (; open.length > 0 && Date.now() < end; open = openFiles(folder)) await delay(10)
  fs.rmSync(folder, { recursive: true, force: true })
  if (open.length > 0) throw new Error(`files stay open: ${open.join(', ')}`)
}
