// npx tokenlane: split, inspect, bench, and the output on a terminal.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { folderWithTokenizer, main, runIn } from '../support/cli.mjs'
import { text, texts } from '../support/texts.mjs'
import { parseJsonLines } from '../support/json-lines.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)
const write = (name, content) => fs.writeFileSync(path.join(folder, name), content)

function output(args, options) {
  const { status, stdout, stderr } = run(args, options)
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`)
  return stdout
}
const objects = (...call) => parseJsonLines(output(...call))

test('split: pieces of files, lines and fields equal those of the library', () => {
  const tokenizer = Tokenizer.fromEncodingSync('cl100k_base')
  const whole = text(30_000)
  write('whole.txt', whole)
  const options = { maxTokens: 100, overlap: 10, boundary: 'sentence' }
  const pieces = (text) =>
    tokenizer
      .split(text, { ...options, specialTokens: 'text' })
      .map(({ text, start, end, count }) => ({ start, end, tokens: count, text }))
  const args = ['split', '-t', 'cl100k_base', '-n', '100', '--overlap', '10', '--boundary', 'sentence']
  assert.deepEqual(
    objects([...args, 'whole.txt']),
    pieces(whole).map((piece) => ({ file: 'whole.txt', ...piece })),
  )
  const lines = texts(5, 900).map((line) => line.replaceAll('\n', ' '))
  const expected = lines.flatMap((line, index) =>
    pieces(line).map((piece) => ({ file: 'standard input', line: index + 1, ...piece })),
  )
  assert.deepEqual(objects([...args, '--rows', 'lines'], { input: lines.join('\n') }), expected)
  assert.deepEqual(
    objects([...args, '--field', 't'], { input: lines.map((t) => JSON.stringify({ t })).join('\n') }),
    expected,
  )
  assert.equal(
    output(['split', '-t', 'tiny.json', '-n', '3', '-f', 'text', '-x', 'hellohe']),
    '── --text, 0–5: 3 tokens ──\nhello\n── --text, 5–7: 3 tokens ──\nhe\n',
  )
})

test('split: invalid options', () => {
  const wrong = [
    [[], 2, /'--max-tokens N' is required/],
    [['-n', '10', '--overlap', '10'], 2, /'--overlap' must be less/],
    [['-n', '1', '-t', 'tiny.json', '-x', 'a'], 1, /--text: .*LIMIT_TOO_SMALL/],
    [['-n', '9', '--rows', 'lines', 'bad.txt'], 1, /bad\.txt, line 2: it is not valid UTF-8/],
    [['-n', '9', 'bad.txt'], 1, /bad\.txt: it is not valid UTF-8 .*INVALID_UTF8/],
  ]
  write('bad.txt', Buffer.from('a\n\xff', 'latin1'))
  for (const [args, status, message] of wrong) {
    const result = run(['split', ...args])
    assert.match(result.stderr, message)
    assert.equal(result.status, status)
  }
})

test('inspect: each token with its id, offsets, bytes and text', () => {
  const shown = output(['inspect', '-t', 'gpt2', '-x', 'é 🚀\n\x1b[31m'])
  assert.match(shown, /^gpt2: \d+ tokens, 9 characters, 13 bytes\n\né│‹20 f0 9f›│‹9a›│‹80›│⏎\n‹001b›│/)
  assert.match(shown, /^ *1 +12520 +1–4 +20 f0 9f +‹20 f0 9f› part of ·🚀$/m)
  assert.ok(!shown.includes('\x1b'), 'neither colours nor what the text tries')
  assert.match(
    output(['inspect', '-t', 'tiny.json', '-x', 'he</s>']),
    /<s>│he│<\/s>│<\/s>\n[^]*–.*<s> added\n.*0–2.*he\n.*2–6.*<\/s> special\n/,
  )
  assert.match(output(['inspect', '--limit', '1', '-x', 'Hello, world!']), /… and 3 tokens more; '--limit 4' shows all/)
  const [token] = objects(['inspect', '-f', 'jsonl', '-x', ' naïve'])
  assert.deepEqual(token, {
    index: 0,
    id: 153475,
    token: ' naï',
    kind: 'text',
    start: 0,
    end: 4,
    text: ' naï',
    bytes: '20 6e 61 c3 af',
  })
  assert.equal(
    output(['inspect', '-t', 'gpt2', '-t', 'gpt-4o', '-x', 'a']).match(/1 token, 1 character, 1 byte$/gm).length,
    2,
  )
  assert.match(run(['inspect', '--port', '1']).stderr, /'--port' needs '--web'/)
})

test('colours are used on a terminal, or on request', () => {
  const colours = (args, env) =>
    output(['inspect', '-x', 'hello hello', '-t', 'tiny.json', ...args], { env }).includes('\x1b[')
  assert.equal(colours([], {}), false)
  assert.equal(colours(['--color', 'always'], {}), true)
  assert.equal(colours(['--color', 'never'], { FORCE_COLOR: '1' }), false)
  assert.equal(colours([], { FORCE_COLOR: '1' }), true)
  assert.equal(colours([], { FORCE_COLOR: '1', NO_COLOR: '1' }), false)
})

/**
 * Runs the CLI on its own terminal with its own environment, because the environment of the test
 * runner may name a terminal or a CI, which has few colours.
 */
function onTerminal(command, env = {}) {
  const script = `${process.execPath} ${main} ${command}`
  const { stdout } = spawnSync('script', ['-qec', script, '/dev/null'], {
    cwd: folder,
    input: '',
    encoding: 'utf8',
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env },
  })
  return stdout
}
const noTerminal =
  spawnSync('script', ['-qec', 'true', '/dev/null'], { input: '' }).status !== 0 &&
  'there is no program `script` that makes a terminal'

test('on a terminal: colours, and a progress bar with the rate and the remaining time', { skip: noTerminal }, () => {
  assert.ok(onTerminal("inspect -x 'hello hello' -t tiny.json").includes('\x1b[38;5;16;48;5;'))
  assert.ok(!onTerminal("inspect -x 'hello hello' -t tiny.json", { NO_COLOR: '1' }).includes('\x1b['))
  assert.ok(
    !onTerminal("inspect -x 'hello hello' -t tiny.json", { CI: 'true' }).includes('\x1b['),
    'the log of a CI need not have them',
  )
  write('large.txt', `${text(100_000).replaceAll('\n', ' ')}\n`.repeat(100))
  const large = 'encode -t r50k_base --tokens large.txt -o ids.jsonl'
  const seen = onTerminal(large)
  assert.ok(
    !onTerminal('encode -t r50k_base --tokens -f jsonl large.txt | wc -c').includes(' MiB · '),
    'the reader of the pipe has the terminal for itself',
  )
  assert.match(seen, /█.* \d+% · [\d.]+ of [\d.]+ MiB · [\d.]+ MiB\/s · \S+ s left/)
  assert.ok(seen.includes('\x1b[?25h'), 'the cursor is back')
  assert.ok(!onTerminal(`${large} -q`).includes('MiB'))
  const piped = run(['encode', '-t', 'tiny.json', 'large.txt', '-o', 'ids.npy'])
  assert.equal(piped.stdout + piped.stderr, '')
  const typed = onTerminal('encode')
  assert.match(typed, /there is no input/)
})

test('work that ends when the progress bar would appear ends the process', () => {
  const progress = JSON.stringify(new URL('../../cli/progress.mjs', import.meta.url).href)
  // The bar appears after 400 ms, and the work ends at about that time.
  const code = `
    const { progressOf } = await import(${progress})
    process.stderr.isTTY = true
    const shown = progressOf([{ size: 1 }], { output: 'ids.jsonl' })
    setTimeout(() => shown.stop(), 400)`
  const { status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: folder,
    timeout: 300_000,
  })
  assert.deepEqual({ status, signal }, { status: 0, signal: null })
})

test('bench: --mib limits the amount of text', () => {
  write('long.txt', 'a line of forty bytes, its end included\n'.repeat(80_000))
  const [{ rows, bytes }] = objects(['bench', '-f', 'jsonl', '--passes', '1', '--mib', '1', 'long.txt'])
  assert.ok(bytes <= 2 ** 20 && bytes > 2 ** 20 - 100, `${bytes} bytes`)
  assert.equal(bytes, rows * 39)
})

test('bench: throughput and the longest block of the event loop', () => {
  write('some.txt', texts(20).join('\n'))
  const [gpt2, r50k] = objects(['bench', '-f', 'jsonl', '--passes', '2', '-t', 'gpt2', '-t', 'r50k_base', 'some.txt'])
  assert.equal(gpt2.bytes, Buffer.byteLength(texts(20).join('\n').replaceAll('\n', '')))
  assert.equal(gpt2.tokens, r50k.tokens)
  for (const name of [
    'loadMs',
    'tokens',
    'bytesPerToken',
    'firstMibPerSecond',
    'mibPerSecond',
    'tokensPerSecond',
    'loopDelayMs',
  ])
    assert.ok(gpt2[name] > 0, name)
  assert.match(
    output(['bench', '--passes', '1', 'some.txt']),
    /^[\d,]+ rows, [\d.]+ MiB\n\ntokenizer .*first +again +tokens\/s +loop delay\no200k_base .* MiB\/s/,
  )
  assert.equal(run(['bench'], { input: '\n' }).status, 2)
})
