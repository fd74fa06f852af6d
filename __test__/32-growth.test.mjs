// No call's time grows with more than the length of its text: a short form of `npm run hostile -- texts`.
//
// Four times the text is compared, in time of the processor, so that another program's work does not look like growth: what
// is linear takes four times as long, what is quadratic sixteen times. What takes more than nine times is measured again.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { TEXTS } from '../scripts/hostile/adversarial.mjs'
import { CALL_NAMES, callsOf, growthOf, isSteep, subjectOf } from '../scripts/hostile/growth.mjs'
import { bytesOf, tiny } from './support/tiny.mjs'

const FACTOR = 4
const MOST = 9
const SIZES = { least: 4 << 10, most: 32 << 10, factor: FACTOR, wanted: MOST, tries: 10 }

const METASPACE = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: false }
const SUBJECTS = {
  o200k_base: undefined,
  'a small tokenizer with special tokens': bytesOf(tiny()),
  'a small tokenizer without words': bytesOf({ ...tiny(), pre_tokenizer: METASPACE }),
  'a small tokenizer that composes and strips': bytesOf(
    { ...tiny(), normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Strip', strip_left: true, strip_right: true }] } },
  ),
}

// A part of all pairs of a text and a call, another one for each tokenizer, so that each call meets each text over the tokenizers.
const PART = 8

for (const [number, [name, bytes]] of Object.entries(SUBJECTS).entries()) {
  test(`${name}: no call grows with more than the length of its text`, async () => {
    const subject = await subjectOf(name, bytes)
    const calls = callsOf(subject)
    let measured = 0
    for (const [at, kind] of Object.keys(TEXTS).entries()) {
      for (const [place, call] of calls.entries()) {
        if ((at + place) % PART !== number) continue
        const found = await growthOf(subject, call, kind, SIZES)
        assert.ok(!isSteep(found, MOST), `${call} of ${kind}: ${JSON.stringify(found)} in ms for ${FACTOR} times the text`)
        measured++
      }
    }
    assert.ok(measured > 100, `${measured}`)
  })
}

test('every call is measured with some tokenizer', async () => {
  const subjects = await Promise.all(Object.entries(SUBJECTS).map(([name, bytes]) => subjectOf(name, bytes)))
  const measured = new Set(subjects.flatMap((subject) => callsOf(subject)))
  assert.deepEqual(CALL_NAMES.filter((call) => !measured.has(call)), [])
})
