'use strict'

// Downloads one file of the hub to a blob of the cache. Each call writes to its own file, which is
// renamed to the blob when it is complete and matches the size and hash that the hub announced. A
// failed download keeps its partial file for the next one.

const { createHash } = require('node:crypto')
const fs = require('node:fs/promises')
const path = require('node:path')

const { CREATE, lstatIfThere, openRegular } = require('../regular-file.js')
const { temporaryName } = require('./cache.js')
const { cacheFailed, corrupt, isTemporary, limitExceeded, network } = require('./errors.js')
const { MAX_REQUESTS_PER_FILE, MIN_BYTES_PER_TIMEOUT } = require('./limits.js')
const { delay } = require('./retry.js')

const DOWNLOAD_ATTEMPTS = 4
const COPY_BYTES = 1 << 20

/**
 * Downloads a blob that the cache does not have.
 *
 * @param {object} source
 * @param {string} source.name the file's name for messages
 * @param {string} source.etag
 * @param {number} source.size
 * @param {boolean} source.linked whether the file is in Git LFS
 * @param {(start: number) => AsyncIterable<Uint8Array | undefined>} source.read the bytes from
 *   `start` on; yields `undefined` first if they start at 0 instead
 * @param {InstanceType<typeof import('./cache.js').RepoCache>} cache
 * @param {import('./shared.js').Run} run
 */
async function download(source, cache, { signal, onProgress }) {
  if (await cache.hasBlob(source.etag)) return
  await cache.makeBlobFolder()
  const blob = cache.blob(source.etag)
  const folder = path.dirname(blob)
  const own = `${blob}.${temporaryName()}`
  const leftover = `${blob}.tokenlane.incomplete`
  // CREATE fails if a file or a link with that name exists.
  const file = await inCache(folder, () => fs.open(own, CREATE))
  let isComplete = false
  try {
    const resumed = await inCache(folder, () => resumeFrom(blob, leftover, file, source.size))
    await fill(file, folder, resumed, source, { signal, onProgress })
    await inCache(folder, () => file.sync())
    isComplete = true
  } finally {
    await file.close()
    if (!isComplete) await keepPartial(own, leftover)
  }
  await inCache(folder, () =>
    fs.rename(own, blob).catch(async (failure) => {
      await fs.rm(own, { force: true })
      // Another process may have been faster, and Windows does not replace an open file.
      if (!(await cache.hasBlob(source.etag))) throw failure
    }),
  )
  const rest = await parts(blob).catch(() => [])
  await Promise.all(rest.map(({ place }) => fs.rm(place, { force: true }).catch(() => {})))
}

/**
 * Copies the longest partial file of earlier downloads to the start of our file, and returns its
 * length.
 */
async function resumeFrom(blob, leftover, file, size) {
  const longest = (await parts(blob)).filter((part) => part.length <= size).sort((a, b) => b.length - a.length)[0]
  if (longest === undefined || longest.length === 0) return 0
  let from
  try {
    from = await openRegular(longest.place, { follow: false })
  } catch {
    // The partial file was removed or replaced. The download starts at 0.
    return 0
  }
  let length = 0
  try {
    const chunk = Buffer.alloc(COPY_BYTES)
    while (length < size) {
      const { bytesRead } = await from.read(chunk, 0, Math.min(COPY_BYTES, size - length))
      if (bytesRead === 0) break
      await file.appendFile(chunk.subarray(0, bytesRead))
      length += bytesRead
    }
  } finally {
    await from.close()
  }
  // No process writes to this partial file; others may still be in use.
  if (longest.place === leftover) await fs.rm(leftover, { force: true }).catch(() => {})
  return length
}

/** Keeps our partial file for the next download, unless it is empty. */
async function keepPartial(own, leftover) {
  const stat = await fs.lstat(own).catch(() => undefined)
  // `rename` replaces an existing link and does not follow it.
  const isKept =
    stat !== undefined &&
    stat.size > 0 &&
    (await fs.rename(own, leftover).then(
      () => true,
      () => false,
    ))
  if (!isKept) await fs.rm(own, { force: true }).catch(() => {})
}

/**
 * The partial files of a blob that this package wrote. Symbolic links, hard links and files that
 * are not regular are excluded.
 */
async function parts(blob) {
  const folder = path.dirname(blob)
  const isPart = (name) => name.startsWith(`${path.basename(blob)}.tokenlane`) && name.endsWith('.incomplete')
  const found = []
  for (const name of (await fs.readdir(folder)).filter(isPart)) {
    const place = path.join(folder, name)
    const stat = await lstatIfThere(place)
    if (stat?.isFile() && stat.nlink === 1) found.push({ place, length: stat.size })
  }
  return found
}

/** Reads until the file is complete, and resumes interrupted downloads. */
async function fill(file, folder, resumed, source, { signal, onProgress }) {
  const { size, name } = source
  let length = resumed
  let mixed = resumed > 0
  let most = resumed
  let requests = 0
  const report = () => onProgress({ file: name, loaded: length, total: size })
  const startOver = async () => {
    await file.truncate()
    length = 0
    mixed = false
  }
  report()
  for (let failures = 0; ; ) {
    try {
      if (length < size) {
        requests += 1
        for await (const chunk of source.read(length)) {
          if (chunk === undefined) {
            await startOver()
            continue
          }
          await inCache(folder, () => file.appendFile(chunk))
          length += chunk.length
          if (length > size) break
          report()
        }
      }
      if (length < size) throw network(new Error(`it ended after ${length} of ${size} bytes`), 'the hub')
      const wrong = length > size ? `it has more than the ${size} announced bytes` : await differs(file, source, mixed)
      if (wrong === undefined) return
      // The parts of two downloads may not belong together. One download alone cannot be repaired.
      const wasMixed = mixed
      await startOver()
      if (!wasMixed) throw corrupt(name, wrong)
    } catch (failure) {
      if (signal?.aborted || !isTemporary(failure)) throw failure
      mixed = length > 0
      // An attempt that made progress does not count as a failure, but a few bytes are not
      // progress.
      failures = length >= most + MIN_BYTES_PER_TIMEOUT ? 1 : failures + 1
      most = Math.max(most, length)
      if (failures >= DOWNLOAD_ATTEMPTS) throw failure
      if (requests >= MAX_REQUESTS_PER_FILE)
        throw limitExceeded(
          `the download of ${name} was interrupted`,
          MAX_REQUESTS_PER_FILE,
          'times, which is the limit',
          failure,
        )
      await delay(failures, failure, signal)
    }
  }
}

/**
 * Returns what is wrong with the content, or undefined. The hub names files in Git LFS by their
 * SHA-256, and others by their Git hash, which some mirrors replace by a value of their own. A Git
 * hash is therefore only checked if parts of several downloads were combined.
 */
async function differs(file, { etag, size, linked }, mixed) {
  const checks = { 64: linked ? ['sha256', ''] : undefined, 40: mixed ? ['sha1', `blob ${size}\0`] : undefined }
  const [algorithm, prefix] = (/^[0-9a-f]+$/.test(etag) && checks[etag.length]) || []
  if (algorithm === undefined) return undefined
  const hash = createHash(algorithm).update(prefix)
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) hash.update(chunk)
  return hash.digest('hex') === etag ? undefined : `its content does not match its hash ${etag}`
}

async function inCache(folder, work) {
  try {
    return await work()
  } catch (failure) {
    throw cacheFailed(failure, folder)
  }
}

module.exports = { download }
