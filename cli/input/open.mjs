// Opens files, FIFOs and devices in such a way that a signal always ends the process.
//
// Node.js opens and reads files on a thread pool, and waits for its threads at exit. An `open` that
// waits for the other end of a FIFO would block the exit for ever. Therefore FIFOs are opened
// without blocking and read through the event loop, as terminals are.

import fs from 'node:fs'
import net from 'node:net'
import tty from 'node:tty'

const { O_RDONLY, O_WRONLY, O_NONBLOCK = 0 } = fs.constants

/** Number of bytes of a file that are read at once. */
const READ_BYTES = 1 << 20
/** Milliseconds between attempts to open a FIFO that has no reader. */
const RETRY_MS = 50

/** Number of reads that may block a thread of the pool for ever. */
let blocking = 0

/** Whether `process.exit` may block, because a thread waits for a device or a name server. */
export const mayBlockExit = () => blocking > 0 || process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')

/** Yields the bytes of a file, a FIFO or a device. */
export async function* readInput(file) {
  const descriptor = fs.openSync(file, O_RDONLY | O_NONBLOCK)
  const stat = fs.fstatSync(descriptor)
  if (stat.isFile() || stat.isDirectory()) {
    yield* fs.createReadStream(file, { fd: descriptor, highWaterMark: READ_BYTES })
  } else if (stat.isFIFO() && process.platform === 'linux') {
    yield* new net.Socket({ fd: descriptor, readable: true, writable: false })
  } else if (tty.isatty(descriptor)) {
    yield* new tty.ReadStream(descriptor)
  } else {
    // On other systems, the event loop treats a FIFO without a writer as ended.
    fs.closeSync(descriptor)
    blocking += 1
    try {
      yield* fs.createReadStream(file, { highWaterMark: READ_BYTES })
    } finally {
      blocking -= 1
    }
  }
}

/** Waits until a FIFO has a reader, and opens it for writing. */
export async function openPipe(file) {
  for (;;) {
    try {
      return new net.Socket({ fd: fs.openSync(file, O_WRONLY | O_NONBLOCK), readable: false, writable: true })
    } catch (error) {
      // It has no reader yet.
      if (error.code !== 'ENXIO') throw error
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}
