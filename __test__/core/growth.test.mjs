// The time of every call is linear in the length of its text: a short form of `npm run maintain
// hostile -- texts`.
//
// A text and one four times as long are compared by CPU time, which does not depend on other
// processes. Linear calls take four times as long, quadratic ones sixteen times. A growth of more
// than nine is measured again.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { TEXTS } from '../../tools/check/hostile/adversarial.mjs'
import { CALL_NAMES, callsOf, growthOf, isSteep, subjectOf } from '../../tools/check/hostile/growth.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const FACTOR = 4
const MAX_GROWTH = 9
const SIZES = { least: 4 << 10, most: 32 << 10, factor: FACTOR, wanted: MAX_GROWTH, tries: 10 }

const METASPACE = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: false }
const SUBJECTS = {
  o200k_base: undefined,
  'a small tokenizer with special tokens': bytesOf(tiny()),
  'a small tokenizer without words': bytesOf({ ...tiny(), pre_tokenizer: METASPACE }),
  'a small tokenizer that composes and strips': bytesOf({
    ...tiny(),
    normalizer: {
      type: 'Sequence',
      normalizers: [{ type: 'NFC' }, { type: 'Strip', strip_left: true, strip_right: true }],
    },
  }),
}

// Each tokenizer measures one part of all pairs of a text and a call, and another one than the
// others, so that every call meets many texts.
const PART = 24

// Windows counts processor time in steps of 16 ms, which is more than most of these calls take.
const skip = process.platform === 'win32' && 'processor time is too coarse'

/** A known defect: overlap is steep where a file without words gets random bytes. */
const STEEP = ['split into lines, with overlap', 'random bytes as text']

test('overlap of random bytes grows with the length of the text', { skip, todo: 'it is steep' }, async () => {
  const name = 'a small tokenizer without words'
  const found = await growthOf(await subjectOf(name, SUBJECTS[name]), ...STEEP, { ...SIZES, tries: 1 })
  assert.ok(!isSteep(found, MAX_GROWTH), JSON.stringify(found))
})

for (const [number, [name, bytes]] of Object.entries(SUBJECTS).entries()) {
  test(`${name}: no call grows with more than the length of its text`, { skip }, async () => {
    const subject = await subjectOf(name, bytes)
    const calls = callsOf(subject)
    let measured = 0
    for (const [at, kind] of Object.keys(TEXTS).entries()) {
      for (const [place, call] of calls.entries()) {
        if ((at + place) % PART !== number || [call, kind].join() === STEEP.join()) continue
        const found = await growthOf(subject, call, kind, SIZES)
        assert.ok(
          !isSteep(found, MAX_GROWTH),
          `${call} of ${kind}: ${JSON.stringify(found)} in ms for ${FACTOR} times the text`,
        )
        measured++
      }
    }
    assert.ok(measured > 50, `${measured}`)
  })
}

test('every call is measured with some tokenizer', async () => {
  const subjects = await Promise.all(Object.entries(SUBJECTS).map(([name, bytes]) => subjectOf(name, bytes)))
  const measured = new Set(subjects.flatMap((subject) => callsOf(subject)))
  assert.deepEqual(
    CALL_NAMES.filter((call) => !measured.has(call)),
    [],
  )
})
