#!/usr/bin/env node
// How long a mebibyte of each hostile text takes, and what twice as much costs: for each tokenizer, each text and each call.
//
//   usage: npm run hostile -- texts [--mib 1] [--call encode]… [tokenizer.json | name of an encoding]…
//          all calls (encode, with offsets, split, truncate) and the bundled encodings unless told
//
// A report, which fails only where twice the length costs more than three times the time. Times are of the processor, the
// least of three runs, each with a text of its own: what was just seen is known, up to the size of a cache, and a mebibyte that fits
// beside two that do not would seem to grow. What is slow or grows by then is run nine times more, and what then fails is tried again in
// the same way at the end: on a machine with other work a dozen runs in a row can all be too slow by a half.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'

import { root, stop } from '../setup.mjs'
import { random } from './random.mjs'

const options = { mib: { type: 'string', default: '1' }, call: { type: 'string', multiple: true } }
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const { Tokenizer, encodings } = createRequire(import.meta.url)(root)

const SLOW_MS = 50
const WANTED_FACTOR = 2.3
const MOST_FACTOR = 3
/** Rounds of three runs that are added where the first says that something is slow or grows. */
const MORE_ROUNDS = 3

const draw = random(1)
const lots = (characters) => (bytes) => {
  const all = [...characters]
  const each = Buffer.byteLength(all[0])
  return Array.from({ length: Math.ceil(bytes / each) }, () => draw.of(all)).join('')
}
const again = (piece) => (bytes) => piece.repeat(Math.ceil(bytes / Buffer.byteLength(piece)))

const TEXTS = {
  'one letter': again('a'),
  'random letters': lots('abcdefghijklmnopqrstuvwxyz'),
  spaces: again(' '),
  newlines: again('\n'),
  'spaces and newlines': lots(' \n\t'),
  é: again('é'),
  中: again('中'),
  'random CJK': lots('中文字典法律国际人权宣言'),
  'emoji joiners': again('👩\u200d'),
  digits: lots('0123456789'),
  punctuation: again('!'),
  base64: lots('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'),
  'what splits patterns': again("a'S \n1!é中"),
  'zero-width marks': again('\u200b\u0301'),
  'special tokens': again('<|endoftext|>'),
}

const CALLS = {
  encode: (tokenizer, text) => tokenizer.encode(text, { specialTokens: 'parse' }).length,
  'with offsets': (tokenizer, text) => tokenizer.encode(text, { specialTokens: 'parse' }).offsets.length,
  split: (tokenizer, text) => tokenizer.split(text, { maxTokens: 256, specialTokens: 'parse' }).length,
  truncate: (tokenizer, text) => tokenizer.truncate(text, 1000, { specialTokens: 'parse' }).length,
}

const calls = values.call ?? Object.keys(CALLS)
for (const call of calls) if (!(call in CALLS)) stop(`--call is one of ${Object.keys(CALLS).join(', ')}, not ${call}`)

/** The least of three, in milliseconds. */
function least(tokenizer, texts, work) {
  let best = Infinity
  for (const text of texts) {
    // So that a long word that is the same again does not go on from the last one.
    tokenizer.count('z'.repeat(1000))
    const start = process.cpuUsage()
    work(tokenizer, text)
    const { user, system } = process.cpuUsage(start)
    best = Math.min(best, (user + system) / 1000)
    if (best < 1 || best > 2000) break
  }
  return best
}

const bytes = Number(values.mib) * 2 ** 20
const load = (name) => (fs.existsSync(name) ? Tokenizer.fromFileSync(name) : Tokenizer.fromEncodingSync(name))

/** Three runs of one mebibyte and of two; and as long as the least of all since is slow or grows, up to three times as many more. */
function measure(tokenizer, kind, call, found = { single: Infinity, double: Infinity }) {
  for (let rounds = 0; rounds <= MORE_ROUNDS; rounds++) {
    const [single, double] = [bytes, 2 * bytes].map((length) => least(tokenizer, [length, length, length].map(TEXTS[kind]), CALLS[call]))
    found = { single: Math.min(single, found.single), double: Math.min(double, found.double) }
    if (!isSlow(found, call) && !grows(found, WANTED_FACTOR)) break
  }
  return found
}

const isSlow = ({ single }, call) => single > SLOW_MS && call === 'encode'
/** What takes a few milliseconds says nothing of how it grows. */
const matters = ({ double }) => double > 20
const grows = (found, most) => matters(found) && found.double / found.single > most
const shown = ({ single, double }) => `${single.toFixed(1)} ms, then ${double.toFixed(1)} ms`

let suspects = []
let [slow, steep, all] = [0, 0, 0]
for (const name of positionals.length > 0 ? positionals : encodings()) {
  const tokenizer = load(name)
  console.log(name)
  for (const kind in TEXTS) {
    const told = calls.map((call) => {
      const found = measure(tokenizer, kind, call)
      all++
      if (isSlow(found, call)) slow++
      if (grows(found, WANTED_FACTOR)) steep++
      if (grows(found, MOST_FACTOR)) suspects.push({ name, kind, call, found })
      return `${call} ${found.single.toFixed(1)} ms${matters(found) ? ` x${(found.double / found.single).toFixed(1)}` : ''}`
    })
    console.log(`  ${kind.padEnd(22)}${told.map((text) => text.padEnd(28)).join('')}`)
  }
}
console.log(`${all} measured; ${slow} encode slower than ${SLOW_MS} ms, ${steep} grow by more than ${WANTED_FACTOR}`)

suspects = suspects.filter(({ name, kind, call, found }) => {
  const again = measure(load(name), kind, call, found)
  console.log(`${name}, ${kind}, ${call}: ${shown(found)}; tried again, the least is ${shown(again)}`)
  return grows(again, MOST_FACTOR)
})
if (suspects.length > 0) {
  console.log(`${suspects.length} grow by more than ${MOST_FACTOR}`)
  process.exit(1)
}
