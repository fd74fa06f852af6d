// One measurement in its own process, so that no cache has seen the texts before.
//
//   usage: node worker.mjs JOB
//
// JOB is JSON: {kind, tokenizer: {encoding} | {file}, corpus: path, offsets, threads, count,
// characters}; no kind uses all of them.
//
// Prints one line of JSON.

import fs from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

import { Tokenizer } from '../../index.mjs'

const MIN_DOCUMENT_BYTES = 6500 // of one text of a batch
const LOOP_BATCH_BYTES = 6_500_000 // of the batch in the measurement of the event loop
const OPTIONS = /** @type {const} */ ({ addSpecialTokens: false, specialTokens: 'text' })

/** Stops that no text contains; texts have the first characters of most. */
const STOPS = [
  '\n\nUser:',
  '\n\nAssistant:',
  '</answer>',
  '</s>',
  '<|im_end|>',
  '<|eot_id|>',
  '[/INST]',
  '###',
].flatMap((stop) => [`${stop}\u0001`, `${stop}\u0002`])

const job = JSON.parse(process.argv[2])
const started = performance.now()
const tokenizer = await (job.tokenizer.file === undefined
  ? Tokenizer.fromEncoding(job.tokenizer.encoding)
  : Tokenizer.fromFile(job.tokenizer.file))
const loaded = performance.now() - started

const kinds = { load, streams, batch, decode, single, loop }
console.log(JSON.stringify(await kinds[job.kind]()))

/** Milliseconds to load, and of the first short text. */
function load() {
  const start = performance.now()
  tokenizer.encode('A short text.', OPTIONS)
  return { load: loaded, first: performance.now() - start }
}

/**
 * Ids per second of processor time of streams that decode, and that stop at 16 strings, given one
 * by one or in lists of 1,000; and the milliseconds of the bytes of all tokens.
 */
function streams() {
  const { ids } = tokenizer.encode(text().slice(0, 2_000_000), OPTIONS)
  const lists = Array.from({ length: Math.ceil(ids.length / 1000) }, (_, at) => ids.slice(1000 * at, 1000 * at + 1000))
  const perCpuSecond = (stream, parts) => {
    for (const part of parts.slice(0, parts.length / 2)) stream.push(part)
    const timed = parts.slice(parts.length / 2)
    return ids.length / 2 / cpuSeconds(() => timed.forEach((part) => stream.push(part)))
  }
  return {
    decoded: perCpuSecond(tokenizer.decodeStream(), ids),
    stopped: perCpuSecond(tokenizer.stopStream({ stop: STOPS }), ids),
    lists: perCpuSecond(tokenizer.stopStream({ stop: STOPS }), lists),
    tokenBytes: 1e3 * cpuSeconds(() => tokenizer.tokenBytes()),
  }
}

/**
 * Throughput in MiB per second of processor time and of wall time. The first half of the texts
 * warms up and is released; the second half is timed.
 */
async function batch() {
  const { before, timed } = halves(documents(text()))
  const run = { threads: job.threads, ...OPTIONS }
  const call = job.count
    ? (texts) => tokenizer.countBatch(texts, run)
    : (texts) => tokenizer.encodeBatch(texts, { ...run, offsets: job.offsets })
  const warm = await call(before)
  // Services release results that they no longer need. The memory is reusable after one iteration
  // of the event loop.
  if ('dispose' in warm) warm.dispose()
  await sleep(1)
  return timedRun(mebibytes(timed), () => call(timed))
}

/** The same for decoding, in MiB of text. */
async function decode() {
  const texts = halves(documents(text())).timed
  const batch = await tokenizer.encodeBatch(texts, { threads: 1, ...OPTIONS })
  return timedRun(mebibytes(texts), () => tokenizer.decodeBatch(batch, { threads: 1 }))
}

/**
 * Calls per second with one text per call, for texts of `characters` characters: fresh texts, and
 * the same text repeatedly.
 */
function single() {
  const { before, timed } = halves(cut(text(), job.characters))
  const call = job.count ? (text) => tokenizer.count(text, OPTIONS) : (text) => tokenizer.encode(text, OPTIONS).ids
  before.forEach(call)
  const start = performance.now()
  timed.forEach(call)
  const fresh = timed.length / ((performance.now() - start) / 1e3)
  return { fresh, again: timesASecond(() => call(timed[0])) }
}

/**
 * The longest time in milliseconds for which the event loop is blocked while a batch is encoded and
 * every row is read.
 */
async function loop() {
  const texts = []
  for (let bytes = 0; bytes < LOOP_BATCH_BYTES; ) {
    for (const document of documents(text())) {
      if (bytes >= LOOP_BATCH_BYTES) break
      texts.push(document)
      bytes += Buffer.byteLength(document)
    }
  }
  await tokenizer.encodeBatch(texts.slice(0, 20), OPTIONS)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  let last = performance.now()
  let gap = 0
  const turn = () => {
    const now = performance.now()
    gap = Math.max(gap, now - last)
    last = now
  }
  const ticker = setInterval(turn, 1)
  await sleep(50)
  turn()
  gap = 0
  delay.enable()
  const batch = await tokenizer.encodeBatch(texts, OPTIONS)
  let ids = 0
  for (const row of batch) ids += row.length
  await sleep(5)
  delay.disable()
  clearInterval(ticker)
  return { stop: Math.max(gap, delay.max / 1e6), ids }
}

async function timedRun(mib, call) {
  const [used, start] = [process.cpuUsage(), performance.now()]
  const result = await call()
  const wall = (performance.now() - start) / 1e3
  const { user, system } = process.cpuUsage(used)
  result.dispose?.()
  return { perCpuSecond: mib / ((user + system) / 1e6), perSecond: mib / wall }
}

function cpuSeconds(call) {
  const used = process.cpuUsage()
  call()
  const { user, system } = process.cpuUsage(used)
  return (user + system) / 1e6
}

function timesASecond(call) {
  const start = performance.now()
  let times = 0
  while (performance.now() - start < 200) for (let i = 0; i < 50; i++, times++) call()
  return times / ((performance.now() - start) / 1e3)
}

function text() {
  return fs.readFileSync(job.corpus, 'utf8')
}

/** Splits a text at line ends into pieces of at least `MIN_DOCUMENT_BYTES` bytes. */
function documents(content) {
  const all = []
  let [document, bytes] = ['', 0]
  for (const line of content.split(/(?<=\n)/)) {
    document += line
    bytes += Buffer.byteLength(line)
    if (bytes >= MIN_DOCUMENT_BYTES) {
      all.push(document)
      ;[document, bytes] = ['', 0]
    }
  }
  return document === '' ? all : [...all, document]
}

/**
 * Splits a text into at most 20,000 pieces of `characters` characters, without white space at the
 * ends.
 */
function cut(content, characters) {
  const texts = []
  for (let at = 0; at < content.length && texts.length < 20_000; at += characters) {
    const text = content.slice(at, at + characters).toWellFormed?.() ?? content.slice(at, at + characters)
    if (text.trim() !== '') texts.push(text.trim())
  }
  return texts
}

function halves(texts) {
  if (texts.length < 2)
    throw new Error(`${job.corpus} is too short: it must have at least ${2 * MIN_DOCUMENT_BYTES} bytes`)
  const middle = texts.length >> 1
  return { before: texts.slice(0, middle), timed: texts.slice(middle) }
}

function mebibytes(texts) {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 2 ** 20
}

function sleep(ms) {
  return new Promise((done) => setTimeout(done, ms))
}
