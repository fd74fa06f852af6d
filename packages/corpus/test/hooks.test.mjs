// @tokenlane/corpus: functions of the user that filter and change documents.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { parquetWriteBuffer } from 'hyparquet-writer'

import { Tokenizer } from 'tokenlane'
import { openTokens, tokenizeCorpus } from '@tokenlane/corpus'
import { hashes, scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { jobsIn } from './support/corpus-jobs.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
const all = writeCorpus(at('data'))
const tokenizer = await Tokenizer.fromEncoding('r50k_base')
/** The ids of documents, as one call gives them; those without ids are left out. */
const idsOf = (rows) =>
  rows
    .map(({ text }) => [...tokenizer.encode(text, { specialTokens: 'text', addSpecialTokens: false }).ids])
    .filter((ids) => ids.length > 0)
const BASE = { inputs: at('data'), tokenizer: 'r50k_base', shardSize: 20_000 }

const run = jobsIn(at, BASE)

test('hooks: documents are filtered and changed; another module is another job', async () => {
  fs.writeFileSync(
    at('hooks.mjs'),
    `export const filter = ({ row, id }) => Number(id.split('-').at(-1)) % 3 !== 0 && row.id === id
     export const map = ({ text, path }) => text.toUpperCase() + (path.endsWith('part-1.jsonl') ? '!' : '')`,
  )
  const inputs = at('data')
  const options = { hooks: at('hooks.mjs'), format: 'npy', idField: 'id', inputs }
  const { output, result } = await run(options)
  const kept = all.flatMap(({ id, text }) =>
    Number(id.split('-').at(-1)) % 3 === 0
      ? []
      : [{ id, text: `${text.toUpperCase()}${id.startsWith('doc-2-') ? '!' : ''}` }],
  )
  const tokens = await openTokens(output)
  const rows = []
  for await (const { ids } of tokens.rows()) rows.push([...ids])
  await tokens.close()
  assert.deepEqual(rows, idsOf(kept))
  assert.equal(result.filtered, all.length - kept.length)
  assert.equal((await tokenizeCorpus({ ...BASE, ...options, output })).kept, result.shards)
  fs.appendFileSync(at('hooks.mjs'), '\n')
  const other = await failure(() => tokenizeCorpus({ ...BASE, ...options, output }))
  assert.equal(other.code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
  assert.match(other.message, /hooksSha256/)
  // Lines of text, and rows of Parquet.
  fs.writeFileSync(at('short.mjs'), 'export const filter = ({ text }) => text.length < 40')
  fs.writeFileSync(at('lines.txt'), `short\n${'long '.repeat(20)}\r\nalso short\r\n`)
  assert.equal((await run({ inputs: at('lines.txt'), hooks: at('short.mjs') })).result.documents, 2)
  const texts = ['short', 'long '.repeat(20), 'also short']
  const columnData = [{ name: 'text', data: texts, type: /** @type {const} */ ('STRING') }]
  fs.writeFileSync(at('hooked.parquet'), Buffer.from(parquetWriteBuffer({ columnData })))
  const table = await run({ inputs: at('hooked.parquet'), hooks: at('short.mjs') })
  assert.deepEqual([table.result.documents, table.result.filtered], [2, 1])
  for (const [code, of, message] of [
    [
      'export const map = () => 5',
      'CORPUS_HOOK',
      /part-0.jsonl, line 1: map of bad.mjs must return a string, but it returned number/,
    ],
    ['export const filter = async () => true', 'CORPUS_HOOK', /a promise/],
    ['export const filter = () => { throw new Error("no") }', 'CORPUS_HOOK', /filter of bad.mjs threw: no/],
    ['export const other = 1', 'ARGUMENT_VALUE', /must export a function/],
    ['export const', 'ARGUMENT_VALUE', /cannot be loaded/],
  ]) {
    fs.writeFileSync(at('bad.mjs'), code)
    const error = await failure(() => run({ hooks: at('bad.mjs'), concurrency: 1 }))
    assert.equal(error.code, `ERR_TOKENLANE_${of}`, error.message)
    assert.match(error.message, message)
  }
  assert.equal((await failure(() => run({ hooks: at('no.mjs') }))).code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
  fs.writeFileSync(at('bad.mjs'), 'export const map = ({ text }) => (text.includes("a") ? text : null)')
  assert.ok((await run({ hooks: at('bad.mjs'), onError: 'skip' })).result.skipped > 0)
})

test('hooks: whatever they throw is an error with a code, and a filter changes nothing', async () => {
  for (const [thrown, message] of [
    ['undefined', /threw: undefined/],
    ["Symbol('x')", /threw: Symbol/],
    ['Object.create(null)', /threw: \[Object/],
  ]) {
    fs.writeFileSync(at('thrown.mjs'), `export const filter = () => { throw ${thrown} }`)
    const error = await failure(() => run({ hooks: at('thrown.mjs'), concurrency: 1 }))
    assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_HOOK', error.message)
    assert.match(error.message, message)
    fs.writeFileSync(at('thrown.mjs'), `throw ${thrown}`)
    const loading = await failure(() => run({ hooks: at('thrown.mjs') }))
    assert.equal(loading.code, 'ERR_TOKENLANE_ARGUMENT_VALUE', loading.message)
  }
  fs.writeFileSync(at('writing.mjs'), 'export const filter = (document) => { document.text = 5; return true }')
  const { output } = await run({ hooks: at('writing.mjs') })
  assert.deepEqual(hashes(output), hashes((await run({})).output))
})
