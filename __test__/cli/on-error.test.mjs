// npx tokenlane: rows that fail, and files that are not text.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { DocumentReader } from '../../packages/corpus/src/document-reader.mjs'
import { folderWithTokenizer, runIn } from '../support/cli.mjs'
import { parseJsonLines } from '../support/json-lines.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)
const place = (name) => path.join(folder, name)
const write = (name, content) => {
  fs.mkdirSync(path.dirname(place(name)), { recursive: true })
  fs.writeFileSync(place(name), content)
}
const entries = (name) => parseJsonLines(fs.readFileSync(place(name), 'utf8'))

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const LATIN1 = Buffer.from('caf\xe9 hello', 'latin1')

/** JSON Lines with bad rows at the start, at the end, and anywhere between. */
const rows = Array.from({ length: 3000 }, (_, index) => {
  if (index === 0 || index === 1700) return '{"text":null}'
  if (index === 2999) return '{"text"'
  return JSON.stringify({ text: index % 2 === 0 ? 'hello' : 'he' })
})
write('rows.jsonl', `${rows.join('\n')}\n`)
const good = rows.flatMap((_, index) => {
  if ([0, 1700, 2999].includes(index)) return []
  return [index % 2 === 0 ? '14 11 15' : '14 8 15']
})

test('by default one bad row ends a run, and the message names the option to continue', () => {
  const { status, stdout, stderr } = run([
    'encode',
    '-t',
    'tiny.json',
    '--field',
    'text',
    'rows.jsonl',
    '-o',
    'out.txt',
  ])
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(
    stderr,
    /^tokenlane: rows\.jsonl, line 1: .* it is null \('--on-error skip' continues without it\) \(ERR_TOKENLANE_FIELD\)\n$/,
  )
  assert.equal(fs.existsSync(place('out.txt')), false)
  const one = run(['count', '-t', 'tiny.json'], { input: LATIN1 })
  assert.doesNotMatch(one.stderr, /on-error/, 'of one row nothing would be left')
})

test('--on-error skip: the remaining rows, a summary, and a report of the skipped ones', () => {
  const args = ['encode', '-t', 'tiny.json', '--field', 'text', '--on-error', 'skip', 'rows.jsonl']
  const { status, stdout, stderr } = run(args)
  assert.equal(status, 0, stderr)
  assert.deepEqual(stdout.trimEnd().split('\n'), good)
  const lines = stderr.trimEnd().split('\n')
  assert.equal(lines.length, 4)
  assert.match(
    lines[0],
    /^tokenlane: skipped rows\.jsonl, line 1: the field 'text' must be a string.*\(ERR_TOKENLANE_FIELD\)$/,
  )
  assert.match(lines[3], /^tokenlane: 2,997 rows done, 3 skipped \(2 FIELD, 1 JSON\)$/)
  const reported = run([...args, '--report', 'report.jsonl'])
  assert.equal(reported.stderr, 'tokenlane: 2,997 rows done, 3 skipped (2 FIELD, 1 JSON); report.jsonl lists them\n')
  const report = entries('report.jsonl')
  assert.deepEqual(
    report.map(({ file, line, code }) => [file, line, code]),
    [
      ['rows.jsonl', 1, 'ERR_TOKENLANE_FIELD'],
      ['rows.jsonl', 1701, 'ERR_TOKENLANE_FIELD'],
      ['rows.jsonl', 3000, 'ERR_TOKENLANE_JSON'],
    ],
  )
  assert.equal(report[0].reason, "the field 'text' must be a string, but it is null")
})

test('rows that the tokenizer refuses are found in a batch, wherever they are', () => {
  for (const bad of [
    [0],
    [1, 2, 3],
    [255, 256, 257],
    [599],
    Array.from({ length: 600 }, (_, index) => index).filter((index) => index % 7),
  ]) {
    const input = Array.from({ length: 600 }, (_, index) => (bad.includes(index) ? 'hello <s>' : 'hello'))
    const args = ['-t', 'tiny.json', '--special-tokens', 'throw', '--on-error', 'skip', '--report', 'report.jsonl']
    const left = 600 - bad.length
    const encoded = run(['encode', ...args], { input: input.join('\n') })
    assert.equal(encoded.stdout, '14 11 15\n'.repeat(left), encoded.stderr)
    assert.deepEqual(
      entries('report.jsonl').map(({ line }) => line),
      bad.map((index) => index + 1),
    )
    const counted = run(['count', '--rows', 'lines', '--total', ...args], { input: input.join('\n') })
    assert.equal(counted.stdout, `${3 * left}\n`)
    const split = run(['split', '-n', '9', '--rows', 'lines', ...args], { input: input.join('\n') })
    assert.deepEqual(
      parseJsonLines(split.stdout).map(({ tokens }) => tokens),
      new Array(left).fill(3),
    )
    assert.deepEqual(
      entries('report.jsonl').map(({ line }) => line),
      bad.map((index) => index + 1),
    )
  }
})

test('commands and corpus jobs refuse rows of JSON with the same codes and words', () => {
  const bad = [
    ['{"text":"caf\xe9"}', 'INVALID_UTF8', 'it is not valid UTF-8'],
    ['{"text":"a"', 'JSON', /^it is not valid JSON: /],
    ['{"other":1}', 'FIELD', "the field 'text' must be a string, but the field is missing"],
    ['{"text":null}', 'FIELD', "the field 'text' must be a string, but it is null"],
    ['{"text":["a"]}', 'FIELD', "the field 'text' must be a string, but it is of the type array"],
    ['{"text":7}', 'FIELD', "the field 'text' must be a string, but it is of the type number"],
  ]
  const bytes = Buffer.from(['{"text":"hello"}', ...bad.map(([line]) => line)].join('\n'), 'latin1')
  write('bad.jsonl', bytes)
  const args = ['count', '-t', 'tiny.json', '--field', 'text', '--on-error', 'skip', '--report', 'report.jsonl']
  assert.equal(run([...args, 'bad.jsonl']).status, 0)
  const fromCommand = entries('report.jsonl').map(({ line, code, reason }) => [line, code, reason])
  const fromJob = []
  const onSkip = ({ line }, { code, message }) => fromJob.push([line, code, message])
  const reader = new DocumentReader({ field: 'text' }, { onSkip })
  reader.startPart({ rows: 'json', path: 'bad.jsonl', start: 0 })
  reader.load({ lines: bytes, at: 0 })
  while (reader.nextBatch() !== undefined);
  assert.deepEqual(fromJob, fromCommand)
  bad.forEach(([line, code, reason], index) => {
    assert.deepEqual(fromJob[index].slice(0, 2), [index + 2, `ERR_TOKENLANE_${code}`], line)
    if (typeof reason === 'string') assert.equal(fromJob[index][2], reason)
    else assert.match(fromJob[index][2], reason)
  })
})

const links = { skip: process.platform === 'win32' && 'links need privileges on Windows' }
test('a pattern follows a link to a folder that it names, as a shell does, and lists files once', links, () => {
  for (const name of ['globs/a/x.txt', 'globs/a/.hidden.txt', 'globs/a.txt', 'globs/b/c/y.txt']) write(name, 'hello')
  fs.symlinkSync('a', place('globs/link'), 'junction')
  const listed = (pattern) =>
    parseJsonLines(run(['count', '-t', 'tiny.json', '--json', pattern]).stdout).map(({ file }) =>
      file.replaceAll(path.sep, '/'),
    )
  assert.deepEqual(listed('globs/link/*.txt'), ['globs/link/x.txt'])
  assert.deepEqual(listed('globs/**/*.{txt,tx?}'), ['globs/a.txt', 'globs/a/x.txt', 'globs/b/c/y.txt'])
})

test('invalid UTF-8 and lines that are too long are skipped alone', () => {
  const parts = [
    'hello\n',
    'x'.repeat(3 << 20),
    '\nhe\xffllo\r\nhe\n',
    'y'.repeat(64),
    '\n',
    'z'.repeat(65),
    '\n',
    'q'.repeat(5 << 20),
  ]
  write('lines.txt', Buffer.from(parts.join(''), 'latin1'))
  const { status, stdout, stderr } = run([
    'count',
    '-t',
    'gpt2',
    '--rows',
    'lines',
    '--max-row',
    '64',
    '--on-error',
    'skip',
    '--report',
    'report.jsonl',
    'lines.txt',
  ])
  assert.equal(status, 0, stderr)
  assert.equal(stdout.split('\n').length, 4)
  const found = entries('report.jsonl').map(({ line, code }) => [line, code.slice(14)])
  assert.deepEqual(found.sort(), [
    [2, 'TEXT_TOO_LONG'],
    [3, 'INVALID_UTF8'],
    [6, 'TEXT_TOO_LONG'],
    [7, 'TEXT_TOO_LONG'],
  ])
})

test('a damaged file is read up to the damage', () => {
  const bytes = zlib.gzipSync(Buffer.from('hello\n'.repeat(200_000)))
  write('damaged.gz', bytes.subarray(0, bytes.length - 200))
  write('whole.txt', 'he\n')
  const args = ['-t', 'tiny.json', '--on-error', 'skip', '--report', 'report.jsonl', 'damaged.gz', 'whole.txt']
  const encoded = run(['encode', ...args])
  const left = encoded.stdout.trimEnd().split('\n')
  assert.equal(left.pop(), '14 8 15')
  assert.ok(left.length > 1000 && left.every((line) => line === '14 11 15'))
  const [{ file, line, code }] = entries('report.jsonl')
  assert.deepEqual([file, line, code], ['damaged.gz', left.length + 1, 'ERR_TOKENLANE_DECOMPRESS'])
  assert.equal(run(['count', '--total', ...args]).stdout, '3\n')
  assert.equal(entries('report.jsonl')[0].line, undefined)
})

test('split skips damaged files as a whole', () => {
  write('half/a.txt', Buffer.concat([Buffer.from('hello '.repeat(3000)), LATIN1]))
  write('half/b.txt', 'hello')
  const failed = run(['split', '-t', 'tiny.json', '-n', '100', 'half'])
  assert.match(failed.stderr, /a\.txt: it is not valid UTF-8/)
  const { stdout, stderr } = run(['split', '-t', 'tiny.json', '-n', '100', '--on-error', 'skip', 'half'])
  assert.deepEqual(
    parseJsonLines(stdout).map(({ file }) => path.basename(file)),
    ['b.txt'],
  )
  assert.match(stderr, /1 row done, 1 skipped \(1 INVALID_UTF8\)/)
})

test('if every row is skipped the run fails, and its output is not written', () => {
  const { status, stderr } = run(['encode', '--field', 'nope', '--on-error', 'skip', 'rows.jsonl', '-o', 'out.txt'])
  assert.equal(status, 1)
  assert.match(
    stderr,
    /0 rows done, 3,000 skipped .*'--report FILE' lists all\ntokenlane: every row was skipped .*ALL_SKIPPED\)\n$/,
  )
  assert.equal(fs.existsSync(place('out.txt')), false)
  assert.equal(run(['count', '-t', 'gpt2', '--on-error', 'skip', '--total'], { input: '' }).status, 0)
})

test('errors that do not belong to a row always end the run', () => {
  const skip = ['--on-error', 'skip']
  assert.match(run(['count', ...skip, 'nowhere.txt']).stderr, /nowhere\.txt: there is no such file/)
  assert.match(
    run(['encode', ...skip, '--report', 'same.txt', '-o', 'same.txt', '-x', 'a']).stderr,
    /'--report' and the output are the same file/,
  )
  assert.match(
    run(['encode', ...skip, '--report', '-', '-x', 'a']).stderr,
    /'--report' and the output are the same file/,
  )
  assert.match(run(['count', ...skip, '--report', 'rows.jsonl', 'rows.jsonl']).stderr, /OUTPUT_IS_INPUT/)
  assert.match(run(['count', '--on-error', 'ignore', '-x', 'a']).stderr, /'--on-error' must be one of fail, skip/)
})

const isUnbound = process.platform === 'win32' || process.getuid() === 0
test('folders and files without permission', { skip: isUnbound && 'permissions do not bind this user' }, () => {
  write('closed/in/a.txt', 'hello')
  write('closed/b.txt', 'hello')
  write('closed/c.txt', 'hello')
  fs.chmodSync(place('closed/in'), 0)
  fs.chmodSync(place('closed/b.txt'), 0)
  assert.match(run(['count', '-t', 'tiny.json', 'closed']).stderr, /permission denied/)
  const { stdout, stderr } = run(['count', '-t', 'tiny.json', '--total', '--on-error', 'skip', 'closed'])
  fs.chmodSync(place('closed/in'), 0o755)
  assert.deepEqual([stdout, stderr.match(/, 2 skipped/)?.[0]], ['3\n', ', 2 skipped'])
})

test('folders and patterns skip files that are not text, and say how many', () => {
  const binaries = {
    'docs/image.png': PNG,
    'docs/image.jpg': Buffer.from('ffd8ffe000104a46494600', 'hex'),
    'docs/paper.pdf': Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\nstream\n\x9c\x03\x12\x8f', 'latin1'),
    'docs/ids.bin': Buffer.from(Uint16Array.of(13225, 11, 2375, 0).buffer),
    'docs/image.png.gz': zlib.gzipSync(PNG),
  }
  for (const [name, bytes] of Object.entries(binaries)) write(name, bytes)
  write('docs/a.md', 'hello')
  write('docs/b.md', 'hello')
  write('docs/empty.md', '')
  // A character at the end of the part that is looked at.
  write('docs/long.md', `${'x'.repeat((1 << 16) - 1)}é`)
  for (const input of ['docs', 'docs/*', 'docs/**']) {
    const { status, stdout, stderr } = run(['count', '-t', 'gpt2', '--total', input])
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^\d+\n$/)
    assert.match(stderr, /^tokenlane: skipped 5 files that are not text: .*docs.image\.jpg, .*, 2 more\n$/)
  }
  for (const args of [['encode'], ['split', '-n', '64'], ['inspect', '--limit', '3'], ['bench', '--passes', '1']]) {
    const { status, stderr } = run([...args, '-t', 'gpt2', 'docs'])
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^tokenlane: skipped 5 files that are not text: [^\n]*\n$/, args[0])
  }
  run(['count', '-t', 'gpt2', '--report', 'report.jsonl', 'docs'])
  assert.deepEqual(
    entries('report.jsonl')
      .map(({ file, code }) => [file.replaceAll(path.sep, '/'), code])
      .sort(),
    Object.keys(binaries)
      .sort()
      .map((file) => [file, 'ERR_TOKENLANE_NOT_TEXT']),
  )
  // Only text in another encoding is an error, as nobody wants it to be missing.
  write('docs/old.txt', LATIN1)
  assert.match(run(['count', '-t', 'gpt2', 'docs']).stderr, /old\.txt: .*not valid UTF-8/)
  // A file that is named is read.
  assert.match(run(['count', '-t', 'gpt2', 'docs/image.png']).stderr, /image\.png: .*not valid UTF-8/)
  write('images/only.png', PNG)
  const { status, stderr } = run(['count', '-t', 'gpt2', 'images'])
  assert.equal(status, 1)
  assert.match(stderr, /only\.png\ntokenlane: every row was skipped .*ALL_SKIPPED/)
})

test('a command that fails has no file open: its inputs, its output, at any point of either', (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux lists the open files of a process')
  const open = () =>
    fs.readdirSync('/proc/self/fd').flatMap((descriptor) => {
      try {
        return [fs.readlinkSync(`/proc/self/fd/${descriptor}`)].filter((file) => file.startsWith(folder))
      } catch {
        return []
      }
    })
  write('long.txt', 'he '.repeat(1 << 15))
  write('long.txt.gz', zlib.gzipSync('he '.repeat(1 << 17)))
  write('cut.gz', zlib.gzipSync(`${rows.join('\n')}\n`).subarray(0, 5000))
  write('images/a.png', PNG)
  const commands = [
    ['count', '--max-row', '9', 'long.txt'],
    ['count', '--max-row', '9', 'long.txt.gz'],
    ['encode', '--rows', 'lines', '--max-row', '9', 'long.txt', '-o', 'x.txt'],
    ['encode', '--field', 'text', 'cut.gz', '-o', 'x.jsonl'],
    ['encode', '--field', 'text', 'rows.jsonl', '-o', 'x.npy'],
    ['encode', '--field', 'text', 'rows.jsonl', '-o', 'x.parquet'],
    ['split', '-n', '9', '--field', 'text', 'rows.jsonl', '-o', 'x.jsonl'],
    ['count', 'images'],
    ['decode', 'images/a.png', '-o', 'x.txt'],
  ]
  for (const [name, ...args] of commands) {
    assert.notEqual(run([name, '-t', 'tiny.json', ...args]).status, 0, args.join(' '))
    // A stream that was destroyed closes its file in a later turn of the loop of its thread.
    for (let turn = 0; open().length > 0 && turn < 400; turn++)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    assert.deepEqual(open(), [], `${name} ${args.join(' ')}`)
  }
})
