/** Reads chunks of any size in pieces of given lengths. */
export class ByteReader {
  #chunks
  #rest = Buffer.alloc(0)

  constructor(chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /**
   * Reads `length` bytes, or fewer at the end of the source. Throws `tooLong(maxBytes)` if that is
   * more than `maxBytes` bytes.
   */
  async read(length, maxBytes = Infinity, tooLong = undefined) {
    const parts = []
    let bytes = 0
    for (let wanted = length; wanted > 0; ) {
      if (bytes > maxBytes) throw tooLong(maxBytes)
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next()
        if (done) break
        this.#rest = value
      }
      const part = this.#rest.subarray(0, wanted)
      this.#rest = this.#rest.subarray(part.length)
      parts.push(part)
      bytes += part.length
      wanted -= part.length
    }
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }

  close() {
    return this.#chunks.return?.()
  }
}
