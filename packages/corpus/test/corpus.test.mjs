// @tokenlane/corpus on one machine: formats, options, rows that fail.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { Tokenizer } from 'tokenlane'
import { tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { folderWithTokenizer, runIn } from '../../../__test__/support/cli.mjs'
import {
  documents,
  hashes,
  jsonl,
  numbers,
  readMegatron,
  readNpy,
  readTable,
  record,
  scratch,
  split,
  stems,
  writeCorpus,
} from '../../../__test__/support/corpus.mjs'
import { jobsIn } from './support/corpus-jobs.mjs'
import { failure } from '../../../__test__/support/texts.mjs'
import { parseJsonLines } from '../../../__test__/support/json-lines.mjs'
import { stored } from '../../../__test__/support/zstd.mjs'

const at = scratch()
const all = writeCorpus(at('data'))
const tokenizer = await Tokenizer.fromEncoding('r50k_base')
const EOS = 50256
/** The ids of documents, as one call gives them; those without ids are left out. */
const idsOf = (rows, one = tokenizer) =>
  rows
    .map(({ text }) => [...one.encode(text, { specialTokens: 'text', addSpecialTokens: false }).ids])
    .filter((ids) => ids.length > 0)
const expected = idsOf(all)
const BASE = { inputs: at('data'), tokenizer: 'r50k_base', shardSize: 20_000 }

const run = jobsIn(at, BASE)
/** The number of files and folders that tests have named by it. */
let named = 0

test('megatron: every document is a sequence, in the order of the inputs', async () => {
  const { output, result, names } = await run({ eos: true })
  assert.ok(names.length > 5, `${names.length} shards`)
  const shards = names.map((name) => readMegatron(name))
  assert.deepEqual(
    shards.flatMap(({ rows }) => rows),
    expected.map((ids) => [...ids, EOS]),
  )
  for (const { rows, starts, type } of shards) {
    assert.equal(type, 8)
    assert.deepEqual(
      starts,
      Array.from({ length: rows.length + 1 }, (_, index) => index),
    )
  }
  const tokens = expected.reduce((sum, ids) => sum + ids.length + 1, 0)
  const textBytes = all.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  const { documents: count, tokens: counted, textBytes: bytes, empty, skipped, kept } = result
  assert.deepEqual(
    { count, counted, bytes, empty, skipped, kept },
    {
      count: expected.length,
      counted: tokens,
      bytes: textBytes,
      empty: all.length - expected.length,
      skipped: 0,
      kept: 0,
    },
  )
  const manifest = JSON.parse(fs.readFileSync(path.join(output, 'manifest.json'), 'utf8'))
  assert.equal(manifest.totals.tokens, tokens)
  assert.deepEqual(
    manifest.shards.map(({ shard }) => shard),
    names.map((_, index) => index),
  )
  assert.deepEqual(
    manifest.shards.flatMap(({ files }) => files.map(({ name, sha256 }) => [name, sha256])).sort(),
    Object.entries(hashes(output)).sort(),
  )
  assert.equal((await verifyCorpus(output)).isWhole, true)
})

test('megatron: ids above 16 bits are 32-bit numbers', async () => {
  const { names } = await run({ tokenizer: 'o200k_base' })
  const wide = await Tokenizer.fromEncoding('o200k_base')
  const shards = names.map((name) => readMegatron(name))
  assert.deepEqual(
    shards.flatMap(({ rows }) => rows),
    idsOf(all, wide),
  )
  assert.ok(shards.every(({ type }) => type === 4))
})

test('npy and bin: tokens, row offsets, and a table of the documents', async () => {
  const ids = all.filter(({ text }) => text !== '').map(({ id }) => id)
  for (const [format, type] of [
    ['npy', 'u16'],
    ['npy', 'u32'],
    ['bin', 'u16'],
    ['bin', 'u32'],
  ]) {
    const { names } = await run({ format, type, idField: 'id' })
    const descr = type === 'u16' ? '<u2' : '<u4'
    const read = (name, of) =>
      format === 'npy' ? readNpy(`${name}.npy`) : { descr: of, values: numbers(fs.readFileSync(`${name}.bin`), of) }
    const rows = names.flatMap((name) => {
      const tokens = read(name, descr)
      assert.equal(tokens.descr, descr)
      return split(tokens.values, read(`${name}.rows`, '<u8').values)
    })
    assert.deepEqual(rows, expected, `${format} ${type}`)
    const table = names.flatMap((name) => readTable(`${name}.csv.gz`))
    assert.deepEqual(
      table.map(({ id }) => id),
      ids,
    )
    for (const { start, end, id, source, at: position } of table) {
      const line = fs.readFileSync(source).subarray(position).toString().split('\n')[0]
      assert.equal(JSON.parse(line).id, id)
      assert.ok(end > start)
    }
  }
})

test('llmc: the header of llm.c, and the tokens', async () => {
  for (const [type, tokenizer, magic, version, View] of [
    ['u16', 'r50k_base', 20240520, 1, Uint16Array],
    ['u32', 'o200k_base', 20240801, 7, Uint32Array],
  ]) {
    const { output, names, result } = await run({ format: 'llmc', tokenizer })
    assert.equal(result.options.type, type)
    const files = names.map((name) => Uint8Array.from(fs.readFileSync(`${name}.bin`)))
    const tokens = files.map((bytes) => new View(bytes.buffer, 1024))
    files.forEach((bytes, index) => {
      const header = [...new Int32Array(bytes.buffer, 0, 256)]
      assert.deepEqual(header, [magic, version, tokens[index].length, ...Array(253).fill(0)])
    })
    const ids = idsOf(all, await Tokenizer.fromEncoding(tokenizer)).flat()
    assert.deepEqual(
      tokens.flatMap((one) => [...one]),
      ids,
    )
    assert.equal((await verifyCorpus(output)).isWhole, true)
  }
})

test('jsonl: an object per document', async () => {
  const { names } = await run({ format: 'jsonl', idField: 'id' })
  const rows = names.flatMap((name) => parseJsonLines(fs.readFileSync(`${name}.jsonl`, 'utf8')))
  assert.deepEqual(
    rows.map(({ ids }) => ids),
    expected,
  )
  assert.deepEqual(
    rows.map(({ id }) => id),
    all.filter(({ text }) => text !== '').map(({ id }) => id),
  )
})

test('--pack: rows of a fixed length, no token is lost, and the starts of documents are kept', async () => {
  const whole = expected.map((ids) => [...ids, EOS])
  for (const format of ['megatron', 'npy', 'bin', 'jsonl']) {
    const { names } = await run({ format, pack: 64, eos: true })
    const found = []
    for (const name of names) {
      let rows
      let offsets
      if (format === 'megatron') {
        rows = readMegatron(name).rows
        offsets = readNpy(`${name}.docs.npy`).values
      } else if (format === 'jsonl') {
        const lines = parseJsonLines(fs.readFileSync(`${name}.jsonl`, 'utf8'))
        rows = lines.map(({ ids }) => ids)
        offsets = [...lines.flatMap(({ starts }, row) => starts.map((start) => row * 64 + start)), rows.flat().length]
      } else {
        const read = (kind, descr) =>
          format === 'npy'
            ? readNpy(`${name}${kind}.npy`).values
            : numbers(fs.readFileSync(`${name}${kind}.bin`), descr)
        rows = split(read('', '<u2'), read('.rows', '<u8'))
        offsets = read('.docs', '<u8')
      }
      assert.ok(
        rows.slice(0, -1).every((row) => row.length === 64),
        format,
      )
      assert.ok(rows.at(-1).length > 0 && rows.at(-1).length <= 64)
      found.push(...split(rows.flat(), offsets))
    }
    assert.deepEqual(found, whole, format)
  }
})

test('--shuffle: the same documents in an order of the seed, of the shards too', async () => {
  const plain = await run({ format: 'jsonl', idField: 'id' })
  const order = ({ names }) => names.map((name) => parseJsonLines(fs.readFileSync(`${name}.jsonl`, 'utf8')))
  const lines = (result) =>
    order(result)
      .flat()
      .map((row) => JSON.stringify(row))
  const [first, again, other] = [
    await run({ format: 'jsonl', idField: 'id', shuffle: 7 }),
    await run({ format: 'jsonl', idField: 'id', shuffle: 7 }),
    await run({ format: 'jsonl', idField: 'id', shuffle: 8 }),
  ]
  assert.deepEqual(lines(first).sort(), lines(plain).sort())
  assert.deepEqual(lines(first), lines(again))
  assert.notDeepEqual(lines(first), lines(other))
  assert.notDeepEqual(lines(first), lines(plain))
  const planned = stems(first.output).map((stem) => record(first.output, stem).planned)
  assert.notDeepEqual(
    planned,
    planned.toSorted((a, b) => a - b),
  )
  assert.deepEqual(
    planned.toSorted((a, b) => a - b),
    planned.map((_, index) => index),
  )
})

test('--shuffle: a draw within 2 ** -21 of 1 is below 1', async () => {
  // The twelfth draw of this seed, one of four million such draws.
  const lines = Array.from({ length: 20 }, (_, line) => `line ${line}\n`)
  fs.writeFileSync(at('close.txt'), lines.join(''))
  const { names } = await run({ inputs: at('close.txt'), format: 'jsonl', shuffle: 113_766 })
  const rows = parseJsonLines(fs.readFileSync(`${names[0]}.jsonl`, 'utf8'))
  assert.deepEqual(rows.map(({ ids }) => `${tokenizer.decode(ids)}\n`).sort(), lines.sort())
})

test('--max-tokens, --bos and --eos: the tokens around a document count', async () => {
  const { result, names } = await run({ maxTokens: 10, bos: '<|endoftext|>', eos: true })
  const rows = names.flatMap((name) => readMegatron(name).rows)
  assert.deepEqual(
    rows,
    expected.map((ids) => [EOS, ...ids.slice(0, 8), EOS]),
  )
  const long = expected.filter((ids) => ids.length > 8)
  assert.equal(result.truncated, long.length)
  assert.equal(
    result.cutTokens,
    long.reduce((sum, ids) => sum + ids.length - 8, 0),
  )
})

test('the tokens around documents: tokenizer_config.json, the vocabulary, or an error that names the option', async () => {
  const folder = folderWithTokenizer()
  fs.mkdirSync(at('model'), { recursive: true })
  fs.copyFileSync(path.join(folder, 'tiny.json'), at('model', 'tokenizer.json'))
  fs.writeFileSync(at('hello.txt'), 'hello\nhell\n')
  const request = { inputs: at('hello.txt'), tokenizer: at('model'), bos: true, eos: true }
  const usual = await run(request)
  assert.deepEqual(readMegatron(usual.names[0]).rows, [
    [14, 11, 15],
    [14, 10, 15],
  ])
  fs.writeFileSync(
    at('model', 'tokenizer_config.json'),
    JSON.stringify({ bos_token: { content: '</s>' }, eos_token: '<s>' }),
  )
  const configured = await run(request)
  assert.deepEqual(readMegatron(configured.names[0]).rows, [
    [15, 11, 14],
    [15, 10, 14],
  ])
  const error = await failure(() => run({ bos: true }))
  assert.equal(error.code, 'ERR_TOKENLANE_NO_SUCH_SPECIAL_TOKEN')
  assert.match(error.message, /--bos-token TOKEN/)
  assert.equal((await failure(() => run({ eos: '<nothing>' }))).code, 'ERR_TOKENLANE_NO_SUCH_SPECIAL_TOKEN')
})

test('a tokenizer of several files is refused, because a job has the SHA-256 of one file', async () => {
  const folder = at('parts')
  fs.mkdirSync(folder)
  fs.writeFileSync(path.join(folder, 'vocab.json'), JSON.stringify({ a: 0, b: 1, ab: 2 }))
  fs.writeFileSync(path.join(folder, 'merges.txt'), '#version: 0.2\na b\n')
  fs.writeFileSync(path.join(folder, 'tokenizer_config.json'), '{"tokenizer_class":"GPT2Tokenizer"}')
  fs.writeFileSync(path.join(folder, 'vocab.txt'), '[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\na\n')
  fs.writeFileSync(at('ab.txt'), 'ab\n')
  for (const name of ['', 'vocab.json', 'merges.txt', 'vocab.txt']) {
    const place = path.join(folder, name)
    const error = await failure(() => run({ inputs: at('ab.txt'), tokenizer: place }))
    assert.equal(error.code, 'ERR_TOKENLANE_UNSUPPORTED', name)
    assert.ok(error.message.startsWith(`${place}: a corpus job needs a tokenizer in one file`), error.message)
  }
  const whole = await Tokenizer.fromFile(path.join(folder, 'vocab.json'))
  fs.writeFileSync(path.join(folder, 'tokenizer.json'), whole.toBuffer())
  const { names } = await run({ inputs: at('ab.txt'), tokenizer: folder })
  assert.deepEqual(readMegatron(names[0]).rows, [[2]])
})

test('a rank file with configs is refused like its folder, and taken with an encoding', async () => {
  const folder = at('kimi')
  const config = { tokenizer_class: 'TikTokenTokenizer' }
  fs.mkdirSync(folder)
  fs.copyFileSync(
    new URL('../../../encodings/r50k_base.tiktoken', import.meta.url),
    path.join(folder, 'tiktoken.model'),
  )
  fs.writeFileSync(path.join(folder, 'tokenizer_config.json'), JSON.stringify(config))
  fs.writeFileSync(at('kimi.txt'), 'ab\n')
  for (const place of [folder, path.join(folder, 'tiktoken.model')]) {
    const error = await failure(() => run({ inputs: at('kimi.txt'), tokenizer: place }))
    assert.equal(error.code, 'ERR_TOKENLANE_UNSUPPORTED', place)
    assert.ok(error.message.startsWith(`${place}: a corpus job needs a tokenizer in one file`), error.message)
  }
  const place = path.join(folder, 'tiktoken.model')
  const { names } = await run({ inputs: at('kimi.txt'), tokenizer: place, encoding: 'r50k_base' })
  assert.equal(names.length, 1)
})

test('shards are the same bytes with any number of threads, and for compressed inputs the same tokens', async () => {
  const reference = hashes((await run({ eos: true })).output)
  for (const how of [{ concurrency: 1, threads: 1 }, { concurrency: 5 }, { threads: 2 }]) {
    assert.deepEqual(hashes((await run({ eos: true, ...how })).output), reference)
  }
  fs.mkdirSync(at('gz'), { recursive: true })
  for (const name of fs.readdirSync(at('data')))
    fs.writeFileSync(at('gz', `${name}.gz`), zlib.gzipSync(fs.readFileSync(at('data', name))))
  const { names } = await run({ inputs: at('gz') })
  assert.deepEqual(
    names.flatMap((name) => readMegatron(name).rows),
    expected,
  )
  fs.mkdirSync(at('zst'), { recursive: true })
  for (const [index, name] of fs.readdirSync(at('data')).entries())
    fs.writeFileSync(at('zst', `${name}.${index === 0 ? 'zstd' : 'zst'}`), stored(fs.readFileSync(at('data', name))))
  const zst = await run({ inputs: at('zst') })
  assert.deepEqual(
    zst.names.flatMap((name) => readMegatron(name).rows),
    expected,
  )
})

test('lines of text, whole files, and ends of lines', async () => {
  fs.mkdirSync(at('text'), { recursive: true })
  fs.writeFileSync(at('text', 'a.txt'), 'one two\r\nthree\n\nfour')
  fs.writeFileSync(at('text', 'b.md'), '\ufefffive\n')
  const texts = (rows) => idsOf(rows.map((text) => ({ text })))
  const lines = await run({ inputs: at('text') })
  assert.deepEqual(
    lines.names.flatMap((name) => readMegatron(name).rows),
    texts(['one two', 'three', 'four', 'five']),
  )
  const files = await run({ inputs: at('text'), rows: 'files' })
  assert.deepEqual(
    files.names.flatMap((name) => readMegatron(name).rows),
    texts(['one two\r\nthree\n\nfour', '\ufefffive\n']),
  )
})

test('--on-error: a row that fails ends the job with its place, or is left out and counted', async () => {
  const good = documents(5, 9).filter(({ text }) => text !== '')
  const rows = (bad) =>
    Buffer.concat([Buffer.from(jsonl(good.slice(0, 2))), Buffer.from(bad), Buffer.from(`\n${jsonl(good.slice(2))}`)])
  const poison = {
    'no JSON': ['{"text": "x"', 'JSON'],
    'a raw control character': ['{"text": "a\u0001b"}', 'JSON'],
    'no field': ['{"texts": "x"}', 'FIELD'],
    'a field of another type': ['{"text": 7}', 'FIELD'],
    'no object': ['[1]', 'FIELD'],
    'bytes that are not UTF-8': [Buffer.from([0x7b, 0x22, 0xff]), 'INVALID_UTF8'],
    'a row that is too long': [JSON.stringify({ text: 'x'.repeat(9000) }), 'TEXT_TOO_LONG'],
    'a special token': [JSON.stringify({ text: 'a <|endoftext|> b' }), 'SPECIAL_TOKEN'],
  }
  for (const [what, [bad, code]] of Object.entries(poison)) {
    const input = at(`poison-${code}-${(named += 1)}.jsonl`)
    fs.writeFileSync(input, rows(bad))
    const request = { inputs: input, maxRow: 8000, specialTokens: 'throw' }
    const error = await failure(() => run(request))
    assert.equal(error.code, `ERR_TOKENLANE_${code}`, what)
    assert.ok(error.message.startsWith(`${input}, line 3: `), error.message)
    const { result, names, output } = await run({ ...request, onError: 'skip' })
    assert.deepEqual(
      names.flatMap((name) => readMegatron(name).rows),
      idsOf(good),
      what,
    )
    assert.equal(result.skipped, 1)
    const { skipped, sources } = record(output, 'shard-00000000')
    assert.deepEqual(skipped.codes, { [`ERR_TOKENLANE_${code}`]: 1 })
    assert.equal(skipped.listed[0].line, 3)
    assert.equal(sources[input].skipped, 1)
  }
})

test('--on-error skip: many rows that fail in one batch, and all of them', async () => {
  const input = at('many.jsonl')
  const rows = Array.from({ length: 500 }, (_, index) => ({
    text: index % 3 === 0 ? `${index} <|endoftext|>` : `text ${index}`,
  }))
  fs.writeFileSync(input, jsonl(rows))
  const { result, names } = await run({ inputs: input, onError: 'skip', specialTokens: 'throw', shardSize: 1 << 20 })
  assert.equal(result.skipped, rows.filter((_, index) => index % 3 === 0).length)
  assert.deepEqual(
    names.flatMap((name) => readMegatron(name).rows),
    idsOf(rows.filter((_, index) => index % 3 !== 0)),
  )
  fs.writeFileSync(input, 'no\nno\n')
  const none = await run({ inputs: input, onError: 'skip' })
  assert.deepEqual(readMegatron(none.names[0]).rows, [])
  assert.equal(none.result.skipped, 2)
})

test('damaged compressed input', async () => {
  const input = at('damaged.jsonl.gz')
  const whole = zlib.gzipSync(jsonl(documents(400, 3)))
  fs.writeFileSync(input, whole.subarray(0, whole.length >> 1))
  const error = await failure(() => run({ inputs: input }))
  assert.equal(error.code, 'ERR_TOKENLANE_DECOMPRESS')
  assert.ok(error.message.includes(input))
  const { result } = await run({ inputs: [input, at('data')], onError: 'skip' })
  // The only member of the file is left out, and its rows are estimated by those before the damage.
  assert.equal(result.documents, expected.length)
  assert.ok(result.skipped > 120 && result.skipped < 280, `${result.skipped}`)

  // Stored blocks with a damaged length in the middle: much of the input is not read then. Damage
  // elsewhere may decompress to a row that is skipped too.
  const long = zlib.gzipSync(jsonl(Array(200).fill({ text: 'text '.repeat(16_000) })), { level: 0 })
  let header = 10
  while (header < long.length >> 1) header += 5 + long.readUInt16LE(header + 1)
  long.writeUInt16LE(long.readUInt16LE(header + 3) ^ 1, header + 3)
  fs.writeFileSync(input, long)
  const request = { ...BASE, inputs: input, output: at('damaged'), onError: 'skip' }
  const { skipped, documents: read } = await tokenizeCorpus(request)
  assert.equal(read, 0)
  assert.ok(skipped > 150 && skipped < 250, `${skipped}`)
  const later = new Date(Date.now() + 5000)
  fs.utimesSync(input, later, later)
  assert.equal((await tokenizeCorpus(request)).kept, 1)
})

test('a row is found whole wherever the file is read in two', async () => {
  const input = at('long.jsonl')
  const rows = Array.from({ length: 40 }, (_, index) => ({ text: `${index} ${'word '.repeat(20_000 + index * 31)}` }))
  fs.writeFileSync(input, jsonl(rows))
  const { names } = await run({ inputs: input, shardSize: 3 << 20 })
  assert.deepEqual(
    names.flatMap((name) => readMegatron(name).rows),
    idsOf(rows),
  )
})

test('--dry-run counts the same and writes nothing; --price', async () => {
  const { result } = await run({ eos: true })
  const dry = await tokenizeCorpus({ ...BASE, eos: true, dryRun: true })
  for (const name of ['documents', 'tokens', 'textBytes', 'empty', 'shards'])
    assert.equal(dry[name], result[name], name)
  const folder = at('dry')
  fs.cpSync(at('data'), path.join(folder, 'data'), { recursive: true })
  const { status, stdout } = runIn(folder)([
    'corpus',
    'data',
    '-t',
    'r50k_base',
    '--eos',
    '--dry-run',
    '--price',
    '2.5',
  ])
  assert.equal(status, 0)
  assert.ok(stdout.includes(`cost: ${((result.tokens / 1e6) * 2.5).toFixed(2)}`), stdout)
  assert.deepEqual(fs.readdirSync(folder), ['data'])
})

test('the command line: events as JSON Lines, verify, exit codes', () => {
  const run = runIn(at())
  const { status, stdout, stderr } = run([
    'corpus',
    'data',
    '-t',
    'r50k_base',
    '-o',
    'cli',
    '--shard-size',
    '20K',
    '--json',
  ])
  assert.equal(status, 0, stderr)
  const events = parseJsonLines(stdout)
  // A slow machine reports its planning.
  assert.equal(events.find(({ event }) => event !== 'planning').event, 'plan')
  assert.equal(events.at(-1).event, 'result')
  assert.equal(events.filter(({ event }) => event === 'shard').length, events.at(-1).shards)
  assert.equal(events.at(-1).documents, expected.length)
  assert.match(run(['corpus', 'verify', 'cli']).stdout, /all as recorded/)
  fs.appendFileSync(at('cli', 'shard-00000001.idx'), 'x')
  fs.rmSync(at('cli', 'shard-00000002.bin'))
  const broken = run(['corpus', 'verify', 'cli'])
  assert.equal(broken.status, 1)
  assert.match(broken.stdout, /shard-00000001\.idx: it has \d+ bytes, but its record says \d+\n/)
  assert.match(broken.stdout, /shard-00000002\.bin: it is missing\n/)
  assert.match(broken.stdout, /2 problems/)
  for (const args of [
    ['corpus', 'data'],
    ['corpus', '-o', 'x'],
    ['corpus', 'data', '-o', 'x', '--dry-run'],
    ['corpus', 'data', '-o', 'x', '--id-field', 'id'],
    ['corpus', 'verify'],
    ['corpus', 'data', '-o', 'x', '--pack', '0'],
  ]) {
    const result = run(args)
    assert.equal(result.status, 2, `${args}: ${result.stderr}`)
  }
})

test('verify compares large files in threads, and tells the problems in the order of the shards', async () => {
  const input = at('many-words.txt')
  fs.writeFileSync(input, `${' word'.repeat(500_000)}\n`.repeat(12))
  const { output, result } = await run({ inputs: input, shardSize: 15_000_000, rows: 'lines' })
  assert.ok(result.shards >= 2)
  const problemsOf = async (options) => {
    const events = []
    const { problems } = await verifyCorpus(output, { ...options, onEvent: (event) => events.push(event) })
    const verified = events.filter(({ event }) => event === 'verified').map(({ shard }) => shard)
    assert.deepEqual(verified, [...stems(output).keys()])
    assert.equal(events.length - verified.length, problems)
    return events.filter(({ event }) => event === 'problem').map(({ file }) => file)
  }
  assert.deepEqual(await problemsOf(), [])
  const bin = path.join(output, 'shard-00000000.bin')
  const bytes = fs.readFileSync(bin)
  bytes[bytes.length - 1] ^= 1
  fs.writeFileSync(bin, bytes)
  fs.rmSync(path.join(output, 'shard-00000001.idx'))
  const wrong = ['shard-00000000.bin', 'shard-00000001.idx']
  assert.deepEqual(await problemsOf({ concurrency: 3 }), wrong)
  assert.deepEqual(await problemsOf({ concurrency: 1 }), wrong)
  const error = await failure(() => verifyCorpus(output, { signal: AbortSignal.abort() }))
  assert.equal(error.name, 'AbortError')
})

test('options that do not exist, have another type, or do not go together', async () => {
  fs.writeFileSync(at('table.parquet'), 'PAR1 and so on')
  fs.writeFileSync(at('lines.txt'), 'a line\n')
  const wrong = [
    [{ formats: 'npy' }, 'UNKNOWN_OPTION'],
    [{ format: 'csv' }, 'ARGUMENT_VALUE'],
    [{ inputs: 7 }, 'ARGUMENT_TYPE'],
    [{ inputs: [] }, 'ARGUMENT_TYPE'],
    [{ output: undefined }, 'ARGUMENT_TYPE'],
    [{ pack: 1.5 }, 'ARGUMENT_VALUE'],
    [{ idField: 'id' }, 'ARGUMENT_TYPE'],
    [{ groupBy: 'lang', rows: 'lines' }, 'ARGUMENT_TYPE'],
    [{ groupBy: 7 }, 'ARGUMENT_TYPE'],
    // The rows of a text file have no field for an id.
    [{ inputs: [at('lines.txt'), at('table.parquet')], idField: 'id', format: 'npy' }, 'ARGUMENT_TYPE'],
    [{ field: 'x', rows: 'lines' }, 'ARGUMENT_TYPE'],
    [{ format: 'jsonl', type: 'u16' }, 'ARGUMENT_TYPE'],
    [{ maxTokens: 1, eos: true }, 'ARGUMENT_TYPE'],
    [{ signal: {} }, 'ARGUMENT_TYPE'],
    [{ onEvent: 1 }, 'ARGUMENT_TYPE'],
    [{ tokenizer: 'o200k_base', type: 'u16' }, 'ARGUMENT_VALUE'],
    [{ tokenizer: 'nothing' }, 'UNKNOWN_TOKENIZER'],
    [{ inputs: 'ftp://lake/raw/' }, 'UNSUPPORTED'],
    [{ output: 'https://lake/tokens/' }, 'UNSUPPORTED'],
    [{ format: 'llmc', pack: 8 }, 'ARGUMENT_TYPE'],
    [{ format: 'llmc', idField: 'id' }, 'ARGUMENT_TYPE'],
    [{ output: 's3://' }, 'ARGUMENT_VALUE'],
    [{ inputs: at('table.parquet') }, 'PARQUET'],
  ]
  for (const [options, code] of wrong) {
    const error = await failure(() =>
      tokenizeCorpus({ ...BASE, output: at('wrong', String((named += 1))), ...options }),
    )
    assert.equal(error.code, `ERR_TOKENLANE_${code}`, `${JSON.stringify(options)}: ${error.message}`)
  }
})

test('half characters in JSON become the ids that a string of them has, and are counted', async () => {
  const input = at('half.jsonl')
  const texts = ['a\\ud83d b\\ude00\\ud83d\\ude00', '\\ud83d\\ude00', 'c']
  fs.writeFileSync(input, texts.map((text, id) => `{"text":"${text}","id":${id},"more":"\\udfff"}\n`).join(''))
  const { output, names, result } = await run({ inputs: input })
  const rows = idsOf(texts.map((text) => ({ text: JSON.parse(`"${text}"`) })))
  assert.deepEqual(readMegatron(names[0]).rows, rows)
  assert.equal(result.unpaired, 1)
  assert.equal(record(output, stems(output)[0]).unpaired, 1)
  // JavaScript reads all of these lines.
  assert.equal((await run({ inputs: input, format: 'npy', idField: 'id', groupBy: 'id' })).result.unpaired, 1)
})

test('of several bad rows the error is that of the first, each time', async () => {
  fs.mkdirSync(at('several'))
  const good = jsonl(documents(300, 8))
  // The first one lies at the end of its shard, the others at the start of theirs.
  fs.writeFileSync(at('several', 'a.jsonl'), `${good}no\n`)
  for (const name of ['b', 'c', 'd', 'e']) fs.writeFileSync(at('several', `${name}.jsonl`), `no\n${good}`)
  for (let times = 0; times < 4; times++) {
    const error = await failure(() =>
      run({ inputs: at('several'), shardSize: Buffer.byteLength(good) + 3, concurrency: 4 }),
    )
    assert.match(error.message, /a\.jsonl, line 301: it is not valid JSON/)
  }
  // A row that fails when it is encoded, before one that fails when it is read.
  const special = jsonl([{ text: 'a' }, { text: '<|endoftext|>' }])
  fs.writeFileSync(at('two.jsonl'), `${special}no\n`)
  const first = await failure(() => run({ inputs: at('two.jsonl'), specialTokens: 'throw' }))
  assert.match(first.message, /two\.jsonl, line 2: /)
})

test('the default integer type and the size for an embedding are those of the largest id', async () => {
  const corpus = at('ids.jsonl')
  fs.writeFileSync(corpus, jsonl([{ text: 'b b a' }]))
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }
  const added = (id) => ({ id, content: '<x>', ...flags })
  for (const [vocab, addedTokens, type, vocabSize] of /** @type {[any, any, string, number][]} */ ([
    [{ a: 0, b: 65_535 }, [], '<u2', 65_536],
    [{ a: 0, b: 65_536 }, [], '<u4', 65_537],
    [{ a: 0, b: 1, '<x>': 70_000 }, [added(70_000)], '<u4', 70_001],
  ])) {
    const model = { type: 'WordLevel', vocab, unk_token: 'a' }
    const tokenizer = at(`ids-${vocabSize}.json`)
    fs.writeFileSync(
      tokenizer,
      JSON.stringify({ added_tokens: addedTokens, pre_tokenizer: { type: 'Whitespace' }, model }),
    )
    const { output, names } = await run({ inputs: corpus, tokenizer, format: 'npy' })
    assert.equal(readNpy(`${names[0]}.npy`).descr, type)
    assert.deepEqual([...readNpy(`${names[0]}.npy`).values], [vocab.b, vocab.b, 0])
    const manifest = JSON.parse(fs.readFileSync(path.join(output, 'manifest.json'), 'utf8'))
    assert.equal(manifest.tokenizer.vocabSize, vocabSize)
  }
  const { output } = await run({ inputs: corpus, tokenizer: 'o200k_base' })
  assert.equal(JSON.parse(fs.readFileSync(path.join(output, 'manifest.json'), 'utf8')).tokenizer.vocabSize, 200_019)
})
