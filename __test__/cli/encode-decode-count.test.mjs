// npx tokenlane: encode, decode, count, their inputs, and their exit codes.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { Readable, pipeline } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import zlib from 'node:zlib'

import { Tokenizer } from '../../index.mjs'
import { folderWithTokenizer, processIn, runIn, startIn } from '../support/cli.mjs'
import { startHub } from '../support/hub.mjs'
import { texts } from '../support/texts.mjs'
import { parseJsonLines } from '../support/json-lines.mjs'
import { stored } from '../support/zstd.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)
const write = (name, content) => {
  fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
  fs.writeFileSync(path.join(folder, name), content)
}
const read = (name) => fs.readFileSync(path.join(folder, name))

function output(args, options) {
  const { status, stdout, stderr } = run(args, options)
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`)
  assert.equal(stderr, '')
  return stdout
}

/** Expects an exit code, and an error message of one line without a stack. */
function refused(args, status, message, options) {
  const result = run(args, options)
  assert.match(result.stderr, message)
  assert.match(result.stderr, /^tokenlane: [^\n]+ \(ERR_TOKENLANE_[A-Z_0-9]+\)\n$/)
  assert.equal(result.status, status, result.stderr)
  return result
}

test('a command in a process of its own does what it does in the thread of the specs', () => {
  write('some.txt', `${'hello '.repeat(30_000)}\n`)
  for (const [args, options] of [
    [['encode', '-t', 'tiny.json', 'some.txt']],
    [['encode', '-t', 'gpt2'], { input: 'a\nb' }],
    [['encode', '-t', 'tiny.json', 'some.txt', '-o', 'ids.npy']],
    [['decode', '-t', 'tiny.json', '-x', '1 x']],
    [['decode', '-t', 'tiny.json', '-x', '11 14'], { encoding: 'buffer' }],
    [['count', '--color', 'always', '-x', 'a'], { env: { NO_COLOR: undefined } }],
    [['inspect', '--color', 'auto', '-x', 'a'], { env: { FORCE_COLOR: '1', NO_COLOR: undefined } }],
    [['corpus', 'verify', 'nowhere']],
    [['encode', '-x', 'a', '-t', 'tiny.json', '-o', 'none/ids']],
    [['encode', '--fromat', 'x']],
    [['--version']],
    [[]],
  ]) {
    const [here, process] = [run, processIn(folder)].map((way) => {
      const { status, signal, stdout, stderr } = way(args, options)
      return { status, signal, stdout, stderr, files: fs.readdirSync(folder).sort() }
    })
    assert.deepEqual(here, process, args.join(' '))
  }
})

test('rows are lines without their line ends', () => {
  const rows = 'hello\r\n\nhello hello\nhe'
  const ids = '14 11 15\n14 15\n14 11 4 11 15\n14 8 15\n'
  assert.equal(output(['encode', '-t', 'tiny.json'], { input: rows }), ids)
  assert.equal(output(['encode', '-t', 'tiny.json', '-'], { input: `${rows}\n` }), ids)
  assert.equal(output(['encode', '-t', 'tiny.json', '--no-add-special-tokens'], { input: rows }), '11\n\n11 4 11\n8\n')
})

test('a file, a text, an encoding and a model', async () => {
  const cl100k = await Tokenizer.fromEncoding('cl100k_base')
  const all = texts(20, 3000)
  write('texts.jsonl', all.map((text) => `${JSON.stringify({ doc: { body: [text] } })}\n`).join('\n'))
  const expected = [...cl100k.encodeBatchSync(all)].map((ids) => `${ids.join(' ')}\n`).join('')
  for (const name of ['cl100k_base', 'gpt-4', 'gpt-4-0613', 'ft:gpt-3.5-turbo:someone::1']) {
    assert.equal(output(['encode', '-t', name, '--field', 'doc.body.0', 'texts.jsonl']), expected)
  }
  assert.equal(output(['encode', '-x', 'Hello, world!']), '13225 11 2375 0\n')
  assert.equal(
    output(['encode', '-x', 'a\nb', '-f', 'jsonl', '--tokens', '--offsets', 'byte']),
    '{"ids":[64,198,65],"tokens":["a","\\n","b"],"offsets":[[0,1],[1,2],[2,3]]}\n',
  )
})

test('a repository of the Hugging Face Hub', async () => {
  const hub = await startHub({ 'org/name': { files: { 'tokenizer.json': read('tiny.json') } } })
  const env = {
    HF_ENDPOINT: hub.url,
    HF_HUB_CACHE: path.join(folder, 'hub'),
    HF_TOKEN_PATH: path.join(folder, 'none'),
    HF_TOKEN: undefined,
    HF_HUB_OFFLINE: undefined,
  }
  const run = (...args) => startIn(folder, ['encode', '-x', 'hello', '-t', ...args], env).ended
  try {
    for (const name of ['org/name', 'org/name@main'])
      assert.deepEqual(await run(name), { status: 0, signal: null, stdout: '14 11 15\n', stderr: '' })
    assert.match((await run('org/other')).stderr, /^tokenlane: .*org\/other.*HUB_REPO_NOT_FOUND\)\n$/)
  } finally {
    hub.close()
  }
})

test('a path is never looked up on the hub, and a folder contains a tokenizer.json', () => {
  write('model/tokenizer.json', read('tiny.json'))
  write('empty/x.txt', '')
  for (const name of ['model', './model/', 'model/tokenizer.json'])
    assert.equal(output(['encode', '-x', 'hello', '-t', name]), '14 11 15\n')
  for (const name of ['models/tokenizer.json', './models', 'my.json', 'ranks.tiktoken']) {
    refused(['encode', '-x', 'a', '-t', name], 1, /: there is no such file .*FILE_NOT_FOUND/)
  }
  refused(['encode', '-x', 'a', '-t', 'empty'], 1, /empty: this folder has no tokenizer\.json and no tekken\.json/)
  refused(
    ['encode', '-x', 'a', '-t', 'nonsense'],
    1,
    /no tokenizer 'nonsense': it is neither a file, an encoding.*o200k_base/,
  )
})

test('unknown OpenAI models use the newest encoding', () => {
  for (const model of ['gpt-4o', 'gpt-5', 'gpt-5.1', 'gpt-5.1-2025-11-13'])
    assert.equal(output(['encode', '-t', model, '-x', 'Hello, world!']), '13225 11 2375 0\n')
})

test('special tokens in a text: text for an encoding, tokens for a tokenizer.json, or as the option says', () => {
  const input = '<|endoftext|>'
  assert.equal(output(['encode', '-t', 'gpt2'], { input }), '27 91 437 1659 5239 91 29\n')
  assert.equal(output(['encode', '-t', 'gpt2', '--special-tokens', 'parse'], { input }), '50256\n')
  refused(
    ['encode', '-t', 'gpt2', '--special-tokens', 'throw', '-x', input],
    1,
    /say --special-tokens text to encode it as text, or parse to take/,
  )
  refused(['encode', '-t', 'gpt2', '--special-tokens', 'throw'], 1, /standard input, line 2: .*"<\|endoftext\|>"/, {
    input: `a\n${input}`,
  })
  assert.equal(output(['encode', '-t', 'tiny.json', '--no-add-special-tokens'], { input: 'he</s>' }), '8 15\n')
})

test('padding and truncation of the file do not apply to rows', () => {
  const json = JSON.parse(read('tiny.json'))
  json.truncation = { direction: 'Right', max_length: 3, strategy: 'LongestFirst', stride: 0 }
  json.padding = {
    strategy: 'BatchLongest',
    direction: 'Right',
    pad_to_multiple_of: null,
    pad_id: 0,
    pad_type_id: 0,
    pad_token: 'h',
  }
  write('cut.json', JSON.stringify(json))
  const input = 'hello hello\nhe\n'
  assert.equal(output(['encode', '-t', 'cut.json'], { input }), '14 11 4 11 15\n14 8 15\n')
  assert.equal(output(['encode', '-t', 'cut.json', '--max-length', '4'], { input }), '14 11 4 15\n14 8 15\n')
})

test('files, folders and patterns, in order', () => {
  for (const name of ['d/b.txt', 'd/a.txt', 'd/sub/c.md', 'd/sub/.hidden/x.md', 'd/.git/y.txt', 'd/z[1].txt'])
    write(name, 'hello\n')
  const names = (...args) =>
    parseJsonLines(output(['count', '-t', 'tiny.json', '-f', 'jsonl', ...args])).map(({ file }) =>
      file.replaceAll(path.sep, '/'),
    )
  assert.deepEqual(names('d'), ['d/a.txt', 'd/b.txt', 'd/sub/c.md', 'd/z[1].txt'])
  assert.deepEqual(names('d/b.txt', 'd/a.txt'), ['d/b.txt', 'd/a.txt'])
  assert.deepEqual(names('d/*.txt'), ['d/a.txt', 'd/b.txt', 'd/z[1].txt'])
  assert.deepEqual(names('d/**/*.{md,txt}'), ['d/a.txt', 'd/b.txt', 'd/sub/c.md', 'd/z[1].txt'])
  assert.deepEqual(names('**/c.md', './d/[ab].t?t'), ['d/sub/c.md', './d/a.txt', './d/b.txt'])
  assert.deepEqual(names('d/[!a].txt'), ['d/b.txt'])
  assert.deepEqual(names('d/z[1].txt'), ['d/z[1].txt'], 'a file that is there is no pattern')
  assert.deepEqual(names(path.join(folder, 'd', 's*', '*.md')), [
    path.join(folder, 'd/sub/c.md').replaceAll(path.sep, '/'),
  ])
  refused(['count', 'd/*.rs'], 1, /d\/\*\.rs: no file matches/)
  assert.equal(output(['decode', '-x', '[13225, 11]']), 'Hello,\n')
  refused(['decode', '-x', '[1] 2'], 1, /'\[1\]' is not a token id/)
  refused(['decode', '-x', '1 x'], 1, /--ids, line 1: 'x' is not a token id .*_ID/)
  refused(['count', 'nowhere.txt'], 1, /nowhere\.txt: there is no such file .*FILE_NOT_FOUND/)
})

test('count prints like wc', () => {
  write('one.txt', 'hello')
  assert.equal(output(['count', '-t', 'tiny.json', 'one.txt']), '         3  one.txt\n')
  assert.equal(
    output(['count', '-t', 'tiny.json', 'one.txt', 'one.txt']),
    '         3  one.txt\n         3  one.txt\n         6  total\n',
  )
  assert.equal(output(['count', '-t', 'tiny.json'], { input: 'hello' }), '3\n')
  assert.equal(output(['count', '-t', 'tiny.json', '--rows', 'lines'], { input: 'hello\nhello hello\n' }), '3\n5\n')
  assert.equal(
    output(['count', '-t', 'tiny.json', '--rows', 'lines', '--total'], { input: 'hello\nhello hello\n' }),
    '8\n',
  )
  assert.equal(output(['count', '-x', 'Hello, world!', '-t', 'gpt-4o']), '4\n')
  assert.equal(
    output(['count', '-t', 'tiny.json', '-f', 'jsonl', '--rows', 'lines', 'one.txt']),
    '{"file":"one.txt","line":1,"tokens":3}\n',
  )
})

test('gzip and Zstandard are detected by content', () => {
  const plain = Buffer.from(texts(60, 4000).join('\n'))
  const expected = output(['encode', '-t', 'r50k_base'], { input: plain })
  const half = plain.length >> 1
  const skipped = Buffer.concat([Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0]), Buffer.from('abc')])
  const forms = {
    gzip: zlib.gzipSync(plain),
    'gzip of two members': Buffer.concat(
      [plain.subarray(0, half), plain.subarray(half)].map((part) => zlib.gzipSync(part)),
    ),
    zstd: stored(plain),
    'zstd of two frames and one that is skipped': Buffer.concat([
      stored(plain.subarray(0, half)),
      skipped,
      stored(plain.subarray(half)),
    ]),
  }
  for (const [form, bytes] of Object.entries(forms)) {
    write('text.txt', bytes)
    assert.equal(output(['encode', '-t', 'r50k_base', 'text.txt']), expected, form)
    assert.equal(output(['encode', '-t', 'r50k_base'], { input: bytes }), expected, `${form} over standard input`)
    write('cut.txt', bytes.subarray(0, bytes.length - 40))
    refused(['encode', '-t', 'r50k_base', 'cut.txt'], 1, /cut\.txt: its (gzip|Zstandard) data is damaged/)
  }
  // Written by zstd 1.5 with -19: 2,000 lines "hello <number>".
  const compressed = fs.readFileSync(new URL('../testdata/lines.zst', import.meta.url))
  const lines = Array.from({ length: 2000 }, (_, index) => `hello ${index}\n`).join('')
  write('lines', compressed)
  assert.equal(output(['encode', '-t', 'gpt2', 'lines']), output(['encode', '-t', 'gpt2'], { input: lines }))
  for (const short of ['', '\x1f', '(']) assert.equal(run(['count', '-t', 'gpt2'], { input: short }).status, 0)
})

test('decode returns the encoded rows', () => {
  const plain = `${texts(30, 500).join('\n')}\n`
  const ids = output(['encode', '-t', 'p50k_base'], { input: plain })
  assert.equal(output(['decode', '-t', 'p50k_base'], { input: ids }), plain)
  assert.equal(output(['decode', '-x', '13225, 11 2375,0']), 'Hello, world!\n')
  const objects = output(['encode', '-t', 'p50k_base', '-f', 'jsonl'], { input: plain })
  assert.equal(output(['decode', '-t', 'p50k_base', '--from', 'jsonl'], { input: objects }), plain)
  assert.equal(
    output(['decode', '-t', 'tiny.json', '--from', 'jsonl', '-f', 'jsonl', '--field', 'a.b'], {
      input: '[11]\n\n{"a":{"b":[14,8]}}',
    }),
    '{"text":"hello"}\n{"text":"<s>he"}\n',
  )
  assert.equal(output(['decode', '-t', 'tiny.json', '--skip-special-tokens'], { input: '14 8 15' }), 'he\n')
})

test('errors are one line, with the file and the line number', () => {
  write('bad.txt', Buffer.from('hello\nhe\xffllo\n', 'latin1'))
  refused(['encode', '-t', 'tiny.json', 'bad.txt'], 1, /bad\.txt, line 2: .*not valid UTF-8.*INVALID_UTF8/)
  refused(['count', '-t', 'tiny.json', 'bad.txt'], 1, /bad\.txt: .*not valid UTF-8/)
  refused(['count', '-t', 'tiny.json', '--field', 'a'], 1, /standard input, line 2: it is not valid JSON/, {
    input: '{"a":"b"}\n{a',
  })
  refused(
    ['count', '-t', 'tiny.json', '--field', 'a.b'],
    1,
    /line 3: the field 'a\.b' must be a string, but it is of the type number .*FIELD/,
    { input: '{"a":{"b":"x"}}\n\n{"a":{"b":1}}' },
  )
  refused(['count', '-t', 'tiny.json', '--field', '__proto__'], 1, /the field is missing/, { input: '{}' })
  refused(['decode', '-t', 'tiny.json', '-x', '1 x'], 1, /'x' is not a token id/)
  refused(['decode', '-t', 'gpt2', '-x', '99999999'], 1, /line 1: there is no token with the id 99999999 .*UNKNOWN_ID/)
  refused(['decode', '-t', 'tiny.json', '--from', 'jsonl'], 1, /-1 is not a token id/, { input: '[-1]' })
  refused(['encode', '-t', 'gpt-17x', '-x', 'a'], 1, /no tokenizer 'gpt-17x'.*o200k_base.*UNKNOWN_TOKENIZER/)
  refused(['encode', '-t', 'bad.txt', '-x', 'a'], 1, /bad\.txt.*UNKNOWN_FORMAT/)
  refused(['count', '-t', 'tiny.json', '--field', 'a'], 1, /it is not valid JSON: [^\x1b\u202e]*‹001b›\[31m‹202e›/, {
    input: '\x1b[31m\u202e',
  })
  const ranks = fileURLToPath(new URL('../../encodings/r50k_base.tiktoken', import.meta.url))
  refused(['encode', '-t', ranks, '-x', 'a'], 1, /'--encoding'.*PATTERN_MISSING/)
  assert.equal(output(['encode', '-t', ranks, '--encoding', 'r50k_base', '-x', 'a']), '64\n')
})

test('an incomplete command line ends with exit code 2', () => {
  fs.mkdirSync(path.join(folder, 'd'), { recursive: true })
  const wrong = [
    [['frobnicate'], /no command 'frobnicate'; the commands are encode, decode, count/],
    [['encode', '--fromat', 'x'], /no option '--fromat'; did you mean '--format'/],
    [['encode', '-Z'], /no option '-Z'/],
    [['encode', '--format', 'xml'], /'--format' must be one of text, jsonl, npy, bin, parquet, but it is 'xml'/],
    [['encode', '--format'], /'--format' needs a value/],
    [['encode', '--quiet=yes'], /'--quiet' takes no value/],
    [['encode', '--threads', '0', '-x', 'a'], /'--threads' must be a whole number from 1 to 256, but it is '0'/],
    [['encode', '-t', 'gpt2', '-t', 'gpt2'], /'-t' is given twice/],
    [['encode', '-x', 'a', 'b.txt'], /files or '--text', not both/],
    [['encode', '--rows', 'files', '--field', 'a'], /'--field' reads lines/],
    [['encode', '--tokens', '-x', 'a'], /'--format jsonl'/],
    [['encode', '-f', 'npy', '-x', 'a'], /two files: name the first with '--output'/],
    [['encode', '-f', 'npy', '-o', '-', '-x', 'a'], /two files: name the first with '--output'/],
    [['decode', '-x', '1', 'b.txt'], /files or '--ids', not both/],
    [['encode', '-o', 'd', '-x', 'a'], /the output d is a folder/],
    [['encode', '--frob', '-x', 'a'], /there is no option '--frob'; --help --all lists the options/],
    [['encode', '-t', 'gpt2', '--encoding', 'gpt2', '-x', 'a'], /'--encoding' is for rank files/],
  ]
  for (const [args, message] of wrong) refused(args, 2, message)
  const nothing = run([])
  assert.equal(nothing.status, 2)
  assert.match(nothing.stderr, /Usage: tokenlane COMMAND/)
})

test('help lists every option, and its examples work', () => {
  const overview = output(['--help'])
  const commands = [...overview.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name)
  assert.ok(commands.length >= 3)
  for (const name of commands) {
    const help = output([name, '--help', '--all'])
    assert.match(help, /Usage:[^]*Options:[^]*--help[^]*Examples:\n {2}# [^]*tokenlane /)
    for (const line of help.split('\n')) assert.ok(line.length <= 100 || line.includes('tokenlane '), line)
  }
  assert.equal(output(['help', 'encode']), output(['encode', '-h']))
  assert.equal(output(['help', 'encode', '--all']), output(['encode', '-h', '--all']))
  assert.match(output(['--version']), /^\d+\.\d+\.\d+\n$/)
})

test('the output file gets its name when it is complete', () => {
  write('out.txt', 'old')
  refused(['encode', '-t', 'gpt2', 'bad.txt', '-o', 'out.txt'], 1, /bad\.txt/)
  assert.equal(read('out.txt').toString(), 'old')
  assert.equal(output(['encode', '-t', 'gpt2', '-x', 'a', '-o', 'out.txt']), '')
  assert.equal(read('out.txt').toString(), '64\n')
  // On Windows only administrators can create links.
  if (process.platform === 'win32') fs.copyFileSync(path.join(folder, 'out.txt'), path.join(folder, 'link.txt'))
  else fs.symlinkSync('out.txt', path.join(folder, 'link.txt'))
  output(['encode', '-t', 'gpt2', '-x', 'aa', '-o', 'link.txt'])
  assert.equal(fs.lstatSync(path.join(folder, 'link.txt')).isSymbolicLink(), process.platform !== 'win32')
  assert.equal(read('link.txt').toString(), '7252\n')
  // A link to a file that is not there yet.
  if (process.platform !== 'win32') {
    fs.symlinkSync('later.txt', path.join(folder, 'early.txt'))
    output(['encode', '-t', 'gpt2', '-x', 'a', '-o', 'early.txt'])
    assert.equal(fs.readlinkSync(path.join(folder, 'early.txt')), 'later.txt')
    assert.equal(read('later.txt').toString(), '64\n')
  }
  refused(
    ['encode', '-t', 'gpt2', '-x', 'a', '-o', 'nowhere/out.txt'],
    1,
    /nowhere\/out\.txt: there is no folder nowhere/,
  )
  assert.deepEqual(
    fs.readdirSync(folder).filter((name) => name.endsWith('.part')),
    [],
  )
})

function* endless(text) {
  for (;;) yield text
}

test('Ctrl-C leaves no partial output', {
  skip: process.platform === 'win32' && 'there are no such signals',
}, async () => {
  write('kept.txt', 'old')
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    const { child, ended } = startIn(folder, ['encode', '-t', 'gpt2', '-o', 'kept.txt'])
    const isThere = () =>
      fs.readdirSync(folder).find((name) => name.endsWith('.part') && fs.statSync(path.join(folder, name)).size > 0)
    // The input is endless, so that the process is busy whenever the signal arrives.
    const lines = Readable.from(endless('the quick brown fox\n'.repeat(10_000)))
    pipeline(lines, child.stdin, () => {})
    while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill(signal)
    assert.equal((await ended).status, status)
    assert.equal(read('kept.txt').toString(), 'old')
    assert.deepEqual(
      fs.readdirSync(folder).filter((name) => name.endsWith('.part')),
      [],
    )
  }
})

test('a reader that closes the pipe early is not an error', {
  skip: process.platform === 'win32' && 'there is no such pipe',
}, async () => {
  write('many.txt', 'the quick brown fox\n'.repeat(300_000))
  const { child, ended, written } = startIn(folder, ['encode', '-t', 'gpt2', 'many.txt'])
  child.stdout.once('data', () => child.stdout.destroy())
  const { status } = await ended
  assert.equal(written.stderr, '')
  assert.equal(status, 0)
})
