// tokenlane train.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'
import { barStateOf } from '../commands/train-progress.mjs'
import { folderWithTokenizer, main, runIn } from '../../../__test__/support/cli.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)
const lines = Array.from({ length: 400 }, (_, line) => `the cat ${line % 7} sat on the mat ${line % 11}`)
fs.mkdirSync(path.join(folder, 'data'))
fs.writeFileSync(path.join(folder, 'data', 'a.txt'), `${lines.join('\n')}\n`)
const rows = lines.map((body) => `${JSON.stringify({ body })}\n`).join('')
fs.writeFileSync(path.join(folder, 'rows.jsonl'), rows)

test('a tokenizer, and its comparison on texts that were held out', () => {
  const out = path.join('data', 'new.json')
  const args = ['train', 'data', '--vocab-size', '265', '-o', out, '--special-token', '<eos>', '--against', 'r50k_base']
  const { status, stdout, stderr } = run(args)
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  assert.match(stdout, /^data[\\/]new\.json: 265 tokens, from 400 texts \(0\.0 MiB\) in [\d.]+ s\n/)
  assert.match(stdout, /on 4 texts .* not trained on:\n +\d\.\d\d {2}data[\\/]new\.json\n +\d\.\d\d {2}r50k_base\n$/)
  const file = fs.readFileSync(path.join(folder, out))
  const tokenizer = Tokenizer.fromFileSync(path.join(folder, out))
  assert.equal(tokenizer.tokenToId('<eos>'), 0)
  // The output in the folder of the inputs is no input, and does not change the result.
  assert.equal(run(args).status, 0)
  assert.deepEqual(fs.readFileSync(path.join(folder, out)), file)
  fs.rmSync(path.join(folder, out))
})

test('a field of JSON Lines, like another tokenizer, as JSON', () => {
  const args = ['train', 'rows.jsonl', '--field', 'body', '--like', 'gpt-4o', '--vocab-size', '265', '--held-out', '0']
  const { status, stdout, stderr } = run([...args, '-o', 'like.json', '--json'])
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  const { seconds, ...summary } = JSON.parse(stdout)
  assert.ok(seconds > 0)
  assert.deepEqual(summary, {
    output: 'like.json',
    vocabSize: 265,
    texts: 400,
    bytes: rows.length,
    skipped: 0,
    heldOut: { texts: 0, bytes: 0 },
    tokenizers: [],
  })
  const alone = run([...args, '-o', '-', '--against', 'r50k_base'])
  assert.equal(alone.status, 2)
  assert.match(alone.stderr, /'--against' compares on texts that are held out/)
  const whole = run([...args, '-o', '-'])
  assert.deepEqual(JSON.parse(whole.stdout), JSON.parse(fs.readFileSync(path.join(folder, 'like.json'), 'utf8')))
  assert.match(whole.stderr, /265 tokens/)
})

test('other models', () => {
  const args = [
    'train',
    'data/a.txt',
    '--model',
    'unigram',
    '--vocab-size',
    '60',
    '--shrinking-factor',
    '0.5',
    '-o',
    'u.json',
  ]
  assert.equal(run(args).status, 0)
  assert.equal(JSON.parse(fs.readFileSync(path.join(folder, 'u.json'), 'utf8')).model.type, 'Unigram')
  // The folder of a new model is created.
  assert.equal(run([...args.slice(0, -1), 'model/new/u.json']).status, 0)
  assert.ok(fs.existsSync(path.join(folder, 'model/new/u.json')))
  const inFile = run([...args.slice(0, -1), 'u.json/u.json'])
  assert.deepEqual([inFile.status, inFile.stdout], [1, ''])
  assert.match(inFile.stderr, /^tokenlane: u\.json: /)
})

test('a page about a tokenizer', () => {
  const grouped = lines
    .map((text, line) => `${JSON.stringify({ text, language: line % 2 ? 'en' : '<de>' })}\n`)
    .join('')
  fs.writeFileSync(path.join(folder, 'grouped.jsonl'), grouped)
  assert.equal(
    run(['train', 'data', '--model', 'unigram', '--vocab-size', '60', '-o', 'page.json', '--quiet']).status,
    0,
  )
  const args = ['train', 'report', 'page.json', 'grouped.jsonl', '--group-by', 'language', '--against', 'r50k_base']
  const { status, stdout, stderr } = run([...args, '-o', 'report.html'])
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  assert.match(stdout, /^report\.html: 400 texts \(0\.0 MiB\)\n$/)
  const page = fs.readFileSync(path.join(folder, 'report.html'), 'utf8')
  for (const part of [
    'Compared',
    'By language or source',
    '&lt;de&gt;',
    '<svg',
    'Examples',
    'The newest tokens',
    'Never used',
  ])
    assert.ok(page.includes(part), part)
  assert.ok(!page.includes('<script'))
  // A line of the curve stands where its label says: heights are proportional to the values.
  const grid = [...page.matchAll(/<line [^>]*y1="([\d.]+)"[^>]*\/><text [^>]*>([\d.]+)<\/text>/g)]
  assert.ok(grid.length >= 3)
  for (const [, y, value] of grid) {
    const height = (225 * Number(value)) / Number(grid.at(-1)[2])
    const last = 265 - Number(grid.at(-1)[1])
    assert.ok(Math.abs((265 - Number(y)) * (225 / last) - height) < 0.2, `${value} at ${y}`)
  }
  const file = fs.readFileSync(path.join(folder, 'page.json'))
  for (const own of [['page.json'], ['r50k_base', '--against', 'page.json']])
    assert.match(
      run(['train', 'report', ...own, 'grouped.jsonl', '-o', 'page.json']).stderr,
      /page\.json is the same file as the input page\.json: .*OUTPUT_IS_INPUT/,
    )
  assert.deepEqual(fs.readFileSync(path.join(folder, 'page.json')), file)
  assert.equal(run(['train', 'report', 'page.json', '-o', 'x.html']).status, 2)
  assert.equal(run(['train', 'report', '-o', 'x.html']).status, 2)
})

test('mistakes', () => {
  const fails = (args, status, message) => {
    const result = run(['train', ...args])
    assert.equal(result.status, status, result.stderr)
    assert.match(result.stderr, message)
  }
  fails(['-o', 'x.json'], 2, /nothing to read/)
  fails(['data'], 2, /--output/)
  fails(['data', '--vocabsize', '3', '-o', 'x.json'], 2, /did you mean '--vocab-size'/)
  fails(['data', '--like', 'gpt4o', '-o', 'x.json'], 1, /did you mean 'gpt-4o'/)
  fails(
    ['data', '--model', 'wordlevel', '--max-token-length', '3', '-o', 'x.json'],
    2,
    /maxTokenLength is for the model bpe/,
  )
  fails(['data', '--shrinking-factor', '2', '-o', 'x.json'], 2, /between 0 and 1/)
  fails(['data', '--model', 'unigram', '--vocab-size', '3', '-o', 'x.json'], 1, /TRAIN_VOCABULARY/)
  fails(['rows.jsonl', '-o', 'x.json'], 1, /rows\.jsonl, line 1.*'text'/)
  fails(['rows.jsonl', '--field', 'body', '-o', 'rows.jsonl'], 1, /OUTPUT_IS_INPUT/)
  assert.ok(!fs.existsSync(path.join(folder, 'x.json')))
})

test('a tokenizer is extended', () => {
  fs.writeFileSync(path.join(folder, 'coined.txt'), 'the zyqvorth and the blinkmurgle\n'.repeat(400))
  const args = ['train', 'extend', 'r50k_base', 'coined.txt', '--new-tokens', '3', '-o', 'more.json']
  const { status, stdout, stderr } = run(args)
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  const [first, second, third] = stdout.split('\n')
  assert.match(first, /^more\.json: 50,260 tokens, 3 of them new, for 400 texts \(0\.0 MiB\) in [\d.]+ s$/)
  assert.match(second, /^the first new ones: "\S+" "\S+" "\S+"$/)
  assert.match(
    third,
    /^the texts: [\d,]+ tokens before, [\d,]+ now \(-[\d.]+ %\); \d\.\d\d and \d\.\d\d bytes per token$/,
  )
  const { newTokens, effect, seconds, ...others } = JSON.parse(run([...args, '--json']).stdout)
  const bytes = fs.statSync(path.join(folder, 'coined.txt')).size
  assert.deepEqual(others, { output: 'more.json', texts: 400, bytes, skipped: 0 })
  assert.ok(seconds > 0)
  const [before, now] = [
    Tokenizer.fromEncodingSync('r50k_base'),
    Tokenizer.fromFileSync(path.join(folder, 'more.json')),
  ]
  const tokens = (tokenizer) => 400 * tokenizer.encode('the zyqvorth and the blinkmurgle\n').ids.length
  assert.deepEqual(effect, {
    bytes,
    tokensBefore: tokens(before),
    tokensAfter: tokens(now),
    vocabularyBefore: 50_257,
    vocabularyAfter: 50_260,
  })
  assert.deepEqual(
    newTokens.map(({ id }) => id),
    [50_257, 50_258, 50_259],
  )
  assert.ok(effect.tokensAfter < effect.tokensBefore)
})

test('a tokenizer is pruned, with a map of ids beside it', () => {
  const args = ['train', 'prune', 'r50k_base', 'data', '-o', path.join('data', 'less.json')]
  const { status, stdout, stderr } = run(args)
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  assert.match(stdout, /^data[\\/]less\.json: \d+ of 50,257 tokens, used by 400 texts .*\ndata[\\/]less\.ids\.json: /)
  assert.match(stdout, /\(as before\)/)
  const ids = JSON.parse(fs.readFileSync(path.join(folder, 'data', 'less.ids.json'), 'utf8'))
  const [before, after] = [Tokenizer.fromEncodingSync('r50k_base'), path.join(folder, 'data', 'less.json')]
  assert.deepEqual(
    [...Tokenizer.fromFileSync(after).encode('the cat sat').ids],
    Array.from(before.encode('the cat sat').ids, (id) => ids[id]),
  )
  // Both files are in the folder of the inputs, and neither is an input.
  const { effect, seconds, ...again } = JSON.parse(run([...args, '--json', '--quiet']).stdout)
  const names = { output: path.join('data', 'less.json'), ids: path.join('data', 'less.ids.json') }
  assert.deepEqual(again, { ...names, texts: 400, bytes: lines.join('\n').length + 1, skipped: 0 })
  assert.deepEqual([effect.vocabularyBefore, effect.vocabularyAfter], [50_257, Object.keys(ids).length])
  assert.ok(seconds > 0 && effect.tokensBefore === effect.tokensAfter)
  for (const name of ['less.json', 'less.ids.json']) fs.rmSync(path.join(folder, 'data', name))
  const toPipe = run(['train', 'prune', 'r50k_base', 'data', '-o', '-', '--ids', 'map.json'])
  assert.deepEqual(JSON.parse(fs.readFileSync(path.join(folder, 'map.json'), 'utf8')), ids)
  assert.match(toPipe.stderr, /^-: /)
  assert.equal(Object.keys(JSON.parse(toPipe.stdout).model.vocab).length, Object.keys(ids).length - 1)
})

test('mistakes with extend and prune', () => {
  const fails = (args, status, message) => {
    const result = run(['train', ...args])
    assert.equal(result.status, status, result.stderr)
    assert.match(result.stderr, message)
  }
  fails(['extend', '-o', 'x.json'], 2, /name a tokenizer/)
  fails(['prune', 'gpt-4o', '-o', 'x.json'], 2, /nothing to read/)
  fails(['prune', 'gpt-4o', 'data'], 2, /--output/)
  fails(['prune', 'r50k_base', 'data', '-o', '-'], 2, /--ids/)
  fails(['prune', 'r50k_base', 'data', '-o', 'x.json', '--ids', 'x.json'], 2, /the same file/)
  fails(['extend', 'gpt4o', 'data', '-o', 'x.json'], 1, /did you mean 'gpt-4o'/)
  fails(['extend', 'r50k_base', 'data/none', '-o', 'x.json'], 1, /FILE_NOT_FOUND/)
  assert.ok(!fs.existsSync(path.join(folder, 'x.json')) && !fs.existsSync(path.join(folder, 'x.ids.json')))
})

test('a training in a work folder says which inputs it leaves out, and nothing else', () => {
  fs.writeFileSync(path.join(folder, 'utf16.txt'), Buffer.from('fffe61006200', 'hex'))
  const args = ['train', 'data', 'utf16.txt', '--vocab-size', '265', '--on-error', 'skip', '-o', 'job.json']
  const { status, stdout, stderr } = run([...args, '--work-dir', 'work'])
  assert.equal(status, 0, stderr)
  assert.match(stderr, /^tokenlane: left out: utf16\.txt: it is UTF-16[^\n]*\n$/)
  assert.match(stdout, /^job\.json: 265 tokens, from 400 texts [^\n]*\nskipped: 1 text or input\n$/)
})

const noTerminal =
  spawnSync('script', ['-qec', 'true', '/dev/null'], { input: '' }).status !== 0 &&
  'there is no program `script` that makes a terminal'

test('on a terminal, a bar counts the texts, and is gone before the summary', { skip: noTerminal }, () => {
  const command = `stty cols 120; ${process.execPath} ${main} train data --vocab-size 265 -o bar.json`
  const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { cwd: folder, encoding: 'utf8' })
  const plain = stdout.replace(/\x1b\[\d*m/g, '')
  assert.match(plain, /counting words · 0\.0 MiB · 400 texts · 0 s left/)
  const end = plain.indexOf('bar.json: 265 tokens, from 400 texts')
  const bar = plain.slice(0, end)
  assert.ok(end > 0 && bar.lastIndexOf('\x1b[?25h') > bar.lastIndexOf('\x1b[?25l'), JSON.stringify(plain))
  assert.equal(
    bar
      .slice(bar.lastIndexOf('\x1b[?25h'))
      .replace(/\x1b\[\??\d*[A-Za-z]/g, '')
      .trim(),
    '',
  )
})

test('the words beside the bar of each phase', () => {
  const count = { phase: 'count', bytes: 3 << 20, texts: 1, skipped: 0, seconds: 3 }
  assert.deepEqual(barStateOf({ ...count, allBytes: 12 << 20, left: 9 }), [
    0.25,
    ['counting words', '3.0 MiB', '1 text', '9 s left'],
  ])
  assert.deepEqual(barStateOf(count), [undefined, ['counting words', '3.0 MiB', '1 text', '? left']])
  for (const [phase, words] of [
    ['words', 'sorting words'],
    ['pairs', 'counting pairs'],
    ['merges', 'merging pairs'],
    ['seeds', 'looking for pieces'],
    ['estimate', 'estimating pieces'],
    ['prune', 'pruning pieces'],
    ['encode', 'encoding words'],
  ]) {
    assert.deepEqual(barStateOf({ phase, done: 1, total: 4, tokens: 1200 }), [0.25, [words, '1,200 tokens']])
    assert.deepEqual(barStateOf({ phase, done: 0, total: 0, tokens: 0 }), [0, [words]])
  }
})
