#!/usr/bin/env node
// npm start -- [files…] [--encoding o200k_base | --tokenizer tokenizer.json]
//
// Encodes files, or a sample of about a megabyte, in batches, and prints statistics.

import fs from 'node:fs'
import path from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import util from 'node:util'

import { Bar, canDraw } from '../cli/bar.mjs'
import { build, checkNode, install, root, stop } from './setup.mjs'

const DOCUMENT_CHARACTERS = 6500 // of one text
const BATCH_TEXTS = 100
const SAMPLE_BYTES = 1 << 20
const SHOWN_TOKENS = 24 // at the end

const { files, options } = commandLine()
checkNode()
install()
build()

const { Tokenizer } = await import('../index.mjs')
const tokenizer = await load(Tokenizer)
const { texts, about } = files.length > 0 ? read(files) : sample()
const result = await encode(tokenizer, texts)
report(result)

function commandLine() {
  const usage = 'usage: npm start -- [files…] [--encoding o200k_base | --tokenizer tokenizer.json]'
  try {
    const { values, positionals } = util.parseArgs({
      allowPositionals: true,
      options: { encoding: { type: 'string' }, tokenizer: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help) {
      console.log(usage)
      process.exit(0)
    }
    if (values.encoding !== undefined && values.tokenizer !== undefined) {
      stop('use either --encoding or --tokenizer, not both')
    }
    return { files: positionals, options: values }
  } catch (error) {
    return stop(`${error.message}\n${usage}`)
  }
}

async function load(Tokenizer) {
  try {
    if (options.tokenizer !== undefined) return await Tokenizer.fromFile(options.tokenizer)
    return await Tokenizer.fromEncoding(options.encoding ?? 'o200k_base')
  } catch (error) {
    return stop(error.message)
  }
}

/** Reads files and splits them into texts. */
function read(names) {
  const texts = []
  for (const name of names) {
    try {
      texts.push(...cut(fs.readFileSync(name, 'utf8')))
    } catch (error) {
      stop(`cannot read ${name}: ${error.code === 'EISDIR' ? 'it is a directory' : error.message}`)
    }
  }
  return { texts, about: `${names.length} ${names.length === 1 ? 'file' : 'files'}` }
}

/**
 * The declaration of human rights in many languages, and this project's code, repeated to a
 * megabyte.
 */
function sample() {
  const once = ['tools/data/sample', 'crates/core/src', 'src', 'lib']
    .flatMap((folder) => filesIn(path.join(root, folder)))
    .filter((name) => /\.(txt|rs|js)$/.test(name))
    .sort((a, b) => b.endsWith('eng.txt') - a.endsWith('eng.txt')) // English first
    .flatMap((name) => cut(fs.readFileSync(name, 'utf8')))
  const texts = []
  for (let bytes = 0; bytes < SAMPLE_BYTES; ) {
    const text = once[texts.length % once.length]
    texts.push(text)
    bytes += Buffer.byteLength(text)
  }
  const times = texts.length > once.length ? ', some of it more than once' : ''
  return { texts, about: `the sample: human rights in 17 languages, and this project's source${times}` }
}

function filesIn(folder) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const place = path.join(folder, entry.name)
      return entry.isDirectory() ? filesIn(place) : [place]
    })
    .sort()
}

/** Splits a text after lines into pieces of about DOCUMENT_CHARACTERS characters. */
function cut(content) {
  const texts = []
  let text = ''
  for (const line of content.split(/(?<=\n)/)) {
    text += line
    if (text.length >= DOCUMENT_CHARACTERS) {
      texts.push(text)
      text = ''
    }
  }
  if (text.length > 0) texts.push(text)
  return texts
}

async function encode(tokenizer, texts) {
  const bar = progress(texts.length)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  // The sampler needs one iteration of the event loop before its first value is valid.
  await new Promise((done) => setTimeout(done, 20))
  delay.reset()
  delay.enable()
  const start = performance.now()
  let tokens = 0
  let first
  try {
    for (let at = 0; at < texts.length; at += BATCH_TEXTS) {
      const batch = await tokenizer.encodeBatch(texts.slice(at, at + BATCH_TEXTS), { specialTokens: 'text' })
      first ??= batch.row(0).slice(0, SHOWN_TOKENS)
      tokens += batch.ids.length
      batch.dispose()
      bar.update(Math.min(at + BATCH_TEXTS, texts.length))
    }
  } catch (error) {
    bar.stop()
    return stop(error.message)
  }
  const seconds = (performance.now() - start) / 1e3
  delay.disable()
  bar.stop()
  return { tokens, seconds, first: first ?? [], loop: delay.max / 1e6 }
}

/** A progress bar on a terminal; silent otherwise. */
function progress(total) {
  if (!canDraw(process.stdout)) return { update() {}, stop() {} }
  const bar = new Bar(process.stdout)
  const number = (value) => value.toLocaleString('en')
  return {
    update(done) {
      const part = done / Math.max(1, total)
      bar.update(part, [`${Math.floor(part * 100)}%`, `${number(done)} of ${number(total)} documents`])
    },
    stop: () => bar.stop(),
  }
}

function report({ tokens, seconds, first, loop }) {
  const mib = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 2 ** 20
  const number = (value, digits = 0) => value.toLocaleString('en', { maximumFractionDigits: digits })
  const lines = [
    ['text', `${about} (${mib.toFixed(2)} MiB)`],
    ['tokenizer', options.tokenizer ?? options.encoding ?? 'o200k_base'],
    ['documents', number(texts.length)],
    ['tokens', number(tokens)],
    ['speed', `${number(mib / seconds, 1)} MiB/s, first pass (${number(seconds * 1e3, 1)} ms)`],
    ['event loop', `blocked for at most ${number(loop, 1)} ms`],
  ]
  for (const [name, value] of lines) console.log(`${name.padEnd(12)}${value}`)
  if (first.length === 0) return
  console.log(`\nThe first ${first.length} tokens:`)
  console.log(inColour(first))
  console.log([...first].join(' '))
}

/** Alternates the colours of adjacent tokens, or separates them by bars if there is no colour. */
function inColour(ids) {
  const pieces = Array.from(ids, piece)
  // Node before 20.12 does not have styleText.
  const colour = process.stdout.isTTY && !process.env.NO_COLOR && util.styleText !== undefined
  if (!colour) return pieces.join('|')
  const backgrounds = /** @type {const} */ (['bgBlue', 'bgMagenta', 'bgCyan', 'bgGreen'])
  return pieces.map((text, i) => util.styleText(['black', backgrounds[i % backgrounds.length]], text)).join('')
}

/** One token as text, or as bytes if it is an incomplete character. */
function piece(id) {
  const text = tokenizer.decode([id])
  if (text.includes('\ufffd')) return `<${Buffer.from(tokenizer.decodeBytes([id])).toString('hex')}>`
  return text.replaceAll('\n', '⏎')
}
