// Packs documents into rows of a length, between the documents of a shard and the writer of its
// format: one after the other, or so that they fit.
//
// Sequential rows are full, and cut the documents that lie across their ends. Rows of best fit have
// whole documents, apart from those that are longer than a row, and may be shorter. Both count what
// that costs: documents that are cut, and padding if all rows are filled up.

import { bestFit } from './best-fit.mjs'
import { randomOf, shuffle } from './shuffle.mjs'
import { SIZES } from './sizes.mjs'
import { WholeTokens, viewOf } from './tokens.mjs'

/**
 * What packing did to a shard.
 *
 * @typedef {object} Packing
 * @property {number} rows
 * @property {number} pieces the parts of documents that the files have as documents
 * @property {number} cutDocuments
 * @property {number} padding the tokens that are missing in rows that are not full
 */

/**
 * @typedef {import('./formats/formats.mjs').FormatWriter & { packing?: Packing }} PackingWriter
 */

/**
 * The writer for the documents of a shard.
 *
 * @param {import('./formats/formats.mjs').FormatWriter} writer of the format
 * @param {import('./options.mjs').Content} content
 * @param {number} shard
 * @param {import('./sizes.mjs').Sizes} [sizes]
 * @returns {PackingWriter}
 */
export function packed(writer, content, shard, sizes = SIZES) {
  if (content.pack === undefined) return writer
  return content.packing === 'best-fit'
    ? new BestFit(writer, content, shard, sizes)
    : new Sequential(writer, content.pack)
}

class Sequential {
  #writer
  #pack
  #end = 0
  packing = { rows: 0, pieces: 0, cutDocuments: 0, padding: 0 }

  constructor(writer, pack) {
    this.#writer = writer
    this.#pack = pack
  }

  write(block) {
    const full = Math.floor(this.#end / this.#pack)
    for (const length of block.lengths) {
      const start = this.#end
      this.#end += length
      if (Math.floor(start / this.#pack) !== Math.floor((this.#end - 1) / this.#pack)) this.packing.cutDocuments += 1
    }
    this.packing.pieces += block.lengths.length
    const rows = new Uint32Array(Math.floor(this.#end / this.#pack) - full).fill(this.#pack)
    return this.#writer.write(Object.assign(block, { rows }))
  }

  finish() {
    this.packing.rows = Math.ceil(this.#end / this.#pack)
    this.packing.padding = this.packing.rows * this.#pack - this.#end
    return this.#writer.finish(this.#end % this.#pack)
  }
}

/** @typedef {{ start: number, length: number, facts: any }} Piece a part of a document in memory */

class BestFit {
  #writer
  #pack
  #hasFacts
  #window
  /** Tokens of rows that are not full and wait for shorter documents, at most. */
  #mostKept
  #block
  #random
  #View
  /** The tokens of all pieces, and their end. */
  #tokens
  #end = 0
  #pieces = /** @type {Piece[]} */ ([])
  packing = { rows: 0, pieces: 0, cutDocuments: 0, padding: 0 }

  constructor(writer, content, shard, sizes) {
    this.#writer = writer
    this.#pack = content.pack
    this.#window = sizes.packingWindow
    this.#mostKept = sizes.packingWindow / 4
    this.#block = sizes.packedBlock
    this.#hasFacts = content.format !== 'megatron'
    this.#random = randomOf(`rows ${content.shuffle} ${shard}`)
    this.#View = viewOf(content)
    this.#tokens = new this.#View(this.#window + this.#pack)
  }

  async write({ tokens, lengths, documents }) {
    let index = 0
    const facts = this.#hasFacts ? documents : []
    for (const pieces of tokens.documents()) {
      if (lengths[index] > this.#pack) this.packing.cutDocuments += 1
      await this.#add(pieces, facts[index])
      index += 1
    }
  }

  /** Copies a document, in pieces of at most the length of a row. */
  async #add(arrays, facts) {
    let piece = { start: this.#end, length: 0, facts }
    const close = () => {
      if (piece.length > 0) this.#pieces.push(piece)
      piece = { start: this.#end, length: 0, facts }
    }
    for (const array of arrays) {
      for (let from = 0; from < array.length; ) {
        const count = Math.min(array.length - from, this.#pack - piece.length)
        this.#tokens.set(array.subarray(from, from + count), this.#end)
        this.#end += count
        piece.length += count
        from += count
        if (piece.length < this.#pack) continue
        close()
        if (this.#end >= this.#window) {
          await this.#writeRows(this.#mostKept)
          piece.start = this.#end
        }
      }
    }
    close()
    if (this.#end >= this.#window) await this.#writeRows(this.#mostKept)
  }

  async finish() {
    await this.#writeRows(0)
    await this.#writer.finish()
  }

  /** Packs all pieces, and writes their rows but for the emptiest ones, up to `mostKept` tokens. */
  async #writeRows(mostKept) {
    const lengths = this.#pieces.map(({ length }) => length)
    const rows = bestFit(lengths, this.#pack).map((items) => ({
      pieces: items.map((item) => this.#pieces[item]),
      length: items.reduce((sum, item) => sum + lengths[item], 0),
    }))
    rows.sort((a, b) => b.length - a.length)
    let kept = 0
    let last = rows.length
    while (last > 0 && rows[last - 1].length < this.#pack && kept + rows[last - 1].length <= mostKept)
      kept += rows[--last].length
    const complete = rows.slice(0, last)
    // Otherwise the longest documents would come first.
    shuffle(complete, this.#random)
    for (let first = 0; first < complete.length; ) {
      let end = first
      let length = 0
      while (end < complete.length && (end === first || length + complete[end].length <= this.#block))
        length += complete[end++].length
      await this.#writeBlock(complete.slice(first, end), length)
      first = end
    }
    this.#keep(rows.slice(last).flatMap(({ pieces }) => pieces))
  }

  async #writeBlock(rows, length) {
    const pieces = rows.flatMap((row) => row.pieces)
    const tokens = new this.#View(length)
    let end = 0
    for (const piece of pieces) {
      tokens.set(this.#tokens.subarray(piece.start, piece.start + piece.length), end)
      end += piece.length
    }
    const lengths = Uint32Array.from(pieces, (piece) => piece.length)
    this.packing.rows += rows.length
    this.packing.pieces += pieces.length
    this.packing.padding += rows.length * this.#pack - length
    await this.#writer.write({
      tokens: new WholeTokens(tokens, lengths),
      lengths,
      rows: Uint32Array.from(rows, (row) => row.length),
      documents: this.#hasFacts ? pieces.map(({ facts }) => facts) : [],
    })
  }

  /** Moves the tokens of pieces to the start. */
  #keep(pieces) {
    pieces.sort((a, b) => a.start - b.start)
    this.#end = 0
    for (const piece of pieces) {
      this.#tokens.copyWithin(this.#end, piece.start, piece.start + piece.length)
      piece.start = this.#end
      this.#end += piece.length
    }
    this.#pieces = pieces
  }
}
