'use strict'

// Opens files that another program may have created, in a cache or in the folder of a tokenizer. A
// file that is not regular is refused before a read could wait for it (a FIFO, a terminal) or
// affect it (a device).

const fs = require('node:fs')

const { error } = require('./errors.js')

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL } = fs.constants
// Windows has neither of these flags.
const { O_NONBLOCK = 0, O_NOFOLLOW = 0 } = fs.constants

/** Flags that create a file. An existing file or link with that name is an error. */
const CREATE = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW

const READ_BYTES = 1 << 20

function notRegular(file, stat) {
  const kinds = [
    ['isDirectory', 'a directory'],
    ['isSymbolicLink', 'a symbolic link'],
    ['isFIFO', 'a pipe'],
    ['isSocket', 'a socket'],
  ]
  const kind = kinds.find(([is]) => stat[is]())?.[1] ?? 'a device'
  return error('ERR_TOKENLANE_NOT_A_FILE', `cannot read ${file}: it is ${kind}, not a regular file`)
}

function checkRegular(file, stat) {
  if (!stat.isFile()) throw notRegular(file, stat)
  return stat
}

const tooLarge = (file, limit) =>
  error('ERR_TOKENLANE_FILE_TOO_LARGE', `cannot read ${file}: it has more than ${limit} bytes`)

/**
 * Opens a regular file for reading; the caller closes the handle. `follow` says whether the path
 * may be a symbolic link; `name` is how messages call the file.
 *
 * The file is checked before it is opened, because opening a device can change its state, and again
 * afterwards, because it may have been replaced in between. O_NONBLOCK prevents `open` from waiting
 * for the other end of a FIFO.
 */
async function openRegular(file, { follow = true, name = file } = {}) {
  checkRegular(name, follow ? await fs.promises.stat(file) : await fs.promises.lstat(file))
  const handle = await fs.promises.open(file, O_RDONLY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW))
  try {
    checkRegular(name, await handle.stat())
  } catch (failure) {
    await handle.close()
    throw failure
  }
  return handle
}

/**
 * A failure of the system to read a file, such as a loop of links, as an error with a code. Absence
 * stays: callers look for it.
 */
function unreadable(file, failure) {
  if (failure?.syscall === undefined || isAbsence(failure)) return failure
  if (failure.code === 'EMFILE' || failure.code === 'ENFILE') return failure
  const reason = failure.code === 'ELOOP' ? 'it is a link that leads back to itself' : failure.code
  return error('ERR_TOKENLANE_FILE', `cannot read ${file}: ${reason}`, { cause: failure })
}

/** Reads a regular file of at most `limit` bytes. */
async function readRegular(file, limit, options) {
  try {
    return await readAll(file, limit, options)
  } catch (failure) {
    throw unreadable(file, failure)
  }
}

async function readAll(file, limit, options) {
  const handle = await openRegular(file, options)
  try {
    const chunks = []
    for (let length = 0; ; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(READ_BYTES, limit + 1 - length)))
      if (bytesRead === 0) return Buffer.concat(chunks)
      chunks.push(buffer.subarray(0, bytesRead))
      length += bytesRead
      if (length > limit) throw tooLarge(file, limit)
    }
  } finally {
    await handle.close()
  }
}

/**
 * Like `openRegular`, but synchronous; returns the descriptor, which the caller closes, and the
 * status.
 */
function openRegularSync(file) {
  checkRegular(file, fs.statSync(file))
  const descriptor = fs.openSync(file, O_RDONLY | O_NONBLOCK)
  try {
    return { descriptor, stat: checkRegular(file, fs.fstatSync(descriptor)) }
  } catch (failure) {
    fs.closeSync(descriptor)
    throw failure
  }
}

/** Reads the first `limit` bytes of a regular file, or all that it has. */
async function readStart(file, limit) {
  const handle = await openRegular(file)
  try {
    const bytes = Buffer.alloc(Math.min(limit, (await handle.stat()).size))
    for (let length = 0; length < bytes.length; ) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length)
      if (bytesRead === 0) return bytes.subarray(0, length)
      length += bytesRead
    }
    return bytes
  } finally {
    await handle.close()
  }
}

/** Like readStart, but synchronous. */
function readStartSync(file, limit) {
  const { descriptor, stat } = openRegularSync(file)
  try {
    const bytes = Buffer.alloc(Math.min(limit, stat.size))
    for (let length = 0; length < bytes.length; ) {
      const bytesRead = fs.readSync(descriptor, bytes, length, bytes.length - length, length)
      if (bytesRead === 0) return bytes.subarray(0, length)
      length += bytesRead
    }
    return bytes
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Like readRegular, but synchronous. */
function readRegularSync(file, limit) {
  try {
    return readAllSync(file, limit)
  } catch (failure) {
    throw unreadable(file, failure)
  }
}

function readAllSync(file, limit) {
  const { descriptor } = openRegularSync(file)
  try {
    const chunks = []
    for (let length = 0; ; ) {
      const buffer = Buffer.alloc(Math.min(READ_BYTES, limit + 1 - length))
      const bytesRead = fs.readSync(descriptor, buffer)
      if (bytesRead === 0) return Buffer.concat(chunks)
      chunks.push(buffer.subarray(0, bytesRead))
      length += bytesRead
      if (length > limit) throw tooLarge(file, limit)
    }
  } finally {
    fs.closeSync(descriptor)
  }
}

/**
 * Returns the status of a file, or undefined if there is none. Other failures are thrown, because
 * they do not tell whether the file exists.
 */
async function lstatIfThere(file) {
  try {
    return await fs.promises.lstat(file)
  } catch (failure) {
    if (isAbsence(failure)) return undefined
    throw failure
  }
}

/** Whether a file system error means that there is no such file. */
const isAbsence = ({ code }) => code === 'ENOENT' || code === 'ENOTDIR'

module.exports = {
  CREATE,
  checkRegular,
  isAbsence,
  lstatIfThere,
  openRegular,
  openRegularSync,
  readRegular,
  readRegularSync,
  readStart,
  readStartSync,
  tooLarge,
}
