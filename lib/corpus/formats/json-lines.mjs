// `jsonl`: an object per document, `{"id":…,"ids":[…]}`. With `pack` an object per row,
// `{"ids":[…],"starts":[…]}`, where `starts` are the positions in the row at which documents start;
// with ids of documents also `"documents":[…]`, the ids of those.

/** Ids that become text at once: the text of a long row would be longer than a string can be. */
const SLICE = 1 << 16
/** Characters that are written at once. */
const BUFFER = 1 << 20

export class JsonLinesWriter {
  #file
  #pack
  #hasIds
  #text = ''
  /** Of the row that is not full: its length, and the documents that start in it. */
  #length = 0
  #starts = []
  #ids = []

  constructor(file, pack, hasIds) {
    this.#file = file
    this.#pack = pack
    this.#hasIds = hasIds
  }

  static async create({ pack, idField }, create) {
    return new JsonLinesWriter((await create('.jsonl')).appendOnly(), pack, idField !== undefined)
  }

  async write({ tokens, lengths, documents }) {
    let from = 0
    for (let index = 0; index < lengths.length; index++) {
      const ids = tokens.subarray(from, (from += lengths[index]))
      if (this.#pack === undefined) await this.#document(ids, documents[index])
      else await this.#packed(ids, documents[index])
    }
  }

  async finish() {
    if (this.#length > 0) this.#endRow()
    await this.#flush()
  }

  async #document(ids, { id }) {
    this.#text += this.#hasIds ? `{"id":${JSON.stringify(id)},"ids":[` : '{"ids":['
    await this.#numbers(ids, true)
    this.#text += ']}\n'
  }

  async #packed(ids, { id }) {
    for (let from = 0; from < ids.length; ) {
      const count = Math.min(ids.length - from, this.#pack - this.#length)
      if (this.#length === 0) this.#text += '{"ids":['
      if (from === 0) {
        this.#starts.push(this.#length)
        this.#ids.push(id)
      }
      await this.#numbers(ids.subarray(from, from + count), this.#length === 0)
      this.#length += count
      from += count
      if (this.#length === this.#pack) this.#endRow()
    }
  }

  #endRow() {
    this.#text += `],"starts":[${this.#starts.join(',')}]${this.#hasIds ? `,"documents":${JSON.stringify(this.#ids)}` : ''}}\n`
    this.#length = 0
    this.#starts = []
    this.#ids = []
  }

  async #numbers(ids, isFirst) {
    for (let from = 0; from < ids.length; from += SLICE) {
      this.#text += `${isFirst && from === 0 ? '' : ','}${ids.subarray(from, from + SLICE).join(',')}`
      if (this.#text.length >= BUFFER) await this.#flush()
    }
  }

  async #flush() {
    const text = this.#text
    this.#text = ''
    if (text !== '') await this.#file.write(Buffer.from(text))
  }
}
