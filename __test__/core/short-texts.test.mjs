// One short string takes a fast path through the boundary. It agrees with the general path.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'

import { Tokenizer } from '../../index.mjs'
import { failure, text } from '../support/texts.mjs'

const native = createRequire(import.meta.url)('../../lib/native.js')
const tokenizers = ['r50k_base', 'cl100k_base', 'o200k_base'].map((name) => Tokenizer.fromEncodingSync(name))

let state = 1
/** A number from 0 to `below - 1`; the same sequence in every run. */
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

const PARTS = [
  'Hello',
  ' world',
  '\n',
  'ä',
  '中文',
  '🚀',
  '\ud83d',
  '\ude00',
  '<|endoftext|>',
  '  ',
  "don't",
  '\0',
  '1234',
  '\u0301',
]
const LENGTHS = [0, 1, 7, 8, 9, 25, 31, 32, 33, 64, 65, 200, 2048, 4094, 4095, 4096, 4097, 9000]

function made() {
  const length = LENGTHS[random(LENGTHS.length)]
  if (random(3) === 0) return 'x '.repeat(length).slice(0, length)
  let result = ''
  while (result.length < length)
    result += random(4) === 0 ? PARTS[random(PARTS.length)] : text(1 + random(40), random(1000))
  return result.slice(0, length)
}

/** The text in a form that takes the general path. */
const bytes = (text) => new TextEncoder().encode(text)

test('the ids, counts and columns of a short string are those of the general path', () => {
  for (let round = 0; round < 600; round++) {
    const tokenizer = tokenizers[random(tokenizers.length)]
    const text = made()
    const options = [{ specialTokens: 'text' }, { specialTokens: 'parse', addSpecialTokens: false }][random(2)]
    const general = tokenizer.encode(bytes(text), options)
    const encoding = tokenizer.encode(text, options)
    assert.deepEqual(encoding.ids, general.ids, JSON.stringify(text))
    assert.equal(tokenizer.count(text, options), general.length)
    if (round % 7 > 0) continue
    assert.deepEqual(encoding.tokens, general.tokens)
    assert.deepEqual(encoding.wordIds, general.wordIds)
    assert.equal(encoding.offsets.length, 2 * general.length)
  }
})

test('ids of earlier calls stay when later calls write', () => {
  const [gpt] = tokenizers
  const texts = Array.from({ length: 50 }, made)
  const options = { specialTokens: 'text' }
  const encodings = texts.map((text) => gpt.encode(text, options))
  texts.forEach((text, index) => assert.deepEqual(encodings[index].ids, gpt.encode(bytes(text), options).ids))
})

test('errors are those of the general path', async () => {
  const [gpt] = tokenizers
  const calls = [
    (text) => gpt.encode(text, { specialTokens: 'throw' }),
    (text) => gpt.count(text, { specialTokens: 'throw' }),
    (text) => gpt.encode(text, { pretokenized: true }),
  ]
  for (const call of calls) {
    const short = await failure(() => call('a <|endoftext|> b'))
    const long = await failure(() => call(`a <|endoftext|> b${' '.repeat(5000)}`))
    assert.deepEqual([short.name, short.code, short.message], [long.name, long.code, long.message])
  }
})

test('the functions refuse everything else', () => {
  const entry = native.enqueue()
  const { countShort, encodeShort } = native
  for (const call of [countShort, encodeShort]) {
    for (const handle of [undefined, null, 1, 'text', {}, entry, Symbol('s'), 2n]) {
      assert.equal(call(handle, 'text', 1), undefined)
    }
    assert.equal(call(), undefined)
  }
  native.leaveQueue(entry)
})

test('nothing is written to shared memory whose array was detached', {
  skip: native.sharedIds === undefined,
}, () => {
  const worker = new Worker(
    `
    const { workerData, parentPort } = require('node:worker_threads')
    const native = require(workerData.native)
    const { Tokenizer } = require(workerData.index)
    const gpt = Tokenizer.fromEncodingSync('r50k_base')
    const before = gpt.encode('Hello, how are you today?').ids
    const array = native.sharedIds()
    native.detach(array.buffer)
    const after = gpt.encode('Hello, how are you today?').ids
    parentPort.postMessage({ before, after, detached: array.length === 0 })`,
    {
      eval: true,
      workerData: {
        native: fileURLToPath(new URL('../../lib/native.js', import.meta.url)),
        index: fileURLToPath(new URL('../../index.js', import.meta.url)),
      },
    },
  )
  return new Promise((done, failed) => {
    worker.on('error', failed)
    worker.on('message', ({ before, after, detached }) => {
      assert.ok(detached)
      assert.deepEqual(after, before)
      done()
    })
  })
})

test('handles of tokenizers that are gone are not mistaken for others', () => {
  // Each new tokenizer may get the address of one that was collected.
  const expected = new Map()
  for (let round = 0; round < 30; round++) {
    const name = ['r50k_base', 'p50k_base'][round % 2]
    const tokenizer = Tokenizer.fromEncodingSync(name).with({ addedTokens: [{ content: `<${round % 3}>` }] })
    const key = `${name} ${round % 3}`
    const ids = tokenizer.encode('        indented <0> <1> <2>').ids
    if (!expected.has(key)) expected.set(key, tokenizer.encode(bytes('        indented <0> <1> <2>')).ids)
    assert.deepEqual(ids, expected.get(key))
    globalThis.gc?.()
  }
})
