// Samples of a corpus by the hash of each document. The oracle is the hash, taken here.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { parquetWriteBuffer } from 'hyparquet-writer'

import { Tokenizer } from 'tokenlane'
import { openTokens, tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { runIn } from '../../../__test__/support/cli.mjs'
import { jsonl, scratch } from '../../../__test__/support/corpus.mjs'
import { failure, text } from '../../../__test__/support/texts.mjs'

const at = scratch()
const tokenizer = 'r50k_base'
const loaded = await Tokenizer.fromEncoding(tokenizer)
/** Every seventh text comes twice. */
const TEXTS = Array.from({ length: 400 }, (_, index) => text(10 + (index % 40), index % 7 === 6 ? index - 1 : index))
fs.mkdirSync(at('data'))
fs.writeFileSync(at('data', 'a.jsonl'), jsonl(TEXTS.slice(0, 200).map((one) => ({ text: one }))))
const columnData = [{ name: 'text', data: TEXTS.slice(200), type: 'STRING' }]
fs.writeFileSync(at('data', 'b.parquet'), Buffer.from(parquetWriteBuffer({ columnData })))

/** The place of a text between 0 and 1. */
const placeOf = (one) => createHash('sha256').update(one).digest().readUIntBE(0, 6) / 2 ** 48
const within = (texts, from, to) => texts.filter((one) => placeOf(one) >= from && placeOf(one) < to)
const sorted = (texts) => [...texts].sort()

let made = 0
async function job(options) {
  const output = at(`out-${(made += 1)}`)
  const result = await tokenizeCorpus({
    inputs: at('data'),
    tokenizer,
    format: 'npy',
    concurrency: 1,
    output,
    ...options,
  })
  return { output: result.output === undefined ? '' : output, result }
}

async function textsOf(output) {
  const tokens = await openTokens(output)
  const texts = []
  for await (const { ids } of tokens.rows()) texts.push(loaded.decode(Uint32Array.from(ids)))
  await tokens.close()
  return sorted(texts)
}

test('a range of hashes has its documents, and ranges divide a corpus', async () => {
  const sides = [
    [0, 0.9],
    [0.9, 1],
  ]
  const found = []
  for (const [from, to] of sides) {
    const { output, result } = await job({ sample: [from, to] })
    const wanted = within(TEXTS, from, to)
    assert.ok(wanted.length > 10)
    assert.deepEqual(await textsOf(output), sorted(wanted))
    assert.deepEqual([result.documents, result.unsampled], [wanted.length, TEXTS.length - wanted.length])
    assert.ok((await verifyCorpus(output)).isWhole)
    found.push(...(await textsOf(output)))
  }
  assert.deepEqual(sorted(found), sorted(TEXTS))
})

test('lines, files and documents with hooks are chosen by their text before the hooks', async () => {
  fs.writeFileSync(
    at('lines.txt'),
    TEXTS.slice(0, 100)
      .map((one) => `${one.replaceAll(/\s/g, ' ')}\n`)
      .join(''),
  )
  const lines = fs.readFileSync(at('lines.txt'), 'utf8').trimEnd().split('\n')
  const { output } = await job({ inputs: at('lines.txt'), sample: [0.25, 0.5] })
  assert.deepEqual(await textsOf(output), sorted(within(lines, 0.25, 0.5)))
  fs.writeFileSync(at('hooks.mjs'), "export const map = ({ text }) => text + '!'\n")
  const changed = await job({ inputs: at('lines.txt'), sample: [0.25, 0.5], hooks: at('hooks.mjs') })
  assert.deepEqual(await textsOf(changed.output), sorted(within(lines, 0.25, 0.5).map((one) => `${one}!`)))
  const whole = fs.readFileSync(at('lines.txt'), 'utf8')
  const [from, to] = placeOf(whole) < 0.5 ? [0, 0.5] : [0.5, 1]
  const files = await job({ inputs: at('lines.txt'), rows: 'files', sample: [from, to] })
  assert.deepEqual(await textsOf(files.output), [whole])
})

test('inputs that are appended do not move documents to the other side', async () => {
  const inputs = at('growing')
  fs.mkdirSync(inputs)
  fs.copyFileSync(at('data', 'a.jsonl'), path.join(inputs, 'a.jsonl'))
  const { output } = await job({ inputs, sample: [0.5, 1] })
  const before = await textsOf(output)
  fs.copyFileSync(at('data', 'b.parquet'), path.join(inputs, 'b.parquet'))
  await tokenizeCorpus({ inputs, tokenizer, format: 'npy', output, sample: [0.5, 1], append: true })
  assert.deepEqual(before, sorted(within(TEXTS.slice(0, 200), 0.5, 1)))
  assert.deepEqual(await textsOf(output), sorted(within(TEXTS, 0.5, 1)))
})

test('another sample is another job, and a sample is two numbers', async () => {
  const { output } = await job({ sample: [0, 0.5] })
  const other = tokenizeCorpus({ inputs: at('data'), tokenizer, format: 'npy', output, sample: [0, 0.6] })
  assert.equal((await failure(() => other)).code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
  for (const sample of [0.5, [0.5], [0, 0.5, 1]])
    assert.equal((await failure(() => job({ sample }))).code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
  for (const sample of [
    [0.5, 0.5],
    [0.5, 0.4],
    [-1, 0.5],
    [0, 1.1],
    [Number.NaN, 1],
  ])
    assert.equal((await failure(() => job({ sample }))).code, 'ERR_TOKENLANE_ARGUMENT_VALUE')
})

test('tokenlane corpus --sample estimates the tokens and the cost of the whole', async () => {
  const run = runIn(at())
  const { result } = await job({ dryRun: true, output: undefined, sample: [0, 0.5] })
  const { status, stdout, stderr } = await run([
    ...['corpus', 'data', '-t', tokenizer, '--dry-run', '--sample', '50%', '--price', '$2'],
  ])
  assert.equal(status, 0, stderr)
  const whole = Math.round(result.tokens / 0.5)
  assert.ok(stdout.includes(`sample: ${result.unsampled} documents were left out`), stdout)
  assert.ok(stdout.includes(`about ${whole.toLocaleString('en-US')} tokens in all`), stdout)
  assert.ok(stdout.includes(`cost: $${((result.tokens / 1e6) * 2).toFixed(2)}`), stdout)
  const side = await run(['corpus', 'data', '-t', tokenizer, '--dry-run', '--sample', '50-100%', '--json'])
  const { documents } = JSON.parse(side.stdout.trimEnd().split('\n').at(-1))
  assert.equal(documents, TEXTS.length - result.documents)
  for (const sample of ['1', '0%', '101%', '60-50%', 'x%'])
    assert.match((await run(['corpus', 'data', '--dry-run', '--sample', sample])).stderr, /--sample/)
})
