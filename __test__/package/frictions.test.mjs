// What stops a new user: names, options and messages that lead to the right call.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'

import { Tokenizer, encodings, isTokenlaneError } from 'tokenlane'

import { bytesOf, tiny } from '../support/tiny.mjs'

const require = createRequire(import.meta.url)

test('the typings list the names of the bundled encodings and of the models', () => {
  const typings = ['option-types', 'model-names']
    .map((name) => fs.readFileSync(new URL(`../../lib/${name}.d.ts`, import.meta.url), 'utf8'))
    .join('')
  const listed = (type) =>
    Array.from(
      typings
        .split(`export type ${type} =`)[1]
        .split('\n\n')[0]
        .matchAll(/'(.+?)'/g),
      ([, name]) => name,
    )
  assert.deepEqual(listed('EncodingName').sort(), encodings().sort())
  const models = Object.values(require('../../lib/models.json').encodings).flat()
  assert.deepEqual(listed('ModelName'), [...new Set(models)].sort())
})

test('the loaders of encodings refuse unknown options and stop by a signal', async () => {
  const code = 'ERR_TOKENLANE_UNKNOWN_OPTION'
  for (const [load, loadSync, name] of [
    [Tokenizer.fromEncoding, Tokenizer.fromEncodingSync, 'r50k_base'],
    [Tokenizer.forModel, Tokenizer.forModelSync, 'davinci'],
  ]) {
    await assert.rejects(load(name, { sinal: undefined }), { code, message: /did you mean 'signal'/ })
    assert.throws(() => loadSync(name, { signal: undefined }), { code, message: /the options are specialTokens/ })
    await assert.rejects(load(name, 5), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
    const reason = new Error('enough')
    await assert.rejects(load(name, { signal: AbortSignal.abort(reason) }), (thrown) => thrown === reason)
    await assert.rejects(load(name, { signal: 5 }), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
    assert.equal((await load(name, { signal: new AbortController().signal })).count('a'), 1)
  }
})

test('isTokenlaneError tells errors of this package, of any realm, from others', async () => {
  const failures = [
    await Tokenizer.fromEncoding('none').catch((thrown) => thrown),
    await Tokenizer.fromFile('/none').catch((thrown) => thrown),
    vm.runInNewContext("Object.assign(new TypeError('a'), { code: 'ERR_TOKENLANE_A' })"),
  ]
  for (const failure of failures) assert.equal(isTokenlaneError(failure), true)
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const others = [
    new Error('a'),
    Object.assign(new Error('a'), { code: 5 }),
    { code: 'ERR_TOKENLANE_A' },
    proxy,
    null,
    'a',
  ]
  for (const other of [...others, undefined]) assert.equal(isTokenlaneError(other), false)
})

test('countBatch gives a plain array for JSON', async () => {
  const tokenizer = await Tokenizer.fromEncoding('r50k_base')
  const texts = ['a', '', 'hello world']
  for (const counts of [
    await tokenizer.countBatch(texts, { as: 'array' }),
    tokenizer.countBatchSync(texts, { as: 'array' }),
  ])
    assert.equal(JSON.stringify(counts), '[1,0,2]')
  assert.deepEqual(await tokenizer.countBatch(texts, { as: 'typed' }), Uint32Array.of(1, 0, 2))
  assert.deepEqual(tokenizer.countBatchSync([], { as: 'array' }), [])
  const wrong = { code: 'ERR_TOKENLANE_ARGUMENT_VALUE', message: /as must be/ }
  await assert.rejects(tokenizer.countBatch(texts, { as: 'list' }), wrong)
  assert.throws(() => tokenizer.countBatchSync(texts, { as: 'list' }), wrong)
})

test('messages name the right call', async () => {
  const tokenizer = await Tokenizer.fromEncoding('r50k_base')
  const cases = [
    [() => tokenizer.decode(tokenizer.encode('a')), /has its ids in '\.ids'/],
    [() => tokenizer.split('x'), /an object with maxTokens/],
    [() => tokenizer.split('x', {}), /maxTokens must be/],
    [
      () => tokenizer.split('x', { maxTokens: 5, boundary: 'sentences' }),
      /'token', 'word', 'sentence', 'line', 'paragraph', 'markdown' or 'code'/,
    ],
    [() => tokenizer.encode('a', { padding: true }), /padding must be an object with padId/],
    [() => Tokenizer.forModelSync('claude-sonnet-4-5'), /API of Anthropic/],
    [() => Tokenizer.forModelSync('anthropic/claude-sonnet-4.5'), /API of Anthropic/],
    [() => Tokenizer.forModelSync('openai/gpt-4o'), /forModel\('gpt-4o'\)/],
    [() => Tokenizer.forModelSync('openrouter/openai/gpt-4o'), /forModel\('gpt-4o'\)/],
    [() => Tokenizer.forModelSync('openai/whisper'), /fromPretrained\('openai\/whisper'\)/],
  ]
  for (const [call, message] of cases) assert.throws(call, { message, code: /^ERR_TOKENLANE_/ })
})

test('the command line suggests commands and tokenizers, and knows its version', () => {
  const cli = (...args) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('../../cli/main.mjs', import.meta.url)), ...args], {
      encoding: 'utf8',
    })
  assert.equal(cli('version').stdout, `${require('../../package.json').version}\n`)
  const command = cli('cuont', 'a')
  assert.equal(command.status, 2)
  assert.match(command.stderr, /there is no command 'cuont'; did you mean 'count'\?/)
  assert.doesNotMatch(cli('xylophone').stderr, /did you mean/)
  const tokenizer = cli('count', '-t', 'o200k_bse', '-x', 'a')
  assert.equal(tokenizer.status, 1)
  assert.match(tokenizer.stderr, /there is no tokenizer 'o200k_bse'.*did you mean 'o200k_base'\?/)
  assert.match(cli('count', '-t', 'got-4o', '-x', 'a').stderr, /did you mean 'gpt-4o'\?/)
})

test('every loader takes the default of all calls for special tokens', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-default-'))
  const file = path.join(folder, 'tokenizer.json')
  fs.writeFileSync(file, bytesOf(tiny()))
  try {
    const options = /** @type {const} */ ({ specialTokens: 'text' })
    const bytes = bytesOf(tiny())
    const made = [
      await Tokenizer.fromFile(file, options),
      await Tokenizer.fromFile(folder, options),
      Tokenizer.fromFileSync(file, options),
      await Tokenizer.fromBuffer(bytes, options),
      Tokenizer.fromBufferSync(bytes, options),
    ]
    for (const one of made) {
      // `<`, `/` and `>` are no tokens of this vocabulary.
      assert.equal(one.encode('hel</s>lo', { addSpecialTokens: false }).ids.includes(15), false)
      assert.equal(one.encode('</s>', { specialTokens: 'parse' }).ids[1], 15)
    }
    assert.equal(made[0].source.from, file)
    const ranks = fileURLToPath(new URL('../../encodings/r50k_base.tiktoken', import.meta.url))
    const text = '<|endoftext|>'
    assert.ok((await Tokenizer.fromFile(ranks, { encoding: 'r50k_base', ...options })).count(text) > 1)
    assert.equal(Tokenizer.fromFileSync(ranks, { encoding: 'r50k_base', specialTokens: 'parse' }).count(text), 1)
    const code = 'ERR_TOKENLANE_ARGUMENT_VALUE'
    await assert.rejects(Tokenizer.fromFile(file, { specialTokens: /** @type {any} */ ('txt') }), { code })
    await assert.rejects(Tokenizer.fromPretrained('a/b', { specialTokens: /** @type {any} */ ('txt') }), { code })
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
})
