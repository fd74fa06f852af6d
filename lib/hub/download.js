'use strict'

// One file of the hub becomes a blob of the cache. Each call writes to a file of its own, which becomes the blob by being
// renamed when it is whole and is what the hub described. A download that failed leaves its part behind for the next one.

const { createHash } = require('node:crypto')
const fs = require('node:fs/promises')
const path = require('node:path')

const { besideName, isThere } = require('./cache.js')
const { cacheFailed, corrupt, isPassing, network } = require('./errors.js')
const { delay } = require('./retry.js')

const ATTEMPTS = 4

/**
 * Downloads what is not there yet. `source` is { name, etag, size, linked, read(start) }: the file's name for messages, what
 * the hub says of it, and an iterable of its bytes from a place on, which yields `undefined` first if they start at 0 after all.
 */
async function download(source, blob, { signal, onProgress }) {
  if (await isThere(blob)) return
  const folder = path.dirname(blob)
  const own = `${blob}.${besideName()}`
  const left = `${blob}.tokenlane.incomplete`
  const resumed = await inCache(folder, () => takeOver(blob, left, own, source.size))
  const file = await inCache(folder, () => fs.open(own, 'a+'))
  let whole = false
  try {
    await fill(file, folder, resumed, source, { signal, onProgress })
    await inCache(folder, () => file.sync())
    whole = true
  } finally {
    await file.close()
    if (!whole) await leave(own, left)
  }
  await inCache(folder, () => fs.rename(own, blob).catch(async (failure) => {
    await fs.rm(own, { force: true })
    if (!(await isThere(blob))) throw failure
  }))
  await Promise.all((await parts(blob)).map(({ place }) => fs.rm(place, { force: true }).catch(() => {})))
}

/** Makes the longest part that others left the start of our file, and says how long it is. */
async function takeOver(blob, left, own, size) {
  await fs.mkdir(path.dirname(blob), { recursive: true })
  const longest = (await parts(blob)).filter((part) => part.length <= size).sort((a, b) => b.length - a.length)[0]
  if (longest === undefined || longest.length === 0) return 0
  // What nobody writes to any more can be had; of what another process may be writing to, a copy.
  if (longest.place === left) await fs.rename(left, own).catch(() => {})
  else await fs.copyFile(longest.place, own).catch(() => {})
  const length = await lengthOf(own)
  if (length > size) await fs.truncate(own)
  return length > size ? 0 : length
}

/** Leaves our part to whoever comes next, if there is anything in it. */
async function leave(own, left) {
  const length = await lengthOf(own)
  await (length === 0 ? fs.rm(own, { force: true }) : fs.rename(own, left)).catch(() => {})
}

/** What there is of a blob, as far as this package wrote it. */
async function parts(blob) {
  const folder = path.dirname(blob)
  const isPart = (name) => name.startsWith(`${path.basename(blob)}.tokenlane`) && name.endsWith('.incomplete')
  const names = (await fs.readdir(folder).catch(() => [])).filter(isPart)
  const found = names.map(async (name) => {
    const place = path.join(folder, name)
    return { place, length: await lengthOf(place) }
  })
  return Promise.all(found)
}

/** The bytes of a file; none where it is gone. */
const lengthOf = (place) => fs.stat(place).then(({ size }) => size, () => 0)

/** Reads until the file is whole, going on where it was cut. */
async function fill(file, folder, resumed, source, { signal, onProgress }) {
  const { size, name } = source
  let length = resumed
  let mixed = resumed > 0
  let most = resumed
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
      failures = length > most ? 1 : failures + 1
      most = Math.max(most, length)
      if (failures >= ATTEMPTS) throw failure
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
