// npx tokenlane: Parquet files as input and output, and names of outputs.
//
// testdata/pyarrow-*.parquet were written by pyarrow 26: 24 rows in row groups of ten, the text of
// row 8 is null.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import zlib from 'node:zlib'

import { decompress } from 'fzstd'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'

import { Tokenizer } from '../../index.mjs'
import { folderWithTokenizer, runIn } from '../support/cli.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)
const place = (name) => path.join(folder, name)
const write = (name, content) => fs.writeFileSync(place(name), content)
const compressors = { ZSTD: (bytes, length) => decompress(bytes, new Uint8Array(length)) }
/** The rows of a file; null is undefined. */
async function table(name) {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(place(name)), compressors })
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, value ?? undefined])))
}

function output(args, options) {
  const { status, stdout, stderr } = run(args, options)
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`)
  return stdout
}

function refused(args, status, message, options) {
  const result = run(args, options)
  assert.match(result.stderr, message)
  assert.equal(result.status, status)
}

/** A Parquet file with a column of texts. */
function parquet(name, texts, options = {}) {
  write(
    name,
    Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'text', data: texts, type: 'STRING' }], ...options })),
  )
}

for (const name of ['pyarrow-zstd.parquet', 'pyarrow-snappy-v2.parquet']) {
  fs.copyFileSync(fileURLToPath(new URL(`../testdata/${name}`, import.meta.url)), place(name))
}
const texts = Array.from({ length: 24 }, (_, index) => `hello ${index} wörld`).filter((_, index) => index !== 7)

test('an output with an unknown extension is refused, with the list of formats', () => {
  const before = fs.readdirSync(folder)
  for (const name of ['out.xyz', 'out.json', 'out.csv', 'out.txt.gz', 'out.parquet.zst', 'dir.d/../out.arrow']) {
    refused(
      ['encode', '-x', 'a', '-o', name],
      2,
      /no format has the extension \.\w+; use \.txt \(text\), .*\.parquet \(parquet\), or '--format'/,
    )
  }
  refused(
    ['count', '-x', 'a', '-o', 'out.npy'],
    2,
    /extension \.npy; use \.txt \(text\), \.jsonl \(jsonl\), \.ndjson \(jsonl\), \.parquet/,
  )
  refused(['decode', '-x', '1', '-o', 'out.parquet'], 2, /extension \.parquet/)
  refused(['split', '-n', '9', '-x', 'a', '-o', 'out.bin'], 2, /extension \.bin/)
  assert.deepEqual(fs.readdirSync(folder), before)
  output(['encode', '-x', 'a', '-f', 'text', '-o', 'out.xyz'])
  output(['encode', '-x', 'a', '-o', 'out'])
  output(['encode', '-x', 'a', '-o', 'OUT.TXT'])
  for (const name of ['out.xyz', 'out', 'OUT.TXT']) assert.equal(fs.readFileSync(place(name), 'utf8'), '64\n')
})

test('ids are lists of int32, with the other fields of each row', async () => {
  const rows = [
    { text: 'hello', n: 1, x: 1, s: 'ä', flag: true, mixed: 1, list: [1, 'a'], none: null },
    { text: 'he', n: -5, x: 2.5, s: null, flag: false, mixed: 'a', list: { a: [] }, none: null, late: 7 },
    { text: '', n: 2 ** 40 },
  ]
  write('rows.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'))
  output(['encode', '-t', 'tiny.json', '--field', 'text', 'rows.jsonl', '-o', 'ids.parquet'])
  assert.deepEqual(await table('ids.parquet'), [
    { n: 1n, x: 1, s: 'ä', flag: true, mixed: 1, list: [1, 'a'], none: undefined, late: undefined, ids: [14, 11, 15] },
    {
      n: -5n,
      x: 2.5,
      s: undefined,
      flag: false,
      mixed: 'a',
      list: { a: [] },
      none: undefined,
      late: 7n,
      ids: [14, 8, 15],
    },
    {
      n: BigInt(2 ** 40),
      x: undefined,
      s: undefined,
      flag: undefined,
      mixed: undefined,
      list: undefined,
      none: undefined,
      late: undefined,
      ids: [14, 15],
    },
  ])
  assert.equal(output(['decode', '-t', 'tiny.json', '--skip-special-tokens', 'ids.parquet']), 'hello\nhe\n\n')
  output([
    'encode',
    '-t',
    'tiny.json',
    '--field',
    'text',
    '--keep',
    's',
    '--keep',
    'n',
    'rows.jsonl',
    '-o',
    'some.parquet',
  ])
  assert.deepEqual(Object.keys((await table('some.parquet'))[0]), ['s', 'n', 'ids'])
  const lines = output(['encode', '-t', 'tiny.json', '--field', 'text', '--keep', 'n', '-f', 'jsonl', 'rows.jsonl'])
  assert.equal(lines.split('\n')[0], '{"n":1,"ids":[14,11,15]}')
  output(['encode', '-t', 'tiny.json', 'rows.jsonl', '-o', 'lines.parquet'])
  assert.deepEqual(Object.keys((await table('lines.parquet'))[0]), ['ids'])
  output(['encode', '-t', 'tiny.json', '-o', 'empty.parquet'])
  assert.deepEqual(await table('empty.parquet'), [])
})

test('count and split write tables', async () => {
  write('two.jsonl', '{"text":"hello","n":1}\n{"text":"hello hello","n":2}\n')
  output(['count', '-t', 'tiny.json', '--field', 'text', 'two.jsonl', '-o', 'count.parquet'])
  assert.deepEqual(
    await table('count.parquet'),
    [1, 2].map((n) => ({ n: BigInt(n), file: 'two.jsonl', line: n, tokens: 1 + 2 * n })),
  )
  output(['split', '-t', 'tiny.json', '-n', '4', '--field', 'text', 'two.jsonl', '-o', 'split.parquet'])
  assert.deepEqual(
    (await table('split.parquet')).map(({ n, start, text }) => [n, start, text]),
    [
      [1n, 0, 'hello'],
      [2n, 0, 'hello '],
      [2n, 6, 'hello'],
    ],
  )
  write('file.txt', 'hello')
  output(['count', '-t', 'tiny.json', 'file.txt', '-o', 'file.parquet'])
  assert.deepEqual(await table('file.parquet'), [{ file: 'file.txt', tokens: 3 }])
  assert.match(
    output(['count', '-t', 'tiny.json', '-f', 'jsonl', '--field', 'text', '--keep', 'n', 'two.jsonl']),
    /^{"n":1,"file":"two\.jsonl","line":1,"tokens":3}\n/,
  )
  refused(['count', '--total', '-f', 'parquet', '-o', 'x.parquet', '-x', 'a'], 2, /'--total' prints one number/)
})

test('Parquet files of pyarrow are read, and their other columns are copied', async () => {
  const tokenizer = await Tokenizer.fromEncoding('o200k_base')
  const expected = [...tokenizer.encodeBatchSync(texts)].map((ids) => [...ids])
  for (const name of ['pyarrow-zstd.parquet', 'pyarrow-snappy-v2.parquet']) {
    refused(
      ['encode', '--field', 'text', name],
      1,
      /, row 8: the field 'text' must be a string, but it is null .*FIELD/,
    )
    output(['encode', '--field', 'text', '--on-error', 'skip', name, '-o', 'out.parquet'])
    const [was, is] = await Promise.all([name, 'out.parquet'].map(table))
    assert.deepEqual(
      is.map(({ ids }) => ids),
      expected,
    )
    const others = was.filter(({ text }) => text).map(({ text, ...others }) => others)
    assert.deepEqual(
      is.map(({ ids, ...others }) => others),
      others,
    )
    assert.equal(is[1].id, 2n ** 62n + 1n)
    const titles = output(['encode', '--field', 'meta.title', '--keep', 'id', '--keep', 'day', '-f', 'jsonl', name])
    assert.match(titles, /^{"id":"4611686018427387904","day":"2020-01-02T00:00:00\.000Z","ids":\[/)
    assert.equal(output(['count', '--total', '--field', 'tags.0', '--on-error', 'skip', name]), '12\n')
  }
  refused(
    ['encode', '--field', 'nope', 'pyarrow-zstd.parquet'],
    1,
    /there is no column for the field 'nope'; the columns are text, id, .*FIELD/,
  )
  refused(
    ['encode', 'pyarrow-zstd.parquet'],
    1,
    /this is a Parquet file: name the column of its texts with '--field'.*PARQUET/,
  )
  refused(['split', '-n', '9', 'pyarrow-zstd.parquet'], 1, /this is a Parquet file/)
})

test('every compression that is read, and one that is not', () => {
  const rows = Array.from({ length: 300 }, (_, index) => `hello ${index % 7}`)
  const expected = output(['encode'], { input: rows.join('\n') })
  const codecs = { UNCOMPRESSED: (bytes) => bytes, GZIP: zlib.gzipSync, BROTLI: zlib.brotliCompressSync }
  for (const [codec, compress] of Object.entries(codecs)) {
    parquet('codec.parquet', rows, { codec, compressors: { [codec]: compress }, rowGroupSize: 100 })
    assert.equal(output(['encode', '--field', 'text', 'codec.parquet']), expected, codec)
  }
  parquet('codec.parquet', rows, { codec: 'LZ4', compressors: { LZ4: (bytes) => bytes } })
  refused(
    ['encode', '--field', 'text', 'codec.parquet'],
    1,
    /compressed with LZ4; supported are SNAPPY, ZSTD, GZIP, BROTLI/,
  )
})

test('text that is not UTF-8 is an error of its row', () => {
  const bytes = ['hello', 'he\xffllo', 'he'].map((text) => Uint8Array.from(Buffer.from(text, 'latin1')))
  const data = parquetWriteBuffer({
    columnData: [{ name: 'text', data: bytes }],
    schema: [
      { name: 'root', num_children: 1 },
      { name: 'text', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
    ],
  })
  write('bytes.parquet', Buffer.from(data))
  refused(
    ['encode', '-t', 'tiny.json', '--field', 'text', 'bytes.parquet'],
    1,
    /bytes\.parquet, row 2: .*not valid UTF-8/,
  )
  assert.equal(
    output(['encode', '-t', 'tiny.json', '--field', 'text', '--on-error', 'skip', 'bytes.parquet']),
    '14 11 15\n14 8 15\n',
  )
})

test('rows whose fields do not fit the rows before, in files larger than a row group', async () => {
  const many = Array.from({ length: 100_001 }, () => '{"text":"he","n":1}')
  const cases = [
    ['{"text":"he","n":"x"}', /line 100002: the field 'n' has another type/],
    ['{"text":"he","m":1}', /line 100002: the field 'm' is not in the first 100000 rows/],
  ]
  for (const [last, message] of cases) {
    write('many.jsonl', [...many, last].join('\n'))
    refused(['count', '-t', 'tiny.json', '--field', 'text', 'many.jsonl', '-o', 'many.parquet'], 1, message)
    assert.equal(fs.existsSync(place('many.parquet')), false)
    const { status, stderr } = run([
      'count',
      '-t',
      'tiny.json',
      '--field',
      'text',
      '--on-error',
      'skip',
      'many.jsonl',
      '-o',
      'many.parquet',
    ])
    assert.equal(status, 0, stderr)
    assert.match(stderr, /100,001 rows done, 1 skipped \(1 FIELD\)/)
    assert.equal((await table('many.parquet')).length, 100_001)
    fs.rmSync(place('many.parquet'))
  }
})

test('rows of files whose columns have other types are skipped, each once', async () => {
  const column = (n, type) => ({
    columnData: [
      { name: 'text', data: ['hello hello'] },
      { name: 'n', data: [n], type },
    ],
  })
  parquet('numbers.parquet', [], column(1, 'INT32'))
  parquet('strings.parquet', [], column('x', 'STRING'))
  const inputs = ['numbers.parquet', 'strings.parquet', '--field', 'text', '-t', 'tiny.json', '-o', 'types.parquet']
  for (const command of [['encode'], ['count'], ['split', '-n', '3', '--keep', 'n']]) {
    refused([...command, ...inputs], 1, /strings\.parquet, row 1: the field 'n' has another type/)
    const { status, stderr } = run([...command, ...inputs, '--on-error', 'skip'])
    assert.equal(status, 0, stderr)
    assert.match(stderr, /skipped strings\.parquet, row 1: the field 'n' has another type/)
    assert.match(stderr, /1 row done, 1 skipped \(1 FIELD\)/)
    assert.ok((await table('types.parquet')).every(({ n }) => n === 1))
    fs.rmSync(place('types.parquet'))
  }
})

test('damaged and hostile files end with one line', () => {
  const rows = Array.from({ length: 1 << 20 }, () => 'same')
  parquet('large.parquet', rows, { codec: 'UNCOMPRESSED', statistics: false, pageSize: 1 << 30, rowGroupSize: 1 << 20 })
  const bytes = fs.readFileSync(place('large.parquet'))
  // Numbers are stored doubled: 2^21 stands for 2^20 rows, or for a run of 2^20 values. Wherever it
  // is, it becomes 2^28 - 2, which stands for more values than the page has.
  const places = []
  for (let at = bytes.indexOf('80808001', 'hex'); at !== -1; at = bytes.indexOf('80808001', at + 1, 'hex'))
    places.push(at)
  const errors = []
  // The numbers at the other places are not read, so that all rows would be counted.
  for (const at of [0, 2, 3, 6].map((index) => places[index])) {
    const bomb = Buffer.from(bytes)
    bomb.write('feffff7f', at, 'hex')
    write('bomb.parquet', bomb)
    errors.push(run(['count', '--total', '--field', 'text', 'bomb.parquet']).stderr)
  }
  for (const error of errors) assert.match(error, /^tokenlane: bomb\.parquet: [^\n]* \(ERR_TOKENLANE_PARQUET\)\n$/)
  for (const part of [
    'a row group has more values than fit',
    'has more values than its header says',
    'has fewer values than rows',
  ]) {
    assert.ok(
      errors.some((error) => error.includes(part)),
      part,
    )
  }
  const whole = fs.readFileSync(place('pyarrow-zstd.parquet'))
  const changes = {
    'a footer that is too long': (copy) => copy.writeUInt32LE(copy.length, copy.length - 8),
    'a footer of zeros': (copy) => copy.fill(0, copy.length - 200, copy.length - 8),
    'a footer of 0xff': (copy) => copy.fill(255, copy.length - 200, copy.length - 8),
    'pages of zeros': (copy) => copy.fill(0, 4, 400),
    'pages of 0xff': (copy) => copy.fill(255, 4, 400),
  }
  for (const [what, change] of Object.entries(changes)) {
    const copy = Buffer.from(whole)
    change(copy)
    write('damaged.parquet', copy)
    const { status, stderr } = run(['count', '--field', 'text', 'damaged.parquet'])
    assert.equal(status, 1, what)
    assert.match(
      stderr,
      /^tokenlane: damaged\.parquet[^\n]* \(ERR_TOKENLANE_(PARQUET|FIELD|DECOMPRESS_LIMIT)\)\n$/,
      what,
    )
  }
  // 70 MiB of one letter in less than a megabyte.
  const wide = 'x'.repeat(1 << 20)
  parquet('zeros.parquet', new Array(70).fill(wide), { codec: 'GZIP', compressors: { GZIP: zlib.gzipSync } })
  refused(['count', '--total', '--field', 'text', 'zeros.parquet'], 1, /DECOMPRESS_LIMIT/)
})

test('options that Parquet does not allow', () => {
  refused(['encode', '-f', 'parquet', '-x', 'a'], 2, /the format parquet needs a file: name it with '--output'/)
  refused(['encode', '--keep', 'a', '-x', 'a'], 2, /'--keep' needs '--field'/)
  refused(['encode', '--keep', 'a', '--field', 'b', 'rows.jsonl'], 2, /'--keep' needs '--format jsonl' or/)
  refused(['decode', '--from', 'parquet'], 1, /standard input: this is not a Parquet file/, { input: '' })
  refused(['encode', '--field', 'text', 'pyarrow-zstd.parquet', '-o', 'pyarrow-zstd.parquet'], 1, /OUTPUT_IS_INPUT/)
})
