// The formats `npy` and `bin`. One file has the tokens of a shard, one document after the other. A
// second file has the starts of the rows and the end of the last one (u64). A .csv.gz has a line
// `start,end,id,src,loc` for each document, as in Dolma. With `pack`, a further file has the starts
// of the documents and the end of the last one. With a loss mask, a further file has the mask of
// each token (u8).

import { NumberFile } from 'tokenlane/internal/files.mjs'
import { withLossMask } from '../loss-mask.mjs'
import { Ends } from './rows.mjs'
import { StoredGzip } from './stored-gzip.mjs'

/** The types of tokens, as NumPy writes them. */
const DESCR = { u16: '<u2', u32: '<u4' }

export class BinaryWriter {
  #tokens
  #rows
  #documents
  #table
  #rowEnds = new Ends()
  #documentEnds = new Ends()
  #end = 0

  constructor(files) {
    this.#tokens = files.tokens
    this.#rows = files.rows
    this.#documents = files.documents
    this.#table = files.table
  }

  static async create(content, create, _scratch, sizes) {
    const { format, type, pack } = content
    const numbers = async (suffix, descr) => {
      const file = await create(`${suffix}.${format}`)
      return format === 'npy' ? NumberFile.create(file, descr) : NumberFile.create(file.appendOnly(), undefined)
    }
    const files = {
      tokens: await withLossMask(content, await numbers('', DESCR[type]), () => numbers('.mask', '|u1'), sizes),
      rows: await numbers('.rows', '<u8'),
      documents: pack === undefined ? undefined : await numbers('.docs', '<u8'),
      table: new StoredGzip((await create('.csv.gz')).appendOnly()),
    }
    await files.rows.write(BigUint64Array.of(0n))
    await files.documents?.write(BigUint64Array.of(0n))
    return new BinaryWriter(files)
  }

  async write(block) {
    for (const piece of block.tokens.pieces()) await this.#tokens.write(piece)
    await this.#rows.write(this.#rowEnds.of(block.rows ?? block.lengths))
    await this.#documents?.write(this.#documentEnds.of(block.lengths))
    let text = ''
    block.documents.forEach(({ id = '', path, at }, index) => {
      const start = this.#end
      this.#end += block.lengths[index]
      text += `${start},${this.#end},${cell(id)},${cell(path)},${at}\r\n`
    })
    await this.#table.write(text)
  }

  async finish(rest = 0) {
    if (rest > 0) await this.#rows.write(this.#rowEnds.of(Uint32Array.of(rest)))
    await this.#tokens.finish()
    await this.#rows.finish()
    await this.#documents?.finish()
    await this.#table.end()
  }
}

/** A value of a CSV file, as Python's csv.writer quotes it. */
const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
