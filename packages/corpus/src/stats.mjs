// The statistics about documents in the record of a shard.

/** Maximum number of skipped rows that a record lists, and maximum length of their messages. */
const MAX_LISTED_ROWS = 20
const MAX_MESSAGE_LENGTH = 300
/** Maximum number of groups in a record, and maximum length of their names. */
const MAX_GROUPS = 1000
const MAX_NAME_LENGTH = 100
/** The group of the documents of all further groups. */
const OTHER_GROUPS = '(others)'

/**
 * Sums over documents. `tokens` are the tokens that were kept, bos and eos included; `cutTokens`
 * are those that `maxTokens` cut off.
 *
 * @typedef {{ documents: number, tokens: number, cutTokens: number, textBytes: number, characters:
 *   number }} Counts
 */

/** @returns {Counts} */
const noCounts = () => ({ documents: 0, tokens: 0, cutTokens: 0, textBytes: 0, characters: 0 })

/**
 * Adds a document.
 *
 * @param {Counts} sums
 * @param {Omit<Counts, 'documents'>} values
 */
function addTo(sums, { tokens, cutTokens, textBytes, characters }) {
  sums.documents += 1
  sums.tokens += tokens
  sums.cutTokens += cutTokens
  sums.textBytes += textBytes
  sums.characters += characters
}

export class Stats {
  documents = 0
  tokens = 0
  /** Bytes of UTF-8 of the texts. */
  textBytes = 0
  /** Characters, Unicode code points, of the texts. */
  characters = 0
  /** Documents without tokens, which are left out. */
  empty = 0
  /** Documents that had more than maxTokens, and the tokens that were cut off. */
  truncated = 0
  cutTokens = 0
  /** With a loss mask: documents without a token to learn from, which are left out. */
  unlearned = 0
  /** Documents that hooks left out. */
  filtered = 0
  /** Documents that the sample leaves out. */
  unsampled = 0
  /** Texts of JSON with unpaired surrogates, each of which became U+FFFD. */
  unpaired = 0
  /** With a loss mask: the tokens that the assistant wrote. */
  lossTokens = /** @type {number | undefined} */ (undefined)
  /**
   * Documents by the number of their tokens: entry i counts those with at least 2^i and fewer than
   * 2^(i + 1).
   */
  lengths = []
  skipped = { rows: 0, codes: /** @type {Record<string, number>} */ ({}), listed: /** @type {object[]} */ ([]) }
  /** The counts per input. */
  sources = /** @type {Record<string, Counts & { skipped: number }>} */ ({ __proto__: null })
  /** With the option groupBy, the counts per group. */
  #groups = /** @type {Map<string, Counts>} */ (new Map())

  /**
   * Counts a document of an input.
   *
   * @param {string} path
   * @param {Omit<Counts, 'documents'> & { lossTokens?: number }} values
   * @param {string} [group] with the option groupBy
   */
  document(path, values, group) {
    if (values.tokens === 0) {
      this[values.lossTokens === undefined ? 'empty' : 'unlearned'] += 1
      return
    }
    addTo(this, values)
    addTo(this.#source(path), values)
    if (group !== undefined) addTo(this.#group(group), values)
    if (values.cutTokens > 0) this.truncated += 1
    if (values.lossTokens !== undefined) this.lossTokens = (this.lossTokens ?? 0) + values.lossTokens
    const magnitude = 31 - Math.clz32(values.tokens)
    while (this.lengths.length <= magnitude) this.lengths.push(0)
    this.lengths[magnitude] += 1
  }

  #group(name) {
    const short = name.slice(0, MAX_NAME_LENGTH)
    const key = this.#groups.has(short) || this.#groups.size < MAX_GROUPS ? short : OTHER_GROUPS
    let group = this.#groups.get(key)
    if (group === undefined) {
      group = noCounts()
      this.#groups.set(key, group)
    }
    return group
  }

  /** Counts a row that was skipped, or `rows` that were left out together. */
  skip({ path, at, from, line, row, rows = 1 }, { code, message }) {
    this.skipped.rows += rows
    this.#source(path).skipped += rows
    this.skipped.codes[code] = (this.skipped.codes[code] ?? 0) + rows
    if (this.skipped.listed.length < MAX_LISTED_ROWS)
      this.skipped.listed.push({ path, at, from, line, row, code, message: message.slice(0, MAX_MESSAGE_LENGTH) })
  }

  #source(path) {
    this.sources[path] ??= { ...noCounts(), skipped: 0 }
    return this.sources[path]
  }

  toJSON() {
    return { ...this, ...(this.#groups.size > 0 && { groups: Object.fromEntries(this.#groups) }) }
  }
}
