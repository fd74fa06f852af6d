import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import vm from 'node:vm'

import { Tokenizer, encodings } from '../../index.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-'))
test.after(() => fs.rmSync(folder, { recursive: true }))
const file = path.join(folder, 'tokenizer.json')
fs.writeFileSync(file, bytesOf(tiny()))

test('every bundled encoding loads, synchronously and asynchronously', async () => {
  assert.deepEqual(encodings(), ['r50k_base', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base', 'o200k_harmony'])
  for (const name of encodings()) {
    const [one, other] = [await Tokenizer.fromEncoding(name), Tokenizer.fromEncodingSync(name)]
    assert.ok(one.vocabSize() > 50_000, name)
    assert.deepEqual(one.encode('Hello').ids, other.encode('Hello').ids)
  }
})

test('a tekken.json is detected by its content', async () => {
  const tokens = ['a', 'b', 'ab', 'c', 'abc']
  const vocab = tokens.map((token, rank) => ({ rank, token_bytes: Buffer.from(token).toString('base64') }))
  const config = { pattern: '[a-z]+', num_vocab_tokens: 5, default_vocab_size: 14, default_num_special_tokens: 10 }
  const tokenizer = await Tokenizer.fromBuffer(Buffer.from(JSON.stringify({ config, vocab })))
  // The fifth rank is outside of the vocabulary; special tokens have the first ids.
  assert.deepEqual([...tokenizer.encode('abc<s>', { specialTokens: 'parse' }).ids], [12, 13, 1])
  assert.equal(tokenizer.decode([1, 12, 13, 2]), '<s>abc</s>')
})

test('a tokenizer.json loads from a path, a URL and bytes', async () => {
  const loads = [
    await Tokenizer.fromFile(file),
    await Tokenizer.fromFile(pathToFileURL(file)),
    await Tokenizer.fromBuffer(fs.readFileSync(file)),
    Tokenizer.fromFileSync(file),
    Tokenizer.fromBufferSync(bytesOf(tiny())),
  ]
  for (const tokenizer of loads) assert.deepEqual([...tokenizer.encode('hello world').ids], [14, 11, 12, 13, 2, 7, 15])
})

test('a rank file needs a pattern', async () => {
  const ranks = new URL('../../encodings/r50k_base.tiktoken', import.meta.url)
  const named = await Tokenizer.fromFile(ranks, { encoding: 'r50k_base' })
  const pattern = String.raw`'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
  const loaded = await Tokenizer.fromFile(ranks, { pattern, specialTokens: { '<|endoftext|>': 50256 } })
  const text = "It's 12 o'clock,\n  isn't it?"
  assert.deepEqual(named.encode(text).ids, loaded.encode(text).ids)
  assert.equal(loaded.tokenToId('<|endoftext|>'), 50256)
  await assert.rejects(Tokenizer.fromFile(ranks), { code: 'ERR_TOKENLANE_PATTERN_MISSING' })
})

test('bytes are copied before the load returns its promise', async () => {
  const bytes = bytesOf(tiny())
  const loads = Array.from({ length: 5 }, () => Tokenizer.fromBuffer(bytes))
  bytes.fill(0)
  for (const tokenizer of await Promise.all(loads)) assert.equal(tokenizer.encode('hello').ids[1], 11)
})

test('equal bytes share one tokenizer in memory', async () => {
  const loads = await Promise.all(Array.from({ length: 6 }, () => Tokenizer.fromEncoding('o200k_base')))
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  for (let i = 0; i < 20; i++) loads.push(Tokenizer.fromEncodingSync('o200k_base'))
  const grown = (process.memoryUsage().rss - before) / 2 ** 20
  assert.ok(grown < 40, `20 more loads took ${grown.toFixed(1)} MiB`)
})

test('the package loads only the modules that all calls need', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const code = `
    require('./lib/errors.js') // Node's loader now has the modules that it needs itself.
    const known = new Set(process.moduleLoadList)
    Intl.Segmenter = class { constructor() { console.log('Intl.Segmenter') } }
    const { Tokenizer } = require('./index.js')
    const name = (file) => require('node:path').relative('lib', file).replaceAll('\\\\', '/')
    const list = () => Object.keys(require.cache).map(name).filter((file) => /^[a-z]/.test(file)).sort().join(' ')
    const builtin = process.moduleLoadList.filter((one) => !known.has(one) && /NativeModule (crypto|vm|v8|os|fs.promises)$/.test(one))
    console.log(list())
    console.log(builtin.join())
    const tokenizer = Tokenizer.fromEncodingSync('o200k_base')
    tokenizer.encode('text')
    tokenizer.split('One. Two.', { maxTokens: 2 })
    console.log(list())`
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', code], { cwd: root, encoding: 'utf8' })
  const always =
    'batch.js choices.js encoding.js errors.js ids.js later.js limits.js list.js loaders.js memory.js native.js options.js package-root.js queue.js realm.js runtime.js signals.js sources.js steps.js stream.js texts.js tokenizer.js'
  const after = [...always.split(' '), 'chat/openai.js', 'split.js'].sort().join(' ')
  assert.deepEqual(stdout.trimEnd().split('\n'), [always, '', after], stderr)
})

test('fromBuffer takes the text of a file and a parsed tokenizer.json, in every realm', async () => {
  const file = tiny()
  const expected = Array.from(Tokenizer.fromBufferSync(bytesOf(file)).encode('hello he').ids)
  const text = JSON.stringify(file)
  const foreign = vm.runInNewContext(`(${text})`)
  for (const content of [text, `\n ${text}`, file, foreign, Object.assign(Object.create(null), file)]) {
    for (const tokenizer of [await Tokenizer.fromBuffer(content), Tokenizer.fromBufferSync(content)])
      assert.deepEqual(Array.from(tokenizer.encode('hello he').ids), expected)
  }
  const ranks = 'YQ== 0\nYg== 1\n'
  assert.deepEqual(Array.from(Tokenizer.fromBufferSync(ranks, { pattern: '.' }).encode('ba').ids), [1, 0])
  const cyclic = { ...file }
  Object.assign(cyclic, { model: cyclic })
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  for (const [content, code, message] of /** @type {[any, string, RegExp][]} */ ([
    ['tokenizer.json', 'ARGUMENT_VALUE', /Tokenizer\.fromFile takes its path/],
    [cyclic, 'ARGUMENT_VALUE', /JSON can hold/],
    [proxy, 'ARGUMENT_TYPE', /a revoked Proxy/],
    [new ArrayBuffer(1), 'ARGUMENT_TYPE', /as text or as a parsed object/],
    [[file], 'ARGUMENT_TYPE', /an array/],
    [null, 'ARGUMENT_TYPE', /null/],
    [new Map(), 'ARGUMENT_TYPE', /an object/],
    [{}, 'SHAPE', /./],
  ])) {
    await assert.rejects(Tokenizer.fromBuffer(content), { code: `ERR_TOKENLANE_${code}`, message })
    assert.throws(() => Tokenizer.fromBufferSync(content), { code: `ERR_TOKENLANE_${code}`, message })
  }
  const throws = new Proxy(
    {},
    {
      get() {
        throw null
      },
    },
  )
  assert.throws(() => Tokenizer.fromBufferSync(throws), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
})
