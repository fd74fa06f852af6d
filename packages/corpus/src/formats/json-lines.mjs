// The format `jsonl`: one object per document, `{"id":…,"ids":[…]}`. With `pack`, one object per
// row, `{"ids":[…],"starts":[…]}`: documents start at the positions `starts` of the row. If
// documents have ids, `"documents":[…]` has the ids of those documents. With a loss mask,
// `"loss_mask":[…]` follows the ids.

import { idOfToken, maskOfToken } from '../loss-mask.mjs'
import { hasLossMask } from '../tokens.mjs'
import { Rows } from './rows.mjs'

export class JsonLinesWriter {
  #file
  #pack
  #hasIds
  /** Ids that are formatted at once. The text of a long row may exceed a string's limit. */
  #slice
  #rows
  /** The length of the current row, and the documents that start in it. */
  #length = 0
  #starts = []
  #ids = []
  #hasMask
  /** The masks of the current row. */
  #masks = /** @type {Uint8Array[]} */ ([])

  constructor(file, { pack, hasIds, hasMask }, sizes) {
    this.#file = file
    this.#pack = pack
    this.#hasIds = hasIds
    this.#hasMask = hasMask
    this.#slice = sizes.jsonIds
    this.#rows = new Rows(pack)
  }

  static async create(content, create, _scratch, sizes) {
    const { pack, idField } = content
    const columns = { pack, hasIds: idField !== undefined, hasMask: hasLossMask(content) }
    return new JsonLinesWriter((await create('.jsonl')).appendOnly(), columns, sizes)
  }

  async write(block) {
    for (const { ids, id, startsDocument, startsRow, endsRow } of this.#rows.pieces(block)) {
      if (startsDocument) {
        this.#starts.push(this.#length)
        this.#ids.push(id)
      }
      if (this.#hasMask) this.#masks.push(Uint8Array.from(ids, maskOfToken))
      await this.#numbers(startsRow ? this.#startOf(id) : ',', this.#hasMask ? ids.map(idOfToken) : ids)
      this.#length += ids.length
      if (endsRow) await this.#endRow()
    }
  }

  async finish() {
    if (this.#rows.isOpen) await this.#endRow()
  }

  #startOf(id) {
    return this.#hasIds && this.#pack === undefined ? `{"id":${JSON.stringify(id)},"ids":[` : '{"ids":['
  }

  async #endRow() {
    if (this.#hasMask) {
      for (const [index, mask] of this.#masks.entries())
        await this.#numbers(index === 0 ? '],"loss_mask":[' : ',', mask)
    }
    await this.#file.write(this.#pack === undefined ? ']}\n' : `]${this.#documents}}\n`)
    this.#length = 0
    this.#starts = []
    this.#ids = []
    this.#masks = []
  }

  get #documents() {
    return `,"starts":[${this.#starts.join(',')}]${this.#hasIds ? `,"documents":${JSON.stringify(this.#ids)}` : ''}`
  }

  async #numbers(before, ids) {
    for (let from = 0; from < ids.length; from += this.#slice)
      await this.#file.write(`${from === 0 ? before : ','}${ids.subarray(from, from + this.#slice).join(',')}`)
  }
}
