// An output folder in S3. Files are written to this machine's disk and uploaded when they are
// complete, so an object appears only as a whole.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'

import { fileFailure } from '../../files/failure.mjs'
import { partOf, removeDeadParts, removeOwnParts } from '../../files/parts.mjs'
import { error } from '../errors.mjs'
import { textLines } from '../text-lines.mjs'
import { folderAddress, partsOf } from './address.mjs'
import { PartFile } from './part-file.mjs'
import { range, send, sendIfThere, upload } from './s3-client.mjs'
import { S3Input } from './s3-input.mjs'

const { tooLarge } = createRequire(import.meta.url)('../../regular-file.js')

/** Minimum size in bytes of a part of an upload, and the maximum number of parts of an object. */
const MIN_PART_BYTES = 8 << 20
const MAX_UPLOAD_PARTS = 10_000
/** How often an upload is tried that another process removed. */
const MAX_TRIES = 3
/** Age in milliseconds from which an unfinished upload is taken for one of a dead process. */
const MIN_DEAD_AGE_MS = 24 * 3600 * 1000
/** The names of the files of jobs. */
const JOB_FILE = /^(?:shard-\d{8,}\..+|plan(?:-\d{4})?\.jsonl|job\.json|manifest\.json)$/

/** The folder for files that are not uploaded yet. Only this user may have access to it. */
function scratchFolder() {
  const folder = path.join(os.tmpdir(), `tokenlane-corpus-${process.getuid?.() ?? 'user'}`)
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    const stat = fs.lstatSync(folder)
    const isOwn = process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0)
    if (stat.isDirectory() && isOwn) return folder
  } catch (failure) {
    throw fileFailure(folder, failure)
  }
  throw error(
    'ERR_TOKENLANE_FILE',
    `${folder} is not a folder that only this user can access: remove it, or set TMPDIR`,
  )
}

const removeIfEmpty = (folder) => fs.promises.rmdir(folder).catch(() => {})

/** A file that is uploaded instead of renamed. */
class UploadedFile extends PartFile {
  /** @type {S3Store | undefined} */
  store

  async rename() {
    this.etag = await this.store?.uploadFile(this.partPath, this.name, this.size)
    await fs.promises.rm(this.partPath, { force: true })
  }
}

/**
 * @typedef {import('./types.js').Store} Store
 * @implements {Store}
 */
export class S3Store {
  #bucket
  #prefix
  /**
   * The folder for files of this output. No other job uses it, so everything in it may be removed.
   */
  #scratch

  /** @param {string} address */
  constructor(address) {
    this.place = folderAddress(address)
    const { bucket, key } = partsOf(this.place)
    this.#bucket = bucket
    this.#prefix = key
    const own = createHash('sha256').update(this.place).digest('hex').slice(0, 16)
    this.#scratch = path.join(scratchFolder(), own)
  }

  where(name) {
    return this.place + name
  }

  /** The folder that inputs must not be in. */
  async exclude() {
    return this.place
  }

  async prepare() {
    await this.clean(MIN_DEAD_AGE_MS)
  }

  /**
   * Removes the files of ended processes on this machine's disk, and uploads of at least an age.
   */
  async clean(age) {
    const all = path.dirname(this.#scratch)
    const removed = []
    for (const name of await fs.promises.readdir(all)) {
      removed.push(...removeDeadParts(path.join(all, name)))
      await removeIfEmpty(path.join(all, name))
    }
    await this.#removeUploads(({ Initiated }, name) => {
      const isOld = Date.now() - Initiated.getTime() > age
      if (isOld) removed.push(name)
      return isOld
    })
    return removed
  }

  /** Up to 100 names in the folder. */
  async names() {
    const input = { Bucket: this.#bucket, Prefix: this.#prefix, MaxKeys: 100 }
    const { Contents = [] } = await send(this.place, 'ListObjectsV2Command', input)
    return Contents.map(({ Key: key }) => key.slice(this.#prefix.length)).filter((name) => name !== '')
  }

  async create(name) {
    fs.mkdirSync(this.#scratch, { recursive: true, mode: 0o700 })
    const file = /** @type {UploadedFile} */ (await UploadedFile.create(path.join(this.#scratch, name)))
    file.store = this
    return file
  }

  async writeWhole(name, text) {
    await send(this.where(name), 'PutObjectCommand', { ...this.#of(name), Body: Buffer.from(text) })
  }

  /**
   * Writes an object, unless it exists. Returns whether it was written. If the store has no
   * conditional writes, another process may write it at the same moment.
   */
  async createWhole(name, text) {
    const input = { ...this.#of(name), Body: Buffer.from(text) }
    try {
      await send(this.where(name), 'PutObjectCommand', { ...input, IfNoneMatch: '*' })
      return true
    } catch (failure) {
      if (failure.isConditionFailed) return false
      if (!failure.isUnknownRequest) throw failure
    }
    if ((await this.sizeOf(name)) !== undefined) return false
    await send(this.where(name), 'PutObjectCommand', input)
    return true
  }

  /** Removes an object. Ignores failures, because a role may lack the permission. */
  async remove(name) {
    await send(this.where(name), 'DeleteObjectCommand', this.#of(name)).catch(() => {})
  }

  /** A path on this machine's disk for a file that `publish` uploads later. */
  part(name) {
    fs.mkdirSync(this.#scratch, { recursive: true, mode: 0o700 })
    return partOf(path.join(this.#scratch, name))
  }

  /** Uploads a file of `part`. Returns a path where it can be read. */
  async publish(part, name) {
    await this.uploadFile(part, name, (await fs.promises.stat(part)).size)
    return part
  }

  /** Copies an object to this machine's disk. Returns its path. */
  async copyHere(name) {
    const file = this.part(name)
    const input = await S3Input.open(this.where(name))
    await fs.promises.writeFile(file, input.chunks(0, input.size))
    return file
  }

  /** Uploads a file of this machine. Returns the ETag of the object. */
  async uploadFile(file, name, size) {
    const partSize = Math.max(MIN_PART_BYTES, Math.ceil(size / MAX_UPLOAD_PARTS))
    for (let tries = 1; ; tries++) {
      const Body = size === 0 ? Buffer.alloc(0) : fs.createReadStream(file, { highWaterMark: 1 << 20 })
      try {
        return await upload(this.where(name), { ...this.#of(name), Body }, partSize)
      } catch (failure) {
        // Another process that finished the job took this upload for one of a dead process.
        if (!failure.isLostUpload || tries >= MAX_TRIES) throw failure
      } finally {
        if (Body instanceof Readable) Body.destroy()
      }
    }
  }

  async readText(name, limit) {
    const found = await sendIfThere(this.where(name), 'HeadObjectCommand', this.#of(name))
    if (found === undefined) return undefined
    if (!(found.ContentLength <= limit)) throw tooLarge(this.where(name), limit)
    return (await range(this.#object(name, found), 0, found.ContentLength)).toString()
  }

  async readRange(name, from, to) {
    const input = await S3Input.open(this.where(name), from)
    return input.read(from, to - from)
  }

  async ends(name, length) {
    const found = await sendIfThere(this.where(name), 'HeadObjectCommand', this.#of(name))
    if (found === undefined) return undefined
    const [object, size] = [this.#object(name, found), found.ContentLength]
    const count = Math.min(size, length)
    return { start: await range(object, 0, count), end: await range(object, size - count, size) }
  }

  async *lines(name) {
    const input = await S3Input.open(this.where(name))
    yield* textLines(input.chunks(0, input.size), this.where(name))
  }

  async hashOf(name, expected = undefined, etag = undefined) {
    const found = await sendIfThere(this.where(name), 'HeadObjectCommand', this.#of(name))
    if (found === undefined) return undefined
    if (expected !== undefined && expected !== found.ContentLength) return { bytes: found.ContentLength }
    if (etag !== undefined && etag === found.ETag) return { bytes: found.ContentLength }
    const input = await S3Input.open(this.where(name))
    const hash = createHash('sha256')
    for await (const chunk of input.chunks(0, input.size)) hash.update(chunk)
    return { bytes: input.size, sha256: hash.digest('hex') }
  }

  async sizeOf(name) {
    const found = await sendIfThere(this.where(name), 'HeadObjectCommand', this.#of(name))
    return found && { bytes: found.ContentLength }
  }

  async sync() {}

  async close() {}

  /** Removes the unfinished files of this process from this machine's disk. */
  removeOwn() {
    removeOwnParts(this.#scratch)
  }

  /** Removes the unfinished files and uploads of shards whose threads were ended. */
  async abandon(stems) {
    this.removeOwn()
    if (stems.length > 0)
      await this.#removeUploads((_upload, name) => stems.some((stem) => name.startsWith(`${stem}.`)))
  }

  /**
   * Called when all shards are done. Removes all unfinished uploads: their processes have ended.
   */
  async finish() {
    await this.#removeUploads(() => true)
  }

  /**
   * Removes unfinished uploads of jobs. Ignores failures, because a role may lack the permission.
   */
  async #removeUploads(isDead) {
    try {
      let markers = {}
      do {
        const input = { Bucket: this.#bucket, Prefix: this.#prefix, ...markers }
        const page = await send(this.place, 'ListMultipartUploadsCommand', input)
        for (const one of page.Uploads ?? []) {
          const name = one.Key.slice(this.#prefix.length)
          if (!JOB_FILE.test(name) || !isDead(one, name)) continue
          await send(this.place, 'AbortMultipartUploadCommand', { ...this.#of(name), UploadId: one.UploadId }).catch(
            () => {},
          )
        }
        markers = page.IsTruncated ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : {}
      } while (markers.KeyMarker !== undefined)
    } catch {
      // A lifecycle rule of the bucket can remove them too.
    }
  }

  #of = (name) => ({ Bucket: this.#bucket, Key: this.#prefix + name })
  #object = (name, { ETag }) => ({
    address: this.where(name),
    bucket: this.#bucket,
    key: this.#prefix + name,
    etag: ETag,
  })
}
