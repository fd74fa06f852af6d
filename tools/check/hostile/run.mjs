// The calls of one child process of calls.mjs.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

import { root } from '../../setup.mjs'
import { random } from './random.mjs'
import { subjects } from './subjects.mjs'
import { Thrown, values } from './values.mjs'

/** A call whose promise takes longer counts as hanging. */
const MAX_SETTLE_MS = 20_000
/** Objects of each class that later calls use. The first ones are never replaced. */
const MAX_OBJECTS = 12
const FIXED_OBJECTS = 3

const require = createRequire(import.meta.url)

/** The tokenizers that all calls of a process share. */
let sharedTokenizers

/** Makes random calls, and judges their errors. */
export class Run {
  #tokenlane
  #draw
  #subjects = subjects()
  /** Receivers and arguments of calls, by class. */
  #objects
  #values
  #lastCall = fs.openSync(process.env.TOKENLANE_LAST, 'w')
  #totals = { calls: 0, results: 0, errors: 0, thrown: 0, functions: this.#subjects.length }
  /** Descriptions of wrong errors. */
  #wrong = []
  /** The names of the calls whose promises have not settled, by promise. */
  #pending = new Map()

  constructor(seed, tokenlane, objects) {
    const draw = random(seed)
    this.#tokenlane = tokenlane
    this.#draw = draw
    this.#objects = objects
    this.#values = values(draw, () => draw.of(draw.of([...objects.values()])))
    process.on('unhandledRejection', (error) => this.#judge({ name: 'an unhandled promise' }, error, false))
  }

  /** Makes one random call. */
  async call() {
    const subject = this.#draw.of(this.#subjects)
    const isReceiver = subject.of === undefined || this.#draw.chance(0.95)
    const receiver = isReceiver ? this.#receiverOf(subject) : this.#values.any()
    const args = this.#values.arguments()
    const number = this.#totals.calls++
    fs.writeSync(this.#lastCall, `${number} ${subject.name}`.padEnd(100), 0)
    try {
      const result = subject.call(receiver, args)
      this.#totals.results++
      this.#keep(result)
      if (typeof result?.then === 'function' && result instanceof Promise) this.#await(result, subject, isReceiver)
    } catch (error) {
      this.#judge(subject, error, isReceiver)
    }
    if (/configure|free$/.test(subject.name)) await this.#reset()
    if (number % 64 === 63) await this.#settle()
    if (number % 2000 === 1999) globalThis.gc?.()
  }

  /** Waits for the last calls and prints the results. */
  async end() {
    await this.#settle()
    if (this.#wrong.length > 0) {
      console.log([...new Set(this.#wrong)].slice(0, 40).join('\n'))
      process.exitCode = 1
    }
    console.log(JSON.stringify(this.#totals))
  }

  #receiverOf({ of, owner }) {
    return of ? this.#draw.of(this.#objects.get(of) ?? [undefined]) : owner
  }

  #await(result, subject, isReceiver) {
    const promise = result
      .then(
        (value) => this.#keep(value),
        (error) => this.#judge(subject, error, isReceiver),
      )
      .finally(() => this.#pending.delete(promise))
    this.#pending.set(promise, subject.name)
  }

  /** Counts an error, and records it if it is not allowed. */
  #judge({ name }, error, isReceiver) {
    if (error instanceof Thrown || error?.cause instanceof Thrown) return void this.#totals.thrown++
    this.#totals.errors++
    const hasCode = error instanceof Error && /^ERR_TOKENLANE_[A-Z0-9_]+$/.test(codeOf(error))
    const isDropIn = !name.includes('tokenlane')
    const bySystem = isDropIn && error?.syscall !== undefined
    const byLanguage = error instanceof TypeError && (isDropIn || !isReceiver || /revoked|proxy/i.test(error.message))
    if (!hasCode && !bySystem && !byLanguage)
      this.#wrong.push(`call ${this.#totals.calls} ${name}: ${error?.stack ?? String(error)}`)
    if (error?.code === 'ERR_TOKENLANE_PANIC') this.#wrong.push(`call ${this.#totals.calls} ${name}: ${error.message}`)
  }

  /** Keeps objects of known classes as receivers and arguments of later calls. */
  #keep(result) {
    for (const [of, list] of this.#objects) {
      if (!(result instanceof of)) continue
      const isFull = list.length >= MAX_OBJECTS
      list[isFull ? FIXED_OBJECTS + this.#draw.below(MAX_OBJECTS - FIXED_OBJECTS) : list.length] = result
    }
  }

  /** Waits until the promises of all calls have settled. */
  async #settle() {
    if (this.#pending.size === 0) return
    let timer
    const late = new Promise((resolve) => (timer = setTimeout(resolve, MAX_SETTLE_MS, 'late')))
    if ((await Promise.race([Promise.all(this.#pending.keys()), late])) === 'late') {
      this.#wrong.push(`call ${this.#totals.calls}: these hang: ${[...this.#pending.values()]}`)
      this.#pending.clear()
    }
    clearTimeout(timer)
  }

  /** Restores the settings of the process, and replaces freed objects. */
  async #reset() {
    await this.#settle()
    this.#tokenlane.limits.configure({ maxInputBytes: Infinity, maxQueuedBatches: Infinity })
    this.#tokenlane.memory.configure({ pool: 'split', cap: 256 << 20, madvise: 'free', collect: true })
    for (const [of, list] of await liveObjects(this.#tokenlane))
      list.forEach((object, at) => (this.#objects.get(of)[at] = object))
  }
}

/** @param {NodeJS.ErrnoException} error */
function codeOf(error) {
  return error.code
}

/** Objects by class, as receivers of methods. */
export async function liveObjects(tokenlane) {
  const tiktoken = require(path.join(root, 'packages/tiktoken/index.js'))
  const huggingface = require(path.join(root, 'packages/tokenizers/index.js'))
  const transformers = require(path.join(root, 'packages/transformers/index.js'))
  const gptTokenizer = require(path.join(root, 'packages/gpt-tokenizer/GptEncoding.js'))
  const { tiny } = await import('../../../__test__/support/tiny.mjs')
  const file = JSON.stringify(tiny())
  sharedTokenizers ??= [
    tokenlane.Tokenizer.fromEncodingSync('r50k_base'),
    tokenlane.Tokenizer.fromBufferSync(new TextEncoder().encode(file)),
  ]
  const disposed = sharedTokenizers[0].encodeBatchSync(['gone', 'as well'])
  disposed.dispose()
  const batch = sharedTokenizers[1].encodeBatchSync(['hello world', ''], { columns: ['tokens'], offsets: 'byte' })
  const freed = tiktoken.get_encoding('gpt2')
  freed.free()
  const small = huggingface.Tokenizer.fromString(file)
  const objects = new Map([
    [tokenlane.Tokenizer, [...sharedTokenizers]],
    [tokenlane.Batch, [batch, disposed]],
    [
      tokenlane.Encoding,
      [
        sharedTokenizers[0].encode('Hello, world!'),
        sharedTokenizers[1].encode('hello hell', { truncation: { maxLength: 3 } }),
      ],
    ],
    [
      tokenlane.DecodeStream,
      [sharedTokenizers[0].decodeStream(), sharedTokenizers[1].decodeStream({ skipSpecialTokens: true })],
    ],
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
