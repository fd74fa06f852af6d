/** Reads chunks of any size in pieces of given lengths. */
export class ByteReader {
  #chunks
  #rest = Buffer.alloc(0)

  constructor(chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /**
   * Reads `length` bytes, or fewer at the end of the source. Throws `tooLong(most)` if that is more
   * than `most` bytes.
   */
  async read(length, most = Infinity, tooLong = undefined) {
    const parts = []
    let bytes = 0
    for (let wanted = length; wanted > 0; ) {
      if (bytes > most) throw tooLong(most)
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
