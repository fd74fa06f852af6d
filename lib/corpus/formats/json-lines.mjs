// The format `jsonl`: one object per document, `{"id":…,"ids":[…]}`. With `pack`, one object per
// row, `{"ids":[…],"starts":[…]}`: documents start at the positions `starts` of the row. If
// documents have ids, `"documents":[…]` has the ids of those documents. With a loss mask,
// `"loss_mask":[…]` follows the ids.

import { idOfToken, maskOfToken } from '../loss-mask.mjs'
import { hasLossMask } from '../tokens.mjs'

/** Number of ids that are formatted at once. The text of a long row may exceed a string's limit. */
const IDS_PER_SLICE = 1 << 16
/** Text is collected and written once it has this many characters. */
const FLUSH_LENGTH = 1 << 20

export class JsonLinesWriter {
  #file
  #pack
  #hasIds
  #text = ''
  /** The length of the current row, and the documents that start in it. */
  #length = 0
  #starts = []
  #ids = []
  #hasMask
  /** The masks of the current document or row. */
  #masks = /** @type {Uint8Array[]} */ ([])

  constructor(file, { pack, hasIds, hasMask }) {
    this.#file = file
    this.#pack = pack
    this.#hasIds = hasIds
    this.#hasMask = hasMask
  }

  static async create(content, create) {
    const { pack, idField } = content
    const columns = { pack, hasIds: idField !== undefined, hasMask: hasLossMask(content) }
    return new JsonLinesWriter((await create('.jsonl')).appendOnly(), columns)
  }

  async write({ tokens, documents }) {
    let index = 0
    for (const pieces of tokens.documents()) {
      if (this.#pack === undefined) await this.#document(pieces, documents[index])
      else await this.#packed(pieces, documents[index])
      index += 1
    }
  }

  async finish() {
    if (this.#length > 0) await this.#endRow()
    await this.#flush()
  }

  async #document(pieces, { id }) {
    this.#text += this.#hasIds ? `{"id":${JSON.stringify(id)},"ids":[` : '{"ids":['
    let isFirst = true
    for (const ids of pieces) {
      await this.#tokens(ids, isFirst)
      isFirst = false
    }
    this.#text += ']'
    await this.#mask()
    this.#text += '}\n'
  }

  /** Writes the ids of tokens, and keeps their masks. */
  #tokens(tokens, isFirst) {
    if (!this.#hasMask) return this.#numbers(tokens, isFirst)
    this.#masks.push(Uint8Array.from(tokens, maskOfToken))
    return this.#numbers(tokens.map(idOfToken), isFirst)
  }

  /** Writes the masks that were kept. */
  async #mask() {
    if (!this.#hasMask) return
    this.#text += ',"loss_mask":['
    let isFirst = true
    for (const mask of this.#masks) {
      await this.#numbers(mask, isFirst)
      isFirst = false
    }
    this.#text += ']'
    this.#masks = []
  }

  /** Adds a document to the current row and further ones. */
  async #packed(pieces, { id }) {
    let isStart = true
    for (const ids of pieces) {
      for (let from = 0; from < ids.length; ) {
        const count = Math.min(ids.length - from, this.#pack - this.#length)
        if (this.#length === 0) this.#text += '{"ids":['
        if (isStart) {
          this.#starts.push(this.#length)
          this.#ids.push(id)
          isStart = false
        }
        await this.#tokens(ids.subarray(from, from + count), this.#length === 0)
        this.#length += count
        from += count
        if (this.#length === this.#pack) await this.#endRow()
      }
    }
  }

  async #endRow() {
    this.#text += ']'
    await this.#mask()
    this.#text += `,"starts":[${this.#starts.join(',')}]${this.#hasIds ? `,"documents":${JSON.stringify(this.#ids)}` : ''}}\n`
    this.#length = 0
    this.#starts = []
    this.#ids = []
  }

  async #numbers(ids, isFirst) {
    for (let from = 0; from < ids.length; from += IDS_PER_SLICE) {
      this.#text += `${isFirst && from === 0 ? '' : ','}${ids.subarray(from, from + IDS_PER_SLICE).join(',')}`
      if (this.#text.length >= FLUSH_LENGTH) await this.#flush()
    }
  }

  async #flush() {
    const text = this.#text
    this.#text = ''
    if (text !== '') await this.#file.write(Buffer.from(text))
  }
}
