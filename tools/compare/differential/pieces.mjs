// What index.d.ts promises of `truncate`, `encodeInto` and `split`, with `encode` and `count` only.
// Takes quadratic time, so texts are short.

import { Buffer } from 'node:buffer'

/** The sections of crates/core/src/split/section.rs. */
const MIN_SECTION_BYTES = 4096
const SECTION_BYTES_PER_ID = 32
const GROWTH = 4
const MARGIN = 1024
const UNKNOWN = 'ERR_TOKENLANE_UNKNOWN_TOKEN_MISSING'
const TOO_SMALL = 'ERR_TOKENLANE_LIMIT_TOO_SMALL'

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })
const IGNORED = '[\\p{M}\\p{Cf}]*'
const SPACES = `(?:[^\\S\\r\\n\\u2028\\u2029]${IGNORED})+`
/** The end of a text that no sentence ends with, as in `J. R. R. Tolkien`. */
const INITIAL = new RegExp(`(?<![\\p{L}\\p{N}]${IGNORED})[\\p{Lu}\\p{Lt}]${IGNORED}\\.${IGNORED}${SPACES}$`, 'u')

const words = new Intl.Segmenter('en', { granularity: 'word' })
const BY_DICTIONARY = 'Han Hira Thai Laoo Khmr Mymr Tale Talu Lana Tavt Ahom'
  .split(' ')
  .map((name) => `\\p{sc=${name}}`)
  .join('')
const LETTERS = new RegExp(`(?![\\p{M}\\p{Nd}\\p{No}])[${BY_DICTIONARY}]`, 'gu')
/**
 * The text with other letters where ICU looks into dictionaries: by UAX #29 each letter of these
 * scripts is a word. Syllables of Hangul and iteration marks are letters like others, letters of
 * Katakana join, and their halfwidth voicing marks combine. Units stay where they are.
 */
const withoutDictionaries = (text) =>
  text
    .replace(/[\uac00-\ud7a3\u3005\u303b\u{16fe3}]/gu, ({ length }) => 'a'.repeat(length))
    .replace(LETTERS, ({ length }) => (length === 1 ? '!' : '\u{1d100}'))
    .replace(/[\p{sc=Kana}\u30fc\uff70]/gu, ({ length }) => '\u3031'.repeat(length))
    .replace(/[\uff9e\uff9f]/g, '\u0301')

/** unicode-segmentation 1.13 joins such a mark and emoji with the letter or digit before them. */
const JOINED_EMOJI = /(?<=[\p{L}\p{N}][\p{M}\p{Cf}]*)(?=["':,;.·‘’․…][\p{M}\p{Cf}]*\u200d\p{Extended_Pictographic})/gu

function wordEnds(text) {
  const simple = withoutDictionaries(text)
  const joined = new Set(Array.from(simple.matchAll(JOINED_EMOJI), ({ index }) => index))
  const ends = Array.from(words.segment(simple), ({ segment, index }) => index + segment.length)
  return ends.filter((end) => !joined.has(end) && (text[end - 1] !== ' ' || text[end] === ' '))
}

/** The ends of sentences, lines or words in UTF-16 units, without the end of the text. */
export function boundaries(text, kind) {
  if (kind === 'token') return []
  if (kind === 'word') return wordEnds(text).filter((end) => end < text.length)
  const ends =
    kind === 'line'
      ? [...text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)].map(({ 0: found, index }) => index + found.length)
      : [...segmenter.segment(text)]
          .map(({ segment, index }) => index + segment.length)
          .filter((end) => !INITIAL.test(text.slice(0, end)))
  return ends.filter((end) => end < text.length)
}

/** A tokenizer whose offsets are those of the tokens, with their white space. */
function untrimmed(tokenizer) {
  const changes = { truncation: null, padding: null }
  try {
    return tokenizer.with({ ...changes, postProcessor: null })
  } catch {
    return tokenizer.with(changes)
  }
}

/** The bytes of a text, and the tokens of its parts. Positions are bytes. */
class Subject {
  constructor(tokenizer, text, counting) {
    const plain = untrimmed(tokenizer)
    const bare = { ...counting, addSpecialTokens: false }
    this.bytes = Buffer.from(text)
    this.length = this.bytes.length
    this.part = (start, end) => this.bytes.toString('utf8', start, end)
    const counts = new Map()
    this.count = (start, end) => {
      const key = `${start} ${end}`
      if (!counts.has(key))
        counts.set(
          key,
          without(UNKNOWN, () => tokenizer.count(this.part(start, end), bare)),
        )
      return counts.get(key)
    }
    this.offsets = (start, end) => plain.encode(this.part(start, end), { ...bare, offsets: 'byte' }).offsets
    this.special = tokenizer.count('', counting)
    // Other texts may have no tokens in a vocabulary without an unknown token.
    const [all, one] = [tokenizer.count(text, counting), tokenizer.count(text, bare)]
    this.copies = one > 0 ? (all - this.special) / one : 1
  }

  isEdge(at) {
    return at >= this.length || (this.bytes[at] & 0xc0) !== 0x80
  }

  floor(at) {
    let edge = Math.min(at, this.length)
    while (!this.isEdge(edge)) edge--
    return edge
  }

  unit(at) {
    return this.part(0, at).length
  }
}

/** The result of a call, or undefined if it throws the error with this code. */
function without(code, call) {
  try {
    return call()
  } catch (error) {
    if (error.code !== code) throw error
    return undefined
  }
}

/** The section that starts at `start`. */
function sectionOf(subject, start, { maxTokens, room }) {
  for (let bytes = MIN_SECTION_BYTES + SECTION_BYTES_PER_ID * maxTokens; ; bytes *= GROWTH) {
    const end = subject.floor(start + bytes)
    const isLast = end === subject.length
    const offsets = isLast ? subject.offsets(start, end) : without(UNKNOWN, () => subject.offsets(start, end))
    if (offsets === undefined) continue
    const isTrusted = (at) => isLast || at + MARGIN <= end
    const ends = []
    let places = [{ end: start, tokens: 0 }]
    for (let at = 0; at < offsets.length; at += 2) {
      const place = Math.min(start + offsets[at + 1], end)
      ends.push(place)
      const next = at + 2 < offsets.length ? start + offsets[at + 2] : end
      if (place <= next && place > places.at(-1).end && isTrusted(place) && subject.isEdge(place))
        places.push({ end: place, tokens: ends.length })
    }
    if (isLast && places.at(-1).end < end) places.push({ end, tokens: ends.length })
    places = places.filter((place) => place.end > start)
    const before = (at) => places.findLast((place) => place.end <= at)?.tokens ?? 0
    const hasPiece = (from, cap) =>
      from < end && (isLast || isTrusted(ends[before(from) + room] ?? Infinity) || isTrusted(from + cap))
    if (hasPiece(start, Infinity)) return { start, end, ends, places, before, hasPiece }
  }
}

const fewer = (own, excess) => (excess === undefined ? own >> 1 : Math.max(own - excess, own >> 1))

/** The end of the piece that starts at `start`, undefined if its first character does not fit. */
function nextEnd(subject, section, start, cap, { room }) {
  const { places, before } = section
  const fits = (end) => (subject.count(start, end) ?? Infinity) <= room
  const after = places.filter((place) => place.end > start)
  const last = (own, end) => after.findLast((place) => place.tokens <= before(start) + own && place.end <= end)
  const character = start + Buffer.byteLength(String.fromCodePoint(subject.part(start, start + 4).codePointAt(0)))
  const { end: tokenEnd, tokens } = after[0] ?? { end: section.end, tokens: section.ends.length }
  const bytes = tokenEnd - (places.findLast((place) => place.end <= start)?.end ?? section.start)
  const inProportion = tokens - before(start) <= room ? bytes : Math.floor((bytes * room) / (tokens - before(start)))
  const tried = []
  for (let place = last(room, start + cap); place !== undefined; ) {
    tried.push(place.end)
    if (fits(place.end)) break
    const own = place.tokens - before(start)
    const counted = tried.length === 1 ? subject.count(start, place.end) : undefined
    place = last(fewer(own, counted === undefined ? undefined : counted - room), Math.min(start + cap, place.end - 1))
  }
  if (tried.length === 0 || !fits(tried.at(-1))) {
    let end = Math.max(character, subject.floor(Math.min(tokenEnd, start + cap, start + inProportion)))
    if (tried.at(-1) !== end) tried.push(end)
    while (!fits(end) && end > character) {
      end = Math.max(character, subject.floor(start + ((end - start) >> 1)))
      tried.push(end)
    }
  }
  const end = tried.at(-1)
  if (!fits(end)) return undefined
  const length = end - start
  const isShort = 2 * length < tried[0] - start || tried[0] < (last(room, Infinity)?.end ?? tokenEnd)
  return { end, cap: isShort ? 2 * length : Infinity }
}

/** The last sentence or line of a piece that fits, else the last word, else the piece. */
function atBoundary(subject, section, start, end, { boundary, room }) {
  if (end === subject.length || boundary === 'token') return end
  const whole = subject.part(start, section.end)
  for (const kind of new Set([boundary, 'word'])) {
    const ends = boundaries(whole, kind).map((units) => start + Buffer.byteLength(whole.slice(0, units)))
    for (
      let most = end, at;
      (at = ends.findLast((one) => one <= most)) !== undefined;
      most = start + ((at - start) >> 1)
    )
      if ((subject.count(start, at) ?? Infinity) <= room) return at
  }
  return end
}

/** Where the piece after one with these ends starts. */
function overlapStart(subject, section, start, end, { overlap, boundary }) {
  const { places, ends, before } = section
  const until = places.find((place) => place.end >= end)?.tokens ?? ends.length
  const piece = subject.part(start, end)
  const allowed = boundaries(piece, boundary).map((units) => start + Buffer.byteLength(piece.slice(0, units)))
  let isFirst = true
  for (let own = Math.min(overlap, until - before(start)); own > 0; isFirst = false) {
    const first = places.find((place) => place.end > start && place.tokens >= until - own)?.end ?? section.end
    const from = boundary === 'token' ? first : (allowed.find((at) => at >= first) ?? end)
    if (from >= end) break
    const counted = subject.count(from, end)
    if (counted <= overlap) return from
    own = fewer(own, isFirst && counted !== undefined ? counted - overlap : undefined)
  }
  return end
}

/**
 * The pieces of `split`, without their texts; undefined where the special tokens or a character do
 * not fit. `onlyFirst` stops after the first piece.
 */
export function piecesByDefinition(tokenizer, text, options, onlyFirst = false) {
  const { maxTokens, overlap = 0, boundary = 'token', ...counting } = options
  if (text === '') return []
  const subject = new Subject(tokenizer, text.toWellFormed(), counting)
  if (subject.special > maxTokens) return undefined
  const room = Math.floor((maxTokens - subject.special) / subject.copies)
  const limits = { maxTokens, room, overlap, boundary }
  const pieces = []
  let [start, covered] = [0, 0]
  while (start < subject.length) {
    const section = sectionOf(subject, start, limits)
    let cap = Infinity
    while (section.hasPiece(start, cap)) {
      const next = nextEnd(subject, section, start, cap, limits)
      if (next === undefined) return undefined
      cap = next.cap
      const end = atBoundary(subject, section, start, next.end, limits)
      if (end <= covered && start < covered) {
        start = covered
        continue
      }
      const count = subject.special + subject.copies * subject.count(start, end)
      pieces.push({ start: subject.unit(start), end: subject.unit(end), count })
      if (onlyFirst) return pieces
      covered = end
      start = end === subject.length ? end : overlapStart(subject, section, start, end, limits)
    }
  }
  return pieces
}

/** The pieces of `split`, or the code of its error; those by definition, or the same. */
export function comparedPieces(tokenizer, text, options) {
  const attempt = (call) => {
    try {
      return call()
    } catch (error) {
      return error.code ?? String(error)
    }
  }
  const found = attempt(() =>
    tokenizer.split(text, options).map(({ text: piece, start, end, count }) => {
      if (piece !== text.slice(start, end)) throw new Error(`${piece} is not at ${start} to ${end}`)
      return { start, end, count }
    }),
  )
  return { found, expected: attempt(() => piecesByDefinition(tokenizer, text, options) ?? TOO_SMALL) }
}
