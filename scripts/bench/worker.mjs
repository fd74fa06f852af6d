// One measurement in a process of its own, so that nothing is known of the texts but what it says itself.
//
//   usage: node worker.mjs JOB       JOB: JSON {kind, tokenizer: {encoding} | {file}, corpus: path, offsets, threads}
//
// Prints one line of JSON.

import fs from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

import { Tokenizer } from '../../index.mjs'

const DOCUMENT = 6500 // bytes of one text of a batch, at least
const BATCH = 6_500_000 // bytes of the batch that the event loop is watched in
const OPTIONS = { addSpecialTokens: false, specialTokens: 'text' }

const job = JSON.parse(process.argv[2])
const started = performance.now()
const tokenizer = await (job.tokenizer.file === undefined
  ? Tokenizer.fromEncoding(job.tokenizer.encoding)
  : Tokenizer.fromFile(job.tokenizer.file))
const loaded = performance.now() - started

const kinds = { load, batch, decode, single, loop }
console.log(JSON.stringify(await kinds[job.kind]()))

/** Milliseconds to load, and of the first short text. */
function load() {
  const start = performance.now()
  tokenizer.encode('A short text.', OPTIONS)
  return { load: loaded, first: performance.now() - start }
}

/** MiB a second of processor time, and of the clock: warm on the first half of the texts, whose result is given back, timed on the second. */
async function batch() {
  const { before, timed } = halves(documents(text()))
  const run = { threads: job.threads, ...OPTIONS }
  const call = job.count
    ? (texts) => tokenizer.countBatch(texts, run)
    : (texts) => tokenizer.encodeBatch(texts, { ...run, offsets: job.offsets })
  const warm = await call(before)
  // As services do: what is done with is given back. Its memory is there for the next batch after a turn of the event loop.
  warm.dispose?.()
  await sleep(1)
  return timedRun(mebibytes(timed), () => call(timed))
}

/** The same of decoding, in MiB of text. */
async function decode() {
  const texts = halves(documents(text())).timed
  const batch = await tokenizer.encodeBatch(texts, { threads: 1, ...OPTIONS })
  return timedRun(mebibytes(texts), () => tokenizer.decodeBatch(batch, { threads: 1 }))
}

/** Calls a second, one text at a time, for texts of about so many characters: each once, and one of them again and again. */
function single() {
  const { before, timed } = halves(cut(text(), job.characters))
  const call = job.count ? (text) => tokenizer.count(text, OPTIONS) : (text) => tokenizer.encode(text, OPTIONS).ids
  before.forEach(call)
  const start = performance.now()
  timed.forEach(call)
  const fresh = timed.length / ((performance.now() - start) / 1e3)
  return { fresh, again: timesASecond(() => call(timed[0])) }
}

/** How long the event loop stood still, at most, while a batch was encoded and every row was looked at; milliseconds. */
async function loop() {
  const texts = []
  for (let bytes = 0; bytes < BATCH; ) {
    for (const document of documents(text())) {
      if (bytes >= BATCH) break
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

function timesASecond(call) {
  const start = performance.now()
  let times = 0
  while (performance.now() - start < 200) for (let i = 0; i < 50; i++, times++) call()
  return times / ((performance.now() - start) / 1e3)
}

function text() {
  return fs.readFileSync(job.corpus, 'utf8')
}

/** Whole lines, at least so many bytes at a time. */
function documents(content) {
  const all = []
  let [document, bytes] = ['', 0]
  for (const line of content.split(/(?<=\n)/)) {
    document += line
    bytes += Buffer.byteLength(line)
    if (bytes >= DOCUMENT) {
      all.push(document)
      ;[document, bytes] = ['', 0]
    }
  }
  return document === '' ? all : [...all, document]
}

/** So many characters at a time, white space at the edges taken away, up to 20,000 texts. */
function cut(content, characters) {
  const texts = []
  for (let at = 0; at < content.length && texts.length < 20_000; at += characters) {
    const text = content.slice(at, at + characters).toWellFormed?.() ?? content.slice(at, at + characters)
    if (text.trim() !== '') texts.push(text.trim())
  }
  return texts
}

function halves(texts) {
  if (texts.length < 2) throw new Error(`${job.corpus} is too short: at least ${2 * DOCUMENT} bytes are needed`)
  const middle = texts.length >> 1
  return { before: texts.slice(0, middle), timed: texts.slice(middle) }
}

function mebibytes(texts) {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 2 ** 20
}

function sleep(ms) {
  return new Promise((done) => setTimeout(done, ms))
}
