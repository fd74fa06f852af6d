// Batches of documents as blocks of tokens.

import { createRequire } from 'node:module'

import { pipelined } from './pipelined.mjs'
import { error } from './errors.mjs'

const { encodeDocuments, maxId } = createRequire(import.meta.url)('../tokenizer.js')

const VIEWS = { u16: Uint16Array, u32: Uint32Array }
/** The largest ids that fit. Megatron's type of 32 bits is signed. */
const MAX_ID = { u16: 65535, u32: 2 ** 31 - 1 }

/** The type of the numbers of a job; ids of jsonl are held as u32. */
export const viewOf = (content) => VIEWS[content.type ?? 'u32']

/** Buffers for blocks. A block is written when the one after the next is made. */
const BUFFERS = 3
/** The most numbers of a buffer that is kept: as many as the ids of most batches. */
const KEPT = 1 << 20

export class Encoder {
  #buffers = new Array(BUFFERS)
  #tokenizer
  #content
  #options
  #bos
  #eos
  #stats
  #memory
  /** Whether an id of the tokenizer may not fit into the type of the job. */
  #isNarrow

  /**
   * @param {import('../../index.js').Tokenizer} tokenizer
   * @param {import('./options.mjs').Content} content with a type
   * @param {{ bos?: number, eos?: number }} ids
   * @param {import('./stats.mjs').Stats} stats
   * @param {{ threads?: number, memory?: import('./documents.mjs').RowMemory }} [resources]
   */
  constructor(tokenizer, content, ids, stats, { threads, memory } = {}) {
    this.#memory = memory
    this.#tokenizer = tokenizer
    this.#content = content
    this.#bos = ids.bos === undefined ? [] : [ids.bos]
    this.#eos = ids.eos === undefined ? [] : [ids.eos]
    this.#stats = stats
    this.#isNarrow = maxId(tokenizer) > this.#maxId
    this.#options = {
      addSpecialTokens: false,
      specialTokens: content.specialTokens,
      truncation: /** @type {const} */ (false),
      padding: /** @type {const} */ (false),
      ...(threads && { threads }),
    }
  }

  /**
   * The blocks of batches of documents, in order. While one is used, others are encoded and read. A
   * block is there until the one after the next is asked for, and a large one until the next is
   * asked for.
   *
   * @param {AsyncIterable<import('./document-batch.mjs').DocumentBatch>} batches
   * @param {(place: import('./document-batch.mjs').Place, error: Error) => void} onSkip
   * @returns {AsyncGenerator<import('./formats/formats.mjs').Block>}
   */
  async *blocks(batches, onSkip) {
    /** Results whose ids are those of blocks that may still be written. */
    const held = []
    for await (const { isLarge, results } of this.#encoded(batches, onSkip)) {
      for (const result of results) {
        yield this.#blockOf(result)
        held.push(result.encoded)
        while (held.length > (isLarge ? 0 : BUFFERS - 1)) held.shift().dispose()
      }
      if (isLarge) this.#memory?.release()
    }
  }

  /** Counts the tokens of batches of documents into the statistics. */
  async count(batches, onSkip) {
    for await (const { isLarge, results } of this.#encoded(batches, onSkip)) {
      for (const result of results) {
        this.#count(result)
        result.encoded.dispose()
      }
      if (isLarge) this.#memory?.release()
    }
  }

  #encoded(batches, onSkip) {
    return pipelined(batches, async (/** @type {import('./document-batch.mjs').DocumentBatch} */ batch) => {
      const results = await this.#encode(batch, onSkip)
      batch.release()
      return { isLarge: batch.isLarge, results }
    })
  }

  /** Encodes documents in one call, and parts of them if one fails. */
  async #encode(batch, onSkip) {
    try {
      const encoded = await encodeDocuments(this.#tokenizer, batch.handle, this.#options)
      return [{ batch, first: 0, encoded }]
    } catch (failure) {
      return this.#encodeHalves(batch, { first: 0, end: batch.length }, failure, onSkip)
    }
  }

  /** Encodes some documents of a batch that could not be encoded as a whole. */
  async #encodePart(batch, { first, end }, onSkip) {
    try {
      const texts = Array.from({ length: end - first }, (_, index) => batch.text(first + index))
      return [{ batch, first, encoded: await this.#tokenizer.encodeBatch(texts, this.#options) }]
    } catch (failure) {
      return this.#encodeHalves(batch, { first, end }, failure, onSkip)
    }
  }

  /** If a document fails, halves are tried: each failure costs the logarithm of their number. */
  async #encodeHalves(batch, { first, end }, failure, onSkip) {
    if (failure.row === undefined) throw failure
    if (end - first === 1) {
      onSkip(batch.place(first), withoutRow(failure))
      return []
    }
    if (this.#content.onError === 'fail') onSkip(batch.place(first + failure.row), withoutRow(failure))
    const middle = first + ((end - first) >> 1)
    return [
      ...(await this.#encodePart(batch, { first, end: middle }, onSkip)),
      ...(await this.#encodePart(batch, { first: middle, end }, onSkip)),
    ]
  }

  /**
   * Counts all documents of a result. Returns how many ids of each are kept, and whether all ids
   * are.
   */
  #count({ batch, first, encoded }) {
    const { rowOffsets } = encoded
    const around = this.#bos.length + this.#eos.length
    const most = (this.#content.maxTokens ?? Infinity) - around
    const kept = new Uint32Array(encoded.length)
    let isWhole = around === 0
    batch.eachPath((path, from, to) => {
      for (let index = Math.max(from, first); index < Math.min(to, first + kept.length); index++) {
        const row = index - first
        const all = rowOffsets[row + 1] - rowOffsets[row]
        kept[row] = Math.min(all, most)
        isWhole &&= all === kept[row]
        const tokens = all === 0 ? 0 : kept[row] + around
        this.#stats.document(path, batch.textBytes(index), tokens, all - kept[row])
        if (batch.hasGroups && tokens > 0) {
          const [textBytes, characters] = [batch.textBytes(index), batch.characters(index)]
          this.#stats.inGroup(batch.group(index), { documents: 1, tokens, textBytes, characters })
        }
      }
    })
    return { kept, isWhole }
  }

  #blockOf(result) {
    const { batch, first, encoded } = result
    const { ids, rowOffsets } = encoded
    const { kept, isWhole } = this.#count(result)
    const around = this.#bos.length + this.#eos.length
    /** The documents with ids. */
    const documents = new Uint32Array(kept.length)
    const lengths = new Uint32Array(kept.length)
    let count = 0
    let total = 0
    for (let row = 0; row < kept.length; row++) {
      if (rowOffsets[row + 1] === rowOffsets[row]) continue
      documents[count] = first + row
      lengths[count++] = kept[row] + around
      total += kept[row] + around
    }
    if (this.#isNarrow) this.#checkWidth(ids)
    return {
      isLarge: batch.isLarge,
      tokens: isWhole ? this.#typed(ids) : this.#joined(encoded, kept, total),
      lengths: lengths.subarray(0, count),
      get documents() {
        return Array.from(documents.subarray(0, count), (index) => batch.about(index))
      },
    }
  }

  /** All ids as numbers of the job's type. */
  #typed(ids) {
    if (viewOf(this.#content) === Uint32Array) return ids
    const tokens = this.#buffer(ids.length)
    tokens.set(ids)
    return tokens
  }

  /** The kept ids of all rows that have ids, with the ids around them. */
  #joined({ ids, rowOffsets }, kept, total) {
    const tokens = this.#buffer(total)
    let to = 0
    const put = (values) => {
      tokens.set(values, to)
      to += values.length
    }
    for (let row = 0; row < kept.length; row++) {
      if (rowOffsets[row + 1] === rowOffsets[row]) continue
      put(this.#bos)
      put(ids.subarray(rowOffsets[row], rowOffsets[row] + kept[row]))
      put(this.#eos)
    }
    return tokens
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

  /** The largest id that fits into the type of the job. */
  get #maxId() {
    return MAX_ID[this.#content.type ?? 'u32']
  }

  #checkWidth(ids) {
    const most = this.#maxId
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
