// The CLI with names, texts and jobs that contain terminal escapes.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { Queue } from 'bullmq'

import { folderWithTokenizer, main, runIn } from '../support/cli.mjs'
import { TestRedis, missing } from '../support/redis.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)
const place = (name) => path.join(folder, name)
const write = (name, content) => fs.writeFileSync(place(name), content)

const noTerminal =
  spawnSync('script', ['-qec', 'true', '/dev/null'], { input: '' }).status !== 0 &&
  'there is no program `script` that makes a terminal'

const skip = { skip: (process.platform === 'win32' && 'there are no such files') || noTerminal }

const TERMINAL = {
  cwd: folder,
  env: { PATH: process.env.PATH, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8', NO_COLOR: '1' },
}
const commandLine = (args) =>
  [process.execPath, main, ...args].map((one) => `'${one.replaceAll("'", `'\\''`)}'`).join(' ')

const onTerminal = (args) =>
  spawnSync('script', ['-qec', commandLine(args), '/dev/null'], { ...TERMINAL, input: '', encoding: 'utf8' }).stdout

/**
 * Checks what commands write to a terminal: a sample of them on a real one, and the others as if
 * their outputs were one.
 */
function assertAllHarmless(commands) {
  for (const [at, args] of commands.entries()) {
    const { stdout, stderr } = run(args, { env: TERMINAL.env, isTerminal: true })
    assertHarmless(stdout + stderr, args)
    if (at % 6 === 0) assertHarmless(onTerminal(args), args)
  }
}

const NASTY = 'a\x1b[31mb\x07\x9b2J\u202ec\u2066d\u200fe\x7f\r'

test('input cannot control the terminal; pipes get it unchanged', skip, () => {
  const name = `${NASTY}.txt`
  write(name, `${NASTY}\n`)
  write('tiny\x1b[1m.json', fs.readFileSync(place('tiny.json')))
  const ids = run(['encode', '-t', 'gpt2', name]).stdout.trim()
  assertAllHarmless([
    ['count', '-t', 'gpt2', name],
    ['count', '-t', 'gpt2', '-f', 'jsonl', name],
    ['encode', '-t', 'gpt2', '-f', 'jsonl', '--rows', 'files', name],
    ['encode', '-t', 'gpt2', '-f', 'jsonl', '--tokens', name],
    ['decode', '-t', 'gpt2', '-x', ids],
    ['decode', '-t', 'gpt2', '-f', 'jsonl', '-x', ids],
    ['split', '-t', 'gpt2', '-n', '20', name],
    ['split', '-t', 'gpt2', '-n', '20', '-f', 'text', name],
    ['inspect', '-t', 'gpt2', name],
    ['inspect', '-t', 'gpt2', '-f', 'jsonl', name],
    ['inspect', '-t', './tiny\x1b[1m.json', '-x', 'he'],
    ['bench', '-t', './tiny\x1b[1m.json', '--passes', '1', '-x', 'hello'],
    ['count', `nowhere-${name}`],
    ['count', '-t', `nowhere-${name}`, '-x', 'a'],
    ['count', '-t', 'gpt2', '--field', NASTY, '-x', '{}'],
    ['count', `--${NASTY}`],
    ['count', '--rows', NASTY],
    [NASTY],
    ['decode', '-t', 'gpt2', '-x', NASTY],
    ['encode', '-x', 'a', '-o', `nowhere/${name}`],
  ])
  assert.ok(run(['count', '-t', 'gpt2', name]).stdout.endsWith(`  ${name}\n`))
  run(['count', '-t', 'gpt2', '-o', 'counts.txt', name])
  assert.ok(fs.readFileSync(place('counts.txt'), 'utf8').endsWith(`  ${name}\n`))
  assert.equal(run(['decode', '-t', 'gpt2', '-x', ids]).stdout, `${NASTY.slice(0, -1)}\n`)
  assert.ok(run(['split', '-t', 'gpt2', '-n', '50', '-f', 'text', name]).stdout.includes(NASTY))
})

// What a terminal shows of it has no line that starts with FORGED.
const TWO_LINES = `${NASTY.slice(0, -1)}\x9b\nFORGED`

/** What the progress bar writes. */
const BAR = /\x1b\[(\?25[lh]|1G|0J)/g

/** Asserts that a terminal gets no control characters, no forged line, and the name's place. */
function assertHarmless(written, what) {
  const seen = written.replace(BAR, '')
  const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)/
  assert.doesNotMatch(seen, controls, JSON.stringify([what, seen]))
  assert.doesNotMatch(seen, /^FORGED/m, JSON.stringify([what, seen]))
  assert.match(seen, /‹001b›|\\u001b/, JSON.stringify([what, seen]))
}

test('names of files and folders cannot control the terminal, nor forge a line', skip, () => {
  fs.mkdirSync(place(TWO_LINES))
  const name = `${TWO_LINES}/a.txt`
  const tokenizer = `${TWO_LINES}/t.json`
  write(name, 'some words\n')
  write(tokenizer, fs.readFileSync(place('tiny.json')))
  const output = `${TWO_LINES}/tokens`
  const corpus = ['corpus', '-t', 'gpt2', '-o', output, name]
  assertAllHarmless([
    ['count', '-t', 'gpt2', name],
    ['count', '-t', 'gpt2', name, name],
    ['count', '-t', 'gpt2', '-f', 'jsonl', name],
    ['inspect', '-t', 'gpt2', name],
    ['inspect', '-t', tokenizer, '-x', 'he'],
    ['bench', '-t', tokenizer, '--passes', '1', '-x', 'hello'],
    ['split', '-t', 'gpt2', '-n', '20', name],
    ['encode', '-t', 'gpt2', '-f', 'jsonl', name, '-o', `${TWO_LINES}/none/ids`],
    ['decode', '-t', 'gpt2', `${TWO_LINES}/none`],
    corpus,
    [...corpus, '--json'],
    ['corpus', '-t', TWO_LINES, '-o', 'new-tokens', name],
    ['corpus', '-o', 'new-tokens', `${TWO_LINES}/none`],
    ['corpus', '-o', 'new-tokens', '--files-from', `${TWO_LINES}/none`],
    ['corpus', '-o', 'new-tokens', '--eos-token', TWO_LINES, name],
    ['corpus', 'report', output, '-o', `${TWO_LINES}/report.html`],
    ['corpus', 'verify', TWO_LINES],
    ['worker', '--queue', 'redis://127.0.0.1:1', '--allow', `${TWO_LINES}/none`],
    ['worker', '--queue', 'redis://127.0.0.1:1', '--allow', '.', '--queue-name', TWO_LINES],
    ['worker', TWO_LINES],
  ])
})

test('what a job of the queue says cannot control the terminal of a worker', {
  skip: skip.skip || missing,
  timeout: 60_000,
}, async () => {
  const redis = await TestRedis.start()
  const queue = new Queue('nasty', { connection: { port: redis.port, maxRetriesPerRequest: null } })
  const { version } = JSON.parse(fs.readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const paths = { output: place('.'), base: place('.') }
  const good = { tokenlane: version, id: '0'.repeat(32), ...paths, shard: 0, from: 0, to: 1 }
  const jobs = await queue.addBulk([
    ...Object.keys(good).map((key) => ({ name: 'shard', data: { ...good, [key]: TWO_LINES } })),
    { name: 'manifest', data: { ...good, output: `${place('.')}/${TWO_LINES}` } },
    { name: 'shard', data: { ...good, output: `${place('.')}/${TWO_LINES}` } },
    { name: TWO_LINES, data: good },
  ])
  try {
    for (const more of [[], ['--json']]) {
      const options = ['--queue', redis.url, '--queue-name', 'nasty', '--allow', place('.'), ...more]
      const child = spawn('script', ['-qec', commandLine(['worker', ...options]), '/dev/null'], TERMINAL)
      let seen = ''
      child.stdout.on('data', (data) => (seen += data))
      const ended = new Promise((resolve) => child.on('close', resolve))
      for (const job of jobs)
        while (child.exitCode === null && !((await job.isFailed()) && seen.includes('failed'))) await pause(20)
      child.stdin.write('\x03')
      await ended
      assertHarmless(seen, options)
      for (const job of jobs) await job.retry()
    }
  } finally {
    await queue.close()
    await redis.end()
  }
})
