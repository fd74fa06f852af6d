#!/usr/bin/env node
// Calls every export of the package with invalid and unusual arguments.
//
//   usage: npm run hostile -- calls [--count 100000] [--seed 1] [--huge]
//   --huge: also strings of 512 MiB
//
// The calls run in a child process, so that one that ends the process is reported. The seed and the
// number of a call reproduce it. Every error must have a code of this package, or be the one that
// an argument threw. JavaScript's own TypeErrors are allowed for a receiver of another class, for a
// revoked proxy, and in drop-ins for arguments that their typings do not allow.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'

import { root } from '../setup.mjs'
import { runChild } from './child.mjs'
import { random } from './random.mjs'
import { subjects } from './subjects.mjs'
import { Thrown, values } from './values.mjs'

const CHUNK = 10_000
/** Milliseconds after which a call counts as hanging. */
const PATIENCE = 20_000

// Tokenizers that all calls of a process share.
let known

if (process.argv[2] === '--child') await child(...process.argv.slice(3).map(Number))
else if (process.argv[1] === fileURLToPath(import.meta.url)) main()

function main() {
  const { values: options } = parseArgs({
    options: {
      count: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      huge: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  const [count, seed] = [Number(options.count), Number(options.seed)]
  let failed = false
  const totals = { calls: 0, results: 0, errors: 0, thrown: 0, functions: 0 }
  for (let done = 0; done < count; done += CHUNK) {
    const report = inChild(seed + done / CHUNK, Math.min(CHUNK, count - done))
    failed ||= report.failed
    if (report.totals) for (const name of ['calls', 'results', 'errors', 'thrown']) totals[name] += report.totals[name]
    totals.functions = report.totals?.functions ?? totals.functions
  }
  if (options.huge) failed = inChild(-1, 0).failed || failed
  console.log(JSON.stringify(totals))
  if (failed) process.exit(1)
}

/** Makes calls in a child process. Returns whether it failed, and its totals. */
export function inChild(seed, count) {
  // Some calls write files with random names.
  return runChild(fileURLToPath(import.meta.url), seed, count)
}

async function child(seed, count) {
  const require = createRequire(import.meta.url)
  const face = require(root)
  if (seed === -1) return huge(face)
  const draw = random(seed)
  const all = subjects()
  const objects = await liveObjects(face, require)
  const make = values(draw, () => draw.of(draw.of([...objects.values()])))
  const last = fs.openSync(process.env.TOKENLANE_LAST, 'w')
  const totals = { calls: 0, results: 0, errors: 0, thrown: 0, functions: all.length }
  const wrong = []
  /** The names of the calls whose promises have not settled. */
  const pending = new Map()
  process.on('unhandledRejection', (error) => judge({ name: 'an unhandled promise' }, error, false))

  /** Counts an error, and records it if it is not allowed. */
  function judge(subject, error, isReceiver) {
    if (error instanceof Thrown || error?.cause instanceof Thrown) return void totals.thrown++
    totals.errors++
    const hasCode = error instanceof Error && /^ERR_TOKENLANE_[A-Z0-9_]+$/.test(codeOf(error))
    const isDropIn = !subject.name.includes('tokenlane')
    const bySystem = isDropIn && error?.syscall !== undefined
    const byLanguage = error instanceof TypeError && (isDropIn || !isReceiver || /revoked|proxy/i.test(error.message))
    if (!hasCode && !bySystem && !byLanguage)
      wrong.push(`call ${totals.calls} ${subject.name}: ${error?.stack ?? String(error)}`)
    if (error?.code === 'ERR_TOKENLANE_PANIC') wrong.push(`call ${totals.calls} ${subject.name}: ${error.message}`)
  }

  for (let call = 0; call < count; call++) {
    const subject = draw.of(all)
    const isReceiver = subject.of === undefined || draw.chance(0.95)
    const receiver = isReceiver
      ? subject.of
        ? draw.of(objects.get(subject.of) ?? [undefined])
        : subject.owner
      : make.any()
    const args = make.arguments()
    fs.writeSync(last, `${call} ${subject.name}`.padEnd(100), 0)
    totals.calls++
    try {
      const result = subject.call(receiver, args)
      totals.results++
      keep(result)
      if (typeof result?.then === 'function' && result instanceof Promise) {
        const promise = result
          .then(keep, (error) => judge(subject, error, isReceiver))
          .finally(() => pending.delete(promise))
        pending.set(promise, subject.name)
      }
    } catch (error) {
      judge(subject, error, isReceiver)
    }
    if (/configure|free$/.test(subject.name)) await reset()
    if (call % 64 === 63) await settle()
    if (call % 2000 === 1999) globalThis.gc?.()
  }
  await settle()
  if (wrong.length > 0) {
    console.log([...new Set(wrong)].slice(0, 40).join('\n'))
    process.exitCode = 1
  }
  console.log(JSON.stringify(totals))

  /** Objects of known classes are receivers and arguments of later calls. */
  function keep(result) {
    for (const [of, list] of objects) {
      if (result instanceof of) list[list.length < 12 ? list.length : 3 + draw.below(9)] = result
    }
  }

  async function settle() {
    if (pending.size === 0) return
    let timer
    const late = new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE, 'late')))
    if ((await Promise.race([Promise.all(pending.keys()), late])) === 'late') {
      wrong.push(`call ${totals.calls}: these hang: ${[...pending.values()]}`)
      pending.clear()
    }
    clearTimeout(timer)
  }

  /** Restores the settings of the process, and replaces freed objects. */
  async function reset() {
    await settle()
    face.limits.configure({ maxInputBytes: Infinity, maxQueuedBatches: Infinity })
    face.memory.configure({ pool: 'split', cap: 256 << 20, madvise: 'free', collect: true })
    for (const [of, list] of await liveObjects(face, require))
      list.forEach((object, at) => (objects.get(of)[at] = object))
  }
}

/** @param {NodeJS.ErrnoException} error */
function codeOf(error) {
  return error.code
}

/** Objects by class, as receivers of methods. */
async function liveObjects(face, require) {
  const tiktoken = require(path.join(root, 'dropins/tiktoken/index.js'))
  const huggingface = require(path.join(root, 'dropins/huggingface/index.js'))
  const transformers = require(path.join(root, 'dropins/transformers/index.js'))
  const gptTokenizer = require(path.join(root, 'dropins/gpt-tokenizer/GptEncoding.js'))
  const { tiny } = await import('../../__test__/support/tiny.mjs')
  const file = JSON.stringify(tiny())
  known ??= [
    face.Tokenizer.fromEncodingSync('r50k_base'),
    face.Tokenizer.fromBufferSync(new TextEncoder().encode(file)),
  ]
  const disposed = known[0].encodeBatchSync(['gone', 'as well'])
  disposed.dispose()
  const batch = known[1].encodeBatchSync(['hello world', ''], { columns: ['tokens'], offsets: 'byte' })
  const freed = tiktoken.get_encoding('gpt2')
  freed.free()
  const small = huggingface.Tokenizer.fromString(file)
  const objects = new Map([
    [face.Tokenizer, [...known]],
    [face.Batch, [batch, disposed]],
    [
      face.Encoding,
      [known[0].encode('Hello, world!'), known[1].encode('hello hell', { truncation: { maxLength: 3 } })],
    ],
    [face.DecodeStream, [known[0].decodeStream(), known[1].decodeStream({ skipSpecialTokens: true })]],
    [tiktoken.Tiktoken, [tiktoken.get_encoding('gpt2'), freed]],
    [huggingface.Tokenizer, [small]],
    [huggingface.Encoding, [await small.encode('hello world')]],
    [huggingface.AddedToken, [new huggingface.AddedToken('<x>', false, {})]],
    [huggingface.Decoder, [huggingface.fuseDecoder()]],
    [huggingface.Normalizer, [huggingface.nfcNormalizer()]],
    [huggingface.PreTokenizer, [huggingface.byteLevelPreTokenizer()]],
    [huggingface.Processor, [huggingface.byteLevelProcessing()]],
    [transformers.PreTrainedTokenizer, [new transformers.BertTokenizer(tiny(), { pad_token: '<s>' })]],
    [transformers.WhisperTokenizer, [new transformers.WhisperTokenizer(tiny(), {})]],
    [transformers.Tensor, [new transformers.Tensor('int64', [1, 2], [1, 2])]],
  ])
  if (gptTokenizer.GptEncoding)
    objects.set(gptTokenizer.GptEncoding, [gptTokenizer.GptEncoding.getEncodingApi('r50k_base')])
  return objects
}

/** Strings of V8's maximum length must work, or be refused with a code. */
async function huge(face) {
  const gpt = face.Tokenizer.fromEncodingSync('r50k_base')
  const lines = []
  const text = 'all work and no play '.repeat(Math.floor((2 ** 29 - 24) / 21))
  for (const [name, call] of Object.entries({
    count: () => gpt.count(text),
    isWithin: () => gpt.isWithin(text, 1000),
    truncate: () => gpt.truncate(text, 100).length,
    countBatch: () => gpt.countBatch([text, 'a']),
    encodeBatch: async () => (await gpt.encodeBatch([text])).length,
    tokenToId: () => gpt.tokenToId(text),
    option: () => gpt.encode('a', { offsets: text }),
    file: () => face.Tokenizer.fromFileSync(text),
  })) {
    const start = performance.now()
    try {
      lines.push(`${name}: ${await call()} in ${Math.round(performance.now() - start)} ms`)
    } catch (error) {
      lines.push(`${name}: ${error.code} in ${Math.round(performance.now() - start)} ms`)
      if (!/^ERR_TOKENLANE_/.test(error.code)) process.exitCode = 1
    }
  }
  console.log(lines.join('\n'))
  console.log(JSON.stringify({ calls: lines.length, results: 0, errors: 0, thrown: 0, functions: 0 }))
}
