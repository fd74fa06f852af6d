// Reads and writes of any length.

/** Maximum number of bytes of one call. Node.js ends the process at a length of 2 GiB. */
const MAX_CALL_BYTES = 1 << 30

/**
 * Reads into the start of a buffer. Returns the number of bytes, which is less than `length` at the
 * end of the file.
 *
 * @param {import('node:fs').promises.FileHandle} handle
 * @param {Buffer} buffer
 * @param {number} length
 * @param {number} position in the file
 */
export async function readFully(handle, buffer, length, position) {
  let done = 0
  while (done < length) {
    const count = Math.min(length - done, MAX_CALL_BYTES)
    const { bytesRead } = await handle.read(buffer, done, count, position + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return done
}

/** Writes all bytes to a position in the file. */
export async function writeFully(handle, bytes, position) {
  for (let done = 0; done < bytes.length; ) {
    const count = Math.min(bytes.length - done, MAX_CALL_BYTES)
    done += (await handle.write(bytes, done, count, position + done)).bytesWritten
  }
}
