// Opens what a name on the command line stands for, so that a signal ends the process whatever it waits for.
//
// Node.js opens and reads files on threads of a pool, and waits for them when it exits. An `open` that waits for the other end of a
// FIFO would hold the process up for ever, so FIFOs are opened without waiting and read through the event loop, as terminals are.

import fs from 'node:fs'
import net from 'node:net'
import tty from 'node:tty'

const { O_RDONLY, O_WRONLY, O_NONBLOCK = 0 } = fs.constants

/** Bytes of a file that are read at once. */
const CHUNK = 1 << 20
/** Milliseconds between attempts to open a FIFO that nobody reads. */
const INTERVAL = 50

/** Reads that may take for ever on a thread of the pool. */
let blocking = 0

/** Whether `process.exit` may have to wait for a thread that waits for something else: a device, or the answer of a name server. */
export const mayBlockExit = () => blocking > 0 || process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')

/** The bytes of a file, a FIFO or a device. */
export async function* readInput(file) {
  const descriptor = fs.openSync(file, O_RDONLY | O_NONBLOCK)
  const stat = fs.fstatSync(descriptor)
  if (stat.isFile() || stat.isDirectory()) {
    yield* fs.createReadStream(file, { fd: descriptor, highWaterMark: CHUNK })
  } else if (stat.isFIFO() && process.platform === 'linux') {
    yield* new net.Socket({ fd: descriptor, readable: true, writable: false })
  } else if (tty.isatty(descriptor)) {
    yield* new tty.ReadStream(descriptor)
  } else {
    // Elsewhere the event loop takes a FIFO without a writer for one that has ended.
    fs.closeSync(descriptor)
    blocking += 1
    try {
      yield* fs.createReadStream(file, { highWaterMark: CHUNK })
    } finally {
      blocking -= 1
    }
  }
}

/** Opens a FIFO for writing when somebody reads it. */
export async function openPipe(file) {
  for (;;) {
    try {
      return new net.Socket({ fd: fs.openSync(file, O_WRONLY | O_NONBLOCK), readable: false, writable: true })
    } catch (error) {
      // Nobody reads it yet.
      if (error.code !== 'ENXIO') throw error
      await new Promise((resolve) => setTimeout(resolve, INTERVAL))
    }
  }
}
