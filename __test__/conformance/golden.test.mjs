// Compares the package with recorded results of tokenizers 0.23.3 and tiktoken 0.14.0.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'

import * as adapter from './adapter.mjs'
import { goldenNames, locate, readGolden, readTexts } from './golden-data.mjs'
import { judge } from './judge.mjs'

const SHOWN = 5 // differences of one tokenizer
/** Two of its special tokens have the same id, which tokenizer.json cannot express. */
const SHARES_AN_ID = 'o200k_harmony'
/** The kinds of records of each library, and whether those of texts have offsets. */
const RECORDED = {
  tokenizers: { kinds: ['b', 'd', 'd2', 'e', 'err', 'p', 's', 't', 'u', 'v', 'w'], hasOffsets: true },
  tiktoken: { kinds: ['d', 'd2', 'e', 'long'], hasOffsets: false },
}
const texts = readTexts()
/** Only the data of this tokenizer is compared: with an emulator all of it takes hours. */
const { TOKENLANE_TEST_GOLDEN: only } = process.env
if (only !== undefined) assert.ok(goldenNames.includes(only), `there is no golden data of ${only}`)

for (const name of only === undefined ? goldenNames : [only]) {
  const { meta, records } = readGolden(name)
  const { kinds, hasOffsets } = RECORDED[meta.oracle.split(' ')[0]]
  let loaded
  const load = async () => (loaded ??= await adapter.load(...(await locate(meta))))

  test(`${name} answers as ${meta.oracle}`, async (t) => {
    const subject = await load()
    for (const kind of kinds)
      assert.ok(
        records.some(({ k }) => k === kind),
        `records of the kind ${kind}`,
      )
    const { aspects, differences } = judge(subject, records, texts, adapter)
    for (const outcome of ['passed', 'failed', 'skipped']) {
      const counts = [...aspects].filter(([, counted]) => counted[outcome] > 0)
      if (counts.length > 0)
        t.diagnostic(
          `${name} ${outcome}: ${counts.map(([aspect, counted]) => `${aspect} ${counted[outcome]}`).join(', ')}`,
        )
    }
    assert.equal(differences.length, 0, describe(differences))
  })

  const whenWritten = `${name} answers the same when it was written as a tokenizer.json and read again`
  const judgeWritten = async () => {
    const subject = await load()
    if (name === SHARES_AN_ID) {
      await assert.rejects(adapter.reread(subject), { code: 'ERR_TOKENLANE_SAVE', message: /200018/ })
      return
    }
    const again = await adapter.reread(subject)
    // Single texts and ids are those of the other records, and of the batches below.
    const others = records.filter(({ k }) => k !== 'e' && k !== 'd')
    const { differences } = judge(again, others, texts, adapter)
    assert.equal(differences.length, 0, describe(differences))
    await assertBatchesAgree(again, records, hasOffsets)
    const [first, second] = [subject, again].map(({ tokenizer }) => tokenizer.toBuffer())
    assert.ok(Buffer.from(first).equals(second), 'the bytes are the same the second time')
  }
  // The Rust tests (suite/conformance.rs) write, read and judge the small tokenizers.
  if (meta.source !== 'testdata') test(whenWritten, judgeWritten)

  test(`${name} gives the same in batches`, async () => {
    await assertBatchesAgree(await load(), records, hasOffsets)
    loaded = undefined
  })
}

/**
 * Encodes all texts in one batch, counts them, and decodes the ids: as strings with special tokens,
 * and as UTF-8 without.
 */
async function assertBatchesAgree(subject, records, hasOffsets) {
  const { tokenizer } = subject
  for (const addSpecialTokens of [true, false]) {
    const options = subject.options({ addSpecialTokens })
    const wanted = encodings(records, addSpecialTokens)
    const rows = wanted.map(({ text }) => (addSpecialTokens ? text : new TextEncoder().encode(text)))
    assert.ok(wanted.length > 0)
    for (const { offsets } of wanted) assert.equal(offsets !== undefined, hasOffsets)
    const batch = await tokenizer.encodeBatch(rows, options)
    assert.equal(batch.length, rows.length)
    const withOffsets = await tokenizer.encodeBatch(rows, { ...options, offsets: 'codepoint' })
    for (const [row, { text, ids, offsets }] of wanted.entries()) {
      const where = () => `row ${row}: ${inspect(text)}`
      assertEqualNumbers(batch.row(row), ids, where)
      if (offsets) assertEqualNumbers(withOffsets.offsetsOf(row), offsets, where)
    }

    const counts = await tokenizer.countBatch(rows, options)
    const lengths = wanted.map(({ ids }) => ids.length)
    assert.deepEqual(Array.from(counts), lengths)

    const decoded = await tokenizer.decodeBatch(batch, { skipSpecialTokens: true })
    const alone = wanted.map(({ ids }) => subject.decode(ids, { skipSpecialTokens: true }))
    assert.deepEqual(decoded, alone)
  }
}

/** A hundred times faster than `assert.deepEqual` for arrays that are equal. */
function assertEqualNumbers(got, want, where) {
  if (got.length === want.length && want.every((number, at) => number === got[at])) return
  assert.deepEqual(Array.from(got), want, where())
}

/** The texts of a tokenizer's golden data, with their ids and their offsets in code points. */
function encodings(records, addSpecialTokens) {
  const found = []
  let last
  for (const record of records) {
    if (record.k !== 'e') continue
    if (!record.same) last = record
    if ((record.a === 1) !== addSpecialTokens) continue
    found.push({ text: record.text ?? texts.get(record.c), ids: last.ids, offsets: last.o })
  }
  return found
}

function describe(differences) {
  const shown = differences.slice(0, SHOWN).map(({ aspect, input, want, got }) => {
    const at = Math.max(0, firstDifference(want, got) - 4)
    return `${aspect}${at > 0 ? ` (from item ${at})` : ''}\n  input ${short(input)}\n  want  ${short(from(want, at))}\n  got   ${short(from(got, at))}`
  })
  return `${differences.length} answers differ, the first ones:\n${shown.join('\n')}`
}

const short = (value) => inspect(value, { maxArrayLength: 40, maxStringLength: 300, breakLength: Infinity })

const from = (value, at) => (at > 0 ? value.slice(at) : value)

/** The index of the first difference, or 0 for values that are not sequences. */
function firstDifference(want, got) {
  const comparable =
    typeof want === typeof got && (typeof want === 'string' || (Array.isArray(want) && Array.isArray(got)))
  if (!comparable) return 0
  let index = 0
  while (index < want.length && want[index] === got[index]) index += 1
  return index
}
