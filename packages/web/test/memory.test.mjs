// @tokenlane/web at addresses above 2 GiB, with arguments that WebAssembly cannot hold, and without
// stack: results are those of the addon, errors have codes, and the next call answers.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import * as addon from '../../../index.mjs'
import { failure, text, texts } from '../../../__test__/support/texts.mjs'
import './support/high-memory.mjs'
import { Memory, aligned, checkAllocation } from '../src/addresses.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const isBuilt = fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'tokenlane.wasm'))
const skip = !isBuilt && 'npm run maintain -- web builds it'
const OUT_OF_MEMORY = 'ERR_TOKENLANE_OUT_OF_MEMORY'

const FLAGS = { single_word: false, lstrip: false, rstrip: false, normalized: false }
const MODEL = new TextEncoder().encode(
  JSON.stringify({
    added_tokens: [{ id: 9, content: '<s>', special: true, ...FLAGS }],
    pre_tokenizer: { type: 'Whitespace' },
    model: { type: 'WordLevel', vocab: { a: 0, b: 1, c: 2, '?': 3 }, unk_token: '?' },
  }),
)

// Needs no build.
test('addresses are unsigned, however a function of WebAssembly returned them', () => {
  const memory = new WebAssembly.Memory({ initial: 32_769 })
  const addresses = new Memory(memory)
  const signed = 2 ** 31 + 64 - 2 ** 32
  addresses.write(new TextEncoder().encode('abcd'), signed)
  assert.equal(addresses.text(signed, 4), 'abcd')
  assert.equal(addresses.text(signed + 1, 3), 'bcd')
  assert.equal(addresses.writeString('é', signed + 8), 2)
  addresses.writeUnits('é', signed + 10)
  assert.deepEqual([...addresses.copyBytes(signed + 8, 4)], [0xc3, 0xa9, 0xe9, 0])
  for (const count of [2, 40]) {
    const words = Array.from({ length: count }, (_, index) => 2 ** 32 - 1 - index)
    addresses.writeWords(words, signed + 16)
    assert.deepEqual([...addresses.wordsAt(signed + 16, count)], words)
    assert.deepEqual([...new Uint32Array(addresses.copyWords(signed + 16, count))], words)
  }
  assert.equal(addresses.words[addresses.wordIndex(signed)], 0x64636261)
  addresses.write(new TextEncoder().encode('aéb'), signed + 256)
  addresses.writeWords([1, 3, 4], signed + 512)
  assert.deepEqual(addresses.texts(signed + 256, 4, signed + 512, 3), ['a', 'é', 'b'])
  assert.equal(addresses.text(64, 4), '\0\0\0\0')
  // Growth detaches the views.
  memory.grow(1)
  assert.equal(addresses.text(signed, 4), 'abcd')
  for (const [length, wanted] of [
    [0, 0],
    [1, 8],
    [8, 8],
    [2 ** 31 - 7, 2 ** 31],
    [2 ** 33 + 1, 2 ** 33 + 8],
  ])
    assert.equal(aligned(length), wanted)
  checkAllocation(2 ** 31 - 8)
  assert.throws(() => checkAllocation(2 ** 31 - 7), { code: OUT_OF_MEMORY })
})

describe('@tokenlane/web above 2 GiB', { skip }, () => {
  /** @type {import('../../../index.js').Tokenizer} */
  let tokenizer, native, small
  before(async () => {
    const { Tokenizer } = await import('@tokenlane/web')
    tokenizer = await Tokenizer.fromEncoding('r50k_base')
    native = await addon.Tokenizer.fromEncoding('r50k_base')
    small = await Tokenizer.fromBuffer(MODEL)
  })

  test('between the slices of a batch with columns, other calls answer as the addon', async () => {
    const rows = texts(6, 60_000)
    const options = { offsets: 'byte', columns: ['tokens', 'typeIds', 'attentionMask', 'wordIds'] }
    const wanted = await native.encodeBatch(rows, options)
    const sample = text(900)
    const changes = { addedTokens: ['zz9'] }
    const calls = {
      tokens: (one) => one.encode('The quick brown fox').tokens,
      offsets: (one) => [...one.encode(sample).offsets],
      ids: (one) => [...one.encode(sample).ids],
      pair: (one) => [...one.encode('a b', { pair: sample }).sequenceIds],
      decode: (one) => one.decode(one.encode(sample).ids),
      bytes: (one) => [...one.decodeBytes(Uint32Array.of(1, 2, 300))],
      count: (one) => one.count(sample),
      rows: (one) => [...one.encodeBatchSync([sample, 'b'], options).wordIds],
      counts: (one) => [...one.countBatchSync([sample, 'b'])],
      change: (one) => [...one.with(changes).encode('a zz9 b').ids],
      token: (one) => [one.idToToken(300), one.tokenToId('hello'), one.vocabSize()],
      into: (one) => one.encodeInto(sample, new Uint32Array(50)),
      split: (one) => one.split(sample, { maxTokens: 50 }),
      large: (one) => one.encode(text(100_000)).tokens.length,
      error: (one) => {
        try {
          one.encode('<|endoftext|>', { specialTokens: 'throw' })
        } catch ({ code, message }) {
          return [code, message]
        }
      },
    }
    const answers = Object.entries(calls).map(([name, call]) => [name, call, call(native)])
    let isOver = false
    const batch = tokenizer.encodeBatch(rows, options).finally(() => (isOver = true))
    const others = Promise.all([tokenizer.countBatch(rows.slice(0, 4)), native.countBatch(rows.slice(0, 4))])
    let turns = 0
    for (; !isOver; turns++) {
      await new Promise((resolve) => setImmediate(resolve))
      // The first turns: later ones would only take time.
      if (turns < 2) for (const [name, call, answer] of answers) assert.deepEqual(call(tokenizer), answer, name)
    }
    assert.ok(turns > 1, `${turns} turns`)
    const found = await batch
    const columns = ['ids', 'rowOffsets', 'offsets', ...options.columns]
    for (const name of columns) assert.ok(same(found[name], wanted[name]), name)
    const [counts, wantedCounts] = await others
    assert.deepEqual(counts, wantedCounts)
  })

  test('texts of 7 and 20 MiB', () => {
    const line = `a ${'x'.repeat(120)} b c\n`
    for (const size of [7, 20]) {
      const lines = Math.floor((size * 2 ** 20) / line.length)
      const { ids, offsets } = small.encode(line.repeat(lines))
      const wanted = Uint32Array.from({ length: 4 * lines }, (_, at) => [0, 3, 1, 2][at % 4])
      assert.ok(same(ids, wanted), `${size} MiB`)
      assert.deepEqual(
        [...offsets.slice(-4)],
        [-4, -3, -2, -1].map((end) => lines * line.length + end),
      )
      assert.equal(small.count(new TextEncoder().encode(line.repeat(lines))), 4 * lines)
    }
  })

  test('what WebAssembly cannot hold is an error with a code, and nothing else changes', async () => {
    const { Tokenizer } = await import('@tokenlane/web')
    const stream = small.decodeStream()
    assert.equal(stream.push([0]), 'a')
    for (const size of [2 ** 31 - 7, 2 ** 31, 2 ** 32]) {
      // The system gives them no memory: they are never written to, and copied by nobody.
      const bytes = new Uint8Array(size)
      const ids = new Uint32Array(Math.ceil(size / 4))
      const calls = {
        encode: () => small.encode(bytes),
        count: () => small.count(bytes),
        countWithOptions: () => small.count(bytes, { specialTokens: ['<s>'] }),
        pair: () => small.encode('a', { pair: bytes }),
        words: () => small.encode(['a', bytes], { pretokenized: true }),
        isWithin: () => small.isWithin(bytes, 2 ** 32 - 1),
        encodeBatch: () => small.encodeBatch(['a', bytes]),
        encodeBatchSync: () => small.encodeBatchSync([bytes]),
        pairs: () => small.encodeBatch(['a'], { pairs: [bytes] }),
        countBatch: () => small.countBatch([bytes]),
        countBatchSync: () => small.countBatchSync(['a', bytes]),
        decode: () => small.decode(ids),
        decodeBytes: () => small.decodeBytes(ids),
        push: () => stream.push(ids),
        stop: () => small.stopStream({ stop: 'zz' }).push(ids),
        fromBuffer: () => Tokenizer.fromBuffer(bytes),
        fromBufferSync: () => Tokenizer.fromBufferSync(bytes),
      }
      for (const [name, call] of Object.entries(calls)) {
        const { code } = await failure(call)
        assert.equal(code, OUT_OF_MEMORY, `${name} of ${size} bytes`)
        assert.deepEqual(small.encode('a <s> c').tokens, ['a', '<s>', 'c'], name)
      }
      // Calls that need only the start of a text.
      assert.equal(tokenizer.isWithin(bytes, 5), false)
      assert.deepEqual(small.encodeInto('a b', ids), { read: 3, written: 2 })
    }
    // The instance is the same.
    assert.equal(stream.push([1]), ' b')
  })

  test('a result that JavaScript cannot hold is an error with a code', async () => {
    const stream = small.decodeStream()
    stream.push([0])
    const { slice } = Uint8Array.prototype
    const { decode } = TextDecoder.prototype
    const tooLong = () =>
      Object.assign(new Error('Cannot create a string longer than'), { code: 'ERR_STRING_TOO_LONG' })
    const refusals = [
      [
        'ArrayBuffer',
        'slice',
        new RangeError('Array buffer allocation failed'),
        () => small.encode('a b', { pair: 'c' }),
      ],
      ['Uint8Array', 'slice', new RangeError('Array buffer allocation failed'), () => small.decodeBytes([0])],
      ['TextDecoder', 'decode', tooLong(), () => small.decode(Array(99).fill(0))],
      [
        'JSON',
        'stringify',
        new RangeError('Invalid string length'),
        () => small.count('a', { specialTokens: ['<s>'] }),
      ],
    ]
    for (const [name, method, refusal, call] of refusals) {
      const owner = globalThis[name].prototype ?? globalThis[name]
      const original = owner[method]
      owner[method] = () => {
        throw refusal
      }
      const thrown = await failure(call)
      owner[method] = original
      assert.equal(thrown.code, OUT_OF_MEMORY, name)
      assert.deepEqual(small.encode('a <s> c').tokens, ['a', '<s>', 'c'])
    }
    assert.equal(slice, Uint8Array.prototype.slice)
    assert.equal(decode, TextDecoder.prototype.decode)
    assert.equal(stream.push([1]), ' b')
  })

  test('after a call that failed before it began, the input buffer is still valid', async () => {
    const { encodeInto } = TextEncoder.prototype
    TextEncoder.prototype.encodeInto = () => {
      throw new RangeError('as the test requested')
    }
    const { code } = await failure(() => small.encode('a'.repeat(2 * 2 ** 20)))
    TextEncoder.prototype.encodeInto = encodeInto
    assert.equal(code, OUT_OF_MEMORY)
    for (let time = 0; time < 3; time++) assert.deepEqual(small.encode('a b').tokens, ['a', 'b'])
  })

  test('a method toJSON of a program may call the same tokenizer', (t) => {
    const prototype = /** @type {any} */ (String.prototype)
    prototype.toJSON = function () {
      small.encode('c c c c c c c c')
      return `${this}`
    }
    t.after(() => delete prototype.toJSON)
    const options = { specialTokens: ['<s>'] }
    assert.deepEqual(small.encode('a <s> b', options).tokens, ['a', '<s>', 'b'])
    assert.deepEqual(small.encodeBatchSync(['a <s> b'], { ...options, columns: ['tokens'] }).tokens, ['a', '<s>', 'b'])
    assert.deepEqual([...small.countBatchSync(['a <s> b'], options)], [3])
  })

  test('a caller that has used up the stack gets the error of its engine', async () => {
    const { Tokenizer } = await import('@tokenlane/web')
    const one = await Tokenizer.fromBuffer(MODEL)
    const derived = one.with({ addedTokens: ['zz9'] })
    const calls = {
      encode: () => [...one.encode('a b').ids],
      count: () => one.count('a b c'.repeat(50)),
      batch: () => [...one.encodeBatchSync(['a b', 'c']).ids],
      decode: () => one.decode([0, 1]),
      error: () => one.decode([4_000_000]),
      split: () => one.split('a b c', { maxTokens: 1 }),
      stream: () => one.decodeStream().push([0, 1]),
      derived: () => derived.encode('a zz9').tokens,
      load: () => Tokenizer.fromBufferSync(MODEL).count('a b'),
    }
    const outcome = (call) => {
      try {
        return JSON.stringify(call())
      } catch ({ name, code, message }) {
        return `${name} ${code ?? (message.includes('call stack') ? 'stack' : message)}`
      }
    }
    for (const [name, call] of Object.entries(calls)) {
      const wanted = outcome(call)
      /** From the deepest frame up, every few frames, until the stack is enough. */
      const outcomes = []
      let frames = 0
      const descend = () => {
        try {
          descend()
        } catch {
          // The frames above this one call.
        }
        if (frames++ % 4 === 0 && outcomes.at(-3) !== wanted) outcomes.push(outcome(call))
      }
      descend()
      const others = new Set(outcomes.filter((found) => found !== wanted))
      assert.deepEqual([...others], ['RangeError stack'], name)
      assert.equal(outcome(call), wanted, name)
    }
  })

  test('errors of engines without stack are recognized', async () => {
    const { isStackOverflow } = (await import('../../../lib/errors.js')).default
    assert.ok(isStackOverflow(Object.assign(new Error('too much recursion'), { name: 'InternalError' })))
    assert.ok(!isStackOverflow(new RangeError('Invalid string length')))
    assert.ok(!isStackOverflow(undefined))
  })
})

const same = (found, wanted) => {
  if (found.length !== wanted.length) return false
  for (let index = 0; index < found.length; index++) if (found[index] !== wanted[index]) return false
  return true
}
