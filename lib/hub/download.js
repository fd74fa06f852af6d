'use strict'

// Downloads one file of the hub into a blob of the cache. Each call writes to a file of its own, which is renamed to the blob when
// it is complete and matches what the hub announced. A download that fails leaves its part behind for the next one.

const { createHash } = require('node:crypto')
const fs = require('node:fs/promises')
const path = require('node:path')

const { CREATE, lstatIfThere, openRegular } = require('../regular-file.js')
const { temporaryName } = require('./cache.js')
const { cacheFailed, corrupt, isPassing, limitExceeded, network } = require('./errors.js')
const { MAX_REQUESTS_PER_FILE, MIN_BYTES_PER_TIMEOUT } = require('./limits.js')
const { delay } = require('./retry.js')

const ATTEMPTS = 4
const CHUNK = 1 << 20

/**
 * Downloads a blob that is not there yet. `source` is { name, etag, size, linked, read(start) }: the file's name for messages,
 * what the hub says of it, and an iterable of its bytes from `start` on, which yields `undefined` first if they start at 0 after
 * all. `cache` is the RepoCache that gets the blob.
 */
async function download(source, cache, { signal, onProgress }) {
  if (await cache.hasBlob(source.etag)) return
  await cache.makeBlobFolder()
  const blob = cache.blob(source.etag)
  const folder = path.dirname(blob)
  const own = `${blob}.${temporaryName()}`
  const left = `${blob}.tokenlane.incomplete`
  // Never a file or a link that was there before.
  const file = await inCache(folder, () => fs.open(own, CREATE))
  let isComplete = false
  try {
    const resumed = await inCache(folder, () => takeOver(blob, left, file, source.size))
    await fill(file, folder, resumed, source, { signal, onProgress })
    await inCache(folder, () => file.sync())
    isComplete = true
  } finally {
    await file.close()
    if (!isComplete) await leave(own, left)
  }
  await inCache(folder, () => fs.rename(own, blob).catch(async (failure) => {
    await fs.rm(own, { force: true })
    // Another process was faster, and Windows does not replace a file that is open.
    if (!(await cache.hasBlob(source.etag))) throw failure
  }))
  const rest = await parts(blob).catch(() => [])
  await Promise.all(rest.map(({ place }) => fs.rm(place, { force: true }).catch(() => {})))
}

/** Copies the longest part that others left to the start of our file, and returns its length. */
async function takeOver(blob, left, file, size) {
  const longest = (await parts(blob)).filter((part) => part.length <= size).sort((a, b) => b.length - a.length)[0]
  if (longest === undefined || longest.length === 0) return 0
  let from
  try {
    from = await openRegular(longest.place, { follow: false })
  } catch {
    // It is gone, or it is not what it was. The download starts at 0.
    return 0
  }
  let length = 0
  try {
    const chunk = Buffer.alloc(CHUNK)
    while (length < size) {
      const { bytesRead } = await from.read(chunk, 0, Math.min(CHUNK, size - length))
      if (bytesRead === 0) break
      await file.appendFile(chunk.subarray(0, bytesRead))
      length += bytesRead
    }
  } finally {
    await from.close()
  }
  // Nobody writes to this one any more; the others may still be in use.
  if (longest.place === left) await fs.rm(left, { force: true }).catch(() => {})
  return length
}

/** Leaves our part to the next download, if there is anything in it. */
async function leave(own, left) {
  const stat = await fs.lstat(own).catch(() => undefined)
  // `rename` replaces a link of that name; it does not follow it.
  const isKept = stat !== undefined && stat.size > 0 && (await fs.rename(own, left).then(() => true, () => false))
  if (!isKept) await fs.rm(own, { force: true }).catch(() => {})
}

/** The parts of a blob that this package wrote. Links, also hard links, and other kinds of files are not among them. */
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

/** Reads until the file is whole, going on where it was cut. */
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
      const wrong = length > size ? `more than the ${size} bytes that were announced came` : await differs(file, source, mixed)
      if (wrong === undefined) return
      // Parts of two downloads may not belong together; one download alone is what it is.
      const wasMixed = mixed
      await startOver()
      if (!wasMixed) throw corrupt(name, wrong)
    } catch (failure) {
      if (signal?.aborted || !isPassing(failure)) throw failure
      mixed = length > 0
      // An attempt that got ahead is not counted, but a few bytes are not ahead.
      failures = length >= most + MIN_BYTES_PER_TIMEOUT ? 1 : failures + 1
      most = Math.max(most, length)
      if (failures >= ATTEMPTS) throw failure
      if (requests >= MAX_REQUESTS_PER_FILE) throw limitExceeded(`the download of ${name} was cut off`, MAX_REQUESTS_PER_FILE, 'times, which is the most that is tried', failure)
      await delay(failures, failure, signal)
    }
  }
}

/**
 * What is wrong with the content, as far as its name tells: the hub names files in Git LFS by their SHA-256, and others by their
 * Git hash, which some mirrors replace by something of their own. Then it only tells whether parts belong together.
 */
async function differs(file, { etag, size, linked }, mixed) {
  const checks = { 64: linked ? ['sha256', ''] : undefined, 40: mixed ? ['sha1', `blob ${size}\0`] : undefined }
  const [algorithm, prefix] = (/^[0-9a-f]+$/.test(etag) && checks[etag.length]) || []
  if (algorithm === undefined) return undefined
  const hash = createHash(algorithm).update(prefix)
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) hash.update(chunk)
  return hash.digest('hex') === etag ? undefined : `its content is not what its name ${etag} stands for`
}

async function inCache(folder, work) {
  try {
    return await work()
  } catch (failure) {
    throw cacheFailed(failure, folder)
  }
}

module.exports = { download }
