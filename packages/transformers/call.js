'use strict'

// The call `tokenizer(texts, options)`. The lengths of rows follow @huggingface/transformers: which
// rows are cut, which are padded, and to what length. The content of a cut row follows Python's
// transformers: it keeps special tokens.

const { generationMask } = require('tokenlane/internal/transformers.js')
const { boundedArray, named } = require('tokenlane/internal/dropins/bounded.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const { checkListed, checkText } = require('./backend.js')
const { tensorOf } = require('./tensor.js')

// Maximum number of ids in one tensor: one gibibyte of 64-bit integers.
const MAX_TENSOR_IDS = 2 ** 27
// A single text below this length, in UTF-16 units, is encoded without a batch call.
const MIN_BATCHED = 2 ** 15

const MAX_ID = 0xffffffff
const MAX_LENGTH = 0xffffffff

const STRATEGIES = ['longest_first', 'only_first', 'only_second']
const RAGGED =
  'Unable to create tensor, you should probably activate truncation and/or padding ' +
  "with 'padding=true' and 'truncation=true' to have batched tensors with the same length."

// The warnings that this process has printed. Configs can cause any number of them.
const warned = new Set()
const MAX_WARNED = 100

function warnOnce(message) {
  if (warned.has(message) || warned.size === MAX_WARNED) return
  warned.add(message)
  process.emitWarning(message)
}

/**
 * Encodes texts: { input_ids, attention_mask, token_type_ids? } as tensors or as arrays. With
 * `generations`, the places in one text that a chat template marks as written by the assistant,
 * also `assistant_masks`.
 */
function call(tokenizer, text, options, generations = undefined) {
  const { text_pair = null, add_special_tokens = true, return_token_type_ids = null } = options
  const { texts, pairs } = inputs(text, text_pair)
  const { truncation, padding, limit } = lengthsOf(tokenizer, options)
  const rows = encodeRows(tokenizer._tokenizer.engine, {
    texts,
    pairs,
    hasTypeIds: Boolean(return_token_type_ids ?? tokenizer.return_token_type_ids),
    addSpecialTokens: Boolean(add_special_tokens),
    truncation,
    generations,
  })
  const table = new Table(rows, filledLength(rows, padding, limit), tokenizer)
  if (options.return_tensor ?? true) return table.tensors()
  return Array.isArray(text) ? table.arrays() : table.arrays((column) => column[0])
}

function inputs(text, pair) {
  if (!Array.isArray(text)) {
    if (text === null || text === undefined) throw typeError('text may not be null or undefined')
    if (Array.isArray(pair)) {
      throw typeError(
        'When specifying `text_pair`, since `text` is a string, `text_pair` must also be a string (i.e., not an array).',
      )
    }
    return checked([text], [pair])
  }
  boundedArray(text, 'text')
  if (text.length === 0) throw error('ARGUMENT_VALUE', 'text array must be non-empty')
  if (pair === null) return checked(text)
  if (!Array.isArray(pair)) throw typeError('text_pair must also be an array')
  if (text.length !== pair.length) throw error('ARGUMENT_VALUE', 'text and text_pair must have the same length')
  return checked(text, pair)
}

/** Checks the types. If all pairs are null, there are no pairs. */
function checked(texts, pairs = undefined) {
  texts.forEach((text, index) => checkText(`text[${index}]`, text))
  const isPair = (pair) => pair !== null && pair !== undefined
  pairs?.forEach((pair, index) => isPair(pair) && checkText(`text_pair[${index}]`, pair))
  return { texts, pairs: pairs?.some(isPair) ? pairs : undefined }
}

/** { truncation, padding, limit }: how rows are cut, and to which length they are padded. */
function lengthsOf(tokenizer, { padding: wanted = false, truncation: wantedCut = null, max_length = null }) {
  const padding = paddingOf(wanted)
  let strategy = strategyOf(wantedCut)
  const modelMax = numberOrInfinity(tokenizer.model_max_length)
  if (max_length !== null && !(Number.isInteger(max_length) && max_length >= 0)) {
    throw error('ARGUMENT_VALUE', `max_length must be a non-negative integer, but it is ${named(max_length)}`)
  }
  let limit = max_length ?? modelMax
  if (max_length !== null && strategy === null && padding === 'longest') {
    warnOnce(
      '`max_length` is ignored when `padding: true` and there is no truncation strategy. ' +
        "To pad to max length, use `padding: 'max_length'`.",
    )
    limit = modelMax
  } else if (max_length !== null && strategy === null && padding === false) {
    warnOnce(
      'Truncation was not explicitly activated but `max_length` is provided a specific value, please use ' +
        '`truncation: true` to explicitly truncate examples to max length.',
    )
    strategy = 'longest_first'
  }
  limit = Math.min(limit, modelMax)
  const cuts = strategy && limit <= MAX_LENGTH
  const direction = tokenizer.config.truncation_side === 'left' ? 'left' : 'right'
  return { truncation: cuts ? { maxLength: limit, strategy, direction } : false, padding, limit }
}

const numberOrInfinity = (value) => (typeof value === 'number' && value >= 0 ? value : Infinity)

function paddingOf(padding) {
  if (padding === true || padding === 'longest') return 'longest'
  if (padding === 'max_length') return padding
  if (!padding || padding === 'do_not_pad') return false
  throw error('ARGUMENT_VALUE', `padding must be true, false or 'max_length', but it is ${named(padding)}`)
}

/** A strategy, false for none, or null if the call does not say. */
function strategyOf(truncation) {
  if (truncation === null || truncation === undefined) return null
  if (truncation === true) return 'longest_first'
  if (truncation === false || truncation === 'do_not_truncate') return false
  if (STRATEGIES.includes(truncation)) return truncation
  throw error(
    'ARGUMENT_VALUE',
    `truncation must be true, false or one of ${STRATEGIES.join(', ')}, but it is ${named(truncation)}`,
  )
}

/** Encodes all rows: { ids, typeIds? } each. Texts with and without a pair are two batches. */
function encodeRows(engine, { texts, pairs, hasTypeIds, addSpecialTokens, truncation, generations }) {
  const options = { addSpecialTokens, truncation, padding: false }
  const isPair = (index) => typeof pairs?.[index] === 'string'
  if (generations !== undefined) {
    const { ids, typeIds, offsets } = engine.encode(texts[0], { ...options, offsets: 'utf16' })
    return [{ ids, typeIds: hasTypeIds ? typeIds : undefined, mask: generationMask(texts[0], generations, offsets) }]
  }
  if (texts.length === 1 && texts[0].length < MIN_BATCHED) {
    const encoding = engine.encode(texts[0], { ...options, pair: isPair(0) ? pairs[0] : undefined })
    return [{ ids: encoding.ids, typeIds: hasTypeIds ? encoding.typeIds : undefined }]
  }
  const columns = hasTypeIds ? ['typeIds'] : []
  const encode = (some, theirs) => rowsOf(engine.encodeBatchSync(some, { ...options, columns, pairs: theirs }))
  const all = [...texts.keys()]
  if (pairs === undefined || all.every(isPair)) return encode(texts, pairs)
  const rows = new Array(texts.length)
  for (const kind of [true, false]) {
    const members = all.filter((index) => isPair(index) === kind)
    const pick = (list) => members.map((index) => list[index])
    const encoded = withRows(members, () => encode(pick(texts), kind ? pick(pairs) : undefined))
    members.forEach((index, at) => {
      rows[index] = encoded[at]
    })
  }
  return rows
}

/** Calls `work` on some of the rows; an error has the index of its row among all of them. */
function withRows(members, work) {
  try {
    return work()
  } catch (failure) {
    if (failure.row !== undefined) failure.row = members[failure.row]
    throw failure
  }
}

function rowsOf(batch) {
  const { rowOffsets, typeIds } = batch
  return Array.from(batch, (ids, row) => ({ ids, typeIds: typeIds?.subarray(rowOffsets[row], rowOffsets[row + 1]) }))
}

/** The length to which shorter rows are padded. Longer rows keep theirs. */
function filledLength(rows, padding, limit) {
  if (padding === false) return 0
  const longest = rows.reduce((max, { ids }) => Math.max(max, ids.length), 0)
  if (padding === 'longest') return Math.min(longest, limit)
  if (limit <= MAX_LENGTH) return limit
  throw error(
    'ARGUMENT_VALUE',
    "padding: 'max_length' needs a max_length, because the tokenizer has no model_max_length",
  )
}

/** Rows with their padding, as tensors or as arrays. */
class Table {
  #rows
  #length
  #columns
  #isLeft

  constructor(rows, length, { padding_side: side, pad_token: token, pad_token_id: id }) {
    this.#rows = rows
    this.#length = length
    this.#isLeft = side === 'left'
    const isFilled = rows.some(({ ids }) => ids.length < length)
    if (isFilled && !(Number.isInteger(id) && id >= 0 && id <= MAX_ID)) {
      throw error('NO_SUCH_TOKEN', `padding needs an id, but the tokenizer has none for its pad_token ${named(token)}`)
    }
    this.#columns = [
      ['input_ids', ({ ids }) => ids, id],
      ['attention_mask', ({ ids }) => new Uint8Array(ids.length).fill(1), 0],
    ]
    if (rows[0].typeIds !== undefined) this.#columns.push(['token_type_ids', ({ typeIds }) => typeIds, 0])
    if (rows[0].mask !== undefined) this.#columns.push(['assistant_masks', ({ mask }) => mask, 0])
  }

  #widthOf({ ids }) {
    return Math.max(ids.length, this.#length)
  }

  #build(make) {
    return Object.fromEntries(this.#columns.map(([name, values, pad]) => [name, make(values, pad)]))
  }

  tensors() {
    const width = this.#widthOf(this.#rows[0])
    if (this.#rows.some((row) => this.#widthOf(row) !== width)) throw error('TENSOR_SHAPE', RAGGED)
    const size = this.#rows.length * width
    if (size > MAX_TENSOR_IDS) {
      throw error(
        'PADDING_TOO_LONG',
        `a tensor of ${this.#rows.length} rows of ${width} ids is more than the limit of ${MAX_TENSOR_IDS} ids`,
      )
    }
    return this.#build((values, pad) => {
      const data = new BigInt64Array(size)
      // Only the low halves of the integers are written. All supported machines store them first.
      const halves = new Int32Array(data.buffer)
      this.#rows.forEach((row, index) => this.#write(halves, 2 * index * width, values(row), pad))
      return tensorOf(data, [this.#rows.length, width])
    })
  }

  /** Writes a row and its padding to the low halves, which are every second element. */
  #write(halves, start, values, pad) {
    const missing = Math.max(0, this.#length - values.length)
    let at = start
    const writePadding = () => {
      for (let left = missing; left > 0; left--, at += 2) halves[at] = pad
    }
    if (this.#isLeft) writePadding()
    for (let index = 0; index < values.length; index++, at += 2) halves[at] = values[index]
    if (!this.#isLeft) writePadding()
  }

  arrays(unwrap = (column) => column) {
    checkListed(this.#columns.length * this.#rows.reduce((sum, row) => sum + this.#widthOf(row), 0))
    return this.#build((values, pad) =>
      unwrap(
        this.#rows.map((row) => {
          const own = Array.from(values(row))
          const padding = new Array(Math.max(0, this.#length - own.length)).fill(pad)
          return this.#isLeft ? padding.concat(own) : own.concat(padding)
        }),
      ),
    )
  }
}

module.exports = { call, warnOnce }
