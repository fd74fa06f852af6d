// Batches of documents as blocks of tokens.

import { pipelined } from './pipelined.mjs'
import { error } from './errors.mjs'

const VIEWS = { u16: Uint16Array, u32: Uint32Array }
/** The largest ids that fit. Megatron's type of 32 bits is signed. */
const MAX_ID = { u16: 65535, u32: 2 ** 31 - 1 }

/** The type of the numbers of a job; ids of jsonl are held as u32. */
export const viewOf = (content) => VIEWS[content.type ?? 'u32']

/** Buffers for blocks. A block is written when the one after the next is made. */
const BUFFERS = 3
/** The most numbers of a buffer that is kept. */
const KEPT = 4 << 20

export class Encoder {
  #buffers = new Array(BUFFERS)
  #tokenizer
  #content
  #options
  #bos
  #eos
  #stats

  /**
   * @param {import('../../index.js').Tokenizer} tokenizer
   * @param {import('./options.mjs').Content} content with a type
   * @param {{ bos?: number, eos?: number }} ids
   * @param {import('./stats.mjs').Stats} stats
   * @param {number} [threads]
   */
  constructor(tokenizer, content, ids, stats, threads) {
    this.#tokenizer = tokenizer
    this.#content = content
    this.#bos = ids.bos === undefined ? [] : [ids.bos]
    this.#eos = ids.eos === undefined ? [] : [ids.eos]
    this.#stats = stats
    this.#options = { addSpecialTokens: false, specialTokens: content.specialTokens, ...(threads && { threads }) }
  }

  /**
   * The blocks of batches of documents, in order. While one is used, others are encoded and read.
   *
   * @param {AsyncIterable<import('./documents.mjs').DocumentBatch>} batches
   * @param {(place: object, error: Error) => void} onSkip
   * @returns {AsyncGenerator<import('./formats/formats.mjs').Block>}
   */
  async *blocks(batches, onSkip) {
    for await (const results of this.#encoded(batches, onSkip)) {
      for (const { documents, batch } of results) {
        const block = this.#blockOf(documents, batch)
        batch.dispose()
        yield block
      }
    }
  }

  /** Counts the tokens of batches of documents into the statistics. */
  async count(batches, onSkip) {
    for await (const results of this.#encoded(batches, onSkip)) {
      for (const { documents, batch } of results) {
        this.#plan(documents, batch)
        batch.dispose()
      }
    }
  }

  #encoded(batches, onSkip) {
    return pipelined(batches, async (/** @type {import('./documents.mjs').DocumentBatch} */ { documents, release }) => {
      const results = await this.#encode(documents, onSkip)
      release()
      return results
    })
  }

  /**
   * Encodes documents in one call. If one of them fails, halves are tried, so that each failure
   * costs no more than the logarithm of their number.
   */
  async #encode(documents, onSkip) {
    try {
      const texts = documents.map(({ text }) => text)
      const batch = await this.#tokenizer.encodeBatch(texts, { ...this.#options, truncation: false, padding: false })
      return [{ documents, batch }]
    } catch (failure) {
      if (failure.row === undefined) throw failure
      if (documents.length === 1) {
        onSkip(documents[0], withoutRow(failure))
        return []
      }
      if (this.#content.onError === 'fail') onSkip(documents[failure.row], withoutRow(failure))
      const middle = documents.length >> 1
      return [
        ...(await this.#encode(documents.slice(0, middle), onSkip)),
        ...(await this.#encode(documents.slice(middle), onSkip)),
      ]
    }
  }

  /** How many ids of each document are kept. Counts all documents. */
  #plan(documents, batch) {
    const { rowOffsets } = batch
    const around = this.#bos.length + this.#eos.length
    const most = (this.#content.maxTokens ?? Infinity) - around
    const kept = new Uint32Array(documents.length)
    for (let row = 0; row < documents.length; row++) {
      const all = rowOffsets[row + 1] - rowOffsets[row]
      kept[row] = Math.min(all, most)
      this.#stats.document(documents[row], all === 0 ? 0 : kept[row] + around, all - kept[row])
    }
    return kept
  }

  #blockOf(documents, batch) {
    const { ids, rowOffsets } = batch
    const kept = this.#plan(documents, batch)
    const around = this.#bos.length + this.#eos.length
    const rows = []
    let total = 0
    for (let row = 0; row < kept.length; row++) {
      if (rowOffsets[row + 1] === rowOffsets[row]) continue
      rows.push(row)
      total += kept[row] + around
    }
    const tokens = this.#buffer(total)
    const lengths = new Uint32Array(rows.length)
    let to = 0
    const put = (values) => {
      tokens.set(values, to)
      to += values.length
    }
    rows.forEach((row, index) => {
      put(this.#bos)
      put(ids.subarray(rowOffsets[row], rowOffsets[row] + kept[row]))
      put(this.#eos)
      lengths[index] = kept[row] + around
    })
    this.#checkWidth(ids)
    return {
      tokens,
      lengths,
      documents: rows.map((row) => ({ id: documents[row].id, path: documents[row].path, at: documents[row].at })),
    }
  }

  /** Numbers for a block; their memory is used again for later blocks. */
  #buffer(length) {
    const View = viewOf(this.#content)
    if (length > KEPT) return new View(length)
    let buffer = this.#buffers.shift()
    if (buffer === undefined || buffer.length < length) buffer = new View(Math.min(KEPT, Math.ceil(length * 1.25)))
    this.#buffers.push(buffer)
    return buffer.subarray(0, length)
  }

  #checkWidth(ids) {
    const most = MAX_ID[this.#content.type ?? 'u32']
    let bits = 0
    for (let at = 0; at < ids.length; at++) bits |= ids[at]
    if (bits >>> 0 <= most) return
    const id = ids.find((one) => one > most)
    throw error(
      'ERR_TOKENLANE_ARGUMENT_VALUE',
      `the id ${id} does not fit into ${this.#content.type ?? '31 bits'}: choose the type u32 (--type u32)`,
    )
  }
}

/** The number of a row in a batch means nothing to who reads of files. */
const withoutRow = (failure) =>
  Object.assign(new Error(failure.message.replace(/^(row|text) \d+: /, '')), { code: failure.code })
