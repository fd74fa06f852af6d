#!/usr/bin/env node
// Measures how the time of every call grows with every hostile text, for several tokenizers.
//
//   usage: npm run hostile -- texts [--call NAME]… [--text NAME]… [--least KIB] [--most KIB]
//                                   [--vocab FOLDER]… [tokenizer.json | name of an encoding]…
//
// By default the tokenizers are the bundled encodings, those of the public test set beside the
// repository, and each tokenizer.json in a folder of --vocab. Texts start at --least (16) KiB and
// double until the time is meaningful, up to --most (1024) KiB.
//
// The CPU time is measured, as the minimum of several runs, for a text and for one twice as long. A
// growth of more than 2.3 is measured again; if it persists, the command lists it and fails. Prints
// one line for each tokenizer and text, with the slowest call and the one that grows most.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root, stop } from '../setup.mjs'
import { TEXTS } from './adversarial.mjs'
import { CALL_NAMES, callsOf, growthOf, isSteep, subjectOf } from './growth.mjs'

const WANTED = 2.3

const { values, positionals } = parseArgs({
  options: {
    call: { type: 'string', multiple: true },
    text: { type: 'string', multiple: true },
    vocab: { type: 'string', multiple: true },
    least: { type: 'string', default: '16' },
    most: { type: 'string', default: '1024' },
  },
  allowPositionals: true,
})

function chosen(name, wanted, known) {
  for (const one of wanted ?? []) if (!known.includes(one)) stop(`--${name} is one of: ${known.join(', ')}; not ${one}`)
  return wanted ?? known
}

const calls = chosen('call', values.call, CALL_NAMES)
const kinds = chosen('text', values.text, Object.keys(TEXTS))
const sizes = { least: Number(values.least) * 1024, most: Number(values.most) * 1024, wanted: WANTED }

/** Each tokenizer.json in a folder or directly below it. */
function filesIn(folder) {
  if (!fs.existsSync(folder)) return []
  const inside = fs.readdirSync(folder).map((name) => path.join(folder, name, 'tokenizer.json'))
  return [path.join(folder, 'tokenizer.json'), ...inside].filter((file) => fs.existsSync(file))
}

const { encodings } = createRequire(import.meta.url)(root)
const folders = [path.join(root, '..', 'shared', 'conformance', 'public', 'tokenizers'), ...(values.vocab ?? [])]
const names = positionals.length > 0 ? positionals : [...encodings(), ...folders.flatMap(filesIn)]

const round = (ms) => ms.toFixed(ms < 10 ? 1 : 0)
let measured = 0
const suspects = []
for (const name of names) {
  let subject
  try {
    subject = await subjectOf(name)
  } catch (error) {
    console.log(`${name}: left out: ${error.message}`)
    continue
  }
  console.log(name)
  for (const kind of kinds) {
    let slowest = { call: '', perMib: 0 }
    let steepest = { call: '', factor: 0 }
    for (const call of callsOf(subject, calls)) {
      let found
      try {
        found = await growthOf(subject, call, kind, sizes)
      } catch (error) {
        if (!/^(ERR_TOKENLANE_|TOKENLANE_)/.test(error.code ?? ''))
          throw new Error(`${name}, ${kind}, ${call}`, { cause: error })
        continue
      }
      measured++
      const perMib = found.single / (found.bytes / 2 ** 20)
      const factor = found.double / found.single
      if (perMib > slowest.perMib) slowest = { call, perMib }
      if (factor > steepest.factor && found.double >= 8) steepest = { call, factor }
      if (isSteep(found, WANTED)) suspects.push({ name, subject, kind, call })
    }
    const steep = steepest.factor > 0 ? `x${steepest.factor.toFixed(2)} ${steepest.call}` : ''
    console.log(`  ${kind.padEnd(42)}${`${round(slowest.perMib)} ms/MiB ${slowest.call}`.padEnd(48)}${steep}`)
  }
}

const steep = []
for (const { name, subject, kind, call } of suspects) {
  const found = await growthOf(subject, call, kind, { ...sizes, tries: 12 })
  if (!isSteep(found, WANTED)) continue
  steep.push({ name, kind, call })
  console.log(
    `${name}, ${kind}, ${call}: ${found.bytes >> 10} KiB ${round(found.single)} ms, twice as many ${round(found.double)} ms`,
  )
}
console.log(
  `${measured} measured, ${suspects.length} grew by more than ${WANTED} at first and ${steep.length} when tried again`,
)
if (steep.length > 0) process.exit(1)
