#!/usr/bin/env node
// How long a mebibyte of each hostile text takes, and what twice as much costs: for each tokenizer, each text and each call.
//
//   usage: npm run hostile -- texts [--mib 1] [tokenizer.json | name of an encoding]…     the bundled encodings unless told
//
// A report, which fails only where twice the length costs more than three times the time. Times are of the processor, the
// least of three runs, each with a text of its own: what was just seen is known, up to the size of a cache, and a mebibyte that fits
// beside two that do not would seem to grow.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'

import { root } from '../setup.mjs'
import { random } from './random.mjs'

const { values, positionals } = parseArgs({ options: { mib: { type: 'string', default: '1' } }, allowPositionals: true })
const { Tokenizer, encodings } = createRequire(import.meta.url)(root)

const SLOW_MS = 50
const WANTED_FACTOR = 2.3
const MOST_FACTOR = 3

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

const failed = []
let [slow, steep, all] = [0, 0, 0]
for (const name of positionals.length > 0 ? positionals : encodings()) {
  const tokenizer = fs.existsSync(name) ? Tokenizer.fromFileSync(name) : Tokenizer.fromEncodingSync(name)
  console.log(name)
  for (const [kind, make] of Object.entries(TEXTS)) {
    const bytes = Number(values.mib) * 2 ** 20
    const told = Object.entries(CALLS).map(([call, work]) => {
      const [single, double] = [bytes, 2 * bytes].map((length) => least(tokenizer, [length, length, length].map(make), work))
      const factor = double / single
      all++
      if (single > SLOW_MS && call === 'encode') slow++
      // What takes a few milliseconds says nothing of how it grows.
      const matters = double > 20
      if (matters && factor > WANTED_FACTOR) steep++
      if (matters && factor > MOST_FACTOR) failed.push(`${name}, ${kind}, ${call}: ${single.toFixed(0)} ms, then ${double.toFixed(0)} ms`)
      return `${call} ${single.toFixed(1)} ms${matters ? ` x${factor.toFixed(1)}` : ''}`
    })
    console.log(`  ${kind.padEnd(22)}${told.map((text) => text.padEnd(28)).join('')}`)
  }
}
console.log(`${all} measured; ${slow} encode slower than ${SLOW_MS} ms, ${steep} grow by more than ${WANTED_FACTOR}`)
if (failed.length > 0) {
  console.log(`grow by more than ${MOST_FACTOR}:\n${failed.join('\n')}`)
  process.exit(1)
}
