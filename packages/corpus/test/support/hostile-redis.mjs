// A server on loopback that answers commands of Redis with what a test chooses, or with the answers
// of a real Redis.

import net from 'node:net'

import { Redis } from 'ioredis'

export const INFO = '# Server\r\nredis_version:7.2.5\r\n'

const bulk = (value) => Buffer.concat([Buffer.from(`$${value.length}\r\n`), value, Buffer.from('\r\n')])

/** A value that ioredis returned, as a reply of the protocol. */
function replyOf(value) {
  if (value === null || value === undefined) return Buffer.from('$-1\r\n')
  if (typeof value === 'number') return Buffer.from(`:${value}\r\n`)
  if (value instanceof Error) return Buffer.from(`-${value.message}\r\n`)
  if (Array.isArray(value)) return Buffer.concat([Buffer.from(`*${value.length}\r\n`), ...value.map(replyOf)])
  return bulk(Buffer.from(value))
}

/** The commands in what a client sent, and the bytes after them. */
function commandsIn(bytes) {
  const commands = []
  let at = 0
  const line = (from) => {
    const end = bytes.indexOf('\r\n', from)
    return end === -1 ? undefined : { count: Number(bytes.toString('latin1', from + 1, end)), next: end + 2 }
  }
  for (;;) {
    const header = line(at)
    if (header === undefined) break
    const words = []
    let next = header.next
    while (words.length < header.count) {
      const length = line(next)
      if (length === undefined || length.next + length.count + 2 > bytes.length) break
      words.push(bytes.subarray(length.next, length.next + length.count))
      next = length.next + length.count + 2
    }
    if (words.length < header.count) break
    commands.push(words)
    at = next
  }
  return { commands, after: bytes.subarray(at) }
}

/**
 * Starts a server. `answer` gets each command, and returns the bytes of a reply, writes to the
 * socket itself and returns undefined, or returns REAL.
 *
 * @param {(name: string, words: Buffer[], socket: net.Socket) => any} answer
 * @param {{ port?: number }} [options] `port`: that of a real Redis
 */
export async function hostileRedis(answer, { port } = {}) {
  const ends = new Set()
  const server = net.createServer((socket) => {
    let received = Buffer.alloc(0)
    let turn = Promise.resolve()
    const upstream = port && new Redis({ port, maxRetriesPerRequest: null }).on('error', () => {})
    const end = () => {
      upstream?.disconnect()
      socket.destroy()
    }
    ends.add(end)
    socket.on('error', () => {})
    socket.on('close', () => ends.delete(end) && end())
    const respond = async (words) => {
      const name = words[0].toString().toLowerCase()
      const reply = answer(name, words, socket)
      const [command, ...more] = words
      const bytes =
        reply === REAL
          ? replyOf(await upstream.callBuffer(String(command), ...more).catch((failure) => failure))
          : reply
      if (bytes !== undefined && !socket.destroyed) socket.write(bytes)
    }
    socket.on('data', (chunk) => {
      const { commands, after } = commandsIn(Buffer.concat([received, chunk]))
      received = after
      for (const words of commands) turn = turn.then(() => respond(words)).catch(() => {})
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const address = /** @type {net.AddressInfo} */ (server.address())
  return {
    url: `redis://127.0.0.1:${address.port}`,
    end: () => {
      for (const end of ends) end()
      server.close()
    },
  }
}

/** The real Redis answers. */
export const REAL = Symbol('real')

/** Writes a text for ever, as fast as the other side reads. */
export function endless(socket, text) {
  const block = Buffer.from(text.repeat(Math.ceil((1 << 16) / text.length)))
  const write = () => {
    while (!socket.destroyed && socket.write(block));
  }
  socket.on('drain', write)
  write()
}
