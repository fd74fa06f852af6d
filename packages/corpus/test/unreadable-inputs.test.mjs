// @tokenlane/corpus: inputs that are no text, or cannot be opened.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { tokenizeCorpus } from '@tokenlane/corpus'
import { runIn } from '../../../__test__/support/cli.mjs'
import { scratch } from '../../../__test__/support/corpus.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
const run = runIn(at())
const OPTIONS = { tokenizer: 'r50k_base', dryRun: true }
const LINE = '{"text":"a line"}\n'

/** The failure of a job with one input, and what a job that skips it says. */
async function refusedAndSkipped(input) {
  const events = []
  const error = await failure(() => tokenizeCorpus({ ...OPTIONS, inputs: input }))
  fs.writeFileSync(at('good.jsonl'), LINE)
  const inputs = [input, at('good.jsonl')]
  const onEvent = (event) => event.event === 'unreadable' && events.push(event)
  const { documents } = await tokenizeCorpus({ ...OPTIONS, inputs, onError: 'skip', onEvent })
  return { error, events, documents }
}

test('files that only their names show are refused by what they are, unless rows says how to read them', async () => {
  for (const [name, what] of /** @type {[string, RegExp][]} */ ([
    ['a.html', /HTML.*trafilatura.*--rows lines/],
    ['a.html.gz', /HTML/],
    ['a.htm', /HTML/],
    ['a.orc', /an ORC file/],
    ['a.jsonl.br', /brotli -d/],
  ])) {
    fs.writeFileSync(at(name), name.endsWith('.gz') ? zlib.gzipSync('a,b\n1,2\n') : 'a,b\n1,2\n')
    const { error, events, documents } = await refusedAndSkipped(at(name))
    assert.equal(error.code, 'ERR_TOKENLANE_UNSUPPORTED', name)
    assert.match(error.message, what)
    assert.deepEqual([events.length, documents], [1, 1], name)
    const read = await tokenizeCorpus({ ...OPTIONS, inputs: at(name), rows: 'lines' })
    assert.equal(read.documents, 2, name)
  }
  for (const name of ['a.jsonlines', 'a.jl', 'a.jl.gz']) {
    fs.writeFileSync(at(name), name.endsWith('.gz') ? zlib.gzipSync(LINE) : LINE)
    const events = []
    const onEvent = (event) => event.event === 'note' && events.push(event)
    // As JSON, a field is there to be named.
    const { documents } = await tokenizeCorpus({ ...OPTIONS, inputs: at(name), field: 'text', onEvent })
    assert.deepEqual([documents, events], [1, []], name)
  }
})

test('files beside the data of Spark, Dask and the hub are left out, and said; a named one is read', async () => {
  const folder = at('spark')
  const data = ['part-0.jsonl', 'lang=_x/part-1.jsonl', 'train.jsonl']
  const beside = [
    '_SUCCESS',
    '_metadata',
    '_common_metadata',
    '_temporary/0/part.jsonl',
    'part-0.jsonl.crc',
    'README.md',
  ]
  for (const name of [...data, ...beside, 'dataset_infos.json']) {
    fs.mkdirSync(path.dirname(at('spark', name)), { recursive: true })
    fs.writeFileSync(at('spark', name), LINE)
  }
  const documentsOf = async (options) => {
    const notes = []
    const onEvent = (event) => event.event === 'note' && notes.push(event.message)
    const { documents } = await tokenizeCorpus({ ...OPTIONS, onEvent, ...options })
    return [documents, notes.filter((note) => note.includes('left out')).length]
  }
  assert.deepEqual(await documentsOf({ inputs: folder }), [data.length, 1])
  assert.deepEqual(await documentsOf({ inputs: `${folder}/*` }), [2, 1])
  assert.deepEqual(await documentsOf({ inputs: at('spark', 'README.md') }), [1, 0])
  const all = data.length + beside.length + 1
  assert.deepEqual(await documentsOf({ inputs: folder, rows: 'files' }), [all, 0])
})

test('archives and files of other compressors are refused by what they are, or left out', async () => {
  const tar = Buffer.alloc(1024)
  tar.write('a.txt')
  tar.write('ustar', 257)
  for (const [name, bytes, what] of /** @type {[string, Buffer, RegExp][]} */ ([
    ['a.jsonl.xz', Buffer.from('fd377a585a000004e6d6b446', 'hex'), /compressed with xz.*xz -d/],
    ['a.txt.bz2', Buffer.from('425a6839314159265359d1e4e0c0', 'hex'), /compressed with bzip2/],
    ['a.lz4', Buffer.from('04224d186440a7', 'hex'), /compressed with LZ4/],
    ['a.zip', Buffer.from('504b03041400', 'hex'), /a zip archive.*unzip/],
    ['a.txt', Buffer.from('377abcaf271c0004', 'hex'), /a 7z archive/],
    ['a.jsonl', tar, /a tar archive.*tar -xf/],
    ['a.arrow', Buffer.from('4152524f57310000ffffffff', 'hex'), /an Arrow or Feather file.*Parquet/],
    ['data-00000-of-00001.arrow', Buffer.from('ffffffff30010000', 'hex'), /save_to_disk.*to_parquet/],
    ['a.feather', Buffer.from('4645413100000000', 'hex'), /a Feather file/],
    ['a.avro', Buffer.from('4f626a0104146176', 'hex'), /an Avro file/],
    ['a.warc', Buffer.from('WARC/1.0\r\nWARC-Type: response\r\n'), /a WARC file/],
  ])) {
    fs.writeFileSync(at(name), bytes)
    const { error, events, documents } = await refusedAndSkipped(at(name))
    assert.equal(error.code, 'ERR_TOKENLANE_UNSUPPORTED', name)
    assert.match(error.message, what)
    assert.deepEqual([events.length, events[0]?.message, documents], [1, error.message, 1], name)
    const counted = run(['count', '-t', 'r50k_base', name])
    assert.match(counted.stderr, /ERR_TOKENLANE_UNSUPPORTED/, name)
  }
  // Compressed, it is found when it is read.
  for (const [name, bytes, code, message] of /** @type {[string, Buffer, string, RegExp][]} */ ([
    ['a.tar.gz', tar, 'UNSUPPORTED', /a\.tar\.gz, byte 0: it is a tar archive/],
    ['a.jsonl.gz', Buffer.from('fffe7b007d00', 'hex'), 'INVALID_UTF8', /a\.jsonl\.gz, byte 0: it is UTF-16/],
  ])) {
    fs.writeFileSync(at(name), zlib.gzipSync(bytes))
    const { error, events, documents } = await refusedAndSkipped(at(name))
    assert.equal(error.code, `ERR_TOKENLANE_${code}`, name)
    assert.match(error.message, message)
    assert.deepEqual([events.length, documents], [0, 1], name)
  }
  // Text that starts with the same letters.
  fs.writeFileSync(at('text.txt'), 'BZh9 is how bzip2 starts\nPK is a zip\n')
  assert.equal((await tokenizeCorpus({ ...OPTIONS, inputs: at('text.txt') })).documents, 2)
})

test('arrays and indented objects of JSON are refused with how to make lines of them', async () => {
  for (const [text, code, message] of /** @type {[string, string, RegExp][]} */ ([
    ['[\n {"text":"a"}\n]\n', 'JSON', /jq -c writes it/],
    ['\ufeff{\n "text": "a"\n}\n', 'JSON', /jq -c writes it/],
    ['[{"text":"a"},{"text":"b"}]\n', 'FIELD', /the row is an array, whose values jq -c \.\[\] writes/],
    ['{"text":"a"\n', 'JSON', /in JSON at position \d+$|JSON input$/],
    ['{"text":7}\n', 'FIELD', /it is of the type number$/],
  ])) {
    fs.writeFileSync(at('whole.json'), text)
    const error = await failure(() => tokenizeCorpus({ ...OPTIONS, inputs: at('whole.json') }))
    assert.equal(error.code, `ERR_TOKENLANE_${code}`, text)
    assert.match(error.message.replace(/ \(line.*/, ''), message)
  }
})

const links = { skip: process.platform === 'win32' && 'links need privileges on Windows' }

test('a link that leads nowhere or to itself ends a job on its folder, or is left out', links, async () => {
  for (const [folder, target, code] of [
    ['dangling', 'nothing', 'FILE_NOT_FOUND'],
    ['looping', 'b.jsonl', 'FILE'],
  ]) {
    fs.mkdirSync(at(folder))
    fs.writeFileSync(at(folder, 'a.jsonl'), LINE)
    fs.symlinkSync(target, at(folder, 'b.jsonl'))
    // Links to files are followed, those to folders are not.
    fs.symlinkSync('a.jsonl', at(folder, 'c.jsonl'))
    fs.symlinkSync('.', at(folder, 'd'))
    for (const input of [at(folder), `${at(folder)}/*.jsonl`]) {
      const { error, events, documents } = await refusedAndSkipped(input)
      assert.equal(error.code, `ERR_TOKENLANE_${code}`, input)
      assert.match(error.message, /b\.jsonl: /)
      assert.deepEqual([events.length, documents], [1, 3], input)
    }
  }
  // Counting a folder of programs goes on without links that lead nowhere.
  const counted = run(['count', '-t', 'r50k_base', 'dangling'])
  assert.equal(counted.status, 0, counted.stderr)
})

const bytes = { skip: process.platform !== 'linux' && 'names are text on this system' }

test('a name that is not UTF-8 has an error that says so', bytes, async () => {
  fs.mkdirSync(at('names'))
  fs.writeFileSync(Buffer.concat([Buffer.from(at('names', 'a')), Buffer.from([0xff])]), 'text\n')
  const { error, events } = await refusedAndSkipped(at('names'))
  assert.equal(error.code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
  assert.match(error.message, /it is not UTF-8: rename the file/)
  assert.equal(events.length, 1)
})

test('the command says which inputs it leaves out, and the number of those after the twentieth', () => {
  for (const [files, last] of /** @type {[number, string | undefined][]} */ ([
    [1, undefined],
    [20, undefined],
    [21, '1 more input'],
    [25, '5 more inputs'],
  ])) {
    const folder = `wide-${files}`
    fs.mkdirSync(at(folder))
    for (let file = 0; file < files; file++)
      fs.writeFileSync(at(folder, `${file}.txt`), Buffer.from('fffe61006200', 'hex'))
    fs.writeFileSync(at(folder, 'good.jsonl'), LINE)
    const { status, stdout, stderr } = run(['corpus', folder, '-t', 'r50k_base', '--dry-run', '--on-error', 'skip'])
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^1 document, /)
    const lines = stderr.trimEnd().split('\n')
    const shown = lines.splice(0, Math.min(files, 20)).map((line) => line.replaceAll('\\', '/'))
    for (const line of shown) assert.match(line, /^tokenlane: left out: wide-\d+\/\d+\.txt: it is UTF-16/)
    assert.equal(new Set(shown).size, Math.min(files, 20))
    assert.deepEqual(lines, last === undefined ? [] : [`tokenlane: left out: ${last}, which cannot be read either`])
  }
})
