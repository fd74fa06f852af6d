import assert from 'node:assert/strict'
import { test } from 'node:test'

import { countRequest, fitChat } from '@tokenlane/requests'
import { Tokenizer, limits } from '../../index.mjs'
import { failure, texts } from '../support/texts.mjs'

const gpt = Tokenizer.fromEncodingSync('r50k_base')
const none = { maxInputBytes: Infinity, maxQueuedBatches: Infinity }
const chats = { maxChatWork: 6_000_000, maxChatMemory: 128 * 2 ** 20, maxChatOutput: 64 * 2 ** 20 }
const bytes = (text) => new TextEncoder().encode(text)
test.afterEach(() => limits.configure(none))

test('by default only chat templates and the expansion of a text are limited', () => {
  assert.deepEqual({ ...limits, configure: undefined }, { ...none, ...chats, maxExpansion: 32, configure: undefined })
  assert.ok(gpt.count('a '.repeat(1 << 20)) > 1 << 20)
})

test('text above the byte limit is refused in every form', async () => {
  limits.configure({ maxInputBytes: 10 })
  const calls = [
    (text) => gpt.encode(text),
    (text) => gpt.encode('', { pair: text }),
    (text) => gpt.encode([text.slice(0, 2), text.slice(2)], { pretokenized: true }),
    (text) => gpt.count(text),
    (text) => gpt.isWithin(text, 3),
    (text) => gpt.encodeInto(text, new Uint32Array(20)),
    (text) => gpt.truncate(text, 3),
    (text) => gpt.encodeBatchSync([text.slice(0, 2), text.slice(2)]),
    (text) => gpt.encodeBatch(['', text.slice(0, 2), text.slice(2)]),
    (text) => gpt.encodeBatch([''], { pairs: [text] }),
    (text) => gpt.countBatch([text]),
  ]
  for (const call of calls) {
    for (const fits of ['0123456789', 'ééééé', '中中中!', bytes('0123456789')]) await call(fits)
    for (const large of ['01234567890', 'éééééé', '中中中中', bytes('01234567890'), 'x'.repeat(1 << 20)]) {
      const error = await failure(async () => call(large))
      assert.equal(error.code, 'ERR_TOKENLANE_INPUT_TOO_LARGE', `${call}: ${large.slice(0, 20)}`)
      assert.ok(error instanceof RangeError)
      assert.match(error.message, /more than 10 bytes/)
    }
  }
  assert.equal(
    (await failure(async () => gpt.split('x'.repeat(11), { maxTokens: 3 }))).code,
    'ERR_TOKENLANE_INPUT_TOO_LARGE',
  )
  limits.configure({ maxInputBytes: 0 })
  assert.equal(gpt.count(''), 0)
})

test('with a byte limit, lists that are nested, circular or endless are errors with a code', async () => {
  const circular = []
  circular.push(circular)
  let deep = []
  for (let i = 0; i < 20_000; i++) deep = [deep]
  const endless = new Proxy([], { get: (list, name) => (name === 'length' ? 2 ** 32 - 1 : Reflect.get(list, name)) })
  limits.configure({ maxInputBytes: 100 })
  for (const list of [circular, deep, endless, [[[['x']]]]]) {
    for (const call of [
      () => gpt.countBatch(list),
      () => gpt.countBatchSync(list),
      () => gpt.encodeBatch(list, { pretokenized: true }),
      () => gpt.encodeBatch(['x'], { pairs: list }),
      () => gpt.encode(list, { pretokenized: true }),
      () => gpt.count(list),
    ]) {
      const error = await failure(async () => call())
      assert.match(String(error.code), /^ERR_TOKENLANE_/, `${call}: ${error.stack}`)
    }
  }
  // Words of pairs of rows are within the limit, and beyond it.
  const words = (text) => Array.from({ length: 10 }, () => text)
  const options = (text) => ({ pretokenized: true, pairs: [words(text)] })
  assert.ok(await gpt.encodeBatch([words('abcd')], options('abcd')))
  await assert.rejects(async () => gpt.encodeBatch([words('abcd')], options('abcdefg')), {
    code: 'ERR_TOKENLANE_INPUT_TOO_LARGE',
  })
})

test('all texts of a chat count towards the byte limit', () => {
  const gpt4o = Tokenizer.forModelSync('gpt-4o')
  const messages = Array.from({ length: 5 }, () => ({ role: 'user', content: 'x'.repeat(30) }))
  limits.configure({ maxInputBytes: 100 })
  const tools = [{ type: 'function', function: { name: 'a', description: 'y'.repeat(90) } }]
  for (const call of [
    () => gpt4o.countChat(messages),
    () => countRequest(gpt4o, { messages }),
    () => countRequest(gpt4o, { input: messages }),
    () => countRequest(gpt4o, { input: messages.map(({ content }) => content) }),
    () => countRequest(gpt4o, { model: 'claude-sonnet-4-5', messages }),
    () => gpt4o.countChat(messages.slice(0, 1), { tools }),
    () => fitChat(gpt4o, messages, { maxTokens: 1000 }),
  ])
    assert.throws(call, { code: 'ERR_TOKENLANE_INPUT_TOO_LARGE' }, String(call))
  assert.ok(gpt4o.countChat(messages.slice(0, 2)) > 0)
})

test('a batch that exceeds the queue is refused at once, and the others are not', async () => {
  const rows = texts(300)
  limits.configure({ maxQueuedBatches: 3 })
  const settled = await Promise.allSettled(Array.from({ length: 9 }, () => gpt.encodeBatch(rows)))
  const refused = settled.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 4, 'two run and three wait')
  assert.deepEqual(
    settled.slice(0, 5).map(({ status }) => status),
    Array(5).fill('fulfilled'),
  )
  for (const { reason } of refused) assert.equal(reason.code, 'ERR_TOKENLANE_QUEUE_FULL')
  assert.equal((await gpt.encodeBatch(rows)).length, rows.length, 'there is room again')
})

test('a batch that exceeds the time of its signal rejects with the timeout error', async () => {
  const rows = texts(3000)
  const waiting = Array.from({ length: 6 }, () => gpt.encodeBatch(rows, { signal: AbortSignal.timeout(1) }))
  const settled = await Promise.allSettled(waiting)
  assert.equal(settled.at(-1).reason?.name, 'TimeoutError')
})

test('an invalid limit is an error, and changes no limit', async () => {
  const cases = [
    [{ maxInputBytes: -1 }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ maxInputBytes: 1.5 }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ maxQueuedBatches: NaN }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ maxInputBytes: 5, maxQueuedBatches: '5' }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ maxInputBytes: 5, maxQueueBatches: 5 }, 'ERR_TOKENLANE_UNKNOWN_OPTION'],
    [undefined, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [null, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
  ]
  for (const [options, code] of cases) {
    assert.equal((await failure(async () => limits.configure(options))).code, code, JSON.stringify(options))
    assert.equal(limits.maxInputBytes, Infinity)
  }
  assert.throws(() => Object.assign(limits, { maxInputBytes: 1 }), TypeError)
})
