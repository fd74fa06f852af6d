// @tokenlane/corpus: Parquet as input and as output.
//
// testdata/pyarrow-*.parquet were written by pyarrow 26: 24 rows in row groups of ten, the text of
// row 8 is null.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'

import { Tokenizer } from 'tokenlane'
import { tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { withoutPackage } from '../../../__test__/support/cli.mjs'
import { documents, hashes, jsonl, record, scratch, stems } from '../../../__test__/support/corpus.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { parseJsonLines } from '../../../__test__/support/json-lines.mjs'

const at = scratch()
const tokenizer = await Tokenizer.fromEncoding('r50k_base')
const idsOf = (text) => [...tokenizer.encode(text, { specialTokens: 'text', addSpecialTokens: false }).ids]
const rows = documents(900, 4)

/** Writes a file of documents in row groups. */
function table(name, columns, rowGroupSize = 100, more = {}) {
  const columnData = Object.entries(columns).map(([column, { data, type }]) => ({ name: column, data, type }))
  fs.writeFileSync(at(name), Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize, ...more })))
  return at(name)
}

const texts = { data: rows.map(({ text }) => text), type: 'STRING' }
const names = { data: rows.map(({ id }) => id), type: 'STRING' }
const INPUT = table('rows.parquet', {
  id: names,
  other: { data: rows.map((_, row) => row), type: 'INT32' },
  text: texts,
})
fs.writeFileSync(at('rows.jsonl'), jsonl(rows))
const BASE = { inputs: INPUT, tokenizer: 'r50k_base', shardSize: 300_000, format: 'jsonl', idField: 'id' }

let made = 0
async function run(options = {}) {
  const output = at(`out-${(made += 1)}`)
  const result = await tokenizeCorpus({ ...BASE, output, ...options })
  return { output, result }
}

const linesOf = (output) =>
  stems(output).flatMap((stem) =>
    fs
      .readFileSync(path.join(output, `${stem}.jsonl`), 'utf8')
      .split('\n')
      .slice(0, -1),
  )
const planOf = (output) => parseJsonLines(fs.readFileSync(path.join(output, 'plan.jsonl'), 'utf8'))

test('the documents are those of the same rows as JSON Lines; shards are cut between row groups', async () => {
  const { output } = await run()
  const same = await run({ inputs: at('rows.jsonl') })
  assert.deepEqual(linesOf(output), linesOf(same.output))
  const plan = planOf(output)
  assert.ok(stems(output).length >= 3, `${plan.length} parts`)
  let end = 0
  for (const part of plan) {
    assert.equal(part.start, end)
    assert.equal(part.rows, 'parquet')
    end = part.end
  }
  assert.equal(end, fs.statSync(INPUT).size)
  assert.equal((await verifyCorpus(output)).isWhole, true)
  const again = await tokenizeCorpus({ ...BASE, output })
  assert.equal(again.kept, stems(output).length)
})

test('files of pyarrow with zstd and snappy; a null is a row that fails', async () => {
  for (const name of ['pyarrow-zstd.parquet', 'pyarrow-snappy-v2.parquet']) {
    const input = fileURLToPath(new URL(`../../../__test__/testdata/${name}`, import.meta.url))
    const request = { inputs: input, idField: undefined }
    const error = await failure(() => run(request))
    assert.equal(error.code, 'ERR_TOKENLANE_FIELD')
    assert.ok(
      error.message.includes(`${input}, row 8: the field 'text' must be a string, but it is null`),
      error.message,
    )
    const { output, result } = await run({ ...request, onError: 'skip', shardSize: 1 })
    assert.equal(result.skipped, 1)
    assert.equal(stems(output).length, 3)
    const ids = linesOf(output).map((line) => JSON.parse(line).ids)
    const expected = Array.from({ length: 24 }, (_, row) => idsOf(`hello ${row} wörld`)).filter((_, row) => row !== 7)
    assert.deepEqual(ids, expected)
    assert.equal(record(output, 'shard-00000000').skipped.listed[0].row, 8)
  }
})

test('numbers as ids, fields in structs, and columns of other types', async () => {
  const numbers = { data: rows.map((_, row) => BigInt(row)), type: 'INT64' }
  const nested = { data: rows.map(({ text }) => ({ body: text })), type: 'JSON' }
  const input = table('numbers.parquet', { id: numbers, text: texts, doc: nested })
  const { output } = await run({ inputs: input })
  const found = linesOf(output).map((line) => JSON.parse(line))
  assert.deepEqual(
    found.map(({ id }) => id),
    rows.flatMap(({ text }, row) => (text === '' ? [] : [String(row)])),
  )
  for (const [field, message] of [
    ['id', /row 1: the field 'id' must be a string, but it is of the type bigint/],
    ['nothing', /there is no column for the field 'nothing'; the columns are id, text, doc/],
  ]) {
    const error = await failure(() => run({ inputs: input, field, idField: undefined, concurrency: 1 }))
    assert.equal(error.code, 'ERR_TOKENLANE_FIELD')
    assert.match(error.message, message)
  }
  for (const unit of ['lines', 'files']) {
    const error = await failure(() => run({ inputs: input, rows: unit, idField: undefined }))
    assert.equal(error.code, 'ERR_TOKENLANE_PARQUET')
  }
})

test('a folder of Parquet, JSON Lines and text; small files share a shard', async () => {
  fs.mkdirSync(at('mixed'), { recursive: true })
  for (const name of ['a', 'c'])
    table(`mixed/${name}.parquet`, { text: { data: [`from ${name}`, `and ${name}`], type: 'STRING' } })
  fs.writeFileSync(at('mixed', 'b.jsonl'), '{"text":"from b"}\n')
  fs.writeFileSync(at('mixed', 'd.txt'), 'from d\n')
  const { output } = await run({ inputs: at('mixed'), idField: undefined })
  assert.deepEqual(
    linesOf(output).map((line) => JSON.parse(line).ids),
    ['from a', 'and a', 'from b', 'from c', 'and c', 'from d'].map(idsOf),
  )
  assert.equal(stems(output).length, 1)
})

test('an input that changes after its shard was done is refused, with both hashes', async () => {
  const input = at('changed.parquet')
  fs.copyFileSync(INPUT, input)
  const request = { ...BASE, inputs: input, output: at('changed'), shardSize: 1 << 30 }
  await tokenizeCorpus(request)
  const bytes = fs.readFileSync(input)
  bytes[bytes.length >> 1] ^= 1
  fs.writeFileSync(input, bytes)
  fs.utimesSync(input, new Date(Date.now() + 5000), new Date(Date.now() + 5000))
  const error = await failure(() => tokenizeCorpus(request))
  assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
  assert.match(error.message, /the SHA-256 of what was read was [0-9a-f]{64} and is [0-9a-f]{64}/)
  // The time alone does not matter.
  fs.copyFileSync(INPUT, input)
  fs.utimesSync(input, new Date(Date.now() + 5000), new Date(Date.now() + 5000))
  assert.equal((await tokenizeCorpus(request)).kept, 1)
})

test('an input whose time changed is kept if fields lie in structs', async () => {
  const meta = { data: rows.map(({ id, text }) => ({ id, body: text })), type: 'JSON' }
  const input = at('structs.parquet')
  const schema = [
    { name: 'root', num_children: 2 },
    { name: 'text', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
    { name: 'meta', num_children: 2, repetition_type: 'OPTIONAL' },
    { name: 'id', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
    { name: 'body', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
  ]
  const columnData = [
    { name: 'text', data: texts.data },
    { name: 'meta', data: meta.data },
  ]
  fs.writeFileSync(input, Buffer.from(parquetWriteBuffer({ columnData, schema, rowGroupSize: 100 })))
  for (const field of ['text', 'meta.body']) {
    const request = { ...BASE, inputs: input, output: at(`structs-${field}`), field, idField: 'meta.id' }
    await tokenizeCorpus(request)
    fs.utimesSync(input, new Date(Date.now() + 5000), new Date(Date.now() + 5000))
    assert.equal((await tokenizeCorpus(request)).kept, stems(request.output).length)
  }
})

test('damaged files end in an error with a code, or are left out', { timeout: 120_000 }, async () => {
  const small = table(
    'small.parquet',
    { text: { data: rows.slice(0, 40).map(({ text }) => text), type: 'STRING' } },
    20,
  )
  const whole = fs.readFileSync(small)
  let state = 99
  const random = (count) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % count
  const input = at('hurt.parquet')
  const codes = new Set()
  for (let round = 0; round < 30; round++) {
    const bytes = Buffer.from(whole)
    // Half of the time in the metadata, where it hurts most.
    const from = round % 2 === 0 ? 4 : bytes.length - 400
    for (let count = 0; count <= round % 3; count++) bytes[from + random(bytes.length - from)] = random(256)
    fs.writeFileSync(input, round % 10 === 9 ? bytes.subarray(0, random(bytes.length)) : bytes)
    const request = { inputs: input, idField: undefined, format: 'npy', concurrency: 1, threads: 1 }
    try {
      await run(request)
    } catch (error) {
      codes.add(error.code)
      assert.match(
        error.code,
        /^ERR_TOKENLANE_(PARQUET|FIELD|INVALID_UTF8|DECOMPRESS_LIMIT|TEXT_TOO_LONG|FILE_NOT_FOUND)$/,
      )
      assert.ok(error.message.includes('hurt.parquet') || error.code === 'ERR_TOKENLANE_FILE_NOT_FOUND', error.message)
    }
  }
  assert.ok(codes.has('ERR_TOKENLANE_PARQUET'))
  fs.writeFileSync(input, whole.subarray(0, -3))
  const { result } = await run({ inputs: [input, at('rows.jsonl')], onError: 'skip' })
  assert.equal(result.documents, rows.filter(({ text }) => text !== '').length)
  // In the first page: the row group is left out, and is read to compare the file with itself.
  fs.writeFileSync(input, Buffer.from(whole).fill(0xff, 4, 24))
  const request = { ...BASE, inputs: input, output: at('hurt-page'), idField: undefined, onError: 'skip' }
  const { skipped, documents: read } = await tokenizeCorpus(request)
  assert.deepEqual([skipped, read], [20, rows.slice(20, 40).filter(({ text }) => text !== '').length])
  fs.utimesSync(input, new Date(Date.now() + 5000), new Date(Date.now() + 5000))
  assert.equal((await tokenizeCorpus(request)).kept, 1)
})

test('a page that says it is larger than the limit is refused before it is decoded', async () => {
  // A dictionary of one text, and a page of two million indices of it, which take a few bytes.
  const input = table(
    'wide.parquet',
    { text: { data: new Array(2 ** 21 + 1).fill('same'), type: 'STRING' } },
    2 ** 22,
    { pageSize: 2 ** 30 },
  )
  assert.ok(fs.statSync(input).size < 100_000)
  const error = await failure(() => run({ inputs: input, idField: undefined }))
  assert.equal(error.code, 'ERR_TOKENLANE_PARQUET')
  assert.match(error.message, /write it with smaller pages/)
})

test('--format parquet: ids as list of int32, and the id of the document', async () => {
  const { output, result } = await run({ format: 'parquet', eos: true })
  const found = []
  for (const stem of stems(output)) {
    const file = await asyncBufferFromFile(path.join(output, `${stem}.parquet`))
    const { schema } = await parquetMetadataAsync(file)
    assert.deepEqual(
      schema.map(({ name, type }) => [name, type]),
      [
        ['root', undefined],
        ['id', 'BYTE_ARRAY'],
        ['ids', undefined],
        ['list', undefined],
        ['element', 'INT32'],
      ],
    )
    found.push(...(await parquetReadObjects({ file })))
  }
  assert.deepEqual(
    found,
    rows.filter(({ text }) => text !== '').map(({ id, text }) => ({ id, ids: [...idsOf(text), 50256] })),
  )
  assert.equal(found.length, result.documents)
  assert.deepEqual(
    hashes((await run({ format: 'parquet', eos: true, concurrency: 1, threads: 1 })).output),
    hashes(output),
  )
})

test('--format parquet with --pack, --shuffle and --eos has the rows of jsonl', async () => {
  for (const more of [{ pack: 100, idField: undefined }, { shuffle: 5 }, { pack: 64, shuffle: 5 }]) {
    const options = { eos: true, ...more }
    const [parquet, lines] = [await run({ ...options, format: 'parquet' }), await run(options)]
    const found = []
    for (const stem of stems(parquet.output))
      found.push(
        ...(await parquetReadObjects({
          file: await asyncBufferFromFile(path.join(parquet.output, `${stem}.parquet`)),
        })),
      )
    assert.deepEqual(
      found,
      linesOf(lines.output).map((line) => JSON.parse(line)),
      JSON.stringify(more),
    )
  }
})

test('without the packages the errors name them', () => {
  for (const [missing, args] of [
    ['hyparquet', ['corpus', INPUT, '-o', at('none-1')]],
    ['hyparquet-writer', ['corpus', at('rows.jsonl'), '-o', at('none-2'), '--format', 'parquet']],
  ]) {
    const { status, stderr } = withoutPackage(missing)([...args, '-t', 'r50k_base'])
    assert.equal(status, 1)
    assert.match(
      stderr,
      new RegExp(`Parquet needs the package ${missing}: run "npm install .*ERR_TOKENLANE_PACKAGE_MISSING`),
    )
  }
})
