// Compares the results of a tokenizer with the golden records of crates/core/testdata/conformance.

import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

const UNITS = ['utf16', 'codepoint', 'byte']

/** The fields of a golden encoding, with their names in a result and their conversion to arrays. */
const FIELDS = [
  ['ids', 'ids', listOf],
  ['t', 'tokens', listOf],
  ['m', 'specialTokensMask', digits],
  ['ty', 'typeIds', digits],
  ['am', 'attentionMask', digits],
]

/** The capability, in the conformance kit's terms, that a kind of record needs. */
const NEEDS = {
  v: 'vocab',
  e: 'encode',
  long: 'encode',
  u: 'encode',
  d: 'decode',
  d2: 'decode',
  s: 'encodeSpecial',
  p: 'pair',
  w: 'pretokenized',
  t: 'truncation',
  err: 'truncation',
  b: 'padding',
}

/**
 * Judges a loaded tokenizer.
 *
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 *
 * @param {object} subject the result of the adapter's `load`
 * @param {object[]} records golden records, in the order of the file
 * @param {Map<string, string>} texts by case id
 * @param {{ capabilities: string[], columns: string[] }} adapter the features of the package;
 *   records that need others are skipped
 * @returns {{ aspects: Map<string, Counts>, differences: object[] }} a difference has `aspect`,
 *   `input`, `want` and `got`
 */
export function judge(subject, records, texts, { capabilities, columns }) {
  const aspects = new Map()
  const differences = []
  const count = (aspect, outcome) => {
    if (!aspects.has(aspect)) aspects.set(aspect, { passed: 0, failed: 0, skipped: 0 })
    aspects.get(aspect)[outcome] += 1
  }
  const court = {
    subject,
    texts,
    columns,
    // The `e` record with added special tokens to which `same` and `d` records refer.
    lastAnswer: null,
    skip: (aspect) => count(aspect, 'skipped'),
    expect(aspect, input, want, answer) {
      let got
      try {
        got = answer()
      } catch (error) {
        got = `threw ${error.stack ?? error}`
      }
      const same = areEqualLists(got, want) || isDeepStrictEqual(got, want)
      count(aspect, same ? 'passed' : 'failed')
      if (!same) differences.push({ aspect, input, want, got })
    },
  }
  for (const record of records) {
    if (record.k === 'e' && !record.same) court.lastAnswer = record.a ? record : court.lastAnswer
    if (capabilities.includes(NEEDS[record.k])) JUDGES[record.k](record, court)
    else count(NEEDS[record.k], 'skipped')
  }
  return { aspects, differences }
}

const JUDGES = {
  v(record, { subject, expect }) {
    expect('vocabulary', 'size with added tokens', record.size, () => subject.vocabSize(true))
    expect('vocabulary', 'size without added tokens', record.base, () => subject.vocabSize(false))
    for (const [id, token] of record.sample) {
      expect('vocabulary', `token of id ${id}`, token, () => subject.idToToken(id))
      expect('vocabulary', `id of token ${JSON.stringify(token)}`, id, () => subject.tokenToId(token))
    }
    for (const text of record.none) {
      expect('vocabulary', `id of ${JSON.stringify(text)}`, undefined, () => subject.tokenToId(text) ?? undefined)
    }
  },

  e(record, court) {
    const want = record.same ? court.lastAnswer : record
    const text = record.text ?? court.texts.get(record.c)
    const input = { case: record.c, text, addSpecialTokens: record.a === 1 }
    expectEncoding(
      'encode',
      want,
      court,
      input,
      () => text,
      (offsets) => court.subject.encode(text, { addSpecialTokens: input.addSpecialTokens, offsets }),
    )
  },

  long(record, { subject, texts, columns, expect, skip }) {
    const text = [...texts.values()].join('\n')
    const encode = (offsets) => subject.encode(text, { addSpecialTokens: false, offsets })
    expect('long text: ids', `all texts, ${record.n} ids`, record.ids, () => checksum(encode().ids))
    if (record.o === undefined) return
    for (const unit of UNITS) {
      const name = `long text: offsets in ${unit}`
      if (!columns.includes('offsets')) skip(name)
      else expect(name, 'all texts', record.o, () => checksum(inCodePoints(encode(unit).offsets, unit, () => text)))
    }
  },

  u(record, { subject, expect }) {
    const text = String.fromCharCode(...record.text16)
    expect('lone surrogates', record.text16, record.ids, () =>
      Array.from(subject.encode(text, { addSpecialTokens: false }).ids),
    )
  },

  d(record, court) {
    const restored = (text) => (text === 0 ? court.texts.get(record.c) : text)
    expectDecoded('decode', court.lastAnswer.ids, restored(record.s1), restored(record.s0), court)
  },

  d2(record, court) {
    expectDecoded('decode', record.ids, record.s1, record.s0, court)
    if (record.hex === undefined) return
    court.expect('decode to bytes', record.ids, record.hex, () =>
      Buffer.from(court.subject.decodeBytes(record.ids)).toString('hex'),
    )
  },

  s(record, court) {
    const text = court.texts.get(record.c)
    expectEncoding(
      'special tokens as text',
      record,
      court,
      { case: record.c, text },
      () => text,
      (offsets) => court.subject.encode(text, { addSpecialTokens: false, encodeSpecialTokens: true, offsets }),
    )
  },

  p(record, court) {
    const pair = record.c.map((id) => court.texts.get(id))
    const input = { case: record.c, pair, addSpecialTokens: record.a === 1 }
    expectEncoding('pair', record, court, input, sequenceText(record, pair), (offsets) =>
      court.subject.encode(pair[0], { pair: pair[1], addSpecialTokens: input.addSpecialTokens, offsets }),
    )
  },

  w(record, court) {
    const input = { words: record.words, addSpecialTokens: record.a === 1 }
    const textOf = (token) => record.words[record.wid[token]]
    expectEncoding('words', record, court, input, textOf, (offsets) =>
      court.subject.encode(record.words, { pretokenized: true, addSpecialTokens: input.addSpecialTokens, offsets }),
    )
  },

  t(record, court) {
    const { input, texts, encode: encodeAnew } = truncated(record, court)
    // A long text has hundreds of parts. All are compared in one encoding for each unit.
    const encodings = new Map()
    const encode = (offsets) => encodings.get(offsets) ?? encodings.set(offsets, encodeAnew(offsets)).get(offsets)
    expectEncoding('truncation', record, court, input, sequenceText(record, texts), encode)
    if (!court.columns.includes('overflowing')) return
    court.expect('overflow', input, record.ov.length, () => encode().overflowing.length)
    record.ov.forEach((rest, index) => {
      const part = { ...input, overflowing: index }
      expectEncoding(
        'overflow',
        rest,
        court,
        part,
        overflowText(rest, texts),
        (offsets) => encode(offsets).overflowing[index],
      )
    })
  },

  err(record, court) {
    const { input, encode } = truncated(record, court)
    const refuses = () => {
      try {
        encode()
        return 'an encoding'
      } catch {
        return 'an error'
      }
    }
    court.expect('refused truncation', { ...input, reason: record.msg }, 'an error', refuses)
  },

  b(record, court) {
    const rows = record.c.map((id) => court.texts.get(id))
    const padding = {
      direction: record.pad.dir,
      padId: record.pad.id,
      padTypeId: record.pad.type,
      padToken: record.pad.tok,
      multipleOf: record.pad.mult ?? undefined,
      length: record.pad.len ?? undefined,
    }
    const request = { addSpecialTokens: record.a === 1, padding, truncation: record.tr && truncationOf(record.tr) }
    record.rows.forEach((row, index) => {
      const textOf = (token) => (row.sq[token] === '-' ? undefined : rows[index])
      const input = { case: record.c, row: index, ...request }
      expectEncoding(
        'padding',
        row,
        court,
        input,
        textOf,
        (offsets) => court.subject.encodeBatch(rows, { ...request, offsets })[index],
      )
    })
  },
}

/**
 * Judges every column that both the golden encoding and the package have; offsets in all three
 * units.
 *
 * @param {(token: number) => string | string[] | undefined} textOf the text of a token, or
 *   several possible texts
 * @param {(unit?: string) => object} encode
 */
function expectEncoding(aspect, want, { expect, skip, columns }, input, textOf, encode) {
  let encoding
  const once = () => (encoding ??= encode())
  for (const [short, field, plain] of FIELDS) {
    if (want[short] === undefined) continue
    if (field !== 'ids' && !columns.includes(field)) skip(`${aspect}: ${field}`)
    else expect(`${aspect}: ${field}`, input, plain(want[short]), () => plain(once()[field]))
  }
  if (want.o === undefined) return
  for (const unit of UNITS) {
    const name = `${aspect}: offsets in ${unit}`
    if (!columns.includes('offsets')) skip(name)
    else expect(name, input, want.o, () => inCodePoints(encode(unit).offsets, unit, textOf, want.o))
  }
}

function expectDecoded(aspect, ids, skipped, kept, { subject, expect }) {
  for (const [skipSpecialTokens, want] of [
    [true, skipped],
    [false, kept],
  ]) {
    if (want === undefined) continue
    expect(aspect, { ids, skipSpecialTokens }, want, () => subject.decode(ids, { skipSpecialTokens }))
  }
}

function truncated(record, { subject, texts }) {
  const [text, pair] = [record.c].flat().map((id) => texts.get(id))
  const request = { pair, addSpecialTokens: record.a !== 0, truncation: truncationOf(record.tr) }
  return {
    input: { case: record.c, ...request },
    texts: [text, pair],
    encode: (offsets) => subject.encode(text, { ...request, offsets }),
  }
}

const truncationOf = ({ max, stride, dir, strat = 'longest_first' }) => ({
  maxLength: max,
  stride,
  direction: dir,
  strategy: strat,
})

/** The text of a token in a golden record; undefined for added tokens. */
const sequenceText = (record, texts) => (token) => texts[record.sq[token]]

/**
 * The same for an overflowing part. Without a post-processor the reference does not record to which
 * text of a pair the tokens of parts belong, so both are possible.
 */
const overflowText = (record, texts) =>
  texts[1] === undefined || record.sq.includes('1') ? sequenceText(record, texts) : () => texts

/** SHA-256 of numbers as 32-bit little-endian integers. */
function checksum(numbers) {
  const bytes = Buffer.alloc(numbers.length * 4)
  numbers.forEach((number, index) => bytes.writeInt32LE(number | 0, index * 4))
  return createHash('sha256').update(bytes).digest('hex')
}

/** The elements of an array or a typed array. The loop is faster than `Array.from`. */
function listOf(elements) {
  const list = new Array(elements.length)
  for (let index = 0; index < list.length; index++) list[index] = elements[index]
  return list
}

function digits(mask) {
  return typeof mask === 'string' ? Array.from(mask, Number) : listOf(mask)
}

/** Whether both are arrays of the same primitive values: most answers, and faster than a walk. */
function areEqualLists(first, second) {
  if (!Array.isArray(first) || !Array.isArray(second) || first.length !== second.length) return false
  for (let index = 0; index < first.length; index++) if (first[index] !== second[index]) return false
  return true
}

/**
 * Converts flat offsets to code points. An offset inside of a character becomes -1. With several
 * texts, the result is the wanted offset if one of the texts gives it.
 */
function inCodePoints(offsets, unit, textOf, want = []) {
  const list = listOf(offsets)
  if (unit === 'codepoint') return list
  let [lastText, codePoints] = ['', codePointsOf('', unit)]
  for (let index = 0; index < list.length; index++) {
    const text = textOf(index >> 1)
    if (text === undefined) continue
    if (Array.isArray(text)) {
      const found = text.map((one) => codePointsOf(one, unit)[list[index]] ?? -1)
      list[index] = found.includes(want[index]) ? want[index] : found[0]
    } else {
      if (text !== lastText) [lastText, codePoints] = [text, codePointsOf(text, unit)]
      list[index] = codePoints[list[index]] ?? -1
    }
  }
  return list
}

/** The tables of `codePointsOf`: all tokenizers have the same texts. */
const tables = { utf16: new Map(), byte: new Map() }

/** The code point at each offset of a text, and -1 inside of a character. */
function codePointsOf(text, unit) {
  let table = tables[unit].get(text)
  if (table === undefined) {
    table = new Int32Array((unit === 'utf16' ? text.length : Buffer.byteLength(text)) + 1).fill(-1)
    let offset = 0
    let codePoints = 0
    for (const character of text) {
      table[offset] = codePoints
      offset += unit === 'utf16' ? character.length : Buffer.byteLength(character)
      codePoints += 1
    }
    table[offset] = codePoints
    tables[unit].set(text, table)
  }
  return table
}
