// Adapts the package to the interface of the conformance kit (its check.mjs) and of
// golden.test.mjs.

import fs from 'node:fs/promises'

import { Tokenizer as OverAddon } from '../../index.js'
import { rankFile } from '../../tools/data/rank-file.mjs'

/**
 * `TOKENLANE_TEST_WEB=1`: the calls of @tokenlane/web are judged.
 *
 * @type {{ Tokenizer: any }}
 */
const { Tokenizer } =
  process.env.TOKENLANE_TEST_WEB === undefined ? { Tokenizer: OverAddon } : await import('../../packages/web/index.mjs')
const fromFile = async (path) =>
  Tokenizer === OverAddon ? await OverAddon.fromFile(path) : await Tokenizer.fromBuffer(await fs.readFile(path))

/** The default unit of `encode`'s offsets. */
export const offsetUnit = 'utf16'

/** The features of the package, in the terms of the kit; the kit skips other features. */
export const capabilities = [
  'encode',
  'decode',
  'doc',
  'vocab',
  'encodeSpecial',
  'pair',
  'pretokenized',
  'truncation',
  'padding',
]

/** The columns of an encoding besides its ids, by the names of its properties. */
export const columns = [
  'offsets',
  'tokens',
  'specialTokensMask',
  'typeIds',
  'attentionMask',
  'wordIds',
  'sequenceIds',
  'overflowing',
]

/**
 * The columns of a batch besides offsets.
 *
 * @type {any[]}
 */
const BATCH_COLUMNS = columns.filter((name) => name !== 'offsets' && name !== 'overflowing')

/**
 * Loads a tokenizer.
 *
 * @param {string} path the file; for the format `encoding`, which the kit does not have, the name
 *   of a bundled encoding
 * @param {{ format: 'hf' | 'tiktoken-npm' | 'tekken' | 'encoding' }} how
 * @returns {Promise<Subject>}
 */
export async function load(path, { format }) {
  switch (format) {
    case 'hf':
      return new Subject(await fromFile(path), 'parse')
    case 'encoding':
      return new Subject(await Tokenizer.fromEncoding(path), 'byRequest')
    case 'tiktoken-npm': {
      const packed = JSON.parse(await fs.readFile(path, 'utf8'))
      const ranks = Buffer.from(rankFile(packed.bpe_ranks))
      const definition = { pattern: packed.pat_str, specialTokens: packed.special_tokens }
      return new Subject(await Tokenizer.fromBuffer(ranks, definition), 'byRequest')
    }
    case 'tekken':
      // mistral-common never parses special tokens in text, and adds them only on request.
      return new Subject(await fromFile(path), 'text')
    default:
      throw Object.assign(new Error(`the package does not load ${format} files`), { unsupported: true })
  }
}

/** Writes a loaded tokenizer as a tokenizer.json, and loads that. */
export async function reread({ tokenizer, parsing }) {
  return new Subject(await Tokenizer.fromBuffer(tokenizer.toBuffer()), parsing)
}

/** A loaded tokenizer with the methods that the kit calls. */
class Subject {
  /**
   * @param {OverAddon} tokenizer
   * @param {'parse' | 'text' | 'byRequest'} parsing whether special tokens in the text are always
   *   parsed, as Hugging Face does, never, or only together with `addSpecialTokens`, which stands
   *   for tiktoken's `allowed_special="all"`
   */
  constructor(tokenizer, parsing) {
    this.tokenizer = tokenizer
    this.parsing = parsing
  }

  /**
   * Converts the options of the kit to those of the package.
   *
   * @returns {any}
   */
  options({ addSpecialTokens = true, encodeSpecialTokens = false }) {
    if (this.parsing === 'text') return { specialTokens: 'text' }
    if (this.parsing === 'byRequest') return { specialTokens: addSpecialTokens ? 'parse' : 'text' }
    return { addSpecialTokens, specialTokens: encodeSpecialTokens ? 'text' : 'parse' }
  }

  encode(text, /** @type {any} */ request = {}) {
    const { pair, truncation, pretokenized } = request
    const options = { ...this.options(request), offsets: request.offsets ?? offsetUnit }
    return this.tokenizer.encode(text, { ...options, pair, truncation, pretokenized })
  }

  encodeBatch(texts, /** @type {any} */ request = {}) {
    const { truncation, padding: { length, ...padding } = {} } = request
    const batch = this.tokenizer.encodeBatchSync(texts, {
      ...this.options(request),
      offsets: request.offsets ?? offsetUnit,
      columns: BATCH_COLUMNS,
      truncation: truncation ?? undefined,
      padding: request.padding && { ...padding, to: length ?? 'longest' },
    })
    return Array.from(batch, (ids, row) => {
      const [start, end] = batch.rowOffsets.subarray(row, row + 2)
      const columns = BATCH_COLUMNS.map((name) => [name, batch[name].slice(start, end)])
      return { ids, offsets: batch.offsetsOf(row), ...Object.fromEntries(columns) }
    })
  }

  decode(ids, { skipSpecialTokens }) {
    return this.tokenizer.decode(ids, { skipSpecialTokens })
  }

  decodeBytes(ids) {
    return this.tokenizer.decodeBytes(ids)
  }

  vocabSize(withAddedTokens) {
    return this.tokenizer.vocabSize({ addedTokens: withAddedTokens })
  }

  idToToken(id) {
    return this.tokenizer.idToToken(id)
  }

  tokenToId(token) {
    return this.tokenizer.tokenToId(token)
  }
}
