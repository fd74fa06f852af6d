// Streaming: the joined text of all pieces equals the result of `decode`, however ids are split.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import * as adapter from './adapter.mjs'
import { goldenNames, locate, readGolden } from './golden-data.mjs'

const LISTS = 150 // lists of ids for each tokenizer
const MAX_IDS = 60

for (const [seed, name] of goldenNames.entries()) {
  const { meta, records } = readGolden(name)

  test(`${name}: the pieces of a stream are the text of all ids`, async () => {
    const { tokenizer } = await adapter.load(...(await locate(meta)))
    const below = random(seed + 1)
    const makers = [asEncoded(records), asRecorded(records), anyIds(tokenizer, meta.source), bytesOf(tokenizer)]
    let compared = 0
    for (let list = 0; list < LISTS; list++) {
      const ids = spoilt(makers[list % makers.length](below), below)
      for (const skipSpecialTokens of [false, true]) {
        const whole = wholeText(tokenizer, ids, skipSpecialTokens)
        if (whole === undefined) continue
        const lengths = { 'one by one': () => 1, 'in pieces': () => below(5), 'all at once': () => ids.length || 1 }
        for (const [how, length] of Object.entries(lengths)) {
          const { text, isCut } = streamed(tokenizer, ids, skipSpecialTokens, length)
          assert.equal(text, whole, `${how}, skipping special tokens: ${skipSpecialTokens}, of [${ids}]`)
          assert.ok(!isCut, `half a character in a piece of [${ids}]`)
          compared++
        }
      }
    }
    assert.ok(compared > LISTS, `only ${compared} streams were compared`)
  })
}

/** The text of all ids, or undefined for an id that a rank file does not have. */
function wholeText(tokenizer, ids, skipSpecialTokens) {
  try {
    return tokenizer.decode(ids, { skipSpecialTokens })
  } catch (error) {
    assert.equal(error.code, 'ERR_TOKENLANE_UNKNOWN_ID')
    assert.throws(() => tokenizer.decodeStream({ skipSpecialTokens }).push(ids), { code: error.code })
    return undefined
  }
}

/** The joined pieces, and whether one of them starts or ends with half of a surrogate pair. */
function streamed(tokenizer, ids, skipSpecialTokens, length) {
  const stream = tokenizer.decodeStream({ skipSpecialTokens })
  const pieces = []
  for (let at = 0; at < ids.length; ) {
    const next = length()
    pieces.push(next === 1 ? stream.push(ids[at]) : stream.push(ids.slice(at, at + next)))
    at += next
  }
  pieces.push(stream.end())
  return { text: pieces.join(''), isCut: pieces.some((piece) => /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/.test(piece)) }
}

/** Ranges of the ids of a text. */
function asEncoded(records) {
  const all = records.filter((record) => record.k === 'e' && record.ids?.length > 0)
  return (below) => {
    const { ids } = all[below(all.length)]
    const start = below(ids.length)
    return ids.slice(start, start + 1 + below(MAX_IDS))
  }
}

/** Lists of ids from the golden data for decoding: incomplete UTF-8, unknown ids. */
function asRecorded(records) {
  const all = records.filter((record) => record.k === 'd2')
  return (below) => (all.length === 0 ? [] : all[below(all.length)].ids.slice(0, MAX_IDS))
}

/** Random ids: of the model, added, and unknown ones if decoding skips these. */
function anyIds(tokenizer, source) {
  const end = tokenizer.vocabSize() + (source === 'encoding' ? 0 : 3)
  return (below) => Array.from({ length: below(MAX_IDS) }, () => below(end))
}

/** The bytes of characters, some of them missing, one token for each byte. */
function bytesOf(tokenizer) {
  const ids = []
  for (let id = 0; id < Math.min(1000, tokenizer.vocabSize()); id++) {
    const bytes = decodedBytes(tokenizer, id)
    if (bytes?.length === 1) ids[bytes[0]] = id
  }
  const known = ids.filter((id) => id !== undefined)
  return (below) => {
    const text = ['é', '中文', '👩‍🚀', 'a\u0301 b', '\u{10FFFF}', 'ÿ€'][below(6)]
    const ofText = Array.from(Buffer.from(text), (byte) => ids[byte])
    const more = Array.from({ length: below(6) }, () => known[below(known.length)])
    return [...ofText, ...more, ...ofText].filter((id) => id !== undefined && below(8) > 0)
  }
}

function decodedBytes(tokenizer, id) {
  try {
    return tokenizer.decodeBytes([id])
  } catch {
    return undefined // a gap in a rank file
  }
}

/** Removes some ids, and repeats some. */
function spoilt(ids, below) {
  if (below(3) === 0) return ids
  return ids.flatMap((id) => (below(10) > 0 ? [id] : below(2) > 0 ? [] : [id, id]))
}

/** Pseudo-random numbers below `n`, equal in every run. */
function random(seed) {
  let state = seed
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}
