#!/usr/bin/env node
// Compares tokenlane with the packages that people use, for README: MiB of English text per second
// of processor time with o200k_base, one text at a time on one thread. Writes docs/peers.json and
// the pictures docs/peers-light.svg and docs/peers-dark.svg.
//
//   usage: npm run maintain -- peers [FOLDER] [--reps 3]   installs the packages into FOLDER, or
//                                                 uses those that are there; default .cache/peers
//          npm run maintain -- peers --draw       draws docs/peers.json again
//
// With a build of `npm run maintain -- web`, tokenlane/web is one of them.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

import { installInto, root } from '../setup.mjs'
import { corpus } from './corpora.mjs'
import { picture } from './peers-chart.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { reps: { type: 'string', default: '3' }, one: { type: 'string' }, draw: { type: 'boolean' } },
})
const docs = path.join(root, 'docs')
const json = path.join(docs, 'peers.json')

/** Characters of a document, and the documents of a pass: the first one is not timed. */
const DOCUMENT = 6500
const DOCUMENTS = 160
const SHORT = 'A short text, so that nothing is built lazily.'

/** The versions of the packages. */
const VERSIONS = {
  '@hypertok/vocab-o200k': '1.0.0',
  'ai-tokenizer': '1.0.6',
  'gpt-tokenizer': '4.0.0',
  hypertok: '0.3.4',
  'js-tiktoken': '1.0.21',
  tiktoken: '1.0.22',
  tokenizers: '0.23.2',
}

const hasWeb = fs.existsSync(path.join(root, 'web', 'dist', 'core.mjs'))

/** Each package: how it encodes a text, as its own documentation shows it. */
const PEERS = {
  async tokenlane() {
    const { Tokenizer } = await import('../../index.mjs')
    const tokenizer = await Tokenizer.fromEncoding('o200k_base', { specialTokens: 'text' })
    return (text) => tokenizer.encode(text).ids
  },
  ...(hasWeb && {
    async 'tokenlane/web'() {
      const { Tokenizer } = await import('../../web/index.mjs')
      const tokenizer = await Tokenizer.fromEncoding('o200k_base')
      return (text) => tokenizer.encode(text, { specialTokens: 'text' }).ids
    },
  }),
  async hypertok(folder) {
    const { fromBytes } = await import(String(pathToFileURL(path.join(folder, 'node_modules/hypertok/src/index.mjs'))))
    const bytes = fs.readFileSync(path.join(folder, 'node_modules/@hypertok/vocab-o200k/vocab.htk'))
    const tokenizer = await fromBytes(new Uint8Array(bytes), { tier: 'single' })
    return (text) => tokenizer.encodeSync(text)
  },
  'gpt-tokenizer': (folder) => {
    const { encode } = requireFrom(folder)('gpt-tokenizer/encoding/o200k_base')
    const options = { allowedSpecial: new Set(), disallowedSpecial: new Set() }
    return (text) => encode(text, options)
  },
  tiktoken: (folder) => {
    const tokenizer = requireFrom(folder)('tiktoken').get_encoding('o200k_base')
    return (text) => tokenizer.encode(text, [], [])
  },
  'js-tiktoken': (folder) => {
    const tokenizer = requireFrom(folder)('js-tiktoken').getEncoding('o200k_base')
    return (text) => tokenizer.encode(text, [], [])
  },
  'ai-tokenizer': (folder) => {
    const { Tokenizer } = requireFrom(folder)('ai-tokenizer')
    const tokenizer = new Tokenizer(requireFrom(folder)('ai-tokenizer/encoding/o200k_base'))
    return (text) => tokenizer.encode(text, [], [])
  },
  async tokenizers(folder) {
    const { Tokenizer } = await import('../../index.mjs')
    const file = path.join(os.tmpdir(), `tokenlane-peers-${process.pid}.json`)
    fs.writeFileSync(file, (await Tokenizer.fromEncoding('o200k_base')).toBuffer())
    const tokenizer = requireFrom(folder)('tokenizers').Tokenizer.fromFile(file)
    fs.rmSync(file)
    return async (text) => (await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds()
  },
}

const requireFrom = (folder) => createRequire(path.join(path.resolve(folder), 'x.js'))

/** Installs the packages that the folder lacks. */
function install(folder) {
  const missing = Object.keys(VERSIONS).filter((name) => !fs.existsSync(path.join(folder, 'node_modules', name)))
  if (missing.length === 0) return
  fs.mkdirSync(folder, { recursive: true })
  if (!fs.existsSync(path.join(folder, 'package.json'))) fs.writeFileSync(path.join(folder, 'package.json'), '{}')
  installInto(
    folder,
    missing.map((name) => `${name}@${VERSIONS[name]}`),
  )
}

function versionOf(folder, name) {
  const place = /^tokenlane\b/.test(name) ? root : path.join(folder, 'node_modules', name)
  return JSON.parse(fs.readFileSync(path.join(place, 'package.json'), 'utf8')).version
}

/** The texts of the timed pass and of the one before, which differ. */
async function texts() {
  const { file } = await corpus('english')
  const all = fs.readFileSync(file, 'utf8')
  const part = (at) => all.slice(at * DOCUMENT, (at + 1) * DOCUMENT)
  return Array.from({ length: 2 * DOCUMENTS }, (_, at) => part(at))
}

async function measure(name, folder) {
  const all = await texts()
  const encode = await PEERS[name](folder)
  await encode(SHORT)
  const pass = async (some) => {
    const before = process.cpuUsage()
    let tokens = 0
    for (const text of some) tokens += (await encode(text)).length
    const { user, system } = process.cpuUsage(before)
    return { tokens, mibPerCpuSecond: Buffer.byteLength(some.join('')) / 2 ** 20 / ((user + system) / 1e6) }
  }
  await pass(all.slice(0, DOCUMENTS))
  console.log(JSON.stringify(await pass(all.slice(DOCUMENTS))))
}

function compare(folder) {
  const found = Object.fromEntries(Object.keys(PEERS).map((name) => [name, []]))
  const self = fileURLToPath(import.meta.url)
  // In turn, so that a busy moment of the machine meets all of them.
  for (let rep = 0; rep < Number(values.reps); rep++) {
    for (const name of Object.keys(PEERS)) {
      const { stdout, stderr, status } = spawnSync(process.execPath, [self, folder, '--one', name], {
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`${name}: ${stderr}`)
      found[name].push(JSON.parse(stdout))
    }
  }
  const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1]
  const peers = Object.entries(found).map(([name, runs]) => {
    const speed = median(runs.map(({ mibPerCpuSecond }) => mibPerCpuSecond))
    return {
      name,
      version: versionOf(folder, name),
      tokens: runs[0].tokens,
      mibPerCpuSecond: Number(speed.toPrecision(3)),
    }
  })
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${os.cpus()[0].model}, Node ${process.version}`,
    loadAverage: Number(os.loadavg()[1].toFixed(1)),
    text: 'books in English, 1 MiB of documents of 6,500 characters, after another MiB; o200k_base',
    peers,
  }
}

if (values.one !== undefined) {
  await measure(values.one, positionals[0])
} else {
  await corpus('english')
  if (!values.draw) {
    const folder = path.resolve(positionals[0] ?? path.join(root, '.cache', 'peers'))
    install(folder)
    fs.writeFileSync(json, `${JSON.stringify(compare(folder), null, 2)}\n`)
  }
  const results = JSON.parse(fs.readFileSync(json, 'utf8'))
  for (const scheme of /** @type {const} */ (['light', 'dark']))
    fs.writeFileSync(path.join(docs, `peers-${scheme}.svg`), picture(results, scheme))
  console.log(results.peers)
}
