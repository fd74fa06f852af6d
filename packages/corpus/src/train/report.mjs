// Measures a tokenizer on texts, beside others, for the page about it.

import { isOfRow, Failure, bareCode } from 'tokenlane/internal/files.mjs'
import { Tokenizer } from 'tokenlane/internal/corpus.js'
import { documentsOf, placeOf } from '../documents.mjs'
import { planParts } from '../plan.mjs'
import { writeNamed } from '../store/part-file.mjs'
import { tokenizerPage } from './report-page.mjs'
import { smallerOnes } from './smaller.mjs'

/** Bytes of texts that are measured at most: the first ones of the inputs. */
const MAX_BYTES = 32 << 20
/** Bytes of texts for the curve over vocabulary sizes, for which each size is encoded again. */
const CURVE_BYTES = 4 << 20
/** Texts that are encoded at once. */
const BATCH_TEXTS = 1 << 12
/** Distinct words that are looked at. */
const MAX_WORDS = 50_000
/** Words of letters. A longer one is of a script without spaces. */
const WORD = /(?<![\p{L}\p{M}])\p{L}[\p{L}\p{M}]{1,23}(?![\p{L}\p{M}])/gu
/** Examples on the page: their number and their length in UTF-16 units. */
const EXAMPLES = 4
const EXAMPLE_UNITS = 280

const ENCODE = /** @type {const} */ ({
  addSpecialTokens: false,
  specialTokens: 'text',
  truncation: false,
  padding: false,
})

/**
 * Writes a page about a tokenizer.
 *
 * @param {{ name: string, tokenizer: import('tokenlane').Tokenizer }[]} tokenizers the first
 *   one is what the page is about
 * @param {import('./options.mjs').CountOptions} options what is read
 * @param {string} file the page
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ texts: number, bytes: number }>} what was measured
 */
export async function writeReport(tokenizers, options, file, signal) {
  const sample = await readSample(options, signal)
  const all = []
  for (const one of tokenizers) all.push({ ...one, ...(await measure(one.tokenizer, sample, signal)) })
  const [first] = all
  const findings = {
    sample,
    all,
    curve: await curveOf(tokenizers, sample, signal),
    words: await splitWords(first.tokenizer, sample, signal),
    examples: examplesOf(sample, tokenizers),
  }
  await writeNamed(file, tokenizerPage(findings))
  return { texts: sample.texts.length, bytes: sample.bytes }
}

/**
 * Texts with their groups: the values of a field, or else the names of their files.
 *
 * @typedef {{ texts: string[], groups: string[], bytes: number, characters: number, isCut: boolean
 *   }} Sample
 */

/**
 * @param {import('./options.mjs').CountOptions} options
 * @param {AbortSignal} [signal]
 * @returns {Promise<Sample>}
 */
async function readSample({ inputs, filesFrom, content, exclude }, signal) {
  const sample = { texts: [], groups: [], bytes: 0, characters: 0, isCut: false }
  const onSkip = (place, failure) => {
    if (content.onError === 'skip' && isOfRow(failure)) return
    throw new Failure(bareCode(failure), failure.message, { place: placeOf(place) })
  }
  const hooks = { onRead: () => signal?.throwIfAborted(), onSkip, onDamage() {} }
  for await (const part of planParts({ inputs, filesFrom, content, exclude, onUnreadable() {} })) {
    for await (const batch of documentsOf([part], undefined, content, hooks)) {
      batch.countCharacters()
      for (let index = 0; index < batch.length && !sample.isCut; index++) {
        const text = Buffer.from(batch.text(index)).toString()
        sample.texts.push(text)
        sample.groups.push(batch.hasGroups ? batch.group(index) : part.path)
        sample.bytes += batch.textBytes(index)
        sample.characters += batch.characters(index)
        sample.isCut = sample.bytes >= MAX_BYTES
      }
      batch.release()
      if (sample.isCut) return sample
    }
  }
  if (sample.bytes === 0) throw new Failure('TRAIN_NO_WORDS', 'the inputs have no text to measure the tokenizer on')
  return sample
}

/** Encodes texts and counts each id; also the tokens and bytes of each group. */
async function measure(tokenizer, { texts, groups }, signal) {
  const uses = new Float64Array(tokenizer.vocabSize() + 1)
  const byGroup = /** @type {Map<string, { tokens: number, bytes: number }>} */ (new Map())
  let tokens = 0
  for (let from = 0; from < texts.length; from += BATCH_TEXTS) {
    const some = texts.slice(from, from + BATCH_TEXTS)
    const batch = await tokenizer.encodeBatch(some, { ...ENCODE, ...(signal && { signal }) })
    const { ids, rowOffsets } = batch
    tokens += ids.length
    // An id beyond the vocabulary's size is possible where ids have gaps.
    for (const id of ids) if (id < uses.length) uses[id]++
    some.forEach((text, index) => {
      const group = groups[from + index]
      const sums = byGroup.get(group) ?? { tokens: 0, bytes: 0 }
      sums.tokens += rowOffsets[index + 1] - rowOffsets[index]
      sums.bytes += Buffer.byteLength(text)
      byGroup.set(group, sums)
    })
    batch.dispose()
  }
  return { tokens, uses, byGroup, size: tokenizer.vocabSize() }
}

/**
 * Bytes per token of the tokenizer with smaller vocabularies, and of the others: the name of each,
 * its size and the value.
 */
async function curveOf(tokenizers, { texts, bytes }, signal) {
  const [{ tokenizer }, ...others] = tokenizers
  // Texts from everywhere.
  const step = Math.max(1, Math.ceil(bytes / CURVE_BYTES))
  const some = texts.filter((_, index) => index % step === 0)
  const all = some.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const bytesPerToken = async (one) => {
    let tokens = 0
    for (const count of await one.countBatch(some, countOptions(signal))) tokens += count
    return all / Math.max(1, tokens)
  }
  const own = []
  for (const { size, file } of smallerOnes(tokenizer))
    own.push({ size, value: await bytesPerToken(await Tokenizer.fromBuffer(file)) })
  const compared = []
  for (const { name, tokenizer: other } of others)
    compared.push({ name, size: other.vocabSize(), value: await bytesPerToken(other) })
  return { own, compared }
}

const countOptions = (signal) => ({
  addSpecialTokens: false,
  specialTokens: /** @type {const} */ ('text'),
  ...(signal && { signal }),
})

/** The words of letters that cost the most tokens beyond one each, with their tokens. */
async function splitWords(tokenizer, { texts }, signal) {
  const counts = new Map()
  for (const text of texts) {
    for (const [word] of text.matchAll(WORD)) {
      const count = counts.get(word)
      if (count !== undefined || counts.size < MAX_WORDS) counts.set(word, (count ?? 0) + 1)
    }
  }
  const words = [...counts.keys()]
  const numbers = await tokenizer.countBatch(
    words.map((word) => ` ${word}`),
    countOptions(signal),
  )
  return words
    .map((word, index) => ({ word, count: counts.get(word), tokens: numbers[index] }))
    .filter(({ tokens }) => tokens > 2)
    .sort((a, b) => (b.tokens - 1) * b.count - (a.tokens - 1) * a.count)
    .slice(0, 30)
    .map(({ word, count }) => ({ word, count, pieces: piecesOf(tokenizer, ` ${word}`) }))
}

/** Texts from the whole sample, with their pieces by each tokenizer. */
function examplesOf({ texts }, tokenizers) {
  const candidates = texts.filter((text) => text.trim().length >= 40)
  const some = candidates.length > 0 ? candidates : texts
  return Array.from({ length: Math.min(EXAMPLES, some.length) }, (_, index) => {
    const text = startOf(some[Math.floor(((index + 0.5) * some.length) / EXAMPLES) % some.length])
    return tokenizers.map(({ name, tokenizer }) => ({ name, pieces: piecesOf(tokenizer, text) }))
  })
}

/** The start of a text, without half a character at its end. */
const startOf = (text) => text.slice(0, EXAMPLE_UNITS).replace(/[\ud800-\udbff]$/, '')

/**
 * The text of each token. Tokens of the same place, such as bytes of a character, are one piece.
 */
function piecesOf(tokenizer, text) {
  const { offsets, length } = tokenizer.encode(text, ENCODE)
  const pieces = []
  let end = 0
  for (let index = 0; index < length; index++) {
    const [start, to] = [offsets[2 * index], offsets[2 * index + 1]]
    if (to <= end) {
      if (pieces.length > 0) pieces[pieces.length - 1].tokens++
      continue
    }
    pieces.push({ text: text.slice(Math.max(start, end), to), tokens: 1 })
    end = to
  }
  return pieces
}
