#!/usr/bin/env node
// Loads damaged and malicious files. Each must be refused with an error that has a code, or become
// a tokenizer that works.
//
//   usage: npm run maintain -- hostile files [--count 10000] [--seed 1]
//
// A child process loads the files. It may use 1 GiB of memory, and 2 s of CPU time for each file. A
// file that exceeds these limits or ends the process is reported with the seed and the number that
// reproduce it.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'

import { root } from '../../setup.mjs'
import { isDocumented, runChild, runChildren } from './child.mjs'
import { mutated } from './mutations.mjs'
import { random } from './random.mjs'

const FILES_PER_CHILD = 1000
const MAX_CPU_MS = 2000
const MAX_RSS_MIB = 1024

if (process.argv[2] === '--child') await child(...process.argv.slice(3).map(Number))
else if (process.argv[1] === fileURLToPath(import.meta.url)) main()

function main() {
  const { values } = parseArgs({
    options: { count: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
    allowPositionals: true,
  })
  const [count, seed] = [Number(values.count), Number(values.seed)]
  runChildren({ count, seed, perChild: FILES_PER_CHILD, inChild }, noTotals())
}

function noTotals() {
  return { files: 0, loaded: 0, refused: 0, codes: {}, slowestMs: 0, mostMiB: 0 }
}

/** Loads files in a child process. Returns whether it failed, and its totals. */
export function inChild(seed, count) {
  return runChild(fileURLToPath(import.meta.url), seed, count, root)
}

async function child(seed, count) {
  const { Tokenizer } = createRequire(import.meta.url)(root)
  const draw = random(seed)
  const sources = originals()
  const totals = noTotals()
  const wrong = []
  const last = fs.openSync(process.env.TOKENLANE_LAST, 'w')
  for (let at = 0; at < count; at++) {
    const { name, bytes, options } = mutated(draw, draw.of(sources))
    fs.writeSync(last, `${at} ${name}`.padEnd(120), 0)
    // CPU time does not depend on other processes.
    const start = process.cpuUsage()
    totals.files++
    try {
      works(Tokenizer.fromBufferSync(bytes, options))
      totals.loaded++
    } catch (error) {
      totals.refused++
      totals.codes[error.code] = (totals.codes[error.code] ?? 0) + 1
      if (!isDocumented(error)) wrong.push(`file ${at} ${name}: ${error.stack}`)
    }
    const { user, system } = process.cpuUsage(start)
    const took = (user + system) / 1000
    totals.slowestMs = Math.max(totals.slowestMs, Math.round(took))
    // Node runs finalizers between two iterations of the event loop.
    if (at % 10 === 9) {
      globalThis.gc()
      await new Promise((turn) => setImmediate(turn))
    }
    if (took > MAX_CPU_MS) wrong.push(`file ${at} ${name}: ${Math.round(took)} ms`)
  }
  // The peak of the process is more than the memory of a single file, because about ten tokenizers
  // exist at a time.
  totals.mostMiB = Math.round(process.resourceUsage().maxRSS / 1024)
  if (totals.mostMiB > MAX_RSS_MIB) wrong.push(`${totals.mostMiB} MiB of memory`)
  if (wrong.length > 0) {
    console.log([...new Set(wrong)].slice(0, 30).join('\n'))
    process.exitCode = 1
  }
  console.log(JSON.stringify(totals))
}

/** A loaded tokenizer must encode, count and decode, or throw an error with a code. */
function works(tokenizer) {
  for (const text of ['', 'Hello, wörld! 123 中文\n', 'a'.repeat(2000), '▁<s> \u0301']) {
    const attempt = (call) => {
      try {
        return call()
      } catch (error) {
        if (!isDocumented(error)) throw error
        return undefined
      }
    }
    const ids = attempt(() => tokenizer.encode(text, { padding: false }).ids)
    if (ids) attempt(() => tokenizer.decode(ids))
    attempt(() => tokenizer.count(text))
  }
}

/** Undamaged files: small ones with every component, and the start of a real rank file. */
function originals() {
  const folder = path.join(root, 'crates', 'core', 'testdata')
  const read = (...names) => fs.readFileSync(path.join(folder, ...names))
  const json = (...names) => ({ name: names.at(-1), kind: 'json', bytes: read(...names) })
  const whole = fs
    .readdirSync(path.join(folder, 'conformance', 'tokenizers'))
    .map((name) => json('conformance', 'tokenizers', name))
  const seeds = fs
    .readdirSync(path.join(folder, 'fuzz', 'load'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => json('fuzz', 'load', name))
  const ranks = fs
    .readFileSync(path.join(root, 'encodings', 'r50k_base.tiktoken'), 'utf8')
    .split('\n')
    .slice(0, 2000)
    .join('\n')
  const options = {
    pattern: String.raw`'s| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
    specialTokens: { '<x>': 100_000 },
  }
  const rank = { name: 'r50k_base.tiktoken', kind: 'ranks', bytes: Buffer.from(ranks), options }
  return [...whole, ...seeds, ...seeds, rank, rank]
}
