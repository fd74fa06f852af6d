#!/usr/bin/env node
// The package's side of the differential run: reads one JSON request per line, and writes one JSON
// answer per line. sides.py documents the requests; reference.py answers them with the library.

import { Buffer } from 'node:buffer'
import { createInterface } from 'node:readline'

import { columns, load, reread } from '../../../__test__/conformance/adapter.mjs'
import { limits } from '../../../index.js'
import { inconsistencies } from './calls.mjs'

const BATCH_COLUMNS = columns.filter((name) => name !== 'offsets' && name !== 'overflowing')

let subject

async function loaded({ load: path, format, reread: where }) {
  try {
    subject = await load(path, { format })
    if (where === undefined) return {}
    const written = Buffer.from(subject.tokenizer.toBuffer()).toString()
    if (where === 'here') subject = await reread(subject)
    return { written: JSON.parse(written) }
  } catch (error) {
    return { failed: error.message }
  }
}

/**
 * An answer that exceeds the output limit is made again without it: the library has no such limit.
 */
function answer(request) {
  const { maxExpansion } = limits
  try {
    return answerWithinLimits(request)
  } catch (error) {
    if (error.code !== 'ERR_TOKENLANE_OUTPUT_LIMIT') return failed(error)
  }
  try {
    limits.configure({ maxExpansion: Infinity })
    return answerWithinLimits(request)
  } catch (error) {
    return failed(error)
  } finally {
    limits.configure({ maxExpansion })
  }
}

function failed(error) {
  return { failed: `${error.code ?? ''} ${error.message}` }
}

function answerWithinLimits(request) {
  if (request.decode !== undefined) return decoded(request)
  if (request.calls !== undefined) {
    return { calls: inconsistencies(subject.tokenizer, request.calls, subject.options(request.options)) }
  }
  if (request.ids !== undefined) return lookedUp(request)
  if (request.batch !== undefined) return batch(request)
  return encoded(request)
}

/**
 * Converts the options of a request. With `stored`, the file's truncation and padding apply.
 */
function optionsOf(request) {
  const { stored, truncation, padding, pretokenized } = request.options
  const common = { ...subject.options(request.options), pretokenized }
  if (stored) return common
  const filled = padding && { ...padding, multipleOf: padding.multipleOf ?? undefined }
  return { ...common, truncation: truncation ?? false, padding: filled ?? false }
}

function encoded(request) {
  const options = { ...optionsOf(request), pair: request.options.pair ?? undefined }
  const encoding = subject.tokenizer.encode(request.encode, { ...options, offsets: 'codepoint' })
  const result = plain(encoding)
  if (request.places) result.places = places(encoding, request.places)
  if (request.also) Object.assign(result, sameOtherwise(request, options, result))
  return result
}

/**
 * The results of other calls for the same text, which must equal those of the first call.
 */
function sameOtherwise(request, options, result) {
  const bytes = (text) => (typeof text === 'string' ? Buffer.from(text) : text.map(bytes))
  const { pair, ...rest } = options
  const input = { ...options, pair: pair && bytes(pair) }
  const uncut = { ...rest, truncation: false, padding: false, offsets: false }
  const counted = () =>
    subject.tokenizer.count(request.encode, subject.options(request.options)) -
    subject.tokenizer.encode(request.encode, uncut).length
  return {
    ofBytes: [...subject.tokenizer.encode(bytes(request.encode), { ...input, offsets: false }).ids],
    counted: request.options.pretokenized ? null : counted(),
    utf16: inCodePoints(request, options, 'utf16', result.offsets),
    bytes: inCodePoints(request, options, 'byte', result.offsets),
  }
}

/**
 * Whether offsets in another unit equal the offsets in code points, converted to that unit. Pairs,
 * words, and positions after the text's end are not checked.
 */
function inCodePoints(request, options, unit, expected) {
  if (options.pair !== undefined || request.options.pretokenized) return true
  const ends = [0]
  for (const character of request.encode) {
    ends.push(ends.at(-1) + (unit === 'byte' ? Buffer.byteLength(character) : character.length))
  }
  const got = subject.tokenizer.encode(request.encode, { ...options, offsets: unit }).offsets
  return got.every((at, index) => at === (ends[expected[index]] ?? at))
}

function places(encoding, numbers) {
  const none = (value) => value ?? null
  return numbers.map(([number, sequence]) =>
    [
      encoding.tokenToSequence(number),
      encoding.tokenToChars(number),
      encoding.tokenToWord(number),
      encoding.wordToTokens(number, sequence),
      encoding.wordToChars(number, sequence),
      encoding.charToToken(number, sequence),
      encoding.charToWord(number, sequence),
    ].map(none),
  )
}

function batch(request) {
  const { pairs } = request.options
  const options = { ...optionsOf(request), pairs: pairs ?? undefined, offsets: 'codepoint', columns: BATCH_COLUMNS }
  const made = subject.tokenizer.encodeBatchSync(request.batch, options)
  return { rows: Array.from(made, (_, row) => rowOf(made, row)) }
}

function rowOf(made, row) {
  const [start, end] = made.rowOffsets.subarray(row, row + 2)
  const columnsOf = (name) => [name, marked(name, made[name].slice(start, end))]
  return {
    ids: [...made.row(row)],
    offsets: [...made.offsetsOf(row)],
    ...Object.fromEntries(BATCH_COLUMNS.map(columnsOf)),
  }
}

function decoded({ decode, pieces, options: { skipSpecialTokens } }) {
  const text = subject.decode(decode, { skipSpecialTokens })
  if (pieces === undefined) return { text }
  const stream = subject.tokenizer.decodeStream({ skipSpecialTokens })
  let [streamed, at] = ['', 0]
  for (const length of pieces) streamed += stream.push(decode.slice(at, (at += length)))
  return { text, streamed: streamed + stream.push(decode.slice(at)) + stream.end() }
}

function lookedUp({ ids, tokens }) {
  const { tokenizer } = subject
  return {
    tokens: ids.map((id) => tokenizer.idToToken(id) ?? null),
    ids: tokens.map((token) => tokenizer.tokenToId(token) ?? null),
    sizes: [tokenizer.vocabSize(), tokenizer.vocabSize({ addedTokens: false })],
  }
}

/** The columns as JSON: flat offsets, and `null` for tokens without a word or sequence. */
function plain(encoding) {
  const column = (name) => [name, marked(name, encoding[name])]
  return {
    ...Object.fromEntries(['ids', ...columns].filter((name) => name !== 'overflowing').map(column)),
    overflowing: encoding.overflowing.map(plain),
  }
}

function marked(name, column) {
  const hasNone = name === 'wordIds' || name === 'sequenceIds'
  return Array.from(column, hasNone ? (id) => (id < 0 ? null : id) : undefined)
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line)
  const made = request.load === undefined ? request.all.map(answer) : await loaded(request)
  process.stdout.write(`${JSON.stringify(made)}\n`)
}
