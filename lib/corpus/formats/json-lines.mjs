// The format `jsonl`: one object per document, `{"id":…,"ids":[…]}`. With `pack`, one object per
// row, `{"ids":[…],"starts":[…]}`: documents start at the positions `starts` of the row. If
// documents have ids, `"documents":[…]` has the ids of those documents. With a loss mask,
// `"loss_mask":[…]` follows the ids.

import { idOfToken, maskOfToken } from '../loss-mask.mjs'
import { hasLossMask } from '../tokens.mjs'
import { Rows } from './rows.mjs'

/** Number of ids that are formatted at once. The text of a long row may exceed a string's limit. */
const IDS_PER_SLICE = 1 << 16

export class JsonLinesWriter {
  #file
  #pack
  #hasIds
  #rows
  /** The length of the current row, and the documents that start in it. */
  #length = 0
  #starts = []
  #ids = []
  #hasMask
  /** The masks of the current row. */
  #masks = /** @type {Uint8Array[]} */ ([])

  constructor(file, { pack, hasIds, hasMask }) {
    this.#file = file
    this.#pack = pack
    this.#hasIds = hasIds
    this.#hasMask = hasMask
    this.#rows = new Rows(pack)
  }

  static async create(content, create) {
    const { pack, idField } = content
    const columns = { pack, hasIds: idField !== undefined, hasMask: hasLossMask(content) }
    return new JsonLinesWriter((await create('.jsonl')).appendOnly(), columns)
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
    for (let from = 0; from < ids.length; from += IDS_PER_SLICE)
      await this.#file.write(`${from === 0 ? before : ','}${ids.subarray(from, from + IDS_PER_SLICE).join(',')}`)
  }
}
