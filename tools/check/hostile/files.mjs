#!/usr/bin/env node
// Loads damaged and malicious files. Each must be refused with an error that has a code, or become
// a tokenizer that works.
//
//   usage: npm run maintain -- hostile files [--count 10000] [--seed 1] [--only NUMBER]
//
// Child processes load the files. A child may use 1 GiB of memory, and 2 s of CPU time for loading
// a file and for each call. What exceeds these limits or ends the process is reported with the seed
// and the number; with --seed and --only they repeat it, and print each call.

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

/** What a damaged file that loads must do, or refuse with a code. */
const TEXTS = ['', 'Hello, wörld! 123 中文\n', 'a'.repeat(2000), '▁<s> \u0301']
const CALLS = Object.fromEntries(
  TEXTS.flatMap((text, at) => [
    [`encode and decode ${at}`, (tokenizer) => tokenizer.decode(tokenizer.encode(text, { padding: false }).ids)],
    [`count ${at}`, (tokenizer) => tokenizer.count(text)],
  ]),
)

const [, script, mode, ...numbers] = process.argv
if (mode === '--child') await child(.../** @type {[number, number]} */ (numbers.map(Number)))
else if (script === fileURLToPath(import.meta.url)) main()

function main() {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
    },
    allowPositionals: true,
  })
  if (values.only !== undefined) process.env.TOKENLANE_ONLY = values.only
  const count = values.only === undefined ? Number(values.count) : 1
  runChildren({ count, seed: Number(values.seed), perChild: FILES_PER_CHILD, inChild }, noTotals())
}

function noTotals() {
  return { files: 0, loaded: 0, refused: 0, calls: 0, codes: {}, slowestMs: 0, mostMiB: 0 }
}

/** Loads files in a child process. Returns whether it failed, and its totals. */
export function inChild(seed, count) {
  return runChild(fileURLToPath(import.meta.url), seed, count, root)
}

async function child(seed, count) {
  const { Tokenizer } = createRequire(import.meta.url)(root)
  const { TOKENLANE_ONLY: only, TOKENLANE_LAST: place } = process.env
  const sources = originals()
  const totals = noTotals()
  const wrong = []
  const last = fs.openSync(place, 'w')
  const numbers = only === undefined ? Array.from({ length: count }, (_, at) => at) : [Number(only)]
  for (const at of numbers) {
    const draw = random(seed * 10_000 + at)
    const { name, bytes, options } = mutated(draw, draw.of(sources))
    const timed = async (call, run) => {
      fs.writeSync(last, `${at} ${call} ${name.slice(0, 100)}`.padEnd(140), 0)
      // CPU time does not depend on other processes.
      const start = process.cpuUsage()
      let [value, outcome] = [undefined, 'a result']
      try {
        value = await run()
      } catch (error) {
        outcome = error.code ?? error.stack
        totals.codes[error.code] = (totals.codes[error.code] ?? 0) + 1
        if (!isDocumented(error)) wrong.push(`file ${at} ${call} ${name}: ${error.stack}`)
      }
      const { user, system } = process.cpuUsage(start)
      const ms = Math.round((user + system) / 1000)
      totals.slowestMs = Math.max(totals.slowestMs, ms)
      if (ms > MAX_CPU_MS) wrong.push(`file ${at} ${call} ${name}: ${ms} ms, ${outcome}`)
      if (only !== undefined) console.log(`${call}: ${ms} ms, ${outcome}`)
      return value
    }
    if (only !== undefined) console.log(name)
    totals.files++
    const tokenizer = await timed('load', () => Tokenizer.fromBufferSync(bytes, options))
    totals[tokenizer === undefined ? 'refused' : 'loaded']++
    for (const [call, run] of Object.entries(tokenizer === undefined ? {} : CALLS)) {
      totals.calls++
      await timed(call, () => run(tokenizer))
    }
    // Node runs finalizers between two iterations of the event loop.
    if (at % 10 === 9) {
      globalThis.gc()
      await new Promise((turn) => setImmediate(turn))
    }
  }
  // The peak of the process is more than the memory of a single file, because about ten tokenizers
  // exist at a time.
  totals.mostMiB = Math.round(process.resourceUsage().maxRSS / 1024)
  if (totals.mostMiB > MAX_RSS_MIB) wrong.push(`${totals.mostMiB} MiB of memory`)
  if (wrong.length > 0) console.log([...new Set(wrong)].slice(0, 30).join('\n'))
  // The output of a child is shown if it fails.
  if (wrong.length > 0 || only !== undefined) process.exitCode = 1
  console.log(JSON.stringify(totals))
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
