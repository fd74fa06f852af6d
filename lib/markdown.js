'use strict'

// Splits a text at paragraphs, at the blocks of code, or at those of Markdown: headings start
// pieces; fenced code, tables and lists stay whole if they fit. Blocks are found line by line, as
// CommonMark and GitHub's tables define them. Tokenizer.split splits a block that does not fit.

const { limitTooSmall, wrongType, wrongValue } = require('./errors.js')
const { CodeBlocks } = require('./code-blocks.js')
const { lengthIn, placer } = require('./split.js')
const { boolean, checkKnown, checkCount, checkMarkdownOnly, offsetUnit, signalOption, KNOWN } = require('./options.js')

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/
const ITEM = /^( {0,3})(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/
const QUOTE = /^ {0,3}>/
const RULE = /^ {0,3}(?:\*[ \t]*\*[ \t]*\*[* \t]*|-[ \t]*-[ \t]*-[- \t]*|_[ \t]*_[ \t]*_[_ \t]*)$/
/** The starts of HTML blocks whose content is no Markdown, each with what its last line has. */
const HTML = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[ \t>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<![a-z]/i, />/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
]
const DELIMITER_CELL = /^[ \t]*:?-+:?[ \t]*$/
/** The end of a long line that is looked at. */
const MAX_TAIL = 100
/** Maximum length of a title, in UTF-16 units. */
const MAX_TITLE = 1000
/** Longer lines are neither headings nor tables, so the regular expressions see short texts. */
const MAX_BLOCK_LINE = 1000

/**
 * A block of a text, with the blank lines after it.
 *
 * @typedef {import('./code-blocks.js').Block} Block
 */

/** The lines of a text. Their `text` has no line end and a limited length. */
function linesOf(text) {
  const lines = []
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline + 1
    const stop = newline === -1 ? end : newline - (text[newline - 1] === '\r' && newline > start ? 1 : 0)
    lines.push({
      start,
      end,
      text: text.slice(start, Math.min(stop, start + MAX_BLOCK_LINE)),
      isLong: stop - start > MAX_BLOCK_LINE,
      tail: text.slice(Math.max(start, stop - MAX_TAIL), stop),
    })
    start = end
  }
  return lines
}

const isBlank = ({ text, isLong }) => !isLong && text.trim() === ''

/** Blocks between blank lines. */
function paragraphs(lines) {
  return grouped(lines, (at) => ({ kind: 'text', next: untilBlank(lines, at + 1) }))
}

function untilBlank(lines, from) {
  let at = from
  while (at < lines.length && !isBlank(lines[at])) at += 1
  return at
}

/** The blocks of Markdown. `isStart` is false for lines that continue a text. */
function markdownBlocks(lines, isStart = true) {
  return grouped(lines, (at) => {
    const { text, isLong } = lines[at]
    if (isLong) return { kind: 'text', next: paragraphEnd(lines, at) }
    if (at === 0 && isStart && isFrontMatter(text)) {
      const end = frontMatterEnd(lines)
      if (end !== -1) return { kind: 'lines', next: end + 1 }
    }
    const fence = FENCE.exec(text)
    if (fence !== null) return { kind: 'lines', next: fenceEnd(lines, at, fence[1]) }
    const html = htmlEndOf(text)
    if (html !== undefined) return { kind: 'lines', next: htmlEnd(lines, at, html) }
    const heading = HEADING.exec(text)
    if (heading !== null)
      return { kind: 'heading', level: heading[1].length, title: titleOf(text.slice(heading[0].length)), next: at + 1 }
    if (isTable(lines, at)) return { kind: 'lines', isTable: true, next: untilBlank(lines, at + 2) }
    if (RULE.test(text)) return { kind: 'text', next: at + 1 }
    if (ITEM.test(text)) return list(lines, at)
    if (/^(?: {4}|\t)/.test(text)) return { kind: 'lines', next: indentedEnd(lines, at) }
    const next = paragraphEnd(lines, at)
    const underline = next < lines.length ? SETEXT.exec(lines[next].text) : null
    if (underline === null || lines[next].isLong || QUOTE.test(text)) return { kind: 'text', next }
    const title = lines
      .slice(at, next)
      .map((line) => line.text.trim())
      .join(' ')
      .slice(0, MAX_TITLE)
    return { kind: 'heading', level: underline[1][0] === '=' ? 1 : 2, title, next: next + 1 }
  })
}

/** Whether a first line starts metadata in YAML, which `frontMatterEnd` finds the end of. */
const isFrontMatter = (text) => text === '---'
const frontMatterEnd = (lines) => lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)$/.test(line.text))

/** The text of a heading, without the number signs that may close it. */
function titleOf(text) {
  const title = text.trim()
  let end = title.length
  while (end > 0 && title[end - 1] === '#') end -= 1
  const isClosed = end === 0 || ' \t'.includes(title[end - 1])
  return isClosed ? title.slice(0, end).trim() : title
}

/** Calls `blockAt` for the first line of each block; blank lines belong to the block before. */
function grouped(lines, blockAt) {
  /** @type {Block[]} */
  const blocks = []
  let start = 0
  for (let at = 0; at < lines.length; ) {
    if (isBlank(lines[at])) {
      at += 1
      continue
    }
    const { next, ...block } = blockAt(at)
    at = next
    while (at < lines.length && isBlank(lines[at])) at += 1
    const end = lines[at - 1].end
    blocks.push({ ...block, start, end })
    start = end
  }
  const length = lines.at(-1)?.end ?? 0
  // A text of blank lines only.
  if (start < length) blocks.push({ kind: 'text', start, end: length })
  return blocks
}

function fenceEnd(lines, at, fence) {
  const close = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`)
  let end = at + 1
  while (end < lines.length && !close.test(lines[end].text)) end += 1
  return Math.min(end + 1, lines.length)
}

/** What ends the HTML block that a line starts, or undefined. */
const htmlEndOf = (text) => (/^ {0,3}</.test(text) ? HTML.find(([start]) => start.test(text))?.[1] : undefined)

function htmlEnd(lines, at, end) {
  let last = at
  while (last < lines.length && !end.test(lines[last].text) && !end.test(lines[last].tail)) last += 1
  return Math.min(last + 1, lines.length)
}

function isTable(lines, at) {
  const [head, delimiter] = [lines[at], lines[at + 1]]
  if (!head.text.includes('|') || delimiter === undefined || delimiter.isLong || !delimiter.text.includes('-'))
    return false
  const cells = delimiter.text
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
  return (cells.length > 1 || delimiter.text.includes('|')) && cells.every((cell) => DELIMITER_CELL.test(cell))
}

/** A paragraph ends at a blank line, and where a block starts that can interrupt it. */
function paragraphEnd(lines, from) {
  let at = from + 1
  for (; at < lines.length && !isBlank(lines[at]); at++) {
    const { text, isLong } = lines[at]
    if (isLong) continue
    if (SETEXT.test(text) || FENCE.test(text) || HEADING.test(text) || RULE.test(text) || isTable(lines, at)) break
    if (htmlEndOf(text) !== undefined) break
    // As in CommonMark, a list interrupts a paragraph if it starts with a bullet or with 1.
    if (/^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(text)) break
  }
  return at
}

function indentedEnd(lines, from) {
  let at = from + 1
  while (at < lines.length && (isBlank(lines[at]) || /^(?: {4}|\t)/.test(lines[at].text))) at += 1
  return at
}

/** A list with the lines that are indented below its items and the blank lines between them. */
function list(lines, from) {
  const items = [lines[from].start]
  let at = from + 1
  let afterBlank = false
  /** @type {RegExp | undefined} */
  let fence
  for (; at < lines.length; at++) {
    const { text, start } = lines[at]
    if (fence !== undefined) {
      if (fence.test(text)) fence = undefined
      continue
    }
    if (isBlank(lines[at])) {
      afterBlank = true
      continue
    }
    const isIndented = /^(?: {2}|\t)/.test(text)
    const open = /^\s*(`{3,}|~{3,})/.exec(text)
    if (ITEM.test(text) && !isIndented) items.push(start)
    else if (!isIndented && (afterBlank || HEADING.test(text) || RULE.test(text) || open !== null)) break
    else if (open !== null) fence = new RegExp(`^\\s*${open[1][0]}{${open[1].length},}[ \\t]*$`)
    afterBlank = false
  }
  return { kind: 'list', items, next: at }
}

/**
 * Splits a text at its blocks.
 *
 * @param {object} tokenizer
 * @param {string} text
 * @param {any} options
 */
function splitBlocks(tokenizer, text, options) {
  const splitter = new BlockSplitter(tokenizer, options)
  if (typeof text !== 'string') throw wrongType('text', 'a string', text)
  return [...splitter.end(text)]
}

/** Number of UTF-16 units that are split before the event loop has its turn. */
const UNITS_PER_TURN = 1 << 15

/**
 * Like splitBlocks, but the event loop runs between its steps.
 *
 * @param {object} tokenizer
 * @param {string} text
 * @param {any} options
 */
async function splitBlocksAsync(tokenizer, text, options) {
  const splitter = new BlockSplitter(tokenizer, options, KNOWN.splitAsync)
  const signal = signalOption(options.signal)
  signal?.throwIfAborted()
  const pieces = []
  for (let at = 0; at < text.length; at += UNITS_PER_TURN) {
    const part = text.slice(at, at + UNITS_PER_TURN)
    const isEnd = at + UNITS_PER_TURN >= text.length
    for (const piece of isEnd ? splitter.end(part) : splitter.push(part)) pieces.push(piece)
    await new Promise((resolve) => setTimeout(resolve, 0))
    signal?.throwIfAborted()
  }
  return pieces
}

/**
 * Checks the options of a split at blocks.
 *
 * @param {any} tokenizer
 * @param {any} options
 * @param {string[]} known names of options
 */
function checkBlockOptions(tokenizer, options, known) {
  checkKnown(options, known)
  const {
    maxTokens,
    overlap = 0,
    boundary,
    repeatTableHeaders,
    headings,
    join,
    offsets: _,
    signal: _signal,
    ...counting
  } = options
  checkCount('maxTokens', maxTokens)
  if (maxTokens === 0) throw wrongValue('maxTokens', 'at least 1', maxTokens)
  checkCount('overlap', overlap)
  if (overlap >= maxTokens) throw wrongValue('overlap', `less than maxTokens (${maxTokens})`, overlap)
  // Checks the options for counting, also for a text that is empty.
  tokenizer.count('', counting)
  if (boundary !== 'markdown') checkMarkdownOnly(options)
  const repeatsHeads = boolean('repeatTableHeaders', repeatTableHeaders, false)
  if (headings !== undefined && headings !== 'include') {
    const check = typeof headings === 'string' ? wrongValue : wrongType
    throw check('headings', "'include'", headings)
  }
  return {
    maxTokens,
    overlap,
    counting,
    boundary,
    unit: offsetUnit(options),
    joins: boolean('join', join, false),
    repeatsHeads,
    includesHeadings: headings === 'include',
  }
}

/**
 * A stream is split when this many UTF-16 units are buffered, or UNITS_PER_TOKEN for each id of a
 * piece if that is more.
 */
const MIN_BUFFERED = 4096
const UNITS_PER_TOKEN = 8

/** Splits a text that arrives in parts at its blocks. */
class BlockSplitter {
  #tokenizer
  #options
  /** Text that is not in a piece yet, or that the next piece may repeat. */
  #text = ''
  /** The offset of `#text` in the whole text, in the unit of offsets. */
  #before = 0
  /** The first block of the next piece, and the first one that no piece has yet, in `#text`. */
  #state = { from: 0, at: 0 }
  /** The headings that the start of `#text` is below. */
  #path = []
  /** The length of `#text` at which it is split again. Each attempt takes time for the buffer. */
  #threshold

  constructor(tokenizer, options, known = KNOWN.split) {
    this.#tokenizer = tokenizer
    this.#options = checkBlockOptions(tokenizer, options, known)
    this.#threshold = this.#minThreshold()
  }

  /** Adds a part of the text. Yields the pieces that do not depend on later parts. */
  *push(text) {
    if (typeof text !== 'string') throw wrongType('text', 'a string', text)
    this.#text += text
    if (this.#text.length >= this.#threshold) yield* this.#pieces(false)
  }

  /** Yields the remaining pieces, those of a last part included. */
  *end(text = '') {
    this.#text += text
    yield* this.#pieces(true)
  }

  *#pieces(isEnd) {
    const isMarkdown = this.#options.boundary === 'markdown'
    const text = this.#text
    const blocks = this.#blocks(isEnd)
    const packer = new Packer(this.#tokenizer, text, this.#options)
    const { unit } = this.#options
    const place = placer(unit, text, this.#before)
    for (const { path, ...piece } of packer.pieces(blocks, this.#state, isEnd)) {
      const placed = place(piece)
      yield isMarkdown ? { ...placed, headings: path.map(({ title }) => title) } : placed
    }
    const { from, at } = this.#state
    const cut = from < blocks.length ? (blocks[from].from ?? blocks[from].start) : (blocks.at(-1)?.end ?? 0)
    this.#path = blocks[from - 1]?.path ?? this.#path
    this.#state = { from: 0, at: at - from }
    this.#text = text.slice(cut)
    this.#before += lengthIn(unit, text.slice(0, cut))
    this.#threshold = Math.max(this.#minThreshold(), 2 * this.#text.length)
  }

  /** The blocks of the buffer that later text cannot change. */
  #blocks(isEnd) {
    const { boundary } = this.#options
    // The last line and the last block may continue in the next chunk.
    const lines = linesOf(isEnd ? this.#text : this.#text.slice(0, this.#text.lastIndexOf('\n') + 1))
    const isStart = this.#before === 0
    // A byte order mark is no part of the first line.
    if (isStart && lines.length > 0) lines[0].text = lines[0].text.replace(/^\ufeff/, '')
    if (boundary === 'markdown') {
      const blocks = markdownBlocks(lines, isStart)
      const isInMetadata = isStart && lines.length > 0 && isFrontMatter(lines[0].text)
      const complete = isEnd ? blocks : isInMetadata && frontMatterEnd(lines) === -1 ? [] : blocks.slice(0, -1)
      return this.#inSections(complete)
    }
    const blocks = boundary === 'code' ? new CodeBlocks(lines, isBlank).all() : paragraphs(lines)
    return isEnd ? blocks : blocks.slice(0, -1)
  }

  /** Blocks with the headings above them. */
  #inSections(blocks) {
    let path = this.#path
    blocks.forEach((block, i) => {
      const isHeading = block.kind === 'heading'
      if (isHeading) path = [...path.filter(({ level }) => level < block.level), block]
      block.path = path
      block.startsSection = isHeading && blocks[i - 1]?.kind !== 'heading'
    })
    return this.#options.includesHeadings ? this.#withoutHeadings(blocks) : blocks
  }

  /** The blocks below headings, with the titles as their heads; headings that do not fit stay. */
  #withoutHeadings(blocks) {
    const { maxTokens, counting } = this.#options
    const below = []
    /** @type {Map<Block[], string | undefined>} */
    const heads = new Map()
    const headOf = (path) => {
      if (!heads.has(path)) {
        const head = path.length === 0 ? '' : `${path.map(({ title }) => title).join(' > ')}\n\n`
        heads.set(path, this.#tokenizer.isWithin(head, maxTokens >> 1, counting) ? head : undefined)
      }
      return heads.get(path)
    }
    /** Headings before the next block. */
    let run = []
    const add = (block) => {
      const head = headOf(block.path)
      if (head !== undefined) below.push({ ...block, head, from: run[0]?.start, startsSection: run.length > 0 })
      else {
        const kept = block.start < block.end ? [...run, block] : run
        below.push(...kept.map((one, i) => ({ ...one, startsSection: i === 0 && run.length > 0 })))
      }
      run = []
    }
    /** Headings without a text are a piece of their titles. */
    const addTitles = () => {
      const { end, path } = run.at(-1)
      add({ kind: 'text', start: end, end, path })
    }
    for (const block of blocks) {
      const isHeading = block.kind === 'heading'
      if (run.length > 0 && isHeading && block.level <= run.at(-1).level) addTitles()
      if (isHeading) run.push(block)
      else add(block)
    }
    if (run.length > 0) addTitles()
    return below
  }

  #minThreshold() {
    return Math.max(MIN_BUFFERED, UNITS_PER_TOKEN * this.#options.maxTokens)
  }
}

/** Packs the blocks of a text into pieces. */
class Packer {
  #tokenizer
  #text
  #maxTokens
  #overlap
  #counting
  #repeatsHeads
  #joins

  constructor(tokenizer, text, { maxTokens, overlap, counting, repeatsHeads, joins }) {
    this.#tokenizer = tokenizer
    this.#text = text
    this.#maxTokens = maxTokens
    this.#overlap = overlap
    this.#counting = counting
    this.#repeatsHeads = repeatsHeads
    this.#joins = joins
  }

  /**
   * Packs blocks into pieces. If more blocks may follow, a piece that they could make longer is not
   * yielded.
   *
   * @param {Block[]} blocks
   * @param {{ from: number, at: number }} state `from` is the first block of the piece, `at` the
   *   first one that no piece has yet; it is advanced
   * @param {boolean} isEnd whether no more blocks follow
   */
  *pieces(blocks, state = { from: 0, at: 0 }, isEnd = true) {
    const ends = sectionEnds(blocks)
    const limits = this.#joins ? parentEnds(blocks, ends) : ends
    while (state.at < blocks.length) {
      const { from, at } = state
      const fitting = this.#lastFitting(blocks, from, at, limits[from])
      if (fitting === blocks.length && !isEnd) return
      const to = wholeSections(blocks, fitting, ends[from])
      if (to === at) {
        if (from === at) {
          yield* this.#parts(blocks[at])
          state.at += 1
        }
        state.from = state.at
        continue
      }
      yield this.#piece(blocks, from, to)
      state.from = this.#overlapStart(blocks, from, to)
      state.at = to
    }
  }

  /**
   * The end of the longest run of blocks from `from` that fits, up to `limit`; `at` if none does.
   */
  #lastFitting(blocks, from, at, limit) {
    const fits = (to) =>
      this.#tokenizer.isWithin(
        (blocks[from].head ?? '') + this.#text.slice(blocks[from].start, blocks[to - 1].end),
        this.#maxTokens,
        this.#counting,
      )
    let good = at
    let step = 1
    // Doubles the run, and then halves the range that is not decided, so that each block is counted
    // only a few times.
    while (good < limit && fits(Math.min(good + step, limit))) {
      good = Math.min(good + step, limit)
      step *= 2
    }
    for (let bad = Math.min(good + step, limit + 1); bad - good > 1; ) {
      const middle = (good + bad) >> 1
      if (fits(middle)) good = middle
      else bad = middle
    }
    return good
  }

  /** A piece of blocks. Several sections are below what is above all of them. */
  #piece(blocks, from, to) {
    const { start, head = '' } = blocks[from]
    const { end, path } = blocks[to - 1]
    const text = head + this.#text.slice(start, end)
    let shared = path
    for (let next = from + 1; this.#joins && next < to; next++)
      if (blocks[next].startsSection) shared = shared?.filter((heading) => blocks[next - 1].path.includes(heading))
    return { text, start, end, count: this.#tokenizer.count(text, this.#counting), path: shared }
  }

  /**
   * The pieces of a block that does not fit. A list is split at items, code and tables at lines.
   */
  *#parts(block) {
    const parts = block.parts?.() ?? (block.isTable && this.#repeatsHeads ? this.#rows(block) : [])
    if (parts.length > 1) {
      yield* this.pieces(parts)
      return
    }
    if (block.kind === 'list' && block.items.length > 1) {
      const starts = [block.start, ...block.items.slice(1)]
      /** @type {Block[]} */
      const items = starts.map((start, index) => ({ ...within(block), start, end: starts[index + 1] ?? block.end }))
      yield* this.pieces(items)
      return
    }
    const bare = { ...this.#counting, addSpecialTokens: false }
    const room = block.head ? this.#maxTokens - this.#tokenizer.count(block.head, bare) : this.#maxTokens
    yield* this.#cut(block, block.kind === 'lines' || block.kind === 'list' ? 'line' : 'sentence', room)
  }

  /**
   * The pieces of a block without parts, of at most `room` tokens without its head. With its head,
   * a piece can have more than both together; it is cut again.
   */
  *#cut({ head = '', path, ...block }, boundary, room) {
    if (room < 1) throw limitTooSmall(`the titles above a piece leave no token of ${this.#maxTokens}`)
    const options = { ...this.#counting, maxTokens: room, overlap: Math.min(this.#overlap, room - 1), boundary }
    for (const piece of this.#tokenizer.split(this.#text.slice(block.start, block.end), options)) {
      const place = { start: piece.start + block.start, end: piece.end + block.start }
      const text = head + piece.text
      const count = head === '' ? piece.count : this.#tokenizer.count(text, this.#counting)
      if (count <= this.#maxTokens) yield { text, ...place, count, path }
      else yield* this.#cut({ head, path, ...block, ...place }, boundary, room - (count - this.#maxTokens))
    }
  }

  /** The rows of a table, each with the head of the table for a piece that starts with it. */
  #rows({ start, end, ...table }) {
    const lines = linesOf(this.#text.slice(start, end))
    const first = start + lines[1].end
    const head = (table.head ?? '') + this.#text.slice(start, first)
    if (!this.#tokenizer.isWithin(head, this.#maxTokens >> 1, this.#counting)) return []
    /** @type {Block[]} */
    const rows = lines
      .slice(2)
      .map((line) => ({ kind: 'lines', start: start + line.start, end: start + line.end, head, path: table.path }))
    // The first row stays with the head that the table has.
    if (rows.length > 0) rows[0] = { ...rows[0], start, head: table.head }
    return rows
  }

  /** The first block of the next piece: blocks of the same section that fit into the overlap. */
  #overlapStart(blocks, from, to) {
    if (this.#overlap === 0 || to === blocks.length || blocks[to].startsSection) return to
    const bare = { ...this.#counting, addSpecialTokens: false }
    const end = blocks[to - 1].end
    let first = to
    while (
      first - 1 > from &&
      blocks[first - 1].kind !== 'heading' &&
      this.#tokenizer.isWithin(this.#text.slice(blocks[first - 1].start, end), this.#overlap, bare)
    )
      first -= 1
    return first
  }
}

/** A part of a block, which is below the same headings. */
const within = ({ head, path }) => ({ kind: /** @type {const} */ ('text'), head, path })

/** For each block the next one that starts a section. */
function sectionEnds(blocks) {
  const ends = new Uint32Array(blocks.length)
  let end = blocks.length
  for (let index = blocks.length - 1; index >= 0; index--) {
    ends[index] = end
    if (blocks[index].startsSection) end = index
  }
  return ends
}

/** For each block that starts a section the next section that its parent heading does not have. */
function parentEnds(blocks, ends) {
  const levelOf = ({ kind, level, path }) => (kind === 'heading' ? level : (path?.at(-1)?.level ?? 0))
  const limits = Uint32Array.from(ends)
  /** The sections that may still go on, whose levels do not decrease. */
  const open = []
  blocks.forEach((block, index) => {
    if (!block.startsSection) return
    const level = levelOf(block)
    while (open.length > 0 && levelOf(blocks[open.at(-1)]) > level) limits[open.pop()] = index
    open.push(index)
  })
  for (const index of open) limits[index] = blocks.length
  return limits
}

/** The end of a run of blocks, without the start of a section whose end it has not. */
function wholeSections(blocks, to, firstEnd) {
  let end = to
  while (end > firstEnd && end < blocks.length && !blocks[end].startsSection) end -= 1
  return end
}

module.exports = { BlockSplitter, splitBlocks, splitBlocksAsync }
