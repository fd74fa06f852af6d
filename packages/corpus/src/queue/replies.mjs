// Checks that what Redis sends are replies of its protocol (RESP2), within limits, before ioredis
// parses it. That parser keeps an announced text of any length, calls itself for each array within
// an array, and throws where nobody catches.
//
//   reply = "+" text | "-" text | ":" integer | "$" length | "*" length
//
// each on a line that ends with CR LF; "$" is followed by bytes and CR LF, "*" by replies.

const CR = 13
const LF = 10
const [TEXT, FAILURE, INTEGER, BULK, LIST] = [...Buffer.from('+-:$*')]
/** Maximum size in bytes of a reply, and of a line in it. */
const MAX_REPLY_BYTES = 256 << 20
const MAX_LINE_BYTES = 1 << 16
/** Maximum number of elements that the arrays of a reply announce. */
const MAX_ELEMENTS = 1 << 22
/** Scripts of BullMQ return arrays of arrays. */
const MAX_DEPTH = 16

const WRONG = 'what answers does not speak the protocol of Redis'
const TOO_LARGE = `an answer has more than ${MAX_REPLY_BYTES} bytes or ${MAX_ELEMENTS} elements`

export class Replies {
  /** The line that has not ended yet. */
  #line = Buffer.alloc(0)
  /** Bytes of a text that are still to come, with its line end. */
  #text = 0
  /** For each array that is open, the number of its elements that are still to come. */
  #open = /** @type {number[]} */ ([])
  #bytes = 0
  #elements = 0

  /**
   * Reads what arrived. Throws if it is no reply, or too large.
   *
   * @param {Buffer} chunk
   * @returns {number} how many replies have ended in it
   */
  read(chunk) {
    let ended = 0
    for (let at = 0; at < chunk.length; ) {
      const before = at
      at = this.#text > 0 ? this.#skip(chunk, at) : this.#readLine(chunk, at)
      this.#bytes += at - before
      if (this.#bytes > MAX_REPLY_BYTES) throw new Error(TOO_LARGE)
      if (this.#text === 0 && this.#line.length === 0 && this.#open.length === 0) {
        ended += 1
        this.#bytes = 0
        this.#elements = 0
      }
    }
    return ended
  }

  #skip(chunk, at) {
    const bytes = Math.min(this.#text, chunk.length - at)
    this.#text -= bytes
    if (this.#text === 0) this.#endElement()
    return at + bytes
  }

  #readLine(chunk, at) {
    const end = chunk.indexOf(LF, at)
    const next = end === -1 ? chunk.length : end + 1
    // The first byte tells whether it is a reply at all, also if no line ever ends.
    const type = this.#line.length > 0 ? this.#line[0] : chunk[at]
    if (![TEXT, FAILURE, INTEGER, BULK, LIST].includes(type)) throw new Error(WRONG)
    if (this.#line.length + next - at > MAX_LINE_BYTES) throw new Error(WRONG)
    const line = Buffer.concat([this.#line, chunk.subarray(at, next)])
    if (end === -1) this.#line = line
    else {
      this.#line = Buffer.alloc(0)
      this.#start(type, line)
    }
    return next
  }

  /** Starts a reply, or an element of one, with its first line. */
  #start(type, line) {
    if (line.indexOf(CR) !== line.length - 2) throw new Error(WRONG)
    if (type === TEXT || type === FAILURE) return this.#endElement()
    const digits = line.toString('latin1', 1, line.length - 2)
    if (!/^-?\d{1,19}$/.test(digits)) throw new Error(WRONG)
    const length = Number(digits)
    if (type === INTEGER) return this.#endElement()
    if (length < -1) throw new Error(WRONG)
    if (type === BULK) {
      if (length > MAX_REPLY_BYTES) throw new Error(TOO_LARGE)
      if (length === -1) return this.#endElement()
      this.#text = length + 2
      return undefined
    }
    this.#elements += Math.max(0, length)
    if (this.#elements > MAX_ELEMENTS) throw new Error(TOO_LARGE)
    if (length <= 0) return this.#endElement()
    if (this.#open.push(length) > MAX_DEPTH) throw new Error(WRONG)
    return undefined
  }

  #endElement() {
    while (this.#open.length > 0) {
      const left = this.#open[this.#open.length - 1] - 1
      this.#open[this.#open.length - 1] = left
      if (left > 0) return
      this.#open.pop()
    }
  }
}

/**
 * Checks what a client of ioredis receives on its current connection. At the first byte that is no
 * reply to a command, the connection ends, and `onBroken` is called.
 *
 * @param {any} client
 * @param {(failure: Error) => void} onBroken
 */
export function checkReplies(client, onBroken) {
  const { stream } = client
  const replies = new Replies()
  const parsers = stream.listeners('data')
  stream.removeAllListeners('data')
  stream.on('data', (chunk) => {
    if (stream.destroyed) return
    try {
      if (replies.read(chunk) > client.commandQueue.length) throw new Error(WRONG)
      for (const parse of parsers) parse.call(stream, chunk)
    } catch (failure) {
      stream.destroy(failure)
      onBroken(failure)
    }
  })
}
