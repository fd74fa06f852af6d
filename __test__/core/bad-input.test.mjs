// Every argument leads to a result or to an error with a code, and the process survives.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import { countRequest } from '@tokenlane/requests'
import { Batch, Encoding, Tokenizer, memory } from '../../index.mjs'
import { failure } from '../support/texts.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const gpt = Tokenizer.fromEncodingSync('o200k_base')
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-'))
test.after(() => fs.rmSync(folder, { recursive: true }))

/**
 * Loads bytes as a file and as a buffer, both synchronously and asynchronously; all must fail
 * alike.
 */
async function refused(name, content, options, code, message) {
  const file = path.join(folder, name)
  fs.writeFileSync(file, content)
  const bytes = fs.readFileSync(file)
  const errors = [
    await failure(() => Tokenizer.fromFile(file, options)),
    await failure(() => Tokenizer.fromFileSync(file, options)),
    await failure(() => Tokenizer.fromBuffer(bytes, options)),
    await failure(() => Tokenizer.fromBufferSync(bytes, options)),
  ]
  for (const error of errors) {
    assert.ok(error instanceof Error)
    assert.equal(error.code, code, error.message)
    assert.match(error.message, message)
  }
  for (const error of errors.slice(0, 2)) assert.ok(error.message.includes(file), error.message)
}

const change = (edit) => {
  const file = tiny()
  edit(file)
  return bytesOf(file)
}

const split = (Regex) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false })
const precompiled = (precompiled_charsmap) => ({ type: 'Precompiled', precompiled_charsmap })

test('missing files, and paths that are not files', async () => {
  for (const load of [Tokenizer.fromFile, Tokenizer.fromFileSync]) {
    const missing = await failure(() => load('no/such/file.json'))
    assert.equal(missing.code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
    assert.match(missing.message, /no\/such\/file\.json/)
    // Windows refuses to say what a device is.
    const device = await failure(() => load(os.devNull))
    assert.match(
      device.code,
      process.platform === 'win32' ? /^ERR_TOKENLANE_(NOT_A_)?FILE$/ : /^ERR_TOKENLANE_NOT_A_FILE$/,
    )
    const remote = await failure(() => load(new URL('https://example.org/tokenizer.json')))
    assert.equal(remote.code, 'ERR_TOKENLANE_ARGUMENT_VALUE')
    const empty = await failure(() => load(fs.mkdtempSync(path.join(folder, 'empty-'))))
    assert.equal(empty.code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
    assert.match(empty.message, /looked for tokenizer\.json, .*vocab\.txt/)
    assert.equal((await failure(() => load('with\0zero'))).code, 'ERR_TOKENLANE_FILE')
  }
})

test('a missing file whose name is of something else says how to load that', async () => {
  const hints = {
    'https://huggingface.co/gpt2/resolve/main/tokenizer.json': /; this is no path: Tokenizer\.fromPretrained /,
    'hf://gpt2': /; this is no path: Tokenizer\.fromPretrained /,
    'Qwen/Qwen2-7B': /; .* Tokenizer\.fromPretrained\('Qwen\/Qwen2-7B'\)$/,
    'gpt-4o': /; it is a model: Tokenizer\.forModel\('gpt-4o'\)$/,
    cl100k_base: /; it is an encoding: Tokenizer\.fromEncoding\('cl100k_base'\)$/,
    'models/tokenizer.json': /there is no such file$/,
    './Qwen/Qwen2-7B': /there is no such file$/,
  }
  for (const [name, hint] of Object.entries(hints)) {
    for (const load of [Tokenizer.fromFile, Tokenizer.fromFileSync]) {
      const { code, message } = await failure(() => load(name))
      assert.equal(code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
      assert.match(message, hint)
    }
  }
})

test('empty files, and files with other content', async () => {
  await refused('empty', '', undefined, 'ERR_TOKENLANE_EMPTY_FILE', /empty/)
  const whole = JSON.stringify(tiny())
  await refused('cut.json', whole.slice(0, whole.length / 2), undefined, 'ERR_TOKENLANE_JSON', /line 1, column \d+/)
  await refused('list.json', '[1, 2]', undefined, 'ERR_TOKENLANE_UNKNOWN_FORMAT', /\[1, 2\]/)
  await refused(
    'shape.json',
    '{"model": {"type": "BPE"}}',
    undefined,
    'ERR_TOKENLANE_SHAPE',
    /model: "vocab" is missing/,
  )
  const picture = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  await refused('picture.png', picture, undefined, 'ERR_TOKENLANE_UNKNOWN_FORMAT', /./)
})

test('a vocabulary that contradicts itself', async () => {
  const merge = change((file) => file.model.merges.push('h zzz'))
  await refused('merge.json', merge, undefined, 'ERR_TOKENLANE_MERGE', /zzz/)
  const twice = change((file) => (file.model.vocab.twice = 3))
  await refused('twice.json', twice, undefined, 'ERR_TOKENLANE_DUPLICATE_ID', /\b3\b/)
})

test('the error for an unsupported component names it and its path', async () => {
  const other = change((file) => (file.pre_tokenizer = { type: 'Clairvoyance' }))
  const error = await failure(() => Tokenizer.fromBuffer(other))
  assert.match(error.code, /^ERR_TOKENLANE_(UNSUPPORTED|SHAPE)$/)
  assert.match(error.message, /pre_tokenizer.*Clairvoyance/)
})

test('the error for an invalid component names it, its path and the reason', async () => {
  const cases = [
    [
      (file) => file.post_processor.single.push({ SpecialToken: { id: '<x>', type_id: 0 } }),
      'TEMPLATE',
      /single\[3\].*"<x>"/,
    ],
    [
      (file) => file.post_processor.single.push({ Sequence: { id: 'C', type_id: 0 } }),
      'UNSUPPORTED',
      /single\[3\].*"C"/,
    ],
    [(file) => (file.pre_tokenizer = split('a(b')), 'PATTERN', /pre_tokenizer\.pattern\.Regex.*"a\(b".*at byte 1/],
    [(file) => (file.pre_tokenizer = split('é[z-a]')), 'PATTERN', /"é\[z-a\]".*at byte 4/],
    [(file) => (file.pre_tokenizer = split('ab\\X')), 'PATTERN', /not supported.*at byte 2/],
    [
      (file) => (file.normalizer = precompiled('gAAAAA==')),
      'SHAPE',
      /precompiled_charsmap: .*truncated.*128 bytes, but only 0/,
    ],
    [(file) => (file.normalizer = precompiled('')), 'SHAPE', /precompiled_charsmap: .*first four bytes/],
    [(file) => (file.normalizer = precompiled('!')), 'SHAPE', /precompiled_charsmap/],
    [(file) => file.model.merges.push('d d'), 'MERGE', /merge 6.*"dd"/],
    [(file) => (file.model.continuing_subword_prefix = '###'), 'MERGE', /merge 0.*"e"/],
    [(file) => file.model.merges.push('h e l'), 'MERGE', /merge 6.*two parts/],
    [(file) => (file.pre_tokenizer = { type: 'FixedLength', length: 0 }), 'SHAPE', /pre_tokenizer\.length/],
    [(file) => (file.model.dropout = 2), 'SHAPE', /dropout/],
  ]
  for (const [edit, code, message] of cases) {
    await refused('component.json', Buffer.from(change(edit)), undefined, `ERR_TOKENLANE_${code}`, message)
  }
})

test('ids outside of the vocabulary', () => {
  const odd = Tokenizer.fromBufferSync(
    change((file) => (file.post_processor.special_tokens['<s>'].ids = [4_000_000_000])),
  )
  // Ids of templates and of padding are used as they are; decoding skips ids without a token.
  const padding = { to: 4, padId: 999_999 }
  assert.deepEqual([...odd.encode('hello', { padding }).ids], [4_000_000_000, 11, 15, 999_999])
  assert.equal(odd.decode([4_000_000_000, 11, 999_999]), 'hello')
  assert.equal(odd.idToToken(4_000_000_000), undefined)
  assert.throws(() => gpt.decode([4_000_000]), { code: 'ERR_TOKENLANE_UNKNOWN_ID' })
  const single = Tokenizer.fromBufferSync(
    change((file) => file.post_processor.single.push({ Sequence: { id: 'B', type_id: 0 } })),
  )
  assert.throws(() => single.encode('hello'), { code: 'ERR_TOKENLANE_TEMPLATE' })
  assert.equal(single.encode('hello', { pair: 'hello' }).length, 2)
})

test('rank files', async () => {
  const options = { pattern: String.raw`\w+|\W+` }
  await refused('line.tiktoken', 'aA== 0\nZQ== 1\nZ 2\n', options, 'ERR_TOKENLANE_RANK_LINE', /line 3/)
  await refused('bare.tiktoken', 'aA== 0\nZQ== 1\n', undefined, 'ERR_TOKENLANE_PATTERN_MISSING', /pattern/)
  await refused('regex.tiktoken', 'aA== 0\n', { pattern: '(' }, 'ERR_TOKENLANE_PATTERN', /./)
})

test('the error for an unknown encoding lists the known ones', async () => {
  for (const load of [Tokenizer.fromEncoding, Tokenizer.fromEncodingSync]) {
    const error = await failure(() => load('gpt-7'))
    assert.ok(error instanceof RangeError)
    assert.equal(error.code, 'ERR_TOKENLANE_UNKNOWN_ENCODING')
    assert.match(error.message, /r50k_base.*o200k_harmony/)
  }
})

const nonTexts = [
  undefined,
  null,
  1,
  1n,
  true,
  Symbol('s'),
  () => 'text',
  {},
  ['a'],
  new Date(),
  new Float64Array(2),
  new DataView(new ArrayBuffer(4)),
]

test('values that are not texts', async () => {
  for (const value of nonTexts) {
    for (const call of [gpt.encode, gpt.count]) {
      const error = await failure(() => call.call(gpt, value))
      assert.ok(error instanceof TypeError)
      assert.equal(error.code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
      assert.match(error.message, /^text must be a string or a Uint8Array/)
    }
    const error = await failure(() => gpt.encodeBatch(['fine', value]))
    assert.equal(error.code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
    assert.match(error.message, /^texts\[1\] must be/)
    assert.equal(error.row, 1)
  }
})

test('values that are not lists of texts or of ids', async () => {
  for (const value of [undefined, null, 'a string', 3, {}, new Set(['a']), new Uint8Array(3)]) {
    for (const call of [gpt.encodeBatch, gpt.countBatch, gpt.encodeBatchSync]) {
      const error = await failure(() => call.call(gpt, value))
      assert.equal(error.code, 'ERR_TOKENLANE_ARGUMENT_TYPE', error.message)
    }
    assert.equal((await failure(() => gpt.decode(value))).code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
    assert.equal((await failure(() => gpt.decodeBatch(value))).code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
  }
  assert.equal((await failure(() => gpt.encodeBatch(new Array(3)))).code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
  assert.equal((await failure(() => gpt.decode(new Array(3)))).code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
})

test('invalid ids', async () => {
  for (const id of [-1, 1.5, NaN, Infinity, 2 ** 32]) {
    assert.throws(() => gpt.decode([0, id]), {
      name: 'RangeError',
      code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
      message: /^ids\[1\]/,
    })
    assert.throws(() => gpt.idToToken(id), { name: 'RangeError', code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
    await assert.rejects(gpt.decodeBatch([[0], [id]]), {
      code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
      message: /^rows\[1\]\[0\]/,
    })
  }
  assert.throws(() => gpt.decode(['1']), { name: 'TypeError' })
  assert.throws(() => gpt.tokenToId(1), { name: 'TypeError' })
})

test('detached, shared and resizable buffers', async () => {
  const detached = new Uint8Array(8)
  structuredClone(detached.buffer, { transfer: [detached.buffer] })
  const buffers = [
    [detached, /detached/],
    [new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 })), /resizable/],
    [new Uint8Array(new SharedArrayBuffer(8)), /shared/],
  ]
  for (const [bytes, message] of buffers) {
    const calls = [
      () => gpt.encode(bytes),
      () => gpt.count(bytes),
      () => gpt.encodeBatch(['a', bytes]),
      () => gpt.encodeBatchSync([bytes]),
      () => gpt.countBatch([bytes]),
      () => Tokenizer.fromBuffer(bytes),
      () => Tokenizer.fromBufferSync(bytes),
      // A queued call is refused too.
      () => Promise.all([1, 2, 3, 4].map((i) => gpt.encodeBatch([i === 4 ? bytes : 'a'.repeat(100_000)]))),
    ]
    for (const call of calls) {
      const error = await failure(call)
      assert.ok(error instanceof TypeError)
      assert.equal(error.code, 'ERR_TOKENLANE_BUFFER')
      assert.match(error.message, message)
    }
  }
  const ids = new Uint32Array(new ArrayBuffer(8, { maxByteLength: 16 }))
  assert.throws(() => gpt.decode(ids), { code: 'ERR_TOKENLANE_BUFFER' })
})

test('unknown options are refused by every call', async () => {
  const calls = {
    fromFile: (o) => Tokenizer.fromFile('x', o),
    fromBufferSync: (o) => Tokenizer.fromBufferSync(new Uint8Array(1), o),
    encode: (o) => gpt.encode('a', o),
    encodeBatch: (o) => gpt.encodeBatch(['a'], o),
    encodeBatchSync: (o) => gpt.encodeBatchSync(['a'], o),
    count: (o) => gpt.count('a', o),
    countBatch: (o) => gpt.countBatch(['a'], o),
    decode: (o) => gpt.decode([1], o),
    decodeBytes: (o) => gpt.decodeBytes([1], o),
    decodeBatch: (o) => gpt.decodeBatch([[1]], o),
    vocabSize: (o) => gpt.vocabSize(o),
  }
  for (const [name, call] of Object.entries(calls)) {
    const error = await failure(() => call({ lanes: 3 }))
    assert.ok(error instanceof TypeError, name)
    assert.equal(error.code, 'ERR_TOKENLANE_UNKNOWN_OPTION', name)
    assert.match(error.message, /'lanes'/, name)
    for (const options of [null, 3, 'options', []]) {
      const wrong = await failure(() => call(options))
      assert.equal(wrong.code, 'ERR_TOKENLANE_ARGUMENT_TYPE', name)
      assert.match(wrong.message, /^options must be an object/, name)
    }
  }
  assert.throws(() => gpt.encode('a', { addSpecialToken: true }), { message: /did you mean 'addSpecialTokens'\?/ })
  assert.throws(() => gpt.encode('a', { specialtokens: 'text' }), { message: /did you mean 'specialTokens'\?/ })
  assert.throws(() => gpt.count('a', { offsets: 'byte' }), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
  assert.throws(() => gpt.encodeBatchSync(['a'], { signal: AbortSignal.abort() }), {
    code: 'ERR_TOKENLANE_UNKNOWN_OPTION',
  })
})

test('options with invalid values', async () => {
  const wrong = [
    [{ addSpecialTokens: 1 }, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ specialTokens: true }, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ specialTokens: 'ignore' }, RangeError, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ specialTokens: 'toString' }, RangeError, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ specialTokens: ['a', 3] }, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ offsets: 'bytes' }, RangeError, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ offsets: true }, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
  ]
  const batches = [
    [{ threads: 0 }, RangeError, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ threads: 1.5 }, RangeError, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ threads: 257 }, RangeError, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ threads: '2' }, TypeError, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
  ]
  for (const [options, kind, code] of wrong) {
    const error = await failure(() => gpt.encode('a', options))
    assert.ok(error instanceof kind, error.message)
    assert.equal(error.code, code)
  }
  for (const [options, kind, code] of [...wrong, ...batches]) {
    const error = await failure(() => gpt.encodeBatch(['a'], options))
    assert.ok(error instanceof kind, error.message)
    assert.equal(error.code, code)
  }
  for (const options of [{ encoding: 1 }, { pattern: 1 }, { specialTokens: {} }, { encoding: 'a', pattern: 'b' }]) {
    await assert.rejects(Tokenizer.fromBuffer(new Uint8Array(1), options), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  }
  const specialTokens = { '<a>': -1 }
  await assert.rejects(Tokenizer.fromBuffer(new Uint8Array(1), { pattern: 'a', specialTokens }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
  })
  // undefined selects the default for every option.
  assert.equal(gpt.encode('a', { addSpecialTokens: undefined, specialTokens: undefined, offsets: undefined }).length, 1)
  assert.equal((await gpt.encodeBatch(['a'], { signal: undefined, threads: undefined })).length, 1)
  assert.equal((await gpt.encodeBatch(['a'], { threads: 256 })).length, 1)
})

test('arguments of the loaders', async () => {
  for (const value of [undefined, null, 3, {}]) {
    await assert.rejects(Tokenizer.fromFile(value), { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
    await assert.rejects(Tokenizer.fromEncoding(value), { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
    // An object is a tokenizer.json.
    const buffer = { code: `ERR_TOKENLANE_${typeof value === 'object' && value !== null ? 'SHAPE' : 'ARGUMENT_TYPE'}` }
    await assert.rejects(Tokenizer.fromBuffer(value), buffer)
  }
  assert.throws(() => new Tokenizer(), { name: 'TypeError', code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})

test('objects that the package did not create', () => {
  for (const method of ['encode', 'count', 'decode', 'tokenToId', 'vocabSize']) {
    assert.throws(() => Tokenizer.prototype[method].call({}, 'a'), TypeError)
  }
  const code = 'ERR_TOKENLANE_ARGUMENT_TYPE'
  assert.throws(() => new Encoding(new Uint32Array(1), {}, 'text', 1), { code })
  assert.throws(() => new Batch(new ArrayBuffer(8), 1), { code })
})

test('arrays that change while they are read', async () => {
  const texts = ['a', 'b', 'c']
  Object.defineProperty(texts, 1, {
    get() {
      texts.length = 1
      return 'b'
    },
  })
  await assert.rejects(gpt.encodeBatch(texts), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  const throwing = ['a', 'b']
  Object.defineProperty(throwing, 1, {
    get() {
      throw new Error('mine')
    },
  })
  await assert.rejects(gpt.encodeBatch(throwing))
  assert.equal((await gpt.encodeBatch(['still here'])).length, 1)
  // A Proxy can have any length, and an array can grow while it is read.
  const endless = new Proxy([1], { get: (_, name) => (name === 'length' ? 2 ** 40 : 1) })
  for (const call of [
    () => gpt.decode(endless),
    () => gpt.decodeStream().push(endless),
    () => gpt.decodeBatch(endless),
  ])
    assert.equal((await failure(call)).code, 'ERR_TOKENLANE_TEXT_TOO_LONG')
  const growing = [0, 1]
  Object.defineProperty(growing, 1, {
    get() {
      growing.push(1)
      return 1
    },
  })
  assert.equal(gpt.decode(growing), gpt.decode([0, 1]))
})

test('long runs of one character take linear time', () => {
  // Quadratic time would take hours, and the runner's time limit would end the test.
  for (const one of ['a', ' ', 'é', '中']) assert.ok(gpt.count(one.repeat(1 << 20)) > 0)
})

test('an error shortens very long values', () => {
  const long = 'x'.repeat(1 << 20)
  const calls = {
    ERR_TOKENLANE_UNKNOWN_ENCODING: () => Tokenizer.fromEncodingSync(long),
    ERR_TOKENLANE_UNKNOWN_OPTION: () => gpt.encode('a', { [long]: 1 }),
    ERR_TOKENLANE_NO_SUCH_SPECIAL_TOKEN: () => gpt.encode('a', { specialTokens: [long] }),
    ERR_TOKENLANE_ARGUMENT_VALUE: () => Tokenizer.fromFileSync(long),
  }
  for (const [code, call] of Object.entries(calls)) {
    assert.throws(call, (error) => error.code === code && error.message.length < 3000, code)
  }
})

test('what a program adds to Object.prototype is no option, no token and no message', async () => {
  const text = 'Hello world'
  const messages = [{ role: 'user', content: text }]
  const file = path.join(folder, 'added.tiktoken')
  fs.writeFileSync(file, 'YQ== 0\nYg== 1\n')
  const vocab = path.join(folder, 'pair')
  fs.mkdirSync(vocab)
  fs.writeFileSync(path.join(vocab, 'vocab.json'), '{"a":0,"b":1,"ab":2}')
  fs.writeFileSync(path.join(vocab, 'merges.txt'), 'a b\n')
  const calls = {
    encode: () => [...gpt.encode(text, { offsets: false }).ids],
    encodeBatch: async () => [...(await gpt.encodeBatch([text], { threads: 1 })).ids],
    truncation: () => [...gpt.encode(text, { truncation: { maxLength: 1 }, padding: {} }).ids],
    split: () => gpt.split(text, { maxTokens: 1 }).length,
    countChat: () => gpt.countChat(messages, { addGenerationPrompt: true }),
    countRequest: () => countRequest(gpt, { messages }, {}),
    with: () => gpt.with({ truncation: { maxLength: 1 } }).encode(text).length,
    load: () => Tokenizer.fromFileSync(file, { pattern: '.', specialTokens: { '<x>': 7 } }).vocabSize(),
    folder: () => Tokenizer.fromFileSync(vocab).count('abab'),
    memory: () => memory.configure({ collect: true }),
  }
  const answersOf = async () => {
    const answers = {}
    for (const name of Object.keys(calls)) answers[name] = await calls[name]()
    return JSON.stringify(answers)
  }
  const answers = await answersOf()
  for (const value of [1, 'text', () => 1, { content: 'x' }]) {
    Object.defineProperty(Object.prototype, 'foo', { value, enumerable: true, configurable: true })
    let answered
    try {
      answered = await answersOf()
    } finally {
      delete Object.prototype.foo
    }
    assert.equal(answered, answers)
  }
})
