#!/usr/bin/env node
// Measures how the time of every call grows with every hostile text, for several tokenizers.
//
// usage: npm run maintain -- hostile texts [--call NAME]… [--text NAME]… [--least KIB] [--most KIB]
//                                   [--vocab FOLDER]… [--jobs COUNT]
//                                   [tokenizer.json | name of an encoding]…
//
// By default the tokenizers are the bundled encodings, those of the public test set beside the
// repository, and each tokenizer.json in a folder of --vocab. Texts start at --least (16) KiB and
// double until a call takes long enough to be measured, up to --most (1024) KiB. --jobs processes
// run at a time, each for one tokenizer.
//
// The command measures the CPU time, as the minimum of several runs, for a text and for one twice
// as long. If the time grows by a factor of more than 2.3, texts twice, four times and eight times
// as long are doubled: where a cache of the processor or of words was too small, the growth
// disappears. If none of them grows by less, the command lists the call and fails. Prints one line
// for each tokenizer and text, with the slowest call and the call whose time grows most.

import { fork } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { root, stop } from '../../setup.mjs'
import { TEXTS } from './adversarial.mjs'
import { isDocumented } from './child.mjs'
import { CALL_NAMES, callsOf, growthOf, isSteep, subjectOf } from './growth.mjs'

const MAX_GROWTH = 2.3
/** How many longer texts are measured if the time of a text grows by more. */
const FURTHER_DOUBLINGS = 3
/**
 * Minimum CPU milliseconds of a measurement. The clock counts microseconds, except on Windows. Less
 * than the default of `growthOf`, because every growth that seems steep is measured again.
 */
const TEXTS_MIN_CPU_MS = 2

const { values, positionals } = parseArgs({
  options: {
    call: { type: 'string', multiple: true },
    text: { type: 'string', multiple: true },
    vocab: { type: 'string', multiple: true },
    least: { type: 'string', default: '16' },
    most: { type: 'string', default: '1024' },
    jobs: { type: 'string', default: '1' },
  },
  allowPositionals: true,
})

function chosen(name, wanted, known) {
  for (const one of wanted ?? []) if (!known.includes(one)) stop(`--${name} is one of: ${known.join(', ')}; not ${one}`)
  return wanted ?? known
}

const calls = chosen('call', values.call, CALL_NAMES)
const kinds = chosen('text', values.text, Object.keys(TEXTS))
const sizes = {
  least: Number(values.least) * 1024,
  most: Number(values.most) * 1024,
  wanted: MAX_GROWTH,
  tries: 1,
  minCpuMs: TEXTS_MIN_CPU_MS,
}

/** Each tokenizer.json in a folder or directly below it. */
function filesIn(folder) {
  if (!fs.existsSync(folder)) return []
  const inside = fs.readdirSync(folder).map((name) => path.join(folder, name, 'tokenizer.json'))
  return [path.join(folder, 'tokenizer.json'), ...inside].filter((file) => fs.existsSync(file))
}

const { encodings } = createRequire(import.meta.url)(root)
const folders = [path.join(root, '..', 'shared', 'conformance', 'public', 'tokenizers'), ...(values.vocab ?? [])]
const files = [...new Set(folders.flatMap(filesIn).map((file) => fs.realpathSync(file)))]
const names = positionals.length > 0 ? positionals : [...encodings(), ...files]

const round = (ms) => ms.toFixed(ms < 10 ? 1 : 0)

/** The growth of the longest text, if all texts of more than `bytes` bytes exceed the limit. */
async function lastingGrowth(subject, kind, call, bytes) {
  let found
  for (let doubling = 1; doubling <= FURTHER_DOUBLINGS; doubling++) {
    const longer = bytes * 2 ** doubling
    found = await growthOf(subject, call, kind, { ...sizes, least: longer, most: longer })
    if (!isSteep(found, MAX_GROWTH, TEXTS_MIN_CPU_MS)) return undefined
  }
  return found
}

/** Measures one tokenizer: `{ measured, suspects, steep }`. */
async function measure(subject) {
  const { name } = subject
  const result = { measured: 0, suspects: 0, steep: [] }
  console.log(name)
  for (const kind of kinds) {
    let slowest = { call: '', perMib: 0 }
    let steepest = { call: '', factor: 0 }
    for (const call of callsOf(subject, calls)) {
      let found
      let lasting
      try {
        found = await growthOf(subject, call, kind, sizes)
        if (isSteep(found, MAX_GROWTH, TEXTS_MIN_CPU_MS)) {
          result.suspects++
          lasting = await lastingGrowth(subject, kind, call, found.bytes)
        }
      } catch (error) {
        if (!isDocumented(error)) throw new Error(`${name}, ${kind}, ${call}`, { cause: error })
        continue
      }
      result.measured++
      const { bytes, single, longer } = found
      const perMib = single / (bytes / 2 ** 20)
      if (perMib > slowest.perMib) slowest = { call, perMib }
      if (longer >= TEXTS_MIN_CPU_MS && longer / single > steepest.factor) steepest = { call, factor: longer / single }
      if (lasting)
        result.steep.push(
          `${name}, ${kind}, ${call}: ${lasting.bytes >> 10} KiB ${round(lasting.single)} ms, twice as many ${round(lasting.longer)} ms`,
        )
    }
    const steep = steepest.factor > 0 ? `x${steepest.factor.toFixed(2)} ${steepest.call}` : ''
    console.log(`  ${kind.padEnd(42)}${`${round(slowest.perMib)} ms/MiB ${slowest.call}`.padEnd(48)}${steep}`)
  }
  return result
}

/** Measures one tokenizer in a process of its own, and prints its output when it ends. */
function inProcess(name) {
  const rest = process.argv.slice(2).filter((argument) => !positionals.includes(argument))
  const child = fork(fileURLToPath(import.meta.url), [...rest, '--jobs', '1', name], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  let output = ''
  let result
  child.stdout.on('data', (chunk) => (output += chunk))
  child.on('message', (message) => (result = message))
  return new Promise((resolve, reject) =>
    child.on('close', (code) => {
      process.stdout.write(output)
      if (result) resolve(result)
      else reject(new Error(`${name}: the process ended with code ${code}`))
    }),
  )
}

/** Prints the calls that are too slow, and how many were measured. */
function report({ measured, suspects, steep }) {
  for (const line of steep) console.log(line)
  console.log(
    `${measured} measured, ${suspects} grew by more than ${MAX_GROWTH} at first and ${steep.length} when tried again`,
  )
}

async function one(name) {
  const result = await measure(await subjectOf(name))
  report(result)
  return result
}

const run = process.send ? one : inProcess
const results = []
const waiting = [...names]
const worker = async () => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) results.push(await run(name))
}
await Promise.all(Array.from({ length: Number(values.jobs) }, worker))

if (process.send) {
  process.send(results[0])
} else {
  const steep = results.flatMap((result) => result.steep)
  const sum = (key) => results.reduce((total, result) => total + result[key], 0)
  console.log('All together:')
  report({ measured: sum('measured'), suspects: sum('suspects'), steep })
  if (steep.length > 0) process.exit(1)
}
