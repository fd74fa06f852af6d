#!/usr/bin/env node
// Compares tokenlane with the packages that people use, with o200k_base on one thread, from
// JavaScript. Writes docs/peers.json, the tables of docs/measurements/peers.md, and the picture of
// README: docs/peers-light.svg and docs/peers-dark.svg.
//
//   usage: npm run maintain -- peers [FOLDER] [--reps 3]   installs the packages into FOLDER, or
//                                                 uses those that are there; default .cache/peers
//          npm run maintain -- peers --draw       writes tables and pictures once more
//
// With a build of `npm run maintain -- web`, @tokenlane/web is one of them.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { buildForSpeed, installInto, root } from '../setup.mjs'
import { corpus, corpusNames } from './corpora.mjs'
import { picture } from './peers-chart.mjs'
import { PEERS, VERSIONS, prepare, versionOf } from './peers-packages.mjs'
import { tables } from './peers-tables.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    reps: { type: 'string', default: '3' },
    one: { type: 'string' },
    corpus: { type: 'string' },
    draw: { type: 'boolean' },
  },
})
const docs = path.join(root, 'docs')
const json = path.join(docs, 'peers.json')

/** Characters of a document, and the documents of a pass: the first pass is not timed. */
const DOCUMENT = 6500
const DOCUMENTS = 160
/** Characters of a short text and of one of 2 KB, and how many of them are timed. */
const PIECES = { short: { characters: 25, count: 4000 }, twoKb: { characters: 2048, count: 200 } }
const SHORT = 'A short text, so that nothing is built lazily.'

/** Installs the packages that the folder lacks. */
function install(folder) {
  const missing = Object.keys(VERSIONS).filter((name) => !fs.existsSync(path.join(folder, 'node_modules', name)))
  if (missing.length === 0) return
  installInto(
    folder,
    missing.map((name) => `${name}@${VERSIONS[name]}`),
  )
}

/** Calls `work` for each item. Returns the results and the seconds of processor time. */
async function timed(items, work) {
  const results = []
  const before = process.cpuUsage()
  for (const item of items) results.push(await work(item))
  const { user, system } = process.cpuUsage(before)
  return { results, seconds: (user + system) / 1e6 }
}

/** Measures one package with the texts of one corpus, and prints a line of JSON. */
async function measure(name, corpusName, folder) {
  const text = fs.readFileSync((await corpus(corpusName)).file, 'utf8')
  const parts = (characters, count, start) =>
    Array.from({ length: count }, (_, at) =>
      text.slice(start + at * characters, start + (at + 1) * characters).toWellFormed(),
    )
  const mib = (texts) => Buffer.byteLength(texts.join('')) / 2 ** 20

  const load = await timed([0], async () => {
    const calls = await PEERS[name](folder)
    await calls.encode(SHORT)
    return calls
  })
  const [{ encode, decode }] = load.results
  const [before, fresh] = [0, 1].map((pass) => parts(DOCUMENT, DOCUMENTS, pass * DOCUMENTS * DOCUMENT))
  await timed((await timed(before, encode)).results, decode)
  const encoded = await timed(fresh, encode)
  const decoded = await timed(encoded.results, decode)
  const figures = {
    load: 1000 * load.seconds,
    encode: mib(fresh) / encoded.seconds,
    decode: mib(fresh) / decoded.seconds,
  }
  for (const [piece, { characters, count }] of Object.entries(PIECES)) {
    // Each piece is new to a cache of whole texts, but its words are known.
    const pieces = parts(characters, 2 * count, 0)
    await timed(pieces.slice(0, count), encode)
    figures[piece] = count / 1000 / (await timed(pieces.slice(count), encode)).seconds
  }
  const isRight = decoded.results.every((result, at) => result === fresh[at])
  console.log(JSON.stringify({ tokens: encoded.results.reduce((sum, ids) => sum + ids.length, 0), isRight, figures }))
}

function compare(folder) {
  const cases = Object.keys(PEERS).flatMap((name) => corpusNames.map((corpus) => ({ name, corpus, runs: [] })))
  const self = fileURLToPath(import.meta.url)
  // In turn, so that a busy moment of the machine meets all of them.
  for (let rep = 0; rep < Number(values.reps); rep++) {
    for (const { name, corpus, runs } of cases) {
      const command = [self, folder, '--one', name, '--corpus', corpus]
      const { stdout, stderr, status } = spawnSync(process.execPath, command, { encoding: 'utf8' })
      if (status !== 0) throw new Error(`${name}: ${stderr}`)
      runs.push(JSON.parse(stdout))
    }
  }
  const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1]
  const medians = (runs) =>
    Object.fromEntries(
      Object.keys(runs[0].figures).map((figure) => [
        figure,
        Number(median(runs.map(({ figures }) => figures[figure])).toPrecision(3)),
      ]),
    )
  const peers = Object.keys(PEERS).map((name) => ({
    name,
    version: versionOf(folder, name),
    corpora: Object.fromEntries(
      cases
        .filter((one) => one.name === name)
        .map(({ corpus, runs }) => [corpus, { tokens: runs[0].tokens, isRight: runs[0].isRight, ...medians(runs) }]),
    ),
  }))
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${os.cpus()[0].model}, ${os.cpus().length} processors, Node ${process.version}`,
    loadAverage: Number(os.loadavg()[1].toFixed(1)),
    reps: Number(values.reps),
    peers,
  }
}

if (values.one !== undefined) {
  await measure(values.one, values.corpus, path.resolve(positionals[0]))
} else {
  for (const name of corpusNames) await corpus(name)
  if (!values.draw) {
    const folder = path.resolve(positionals[0] ?? path.join(root, '.cache', 'peers'))
    install(folder)
    buildForSpeed()
    await prepare()
    fs.writeFileSync(json, `${JSON.stringify(compare(folder), null, 2)}\n`)
  }
  const results = JSON.parse(fs.readFileSync(json, 'utf8'))
  fs.writeFileSync(path.join(docs, 'measurements', 'peers.md'), tables(results))
  for (const scheme of /** @type {const} */ (['light', 'dark']))
    fs.writeFileSync(path.join(docs, `peers-${scheme}.svg`), picture(results, scheme))
  console.log('Written: docs/measurements/peers.md, docs/peers.json, docs/peers-light.svg and docs/peers-dark.svg')
}
