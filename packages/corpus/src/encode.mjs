// Encodes batches of documents to blocks of tokens.

import { withoutFailures } from 'tokenlane/internal/files.mjs'
import { encodeDocuments, maxId } from 'tokenlane/internal/corpus.js'
import { pipelined } from './pipelined.mjs'
import { error } from './errors.mjs'
import { idOfToken, lossTokensOf } from './loss-mask.mjs'
import { CopiedTokens, MAX_IDS, PieceBuffers, WholeTokens, hasLossMask, viewOf } from './tokens.mjs'

export class Encoder {
  #pieces
  #tokenizer
  #content
  #options
  #bos
  #eos
  #stats
  #memory
  #shards
  /** Whether an id of the tokenizer may not fit into the type of the job. */
  #isNarrow

  /**
   * @param {import('tokenlane').Tokenizer} tokenizer
   * @param {import('./options.mjs').Content} content
   * @param {{ bos?: number, eos?: number }} ids
   * @param {import('./stats.mjs').Stats} stats
   * @param {{ threads?: number, memory?: import('./document-reader.mjs').RowMemory, shards?:
   *   () => number }} [resources]
   */
  constructor(tokenizer, content, ids, stats, { threads, memory, shards } = {}) {
    this.#memory = memory
    this.#shards = shards
    this.#pieces = new PieceBuffers(viewOf(content))
    this.#tokenizer = /** @type {any} */ (tokenizer)
    this.#content = content
    this.#bos = Uint32Array.from(ids.bos === undefined ? [] : [ids.bos])
    this.#eos = Uint32Array.from(ids.eos === undefined ? [] : [ids.eos])
    this.#stats = stats
    this.#isNarrow = maxId(this.#tokenizer) > this.#maxId
    this.#options = {
      addSpecialTokens: false,
      specialTokens: content.specialTokens,
      truncation: /** @type {const} */ (false),
      padding: /** @type {const} */ (false),
      ...(threads && { threads }),
    }
  }

  /**
   * Encodes batches of documents and yields their blocks in order. While a block is used, later
   * batches are read and encoded. The arrays of a block's tokens are valid until the second next
   * array is requested, from this block or a later one; those of a large block until the next block
   * is requested.
   *
   * @param {AsyncIterable<import('./document-batch.mjs').DocumentBatch>} batches
   * @param {(place: import('./document-batch.mjs').Place, error: Error) => void} onSkip
   * @returns {AsyncGenerator<import('./formats/rows.mjs').Block>}
   */
  async *blocks(batches, onSkip) {
    /**
     * The result whose memory the previous block uses. Its last array may still be on the way to
     * the disk.
     */
    let held
    for await (const { isLarge, results } of this.#encoded(batches, onSkip)) {
      for (const result of results) {
        const block = this.#blockOf(result)
        yield block
        held?.dispose()
        held = result.encoded
        if (isLarge || block.tokens instanceof CopiedTokens) {
          held.dispose()
          held = undefined
        }
      }
      if (isLarge) this.#memory?.release()
    }
  }

  /** Encodes batches of documents only to add their tokens to the statistics. */
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
    /** @param {import('./document-batch.mjs').DocumentBatch} batch */
    const encode = async (batch, running) => {
      batch.countCharacters()
      const results = await this.#encode(batch, running, onSkip)
      batch.release()
      return { isLarge: batch.isLarge, results }
    }
    return pipelined(batches, encode, this.#shards)
  }

  /**
   * Encodes a batch, one of `running` in the process, in one call, or in several if a document
   * fails.
   */
  async #encode(batch, running, onSkip) {
    if (hasLossMask(this.#content)) return [{ batch, first: 0, encoded: batch.takeChats() }]
    const call = ({ first, end }) => {
      if (end - first === batch.length) return encodeDocuments(this.#tokenizer, batch.handle, this.#options, running)
      const texts = Array.from({ length: end - first }, (_, index) => batch.text(first + index))
      return this.#tokenizer.encodeBatch(texts, this.#options)
    }
    // The message has the number of the row in its batch: users know files and lines instead.
    const onFailure = (index, { message, reason = message, code }) =>
      onSkip(batch.place(index), Object.assign(new Error(reason), { code }))
    const failing = { isSkipping: this.#content.onError !== 'fail', onFailure }
    const parts = await withoutFailures({ first: 0, end: batch.length }, call, failing)
    return parts.map(({ first, result: encoded }) => ({ batch, first, encoded }))
  }

  /**
   * Adds the documents of a result to the statistics. Returns the number of ids that are kept of
   * each document, and whether the ids of the result can be written as they are.
   */
  #count({ batch, first, encoded }) {
    const { ids, rowOffsets } = encoded
    const hasMask = hasLossMask(this.#content)
    const around = this.#bos.length + this.#eos.length
    const most = (this.#content.maxTokens ?? Infinity) - around
    const kept = new Uint32Array(encoded.length)
    let isWhole = around === 0
    batch.eachPath((path, from, to) => {
      for (let index = Math.max(from, first); index < Math.min(to, first + kept.length); index++) {
        const row = index - first
        const all = rowOffsets[row + 1] - rowOffsets[row]
        kept[row] = Math.min(all, most)
        const [start, end] = [rowOffsets[row], rowOffsets[row] + kept[row]]
        const lossTokens = hasMask ? lossTokensOf(ids, start, end) : undefined
        // A chat that teaches nothing is left out.
        if (lossTokens === 0) kept[row] = 0
        isWhole &&= all === kept[row]
        const tokens = kept[row] === 0 ? 0 : kept[row] + around
        const [textBytes, characters] = [batch.textBytes(index), batch.characters(index)]
        const values = { tokens, cutTokens: all - kept[row], textBytes, characters, lossTokens }
        this.#stats.document(path, values, batch.hasGroups ? batch.group(index) : undefined)
      }
    })
    return { kept, isWhole }
  }

  #blockOf(result) {
    const { batch, first, encoded } = result
    const { ids } = encoded
    const { kept, isWhole } = this.#count(result)
    const around = this.#bos.length + this.#eos.length
    /** The indices of the documents that have ids. */
    const documents = new Uint32Array(kept.length)
    const lengths = new Uint32Array(kept.length)
    let count = 0
    let total = 0
    for (let row = 0; row < kept.length; row++) {
      if (kept[row] === 0) continue
      documents[count] = first + row
      lengths[count++] = kept[row] + around
      total += kept[row] + around
    }
    if (this.#isNarrow) this.#checkWidth(ids)
    const isCopied = !isWhole || viewOf(this.#content) !== Uint32Array
    const ends = { bos: this.#bos, eos: this.#eos, length: total }
    return {
      isLarge: batch.isLarge,
      tokens: isCopied
        ? new CopiedTokens(encoded, kept, ends, this.#pieces)
        : new WholeTokens(ids, lengths.subarray(0, count)),
      lengths: lengths.subarray(0, count),
      get documents() {
        return Array.from(documents.subarray(0, count), (index) => batch.about(index))
      },
    }
  }

  /** The largest id that fits into the type of the job. */
  get #maxId() {
    return MAX_IDS[this.#content.type ?? 'u32']
  }

  #checkWidth(ids) {
    const most = this.#maxId
    const plain = hasLossMask(this.#content) ? idOfToken : (id) => id
    let bits = 0
    for (let at = 0; at < ids.length; at++) bits |= plain(ids[at])
    if (bits >>> 0 <= most) return
    const id = plain(ids.find((one) => plain(one) > most))
    const reason =
      this.#content.type === 'u16'
        ? 'does not fit into u16: choose the type u32 (--type u32)'
        : `is larger than ${most}, the largest id that a corpus job stores`
    throw error('ERR_TOKENLANE_ARGUMENT_VALUE', `the id ${id} ${reason}`)
  }
}
