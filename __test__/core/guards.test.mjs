// No panic leaves a function that Node calls. src/guard.rs lists these functions by place; the
// addon's panicNext lets the next guard of a place panic. After each panic the process goes on.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

import { Tokenizer } from '../../index.mjs'
import { trainTokenizer } from '@tokenlane/corpus'
import { tiny } from '../support/tiny.mjs'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))
const native = require('../../lib/native.js')

const CALL = 1
const SHORT = 2
const WORK = 3
const RESULT = 4
const DROP = 5
const CLEANUP = 6
const INIT = 7

const PANIC = { code: 'ERR_TOKENLANE_PANIC', message: /a test lets the guard of/ }

const tokenizer = Tokenizer.fromEncodingSync('r50k_base')
const long = Array.from({ length: 5000 }, () => 'some words of a text')

const bytes = Buffer.from(JSON.stringify(tiny()))
const handle = native.loadBytesSync(bytes, {})
const stream = native.decodeStream(handle, false)
const STOPS = { stop: ['a'], stopIds: [1], includeStop: false, skipSpecialTokens: false }
const stopper = native.stopStream(handle, STOPS)
const lines = native.lineReader('text', undefined, 1000)
const documents = native.documents(100, 100)
const training = native.training(bytes)
const counted = { from: 0, heldOut: 0, step: 0, inOrder: false }
const ids = () => new Uint32Array([1, 2])
const rows = () => new Uint32Array([0, 2])
const entry = () => native.enqueue()
const changes = { addedTokens: [], noTruncation: false, noPadding: false }
const request = { maxTokens: 2, overlap: 0, boundary: 0, start: 0, covered: 0, isEnd: true }

/**
 * Valid arguments for each function that the addon exports; undefined for those of other places.
 */
const ARGUMENTS = {
  addWordFiles: () => [training, []],
  appendToLine: () => [lines, bytes, 100],
  change: () => [handle, changes],
  clearDocuments: () => [documents],
  clearLines: () => [lines],
  collected: () => [false, 0],
  column: () => [handle, 'a', undefined, 0, undefined, 1],
  columnNames: () => [],
  components: () => [handle],
  configureMemory: () => [{}],
  copyTexts: () => [entry(), false, false, ['a'], 0, 1],
  count: () => [handle, 'a', 0, undefined],
  countBatch: () => [entry(), handle, 0, undefined, 0],
  countBatchSync: () => [handle, ['a'], 0, undefined, 0],
  countDocuments: () => [entry(), training, documents, counted],
  countLines: () => [training, bytes],
  countShort: undefined,
  countTexts: () => [entry(), training, counted],
  cpuLevel: () => [],
  decode: () => [handle, ids(), false],
  decodeBatch: () => [entry(), handle, ids(), rows(), false, 0],
  decodeBytes: () => [handle, ids(), false],
  decodeStream: () => [handle, false],
  detach: () => [new ArrayBuffer(8)],
  documentCharacters: () => [documents],
  documentText: () => [documents, 0],
  documents: () => [100, 100],
  documentsSize: () => [documents],
  dropByteOrderMark: () => [lines],
  encode: () => [handle, 'a', undefined, 0, undefined, new Uint32Array(9)],
  encodeBatch: () => [entry(), handle, 0, undefined, 0],
  encodeBatchSync: () => [handle, ['a'], undefined, 0, undefined, 0],
  encodeDocuments: () => [entry(), handle, documents, { flags: 0, threads: 0, batches: 1 }],
  encodeInto: () => [handle, 'a', ids(), 0, undefined, ids()],
  encodePart: () => [handle, 'a', 0, undefined, { startsText: true, end: 0, chunkLen: 512, offsets: false }],
  encodeShort: undefined,
  encodingDefinition: () => ['gpt2'],
  encodingFile: () => ['r50k_base'],
  encodingNames: () => [],
  enqueue: () => [],
  extend: () => [entry(), training, bytes, '{}'],
  facts: () => [handle],
  fileFormat: () => [handle],
  flagBits: () => [],
  idToToken: () => [handle, 1],
  isIdle: () => [0],
  isWithin: () => [handle, 'a', 5, 0, undefined],
  leaveQueue: () => [entry()],
  lineBytes: () => [lines],
  lineReader: () => ['text', undefined, 100],
  loadBytes: () => [entry(), bytes, {}],
  loadBytesSync: () => [bytes, {}],
  loadFile: () => [entry(), '/there/is/none', {}],
  loadFileSync: () => ['/there/is/none', {}],
  loadLines: () => [lines, bytes],
  truncate: () => [handle, 'a', 5, 0, undefined, ids()],
  maxExpansion: () => [],
  maxId: () => [handle],
  maxRunning: () => [],
  memoryStats: () => [],
  nextCollection: () => [],
  numbers: () => [handle, 'a', undefined, 0, undefined],
  panicNext: () => [0],
  prepareMemory: () => [],
  prune: () => [entry(), training, bytes],
  pushDocument: () => [documents, bytes, 0, 0, undefined],
  releaseIdle: () => [false],
  setMaxExpansion: () => [native.maxExpansion()],
  sharedIds: undefined,
  split: () => [handle, 'a', 0, undefined, request],
  splitAsync: () => [entry(), handle, 'a', 0, undefined, request],
  stats: () => [handle],
  stopCut: () => [stopper],
  stopEnd: () => [stopper, new Uint32Array(6)],
  stopPush: () => [stopper, ids(), 0, new Uint32Array(6)],
  stopStream: () => [handle, STOPS],
  streamEnd: () => [stream],
  streamPush: () => [stream, ids(), 0],
  streamPushId: () => [stream, 1, 0],
  streamText: () => [stream, 1],
  takeDocumentIds: () => [documents],
  takeDocumentTable: () => [documents],
  takeDocuments: () => [lines, documents, 0, 0, 0, new Uint32Array(4)],
  toBuffer: () => [handle],
  tokenBytes: () => [handle],
  tokenToId: () => [handle, 'a'],
  train: () => [entry(), training, '{"type":"BpeTrainer"}'],
  trainSync: () => [training, '{"type":"BpeTrainer"}'],
  training: () => [bytes],
  trainingProgress: () => [training],
  trimMemory: () => [],
  tryStart: () => [entry()],
  vocabSize: () => [handle, true],
  writeWords: () => [entry(), training, 'words'],
}

const exported = Object.keys(native).filter((name) => typeof native[name] === 'function')

test('every function that the addon exports contains a panic', () => {
  assert.deepEqual(exported.toSorted(), Object.keys(ARGUMENTS).toSorted())
  for (const [name, argumentsOf] of Object.entries(ARGUMENTS)) {
    if (argumentsOf === undefined) continue
    const values = argumentsOf()
    native.panicNext(CALL)
    assert.throws(() => native[name](...values), PANIC, name)
  }
  assert.equal(native.count(handle, 'hello', 0, undefined), native.count(handle, 'hello', 0, undefined))
})

test('the fastest calls become general calls', () => {
  native.panicNext(SHORT)
  assert.deepEqual([...tokenizer.encode('hello').ids], [31373])
  native.panicNext(SHORT)
  assert.equal(tokenizer.count('hello'), 1)
  native.panicNext(SHORT)
  assert.equal(native.sharedIds(), undefined)
  native.panicNext(0)
})

test('a panic on another thread, and one while the result is converted, reject', async () => {
  const calls = {
    encodeBatch: () => tokenizer.encodeBatch(long),
    columns: () => tokenizer.encodeBatch(long, { columns: ['tokens', 'wordIds'], offsets: 'byte' }),
    countBatch: () => tokenizer.countBatch(long),
    decodeBatch: () => tokenizer.decodeBatch([[31373]]),
    splitAsync: () => tokenizer.splitAsync('a b c', { maxTokens: 1 }),
    fromBuffer: () => Tokenizer.fromBuffer(bytes),
    fromEncoding: () => Tokenizer.fromEncoding('gpt2'),
    trainTokenizer: () => trainTokenizer({ texts: ['some words'] }),
  }
  calls.fromEncoding = () => Tokenizer.fromEncoding('r50k_base')
  for (const place of [WORK, RESULT]) {
    for (const [name, call] of Object.entries(calls)) {
      native.panicNext(place)
      await assert.rejects(call(), PANIC, `${name} ${place}`)
      await call()
    }
  }
  const results = {
    encode: () => tokenizer.encode('a'.repeat(50_000)),
    decode: () => tokenizer.decode([31373]),
    decodeBytes: () => tokenizer.decodeBytes([31373]),
    tokens: () => tokenizer.encode('hello').tokens,
    offsets: () => tokenizer.encode('hello').offsets,
    encodeBatchSync: () => tokenizer.encodeBatchSync(long),
    countBatchSync: () => tokenizer.countBatchSync(long),
    idToToken: () => tokenizer.idToToken(31373),
    split: () => tokenizer.split('a b', { maxTokens: 1 }),
    toBuffer: () => Tokenizer.fromBufferSync(bytes).toBuffer(),
    stream: () => tokenizer.decodeStream().push(31373),
  }
  for (const [name, call] of Object.entries(results)) {
    native.panicNext(RESULT)
    assert.throws(call, PANIC, name)
    call()
  }
})

test('finalizers contain a panic', () => {
  const script = `
    const { Tokenizer } = require(${JSON.stringify(path.join(root, 'index.js'))})
    const native = require(${JSON.stringify(path.join(root, 'lib/native.js'))})
    const bytes = Buffer.from(${JSON.stringify(JSON.stringify(tiny()))})
    const rows = Array.from({ length: 20_000 }, () => 'hello hell')
    const make = {
      buffers: (t) => t.encodeBatchSync(rows).ids.length,
      tokenizers: () => Tokenizer.fromBufferSync(bytes).count('a'),
      streams: (t) => t.decodeStream().push([1]),
      entries: () => native.enqueue(),
      lines: () => native.lineReader('text', undefined, 100),
      documents: () => native.documents(100, 100),
      trainings: () => native.training(bytes),
      tasks: (t) => t.encodeBatch(rows),
    }
    ;(async () => {
      let panics = 0
      const tokenizer = Tokenizer.fromBufferSync(bytes)
      for (const [name, one] of Object.entries(make)) {
        native.panicNext(${DROP})
        for (let round = 0; round < 3; round++) {
          await one(tokenizer)
          await new Promise((resolve) => setTimeout(resolve, 2))
          gc()
          await new Promise((resolve) => setTimeout(resolve, 2))
        }
        console.log(name)
      }
      if (tokenizer.count('hello') > 0) console.log('the end')
    })()`
  const made = spawnSync(process.execPath, ['--expose-gc', '-e', script], { encoding: 'utf8' })
  assert.match(made.stdout, /the end/, `${made.signal} ${made.stderr}`)
  const panics = made.stderr.match(/the guard of Drop panic/g)
  assert.ok(panics?.length >= 6, `${panics?.length} finalizers panicked: ${made.stdout}`)
})

/** Runs a worker that loads the package. Resolves with its error, if it had one. */
function worker() {
  const script = `require(${JSON.stringify(path.join(root, 'index.js'))}).Tokenizer.fromEncodingSync('r50k_base').count('a')`
  const running = new Worker(script, { eval: true, stderr: true })
  return new Promise((resolve) => {
    let error
    running.on('error', (failure) => (error = failure))
    running.on('exit', () => resolve(error))
  })
}

test('the cleanup hook and the start of the module contain a panic', async () => {
  native.panicNext(CLEANUP)
  assert.equal(await worker(), undefined)
  native.panicNext(INIT)
  const failure = await worker()
  assert.match(failure.code, /^ERR_TOKENLANE_ADDON/)
  assert.equal(await worker(), undefined)
})

test('no function of the sources is without a guard, and the list of entry points is complete', () => {
  const files = fs.readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const sources = files
    .filter((file) => file.endsWith('.rs'))
    .map((file) => [file, fs.readFileSync(path.join(root, 'src', file), 'utf8')])
  const list = fs.readFileSync(path.join(root, 'src/guard.rs'), 'utf8')
  let functions = 0
  for (const [file, source] of sources) {
    for (const [, attribute, name, body] of source.matchAll(
      /^#\[napi(\([^)\n]*\))?\]\n(?:#\[[^\n]*\n)*pub fn (\w+)(.*?)^\}/gms,
    )) {
      functions += 1
      if (attribute === '(module_exports)') assert.match(body, /caught\(EntryPoint::Init/)
      else
        assert.match(
          `${attribute} ${body}`,
          /^\(catch_unwind\).*guarded\((?:env|node_api::env_of\(&\w+\)), /s,
          `${file}: ${name}`,
        )
    }
    for (const [, name, body] of source.matchAll(/^(?:pub )?unsafe extern "C" fn (\w+)(.*?)^\}/gms)) {
      assert.match(body, /caught\(EntryPoint::|contained\(EntryPoint::|with_arguments\(/, `${file}: ${name}`)
      assert.ok(list.includes(`\`${name}\``), `src/guard.rs does not list ${name}`)
    }
    const cells = source.matchAll(/RefCell<.*|\.borrow(?:_mut)?\(\).*/g)
    for (const [use] of cells)
      assert.ok(
        ['documents.rs', 'memory.rs', 'stream.rs', 'node_api/short.rs'].includes(file.replaceAll('\\', '/')),
        `${file}: ${use}`,
      )
  }
  assert.ok(functions >= 70, `${functions} functions`)
})
