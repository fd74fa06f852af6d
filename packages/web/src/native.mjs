// The functions of the addon, over the WebAssembly module for the web. `lib/` calls them as it
// calls the addon's: see src/ for what each does.

import { errors } from 'tokenlane/internal/base.js'
import { BITS, COLUMN_NAMES, ENCODINGS } from './constants.mjs'
import { Handle, StopStream, Stream, freed, guarded, setMaxExpansion } from './handle.mjs'
import { UTF16, UTF8, jsonOf } from './instance.mjs'
import { aligned } from './addresses.mjs'
import { hasFlag } from './bits.mjs'
import { init } from './module.mjs'
import { nextTurn } from './runtime.mjs'
import { Rows, checkBytes, checkIds, checkText, copyIds, copyRows, copyWords } from './texts.mjs'

const { error, withCode } = errors

/** How long a batch keeps the event loop, in milliseconds. */
const TURN_MS = 8
/** The maximum size of the texts of a slice of a batch, in bytes; a longer text is one slice. */
const SLICE_BYTES = 2 ** 16
/** How many batches run at a time, in turns. */
const MAX_RUNNING = 2
/** The `which` of all numeric columns. */
const NUMBERS = 0xffff_ffff
/** The maximum of an argument of the module. Larger numbers would be taken modulo 2^32. */
const MAX_U32 = 2 ** 32 - 1
const FEW_IDS = 64

const shared = new Uint32Array(4096)

/** Calls `work` with the instance of a tokenizer and its number. */
function using(handle, work) {
  const { instance } = handle
  return guarded(instance, () => work(instance, handle.id, instance.exports))
}

/** Writes a text with its options and calls `work(length, extra)`. */
const textCall = (handle, name, text, extra, work) =>
  using(handle, (instance, id, exports) => {
    const json = jsonOf(extra)
    const length = instance.write(checkText(name, text))
    return work(instance, id, exports, length, instance.writeJson(json, length))
  })

/**
 * Writes a text, a string as UTF-16, so that lengths in the result are those of strings. Calls
 * `work(instance, id, kind, length, optionBytes, end)`; what follows the options is written at
 * `end`.
 */
const unitsCall = (handle, text, extra, work) =>
  using(handle, (instance, id) => {
    const json = jsonOf(extra)
    const isString = typeof checkText('text', text) === 'string'
    const length = isString ? instance.writeUtf16(text) : instance.write(text)
    const bytes = isString ? 2 * length : length
    const optionBytes = instance.writeJson(json, bytes)
    return work(instance, id, isString ? UTF16 : UTF8, length, optionBytes, aligned(bytes) + optionBytes)
  })

/**
 * Writes one input: texts or, with flags, words, or a text and the bounds of its ranges. Calls
 * `work(instance, id, length, tableLength, optionBytes)`.
 */
function inputCall(handle, text, pair, flags, extra, work) {
  const words = hasFlag(flags, BITS.words)
  const isBounds = hasFlag(flags, BITS.literal)
  const checked = (name, value) => {
    if (words) return copyWords(name, value)
    return isBounds && name === 'pair' ? bytesOf(value) : checkText(name, value)
  }
  const rows = new Rows()
  rows.add(checked('text', text))
  if (pair !== undefined) rows.add(checked('pair', pair))
  return using(handle, (instance, id) => {
    const json = jsonOf(extra)
    const length = rows.write(instance)
    return work(instance, id, length, rows.table.length, instance.writeJson(json, rows.before(length)))
  })
}

const bytesOf = (bounds) => new Uint8Array(bounds.buffer, bounds.byteOffset, bounds.byteLength)

function encodeShort(handle, text, flags) {
  return using(handle, (instance, id, exports) => {
    const count = instance.check(exports.encode(id, UTF8, instance.write(text), flags, 0))
    const { memory } = instance
    const at = instance.number(0)
    if (count <= FEW_IDS) {
      const { words } = memory
      const first = memory.wordIndex(at)
      for (let index = 0; index < count; index++) shared[index] = words[first + index]
    } else if (count <= shared.length) shared.set(memory.wordsAt(at, count))
    return count
  })
}

function encode(handle, text, pair, flags, extra, _scratch) {
  if (pair !== undefined || hasFlag(flags, BITS.words)) {
    return inputCall(handle, text, pair, flags, extra, (instance, id, length, table, optionBytes) => {
      instance.check(instance.exports.encode_input(id, length, table, flags, optionBytes))
      return instance.value()
    })
  }
  return textCall(handle, 'text', text, extra, (instance, id, exports, length, optionBytes) => {
    const count = instance.check(exports.encode(id, UTF8, length, flags, optionBytes))
    return instance.memory.copyWords(instance.number(0), count)
  })
}

const column = (handle, text, pair, flags, extra, which) =>
  inputCall(handle, text, pair, flags, extra, (instance, id, length, table, optionBytes) => {
    instance.check(instance.exports.column(id, length, table, flags, optionBytes, which))
    return instance.value()
  })

const count = (handle, text, flags, extra) =>
  textCall(handle, 'text', text, extra, (instance, id, exports, length, optionBytes) =>
    instance.check(exports.count(id, UTF8, length, flags, optionBytes)),
  )

function isWithin(handle, text, limit, flags, extra) {
  checkText('text', text)
  const isBeyond = using(handle, (instance, id, exports) => {
    const optionBytes = instance.writeJson(jsonOf(extra), 0)
    const bytes = Math.min(text.length, MAX_U32)
    return instance.check(exports.is_surely_beyond(id, bytes, limit, flags, optionBytes)) === 1
  })
  if (isBeyond) return false
  // As UTF-16, so that the same texts as in the addon are not read to their end.
  return unitsCall(
    handle,
    text,
    extra,
    (instance, id, kind, length, optionBytes) =>
      instance.check(instance.exports.is_within(id, kind, length, limit, flags, optionBytes)) === 1,
  )
}

function encodeInto(handle, text, target, flags, extra, result) {
  const capacity = Math.min(checkIds('ids', target).length, MAX_U32)
  return unitsCall(handle, text, extra, (instance, id, kind, length, optionBytes) => {
    const isFound = instance.check(instance.exports.encode_into(id, kind, length, capacity, flags, optionBytes)) === 1
    if (!isFound) return false
    const [at, read, written] = [instance.number(0), instance.number(1), instance.number(2)]
    target.set(instance.memory.wordsAt(at, written))
    result[0] = read
    result[1] = written
    return true
  })
}

const truncate = (handle, text, limit, flags, extra, result) =>
  unitsCall(handle, text, extra, (instance, id, kind, length, optionBytes) => {
    const reason = instance.check(instance.exports.truncate(id, kind, length, limit, flags, optionBytes))
    if (reason !== 0) return reason
    result[0] = instance.number(0)
    result[1] = instance.number(1)
    return null
  })

/** A call with a request: split or encode_part. */
const requestCall = (name) => (handle, text, flags, extra, request) => {
  const json = jsonOf(request)
  return unitsCall(handle, text, extra, (instance, id, kind, length, optionBytes, end) => {
    const requestBytes = instance.writeJson(json, end)
    instance.check(instance.exports[name](id, kind, length, flags, optionBytes, requestBytes))
    return instance.value()
  })
}

const split = requestCall('split')
const encodePart = requestCall('encode_part')

const decoded = (handle, ids, skip, raw) =>
  using(handle, (instance, id, exports) => {
    instance.writeWords(checkIds('ids', ids))
    instance.check(exports.decode(id, ids.length, Number(skip), Number(raw)))
    return raw ? instance.value() : instance.text()
  })

const decode = (handle, ids, skip) => decoded(handle, ids, skip, false)

/** The text or bytes of a result that may be missing. */
const given = (handle, call, read) =>
  using(handle, (instance, id, exports) => (instance.check(call(exports, id, instance)) === 1 ? read(instance) : null))

/** Calls `work` with the instance of a stream. */
function streaming(stream, work) {
  const { instance } = stream
  if (instance.isDead) {
    throw error('ERR_TOKENLANE_DISPOSED', 'an earlier error ended the instance of this stream: begin a new one')
  }
  return guarded(instance, () => work(instance, stream.id, instance.exports))
}

const streamPush = (stream, ids, skipped) =>
  streaming(stream, (instance, id, exports) => {
    instance.writeWords(checkIds('ids', ids))
    instance.check(exports.stream_push(id, ids.length, skipped))
    return instance.text()
  })

const one = new Uint32Array(1)
function streamPushId(stream, id, skipped) {
  one[0] = id
  return streamPush(stream, one, skipped)
}

/** The text of a stream that stops; its numbers go to `result`. */
function stopped(instance, result) {
  for (let index = 0; index < result.length; index++) result[index] = instance.number(index)
  return instance.text()
}

// Batches. A queue entry has the copied texts, and whether its call has ended.

let running = 0

/** @returns {any} */
const enqueue = () => ({ lists: [undefined, undefined], isRunning: false, hasLeft: false })

function tryStart(entry) {
  if (entry.isRunning) return true
  if (running >= MAX_RUNNING) return false
  running++
  entry.isRunning = true
  return true
}

function leaveQueue(entry) {
  if (entry.isRunning) running--
  entry.isRunning = false
  entry.hasLeft = true
}

function copyTexts(entry, second, words, array, from, to) {
  const rows = (entry.lists[Number(second)] ??= [])
  const end = performance.now() + 0.5
  const mayContinue = (index) => index % 256 !== 0 || performance.now() < end
  return copyRows(second ? 'pairs' : 'texts', words, { array, from, to }, rows, mayContinue)
}

/** All texts of a synchronous call. */
function copiedNow(texts, pairs, words) {
  const entry = enqueue()
  const all = (name, second, list) =>
    copyRows(name, words, { array: list, from: 0, to: list?.length ?? 0 }, (entry.lists[second] ??= []), () => true)
  all('texts', 0, texts)
  if (pairs !== undefined) all('pairs', 1, pairs)
  return entry
}

/** The slices of the copied texts: their rows, and the index of the first. */
function* slicesOf([texts = [], pairs]) {
  if (pairs !== undefined && pairs.length !== texts.length) {
    const message = `there are ${texts.length} texts, but ${pairs.length} pairs`
    throw withCode(new RangeError(message), 'ERR_TOKENLANE_ARGUMENT_VALUE')
  }
  const sequences = pairs === undefined ? 1 : 2
  let rows = new Rows()
  let first = 0
  for (let index = 0; index < texts.length; index++) {
    rows.add(texts[index])
    if (pairs !== undefined) rows.add(pairs[index])
    if (rows.bytes >= SLICE_BYTES || index + 1 === texts.length) {
      yield { rows, first, sequences }
      rows = new Rows()
      first = index + 1
    }
  }
}

/** The steps of encoding a batch; the last value is its blocks. */
function* encoding(entry, handle, flags, extra) {
  const { instance } = handle
  const tokenizer = handle.id
  const { exports } = instance
  const call = (work) => guarded(instance, work)
  const batch = call(() => instance.check(exports.batch(tokenizer, flags, instance.writeJson(jsonOf(extra), 0))))
  let isOpen = true
  try {
    for (const { rows, first, sequences } of slicesOf(entry.lists)) {
      call(() => {
        const length = rows.write(instance)
        instance.check(exports.batch_push(tokenizer, batch, length, rows.table.length, sequences, first))
      })
      yield
      if (instance.isDead)
        throw error('ERR_TOKENLANE_DISPOSED', 'an error in another call ended the instance of this batch')
    }
    isOpen = false
    return call(() => {
      const count = instance.check(exports.batch_end(tokenizer, batch))
      const [ids, rowTexts, ...columns] = Array.from({ length: 2 + COLUMN_NAMES.length }, (_, index) =>
        instance.value(index),
      )
      return [ids, count, rowTexts, ...columns]
    })
  } finally {
    if (isOpen) freed({ instance, free: 'free_batch', id: batch })
  }
}

/** The steps of counting a batch; the last value is the buffer of the counts. */
function* counting(entry, handle, flags, extra) {
  const json = jsonOf(extra)
  const counts = new Uint32Array(entry.lists[0]?.length ?? 0)
  for (const { rows, first } of slicesOf(entry.lists)) {
    using(handle, (instance, id, exports) => {
      const length = rows.write(instance)
      const optionBytes = instance.writeJson(json, rows.before(length))
      instance.check(exports.count_rows(id, length, rows.table.length, flags, optionBytes, first))
      counts.set(new Uint32Array(instance.value()), first)
    })
    yield
  }
  return counts.buffer
}

/** The steps of decoding rows; the last value is the texts. */
function* decoding(handle, ids, rowOffsets, skip) {
  const texts = []
  for (let row = 0; row + 1 < rowOffsets.length; row++) {
    const [start, end] = [rowOffsets[row], rowOffsets[row + 1]]
    if (start > end || end > ids.length) {
      const message = 'the row offsets must rise from 0 to the number of ids'
      throw withCode(new RangeError(message), 'ERR_TOKENLANE_ARGUMENT_VALUE')
    }
    try {
      texts.push(decode(handle, ids.subarray(start, end), skip))
    } catch (failure) {
      if (errors.isTokenlaneError(failure) && !/PANIC|OUT_OF_MEMORY/.test(failure.code))
        Object.assign(failure, { row, message: `row ${row}: ${failure.message}` })
      throw failure
    }
    yield
  }
  return texts
}

function now(steps) {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Takes the steps, and lets the event loop run between them. */
async function inTurns(entry, steps) {
  try {
    for (;;) {
      const end = performance.now() + TURN_MS
      do {
        const { done, value } = steps.next()
        if (done) return value
      } while (performance.now() < end)
      await new Promise((resolve) => nextTurn(resolve))
      if (entry.hasLeft) {
        steps.return()
        throw error('ERR_TOKENLANE_CANCELLED', 'the batch was cancelled')
      }
    }
  } finally {
    leaveQueue(entry)
  }
}

const json = (handle, call) =>
  using(handle, (instance, id, exports) => {
    instance.check(call(exports, id, instance))
    return JSON.parse(instance.text())
  })

function encodingDefinition(name) {
  if (Object.hasOwn(ENCODINGS, name)) return ENCODINGS[name]
  const known = Object.keys(ENCODINGS).join(', ')
  const message = `there is no encoding ${JSON.stringify(name)}; the bundled ones are ${known}`
  throw withCode(new RangeError(message), 'ERR_TOKENLANE_UNKNOWN_ENCODING')
}

/** The default of the core. */
let maxExpansion = 32

export default {
  __proto__: null,
  cpuLevel: () => 'simd128',
  flagBits: () => BITS,
  columnNames: () => COLUMN_NAMES,
  maxExpansion: () => maxExpansion,
  setMaxExpansion(factor) {
    maxExpansion = factor
    setMaxExpansion(factor)
  },

  encodingNames: () => Object.keys(ENCODINGS),
  encodingFile: (name) => encodingDefinition(name).file,
  encodingDefinition: (name) => structuredClone(encodingDefinition(name)),
  async loadBytes(entry, bytes, options) {
    try {
      checkBytes('bytes', bytes)
      await init()
      return Handle.load(bytes, options)
    } finally {
      leaveQueue(entry)
    }
  },
  loadBytesSync: (bytes, options) => Handle.load(checkBytes('bytes', bytes), options),
  change: (handle, changes) => handle.change(changes),
  fileFormat: (handle) => handle.format,
  toBuffer: (handle) =>
    using(handle, (instance, id, exports) => {
      instance.check(exports.to_buffer(id))
      return instance.value()
    }),
  components: (handle) =>
    given(
      handle,
      (exports, id) => exports.components(id),
      (instance) => instance.value(),
    ),

  sharedIds: () => shared,
  encodeShort,
  countShort: (handle, text, flags) =>
    using(handle, (instance, id, exports) => instance.check(exports.count(id, UTF8, instance.write(text), flags, 0))),
  encode,
  column,
  numbers: (handle, text, pair, flags, extra) => column(handle, text, pair, flags, extra, NUMBERS),
  count,
  encodePart,
  isWithin,
  encodeInto,
  truncate,
  split,
  splitAsync: async (entry, handle, text, flags, extra, request) => {
    try {
      return split(handle, text, flags, extra, request)
    } finally {
      leaveQueue(entry)
    }
  },

  decode,
  decodeBytes: (handle, ids, skip) => decoded(handle, ids, skip, true),
  decodeStream: (handle, skip) => new Stream(handle, skip),
  streamPush,
  streamPushId,
  streamText: (stream, tokenId) =>
    streaming(stream, (instance, id, exports) =>
      instance.check(exports.stream_text(id, tokenId)) === 1 ? instance.text() : null,
    ),
  streamEnd: (stream) =>
    streaming(stream, (instance, id, exports) => {
      instance.check(exports.stream_end(id))
      return instance.text()
    }),

  stopStream: (handle, request) => new StopStream(handle, request),
  stopPush: (stream, ids, count, result) =>
    streaming(stream, (instance, id, exports) => {
      instance.writeWords(checkIds('ids', ids))
      instance.check(exports.stop_push(id, ids.length, count))
      return stopped(instance, result)
    }),
  stopEnd: (stream, result) =>
    streaming(stream, (instance, id, exports) => {
      instance.check(exports.stop_end(id))
      return stopped(instance, result)
    }),
  stopCut: (stream) =>
    streaming(stream, (instance, id, exports) => {
      instance.check(exports.stop_cut(id))
      return instance.text()
    }),

  tokenBytes: (handle) =>
    given(
      handle,
      (exports, id) => exports.token_bytes(id),
      (instance) => [0, 1, 2].map((index) => instance.value(index)),
    ),
  tokenToId: (handle, token) =>
    given(
      handle,
      (exports, id, instance) => exports.token_to_id(id, instance.write(token)),
      (instance) => instance.number(0),
    ),
  idToToken: (handle, tokenId) =>
    given(
      handle,
      (exports, id) => exports.id_to_token(id, tokenId),
      (instance) => instance.text(),
    ),
  vocabSize: (handle, added) =>
    using(handle, (instance, id, exports) => instance.check(exports.vocab_size(id, Number(added)))),
  maxId: (handle) =>
    given(
      handle,
      (exports, id) => exports.max_id(id),
      (instance) => instance.number(0),
    ) ?? -1,
  facts: (handle) => json(handle, (exports, id) => exports.facts(id)),
  stats: (handle) => json(handle, (exports, id) => exports.stats(id)),

  enqueue,
  maxRunning: () => MAX_RUNNING,
  tryStart,
  leaveQueue,
  copyTexts,
  encodeBatch: (entry, handle, flags, extra) => inTurns(entry, encoding(entry, handle, flags, extra)),
  encodeBatchSync: (handle, texts, pairs, flags, extra) =>
    now(encoding(copiedNow(texts, pairs, hasFlag(flags, BITS.words)), handle, flags, extra)),
  countBatch: (entry, handle, flags, extra) => inTurns(entry, counting(entry, handle, flags, extra)),
  countBatchSync: (handle, texts, flags, extra) =>
    now(counting(copiedNow(texts, undefined, false), handle, flags, extra)),
  decodeBatch: (entry, handle, ids, rowOffsets, skip) =>
    inTurns(entry, decoding(handle, copyIds('ids', ids), copyIds('rowOffsets', rowOffsets), skip)),

  // Results lie in memory of JavaScript.
  detach: (buffer) => void (buffer.byteLength > 0 && structuredClone(buffer, { transfer: [buffer] })),
}
