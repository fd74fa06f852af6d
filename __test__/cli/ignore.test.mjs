// `.gitignore` and --exclude, several tokenizers beside each other, and completion.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { Ignored } from '../../cli/input/ignore.mjs'
import { folderWithTokenizer, runIn } from '../support/cli.mjs'
import { parseJsonLines } from '../support/json-lines.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)

function output(...args) {
  const { status, stdout, stderr } = run(args)
  assert.equal(status, 0, stderr)
  return stdout
}

const RULES = [
  '# a comment',
  'dist/',
  '*.log',
  '!keep.log',
  '/top.txt',
  'a/**/z.txt',
  '**/deep',
  'x[0-9]?.md',
  'n[!a]o',
  'sub/*.csv',
  'end/**',
  '\\#odd',
  'space\\ ',
  '',
]
const FILES = [
  'dist/in.txt',
  'dist.txt',
  'b.log',
  'keep.log',
  'top.txt',
  'sub/top.txt',
  'a/z.txt',
  'a/b/c/z.txt',
  'q/a/z.txt',
  'sub/deep/one.txt',
  'x1a.md',
  'xx1.md',
  'nbo',
  'nao',
  'sub/t.csv',
  'sub/more/t.csv',
  'end/one/two.txt',
  '#odd',
  'space ',
  'sub/dist',
]

test('files that .gitignore names are left out as Git leaves them out', (t) => {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-ignore-'))
  t.after(() => fs.rmSync(place, { recursive: true }))
  for (const file of FILES) {
    fs.mkdirSync(path.dirname(path.join(place, file)), { recursive: true })
    fs.writeFileSync(path.join(place, file), 'text')
  }
  fs.writeFileSync(path.join(place, '.gitignore'), RULES.join('\n'))
  fs.writeFileSync(path.join(place, 'sub', '.gitignore'), '!top.txt\nmore/')
  const counted = (...args) =>
    parseJsonLines(runIn(place)(['count', '--json', ...args]).stdout).map(({ file }) => file.replaceAll(path.sep, '/'))
  const kept = ['dist.txt', 'keep.log', 'nao', 'q/a/z.txt', 'sub/dist', 'sub/top.txt', 'xx1.md']
  assert.deepEqual(counted('.'), kept)
  const git = (...args) => spawnSync('git', args, { cwd: place, encoding: 'utf8' })
  if (git('init', '-q').status === 0) {
    const listed = git('ls-files', '-z', '--others', '--exclude-standard').stdout.split('\0')
    assert.deepEqual(listed.filter((name) => name !== '' && !name.includes('.gitignore')).sort(), kept)
    assert.deepEqual(counted('sub'), ['sub/dist', 'sub/top.txt'], 'rules of the folder above, in a repository')
  }
  assert.equal(counted('--no-ignore', '.').length, FILES.length)
  assert.deepEqual(counted('--exclude', 'sub/', '--exclude', '*.md', '.'), ['dist.txt', 'keep.log', 'nao', 'q/a/z.txt'])
  const matched = parseJsonLines(runIn(place)(['count', '--json', '--exclude', '*.log', '*.log', '*.txt']).stdout || '')
  assert.deepEqual(matched, [])
  assert.equal(runIn(place)(['count', '--exclude', '', '.']).status, 2)
  assert.equal(runIn(place)(['count', 'b.log']).status, 0, 'a file that the command line names is read')
})

test('patterns take time in proportion to their length', () => {
  const ignored = new Ignored([`${'*a'.repeat(200)}b`, '**/'.repeat(300)], false)
  assert.equal(ignored.isExcluded('a'.repeat(3000), false), false)
})

test('count compares tokenizers side by side', () => {
  fs.writeFileSync(path.join(folder, 'one.txt'), 'größer')
  fs.writeFileSync(path.join(folder, 'two.txt'), 'Hello, world!')
  const count = (name, text) => Tokenizer.fromEncodingSync(name).count(text)
  const names = ['o200k_base', 'cl100k_base']
  const [one, two] = ['größer', 'Hello, world!'].map((text) => names.map((name) => count(name, text)))
  const line = (list) => list.map((value) => String(value).padStart(10)).join('  ')
  const args = ['count', '-t', names[0], '-t', names[1]]
  assert.equal(
    output(...args, 'one.txt', 'two.txt'),
    `${line(names)}\n${line(one)}  one.txt\n${line(two)}  two.txt\n${line([one[0] + two[0], one[1] + two[1]])}  total\n`,
  )
  const object = (counts) => ({ [names[0]]: counts[0], [names[1]]: counts[1] })
  assert.deepEqual(parseJsonLines(output(...args, '--json', 'one.txt')), [{ file: 'one.txt', tokens: object(one) }])
  assert.deepEqual(JSON.parse(output(...args, '--json', '--total', 'one.txt')), { tokens: object(one) })
  assert.equal(run([...args, 'one.txt', '-f', 'parquet', '-o', 'x.parquet']).status, 2)
})

test('decode says how ids are given, and encode and decode know --json', () => {
  const { status, stderr } = run(['decode', '13225,', '11'])
  assert.equal(status, 2)
  assert.match(stderr, /tokenlane decode -x '13225, 11'/)
  assert.equal(output('encode', '--json', '-x', 'Hello, world!'), '{"ids":[13225,11,2375,0]}\n')
  assert.equal(output('decode', '--json', '-x', '13225 11'), '{"text":"Hello,"}\n')
})

test('a text in UTF-16 is named', () => {
  const text = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Hello', 'utf16le')])
  fs.writeFileSync(path.join(folder, 'wide.txt'), text)
  fs.writeFileSync(path.join(folder, 'ids.bin'), Uint16Array.of(0xfeff, 11))
  fs.mkdirSync(path.join(folder, 'wide'))
  const big = Buffer.from('Hello, wörld 中\n', 'utf16le').swap16()
  fs.writeFileSync(path.join(folder, 'wide', 'big.txt'), big)
  for (const input of ['wide.txt', 'wide', 'wide/big.txt']) {
    for (const args of [['count'], ['encode'], ['split', '-n', '9'], ['inspect']]) {
      const { status, stderr } = run([...args, input])
      assert.equal(status, 1)
      assert.match(stderr, /\.txt: it is UTF-16.*iconv.*INVALID_UTF8/, `${args} ${input}`)
    }
  }
  assert.match(run(['count'], { input: big }).stderr, /standard input: it is UTF-16/)
  for (const args of [
    ['corpus', 'wide', '-o', 'tokens'],
    ['train', 'wide', '--vocab-size', '300', '-o', 'new.json'],
  ]) {
    const { status, stderr } = run(args)
    assert.equal(status, 1, stderr)
    assert.match(stderr, /big\.txt: it is UTF-16.*INVALID_UTF8/, args[0])
  }
  assert.doesNotMatch(run(['decode', 'ids.bin']).stderr, /UTF-16/)
})

test('completion prints scripts that shells read', () => {
  const help = Array.from(output('help').matchAll(/^ {2}(\w+) {2,}(\w.*)$/gm), ([, ...line]) => line)
  const summaries = Object.fromEntries(help)
  const commands = Object.keys(summaries)
  assert.ok(commands.length >= 10)
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = output('completion', shell)
    assert.match(script, /special-tokens/)
    const checked = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' })
    if (checked.error === undefined) assert.equal(checked.status, 0, checked.stderr)
    for (const command of commands)
      assert.match(script, new RegExp(`[\\s'"]${command}[\\s'")|]`), `${shell} ${command}`)
  }
  // The summaries are those of the help.
  const fish = output('completion', 'fish')
  for (const [command, summary] of Object.entries(summaries)) {
    const line = fish.split('\n').find((text) => text.includes(`__fish_use_subcommand -f -a ${command} `))
    assert.equal(line?.split(' -d ')[1], `'${summary.replaceAll("'", "\\'")}'`, command)
  }
  const script = output('completion', 'bash')
  const tried = spawnSync(
    'bash',
    ['-c', `${script}\nCOMP_WORDS=(tokenlane count --rows ''); COMP_CWORD=3; _tokenlane; echo "\${COMPREPLY[@]}"`],
    {
      encoding: 'utf8',
    },
  )
  if (tried.error === undefined) assert.equal(tried.stdout, 'lines files\n')
  assert.equal(run(['completion']).status, 2)
  assert.equal(run(['completion', 'tcsh']).status, 2)
})
