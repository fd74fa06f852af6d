// Objects that other code controls: getters that act, Proxies, built-in methods that a program
// replaced, and objects of other realms, as contexts of node:vm and test files of jest have them.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'

import { Tokenizer } from '../../index.mjs'
import { countRequest, fitChat, fromAiSdk, fromAnthropic, fromLangChain, fromResponses } from '@tokenlane/requests'

const root = fileURLToPath(new URL('../..', import.meta.url))
const tokenizer = Tokenizer.fromEncodingSync('r50k_base')

/** A getter that acts before it returns a value. */
function getter(act, value) {
  return () => {
    act()
    return value
  }
}

/** Rows whose element at `place` is a getter that acts. */
function acting(length, place, act) {
  const rows = Array.from({ length }, (_, index) => `row ${index}`)
  return Object.defineProperty(rows, place, { get: getter(act, 'x') })
}

/** Runs a script in a process of its own, because it may end it or replace built-in methods. */
function inProcess(script) {
  const setup = `const { Tokenizer, queue } = require(${JSON.stringify(path.join(root, 'index.js'))});
    const assert = require('node:assert/strict'); const tokenizer = Tokenizer.fromEncodingSync('r50k_base');`
  const made = spawnSync(process.execPath, ['-e', `${setup}(async () => { ${script}; console.log('the end') })()`], {
    encoding: 'utf8',
    // A queue that stopped would never end the process.
    timeout: 120_000,
  })
  assert.match(made.stdout, /the end/, `${made.signal} ${made.stderr}`)
  return made
}

test('a signal may abort while the texts are read', () => {
  inProcess(`
    ${getter}
    ${acting}
    const calls = {
      encodeBatch: (rows, signal) => tokenizer.encodeBatch(rows, { signal }),
      countBatch: (rows, signal) => tokenizer.countBatch(rows, { signal }),
      pairs: (rows, signal) => tokenizer.encodeBatch(rows.map(() => 'a'), { pairs: rows, signal }),
      words: (rows, signal) => tokenizer.encodeBatch([['a'], rows], { pretokenized: true, signal }),
      pairsOfWords: (rows, signal) => tokenizer.encodeBatch([['a'], ['b']], { pairs: [rows, rows], pretokenized: true, signal }),
    }
    for (const [name, call] of Object.entries(calls)) {
      for (const [length, place] of [[2, 1], [200_000, 1], [200_000, 150_000]]) {
        if (name === 'pairs' && length > 2) continue
        const controller = new AbortController()
        const reason = new Error('aborted by a getter')
        await assert.rejects(call(acting(length, place, () => controller.abort(reason)), controller.signal), reason, name)
      }
    }
    const controller = new AbortController()
    const queued = Array.from({ length: 20 }, () =>
      tokenizer.encodeBatch(acting(100, 5, () => controller.abort()), { signal: controller.signal }))
    for (const one of await Promise.allSettled(queued)) assert.equal(one.reason?.name, 'AbortError')
    // A permit is released on the threadpool, after the call has failed.
    while (queue.stats().running > 0) await new Promise(setImmediate)
    assert.deepEqual({ ...queue.stats(), started: 0, aborted: 0 }, { waiting: 0, running: 0, started: 0, refused: 0, aborted: 0 })
    assert.equal((await tokenizer.encodeBatch(['a', 'b'])).length, 2)`)
})

test('a getter may make any call', async () => {
  const act = () => {
    assert.deepEqual([...tokenizer.encode('hello').ids], [31373])
    assert.deepEqual([...tokenizer.encode(['hel', 'lo'], { pretokenized: true }).ids], [2978, 5439])
    assert.equal(tokenizer.encode(Buffer.from('hello '.repeat(2000))).length, 2001)
    assert.equal(tokenizer.count('a b c'), 3)
    assert.equal(tokenizer.isWithin('a b c', 2), false)
    assert.deepEqual(tokenizer.encodeInto('hello', new Uint32Array(1)), { read: 5, written: 1 })
    assert.equal(tokenizer.truncate('hello world', 1), 'hello')
    assert.equal(tokenizer.split('hello world', { maxTokens: 1 }).length, 2)
    assert.equal(tokenizer.encodeBatchSync(['a', 'b'], { columns: ['tokens'] }).tokens.length, 2)
    assert.deepEqual([...tokenizer.countBatchSync(['a b'])], [2])
    assert.equal(tokenizer.decode([31373]), 'hello')
    assert.equal(tokenizer.decodeStream().push(31373), 'hello')
    assert.equal(tokenizer.tokenToId('hello'), 31373)
    assert.equal(tokenizer.with({ addedTokens: ['<new>'] }).count('<new>'), 1)
    tokenizer.encodeBatch(['a']).catch(assert.fail)
  }
  const words = tokenizer.encode(acting(3, 1, act), { pretokenized: true })
  assert.deepEqual([...words.ids], [...tokenizer.encode(['row 0', 'x', 'row 2'], { pretokenized: true }).ids])
  assert.equal(tokenizer.encodeBatchSync(acting(3, 1, act)).length, 3)
  assert.equal((await tokenizer.encodeBatch(acting(3, 1, act))).length, 3)
  assert.deepEqual([...(await tokenizer.countBatch(acting(3, 1, act)))], [2, 1, 2])
  assert.equal(tokenizer.decode(Object.defineProperty([31373, 0], 1, { get: getter(act, 220) })), 'hello ')
  const options = Object.defineProperties(
    {},
    {
      specialTokens: { enumerable: true, get: getter(act, 'text') },
      pair: { enumerable: true, get: getter(act, 'b') },
    },
  )
  assert.equal(tokenizer.encode('a', options).length, 2)
  const bytes = new TextEncoder().encode('hello')
  Object.defineProperty(bytes.buffer, 'resizable', { get: getter(act, false) })
  assert.deepEqual([...tokenizer.encode(bytes).ids], [31373])
  assert.deepEqual(tokenizer.encodeInto(bytes, new Uint32Array(3)), { read: 5, written: 1 })
})

test('arrays that lie are refused with a code', async () => {
  const lying = (...answers) => Object.defineProperty([1, 2, 3], 1, { get: () => answers.shift() ?? 2 })
  assert.equal(tokenizer.decode(lying(2, 5n)), '"#$')
  assert.equal(tokenizer.decode(lying(2, Symbol('id'))), '"#$')
  const trapped = (name, answer) =>
    new Proxy(['a'], { get: (target, key) => (key === name ? answer : Reflect.get(target, key)) })
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return proxy
  }
  const answers = [['<|endoftext|>'], 5, [5], ['<|endoftext|>', 5n]]
  const calls = [
    () => tokenizer.decode(lying(5n)),
    () => tokenizer.decode(trapped('length', 5n)),
    () => tokenizer.decode(trapped('length', Symbol('length'))),
    () => tokenizer.decode(trapped('length', -1)),
    () => tokenizer.decode(trapped('length', 2 ** 40)),
    () => tokenizer.decodeBatch(trapped('length', 5n)),
    () => tokenizer.encodeBatch(trapped('length', 5n)),
    () => tokenizer.encodeBatchSync(trapped('length', 2 ** 40)),
    () => tokenizer.decode(revoked()),
    () => tokenizer.decodeBatch(revoked()),
    () => tokenizer.encodeBatch(revoked()),
    () => tokenizer.encodeBatch([revoked()], { pretokenized: true }),
    () => tokenizer.encode('a', revoked()),
    () => tokenizer.encodeBatch(['a'], revoked()),
    () => tokenizer.with(revoked()),
    () =>
      tokenizer.encode('a', {
        get specialTokens() {
          return answers.shift()
        },
      }),
    () => tokenizer.encodeBatch(['a'], { columns: trapped(Symbol.iterator, 5) }),
  ]
  for (const call of calls) {
    await assert.rejects(async () => call(), { code: /^ERR_TOKENLANE_[A-Z_]+$/ }, String(call))
  }
})

test('Proxies of arrays, as frameworks have them, are arrays', async () => {
  const proxied = (array) => new Proxy(array, {})
  assert.equal((await tokenizer.encodeBatch(proxied(['a', 'b']))).length, 2)
  assert.equal(tokenizer.encodeBatchSync(proxied(['a', 'b']), { pairs: proxied(['c', 'd']) }).length, 2)
  assert.equal((await tokenizer.countBatch(proxied(['a', 'b']))).length, 2)
  assert.equal(tokenizer.countBatchSync(proxied(['a', 'b'])).length, 2)
  assert.equal(tokenizer.encode(proxied(['a', 'b']), { pretokenized: true }).length, 2)
  assert.equal(tokenizer.decode(proxied([31373])), 'hello')
  assert.deepEqual(await tokenizer.decodeBatch(proxied([proxied([31373])])), ['hello'])
})

test('a folder with a loop of links is refused with a code', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-loop-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  if (process.platform === 'win32') return t.skip('links need a privilege')
  for (const names of [['tokenizer.json'], ['vocab.txt'], ['tokenizer_config.json']]) {
    const place = fs.mkdtempSync(path.join(folder, 'model-'))
    for (const name of names) fs.symlinkSync(name, path.join(place, name))
    if (names[0] !== 'vocab.txt') fs.writeFileSync(path.join(place, 'vocab.txt'), '[UNK]\na\n')
    else fs.writeFileSync(path.join(place, 'tokenizer_config.json'), '{"tokenizer_class":"BertTokenizer"}')
    for (const call of [(file) => Tokenizer.fromFile(file), async (file) => Tokenizer.fromFileSync(file)])
      await assert.rejects(call(place), { code: 'ERR_TOKENLANE_FILE' }, names[0])
  }
})

test('a built-in method that throws once does not stop the queue', () => {
  const methods = [
    ...['shift', 'push', 'splice', 'includes', 'indexOf', 'slice', 'map'].map((name) => `Array.prototype.${name}`),
    ...['get', 'set', 'delete', 'has'].flatMap((name) => [`Map.prototype.${name}`, `WeakMap.prototype.${name}`]),
    ...['then', 'catch', 'finally'].map((name) => `Promise.prototype.${name}`),
    'Array.prototype[Symbol.iterator]',
    'Set.prototype.add',
    'Function.prototype.call',
    'Function.prototype.apply',
    'performance.now',
    'EventTarget.prototype.removeEventListener',
  ]
  inProcess(`
    // Calls may fail with what was thrown. They must not hang.
    process.on('unhandledRejection', () => {})
    const rows = Array.from({ length: 30_000 }, () => 'some words of a text')
    const burst = () => Array.from({ length: 6 }, () =>
      tokenizer.encodeBatch(rows, { signal: new AbortController().signal }))
    const settled = async (promises) => { for (let at = 0; at < promises.length; at++) { try { await promises[at] } catch {} } }
    for (const [holder, name] of [${methods
      .map((method) =>
        method.replace(
          /^(.*)(?:\.(\w+)|\[(Symbol\.\w+)\])$/,
          (_, of, name, symbol) => `[${of}, ${symbol ?? `'${name}'`}]`,
        ),
      )
      .join(', ')}]) {
      const right = Object.getOwnPropertyDescriptor(holder, name) ?? { value: holder[name], configurable: true, writable: true }
      for (const afterCalls of [false, true]) {
        const promises = afterCalls ? burst() : []
        let thrown = false
        Object.defineProperty(holder, name, { configurable: true, writable: true, value: function (...values) {
          if (!thrown) { thrown = true; Object.defineProperty(holder, name, right); throw new Error('replaced') }
          return Reflect.apply(right.value, this, values)
        } })
        try { if (!afterCalls) promises[0] = tokenizer.encodeBatch(rows, { signal: new AbortController().signal }) } catch {}
        // The method throws in whatever part of the calls is the first to use it.
        await settled(promises)
        Object.defineProperty(holder, name, right)
        const after = await tokenizer.encodeBatch(['a', 'b'])
        assert.equal(after.length, 2)
      }
    }
    while (queue.stats().running > 0) await new Promise(setImmediate)
    const { waiting, running } = queue.stats()
    assert.deepEqual({ waiting, running }, { waiting: 0, running: 0 })`)
})

const other = vm.createContext({})
const inOther = (script) => vm.runInContext(script, other)

test('objects of another realm are what they are there', async () => {
  assert.equal(tokenizer.decode(inOther('new Uint32Array([31373])')), 'hello')
  assert.equal(tokenizer.decode(inOther('[31373]')), 'hello')
  assert.deepEqual(await tokenizer.decodeBatch(inOther('[new Uint32Array([31373]), [31373]]')), ['hello', 'hello'])
  assert.equal(tokenizer.decodeStream().push(inOther('new Uint32Array([31373])')), 'hello')
  assert.deepEqual([...tokenizer.encode(inOther('new Uint8Array([104, 105])')).ids], [5303])
  assert.equal(tokenizer.truncate(inOther('new Uint8Array([104, 105, 32, 104])'), 1).length, 2)
  assert.equal(tokenizer.encode('a', inOther("({ specialTokens: ['<|endoftext|>'] })")).length, 1)
  assert.deepEqual(tokenizer.encodeInto('hello', inOther('new Uint32Array(1)')), { read: 5, written: 1 })
  assert.equal(tokenizer.with(inOther("({ addedTokens: ['<new>'] })")).count('<new>'), 1)
  const template = { chatTemplate: '{{ messages[0].content }}{{ names.a }}' }
  const chat = Tokenizer.fromBufferSync(Buffer.from(JSON.stringify(tokenizer.toJSON())), template)
  const messages = inOther("[{ role: 'user', content: 'hello' }]")
  const names = inOther("new Map([['a', 'hi']])")
  assert.equal(chat.applyChatTemplate(messages, { tokenize: false, variables: { names } }), 'hellohi')
  const copied = inOther('({ signal: undefined })')
  assert.equal((await tokenizer.encodeBatch(inOther("['a', 'b']"), copied)).length, 2)
})

test('bytes of another realm are copied while a call waits', async () => {
  const long = Array.from({ length: 20_000 }, () => 'some words of a text')
  const busy = [tokenizer.encodeBatch(long), tokenizer.encodeBatch(long), tokenizer.encodeBatch(long)]
  const bytes = inOther('new Uint8Array([104, 105])')
  const buffer = Buffer.from('hi')
  const ids = inOther('new Uint32Array([31373])')
  const encoded = tokenizer.encodeBatch([bytes, buffer, 'hi'])
  const words = tokenizer.encodeBatch([[bytes, buffer]], { pretokenized: true })
  const decoded = tokenizer.decodeBatch([ids])
  bytes.fill(120)
  buffer.fill(120)
  ids.fill(0)
  assert.deepEqual([...(await encoded).ids], [5303, 5303, 5303])
  assert.deepEqual([...(await words).ids], [5303, 5303])
  assert.deepEqual(await decoded, ['hello'])
  await Promise.all(busy)
})

test('the columns of an encoding are those of the bytes at the call, also of a Buffer', () => {
  const buffer = Buffer.from('hi')
  const encoding = tokenizer.encode(buffer)
  buffer.fill(120)
  assert.deepEqual(encoding.tokens, ['hi'])
})

test('loaded in another realm, results and errors are of that realm', async () => {
  // As jest loads it: modules in a context of their own, the addon in the main context.
  const nodeRequire = createRequire(import.meta.url)
  const globals = [
    'AbortController',
    'Buffer',
    'URL',
    'TextEncoder',
    'TextDecoder',
    'performance',
    'process',
    'setImmediate',
    'setTimeout',
    'clearTimeout',
    'TransformStream',
    'fetch',
    'Headers',
    'Response',
  ]
  const context = vm.createContext(Object.fromEntries(globals.map((name) => [name, globalThis[name]])))
  const loaded = new Map()
  const load = (file) => {
    if (file.endsWith('.json')) return JSON.parse(fs.readFileSync(file, 'utf8'))
    if (file.endsWith('.node')) return nodeRequire(file)
    if (loaded.has(file)) return loaded.get(file).exports
    const module = { exports: {} }
    loaded.set(file, module)
    const resolve = createRequire(file)
    const local = (name) => (name.startsWith('node:') ? nodeRequire(name) : load(resolve.resolve(name)))
    Object.assign(local, { resolve: resolve.resolve })
    const wrapper = vm.compileFunction(
      fs.readFileSync(file, 'utf8'),
      ['module', 'exports', 'require', '__filename', '__dirname'],
      { filename: file, parsingContext: context },
    )
    wrapper(module, module.exports, local, file, path.dirname(file))
    return module.exports
  }
  context.tokenlane = load(path.join(root, 'index.js'))
  const failures = await vm.runInContext(
    `(async () => {
      const { Tokenizer } = tokenlane
      const tokenizer = Tokenizer.fromEncodingSync('r50k_base')
      const failures = []
      const check = (name, is) => is || failures.push(name)
      const thrown = async (call) => { try { await call() } catch (error) { return error } }
      const batch = await tokenizer.encodeBatch(['a b', 'c'], { offsets: 'byte', columns: ['tokens', 'attentionMask', 'typeIds', 'wordIds'] })
      check('ids', tokenizer.encode('a').ids instanceof Uint32Array && tokenizer.encode('a '.repeat(300)).ids instanceof Uint32Array)
      check('columns', batch.ids instanceof Uint32Array && batch.offsets instanceof Uint32Array && batch.wordIds instanceof Int32Array && batch.attentionMask instanceof Uint8Array)
      check('tokens', batch.tokens instanceof Array && tokenizer.encode('a').tokens instanceof Array)
      check('bytes', tokenizer.decodeBytes([1]) instanceof Uint8Array)
      check('texts', (await tokenizer.decodeBatch([[1]])) instanceof Array)
      check('counts', (await tokenizer.countBatch(['a'])) instanceof Uint32Array)
      for (const [name, Class, call] of [
        ['type', TypeError, () => tokenizer.encodeBatchSync([5])],
        ['range', RangeError, () => tokenizer.decode([50300])],
        ['error', Error, () => tokenizer.encode('<|endoftext|>')],
        ['asynchronous', RangeError, () => tokenizer.decodeBatch([[50300]])],
        ['file', Error, () => Tokenizer.fromFile('/there/is/none')],
      ]) {
        const error = await thrown(call)
        check(name, error instanceof Class && error instanceof Error && error.constructor === Class && error.code.startsWith('ERR_TOKENLANE_'))
      }
      check('row', (await thrown(() => tokenizer.decodeBatch([[1], [50300]]))).row === 1)
      return failures.join()
    })()`,
    context,
  )
  assert.equal(failures, '')
})

test('an asynchronous error has the stack of its caller', async () => {
  const long = Array.from({ length: 40_000 }, (_, index) => (index === 39_999 ? '<|endoftext|>' : 'a'))
  const calls = {
    async theCallerOfEncodeBatch() {
      await tokenizer.encodeBatch(['a', '<|endoftext|>'])
    },
    async theCallerOfALongBatch() {
      await tokenizer.countBatch(long)
    },
    async theCallerOfDecodeBatch() {
      await tokenizer.decodeBatch([[50300]])
    },
    async theCallerOfSplitAsync() {
      await tokenizer.splitAsync('a <|endoftext|> b', { maxTokens: 4 })
    },
    async theCallerOfFromFile() {
      await Tokenizer.fromFile('/there/is/none')
    },
    async theCallerOfFromBuffer() {
      await Tokenizer.fromBuffer(Buffer.from('{"model": 5}'))
    },
    async theCallerOfAllOfThem() {
      await Promise.all([tokenizer.encodeBatch(['a']), tokenizer.encodeBatch(['<|endoftext|>'])])
    },
  }
  for (const [name, call] of Object.entries(calls)) {
    const error = await call().then(assert.fail, (failure) => failure)
    assert.match(error.code, /^ERR_TOKENLANE_/)
    assert.match(error.stack, new RegExp(`${name}.*realms-and-getters`), error.stack)
  }
})

test('the reason of a signal keeps its stack, and one signal for many calls has one listener', async () => {
  const controller = new AbortController()
  const warnings = []
  const warn = (warning) => warnings.push(warning.name)
  process.on('warning', warn)
  let listeners = 0
  const { signal } = controller
  const add = signal.addEventListener.bind(signal)
  signal.addEventListener = (...values) => {
    listeners++
    add(...values)
  }
  const calls = Array.from({ length: 30 }, () => tokenizer.encodeBatch(['a'], { signal }))
  assert.equal(listeners, 1)
  await Promise.all(calls)
  const reason = Object.assign(new Error('mine'), { code: 'ERR_TOKENLANE_MINE' })
  const { stack } = reason
  const late = Array.from({ length: 30 }, () => tokenizer.encodeBatch(Array(5000).fill('a b c'), { signal }))
  controller.abort(reason)
  for (const { reason: failure } of await Promise.allSettled(late)) assert.equal(failure, reason)
  assert.equal(reason.stack, stack)
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', warn)
  assert.deepEqual(warnings, [])
})

test('a revoked Proxy is no conversation, and no list of tools', () => {
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  const chat = Tokenizer.forModelSync('gpt-4o')
  const messages = [{ role: 'user', content: 'x' }]
  const calls = [
    () => chat.countChat(proxy),
    () => chat.countChat(messages, { tools: proxy }),
    () => fitChat(chat, proxy, { maxTokens: 9 }),
    () => countRequest(chat, { messages: proxy }),
    () => tokenizer.applyChatTemplate(proxy, { chatTemplate: 'x' }),
    () => tokenizer.applyChatTemplate(messages, { chatTemplate: 'x', tools: proxy }),
    () => tokenizer.applyChatTemplate(messages, { chatTemplate: 'x', documents: proxy }),
    () => fromAiSdk(proxy),
    () => fromLangChain(proxy),
    () => fromAnthropic({ messages: proxy }),
    () => fromResponses({ input: proxy }),
  ]
  for (const call of calls) assert.throws(call, { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' }, String(call))
})
