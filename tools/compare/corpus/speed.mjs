#!/usr/bin/env node
// Measures the CPU time of a corpus job from JSON Lines to Megatron, and that of encodeBatch alone
// on the same texts.
//
//   node tools/compare/corpus/speed.mjs --corpus FOLDER [--mib 200] [--rounds 3] [--tokenizer NAME]
//
// FOLDER has *.txt files, from which documents of 200 to 8,000 characters are cut in turn. The
// kinds of run alternate, each in its own process. The script measures user and system time, which
// other work on the machine changes little. `encodeBatch` gets texts that are already in memory, so
// the difference is the job's start, reading, JSON, hashing, and writing. A job with one document
// measures the start.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { Tokenizer } from '../../../index.mjs'
import { writeDocuments } from './documents.mjs'

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    mib: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '3' },
    tokenizer: { type: 'string', default: 'o200k_base' },
    run: { type: 'string' },
    input: { type: 'string' },
  },
})
const BATCH_BYTES = 2 << 20

/** Encodes all texts, and measures only the CPU time of the encoding. */
async function encodeAll() {
  const tokenizer = await Tokenizer.fromEncoding(values.tokenizer)
  let [batch, bytes] = [[], 0]
  const used = { user: 0, system: 0, tokens: 0 }
  const flush = async () => {
    const before = process.cpuUsage()
    const result = await tokenizer.encodeBatch(batch, { addSpecialTokens: false, specialTokens: 'text' })
    used.tokens += result.ids.length
    result.dispose()
    const { user, system } = process.cpuUsage(before)
    used.user += user
    used.system += system
    ;[batch, bytes] = [[], 0]
  }
  let rest = Buffer.alloc(0)
  for await (const chunk of fs.createReadStream(values.input, { highWaterMark: 4 << 20 })) {
    const all = Buffer.concat([rest, chunk])
    let from = 0
    for (let to = all.indexOf(10); to !== -1; from = to + 1, to = all.indexOf(10, from)) {
      const text = Buffer.from(JSON.parse(all.toString('utf8', from, to)).text)
      batch.push(text)
      bytes += text.length
      if (bytes >= BATCH_BYTES) await flush()
    }
    rest = Buffer.from(all.subarray(from))
  }
  await flush()
  process.stdout.write(JSON.stringify({ seconds: (used.user + used.system) / 1e6, tokens: used.tokens }))
}

/** Runs the job in this process. */
async function job() {
  const { tokenizeCorpus } = await import('../../../lib/corpus/index.js')
  const output = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-speed-'))
  const { tokens } = await tokenizeCorpus({ inputs: values.input, output, tokenizer: values.tokenizer })
  const { user, system } = process.cpuUsage()
  fs.rmSync(output, { recursive: true })
  process.stdout.write(JSON.stringify({ seconds: (user + system) / 1e6, tokens, rss: process.resourceUsage().maxRSS }))
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1]

function compare() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-speed-'))
  const input = path.join(folder, 'corpus.jsonl')
  const documents = writeDocuments(values.corpus, input, Number(values.mib))
  const one = path.join(folder, 'one.jsonl')
  fs.writeFileSync(one, '{"text":"one"}\n')
  const found = { encode: [], job: [], start: [] }
  let rss = 0
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const run of ['encode', 'job', 'start']) {
      const [kind, file] = run === 'start' ? ['job', one] : [run, input]
      const args = [fileURLToPath(import.meta.url), '--run', kind, '--input', file, '--tokenizer', values.tokenizer]
      const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
      const result = JSON.parse(stdout)
      found[run].push(result.seconds)
      rss = Math.max(rss, result.rss ?? 0)
      console.log(`${run}: ${result.seconds.toFixed(2)} CPU seconds, ${result.tokens.toLocaleString('en')} tokens`)
    }
  }
  const [encode, whole, start] = [median(found.encode), median(found.job), median(found.start)]
  const share = (seconds) => ((encode / seconds) * 100).toFixed(0)
  console.log(
    `${documents.toLocaleString('en')} documents: the job takes ${whole.toFixed(2)} CPU seconds (${Math.round(documents / whole).toLocaleString('en')} documents each), encodeBatch alone ${encode.toFixed(2)}: ${share(whole)} % of its speed, ${share(whole - start)} % without the start (${start.toFixed(2)}); largest RSS ${Math.round(rss / 1000)} MB`,
  )
  fs.rmSync(folder, { recursive: true })
}

if (values.run === 'encode') await encodeAll()
else if (values.run === 'job') await job()
else if (values.corpus === undefined) throw new Error('name a folder of texts with --corpus')
else compare()
