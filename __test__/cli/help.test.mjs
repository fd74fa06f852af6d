// The help of every command fits a terminal of 80 columns and 24 lines, `--help --all` has every
// option, and so have the guides.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import { test } from 'node:test'

import { readArguments } from '../../cli/arguments.mjs'
import { columnsOf } from '../../cli/bar.mjs'
import { runIn } from '../support/cli.mjs'

const run = runIn(os.tmpdir())
const help = (...args) => {
  const { status, stdout, stderr } = run(args)
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' }, args.join(' '))
  return stdout
}
const guide = (name) => fs.readFileSync(new URL(`../../docs/guide/${name}.md`, import.meta.url), 'utf8')

const COMMANDS = {
  encode: (await import('../../cli/commands/encode.mjs')).encode,
  decode: (await import('../../cli/commands/decode.mjs')).decode,
  count: (await import('../../cli/commands/count.mjs')).count,
  split: (await import('../../cli/commands/split.mjs')).split,
  inspect: (await import('../../cli/commands/inspect.mjs')).inspect,
  bench: (await import('../../cli/commands/bench.mjs')).bench,
  train: (await import('../../cli/commands/train.mjs')).trainCommand(undefined),
  'train extend': (await import('../../cli/commands/train.mjs')).trainCommand('extend'),
  'train prune': (await import('../../cli/commands/train.mjs')).trainCommand('prune'),
  'train report': (await import('../../cli/commands/train.mjs')).trainCommand('report'),
  worker: (await import('../../cli/commands/worker.mjs')).worker,
  completion: (await import('../../cli/commands/completion.mjs')).completionOf(async () => ({})),
  corpus: (await import('../../cli/commands/corpus.mjs')).corpusCommand(undefined),
  'corpus verify': (await import('../../cli/commands/corpus.mjs')).corpusCommand('verify'),
  'corpus clean': (await import('../../cli/commands/corpus.mjs')).corpusCommand('clean'),
  'corpus merge': (await import('../../cli/commands/corpus.mjs')).corpusCommand('merge'),
  'corpus report': (await import('../../cli/commands/corpus.mjs')).corpusCommand('report'),
}

test('the overview names every command', () => {
  const overview = help('--help')
  const named = [...overview.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name)
  assert.deepEqual(
    named.sort(),
    Object.keys(COMMANDS)
      .filter((name) => !name.includes(' '))
      .sort(),
  )
  assert.ok(overview.trimEnd().split('\n').length <= 24)
})

for (const [name, command] of Object.entries(COMMANDS)) {
  test(`${name} --help fits a screen, and --help --all has every option`, () => {
    const words = name.split(' ')
    const brief = help(...words, '--help')
    const lines = brief.trimEnd().split('\n')
    assert.ok(lines.length <= 24, `${lines.length} lines`)
    for (const line of lines) assert.ok(columnsOf(line) <= 80, line)
    assert.match(lines[0], /^[A-Z].+\.$/, 'a summary')
    assert.ok(brief.includes(`\nUsage: tokenlane ${name} ${command.usage[0]}\n`), 'the whole name')
    assert.equal(help('help', ...words), brief)
    const more = brief.match(/tokenlane (.+) --help --all/)?.[1]
    assert.equal(more ?? name, name, 'the command whose options are all shown')
    assert.match(brief, /Usage: tokenlane [^]*Options[^]*--help[^]*Examples:\n {2}# /)
    const all = help(...words, '--help', '--all')
    for (const option of Object.keys(command.options)) assert.match(all, new RegExp(`--${option}\\b`))
    for (const option of Object.keys(command.brief ?? {})) assert.ok(option in command.options, option)
    for (const [example] of command.examples) assert.ok(all.includes(example), example)
    const page = guide(
      name.startsWith('corpus') || name === 'worker' ? 'corpus' : name.startsWith('train ') ? 'training' : 'cli',
    )
    const unnamed = Object.keys(command.options).filter((option) => !page.includes(`--${option}`))
    assert.deepEqual(unnamed, [], 'the guide names every option')
  })
}

test('every option of the guide belongs to the commands that it names', () => {
  const rows = guide('cli')
    .split('\n## Options\n')[1]
    .matchAll(/^\| `(?:-\w, )?--([a-z-]+)[^`]*` \| ([^|]+) \|/gm)
  const found = new Map()
  for (const [, option, of] of rows)
    for (const [, name] of of.matchAll(/`([a-z]+)`/g)) found.set(`${name} ${option}`, COMMANDS[name].options[option])
  assert.ok(found.size > 80)
  for (const [name, option] of found) assert.ok(option, name)
  const wanted = ['encode', 'decode', 'count', 'split', 'inspect', 'bench', 'train'].flatMap((name) =>
    Object.keys(COMMANDS[name].options).map((option) => `${name} ${option}`),
  )
  assert.deepEqual([...found.keys()].sort(), wanted.sort())
})

test('--all needs --help', () => {
  assert.throws(() => readArguments(COMMANDS.encode, ['--all', 'x']), { code: 'ERR_TOKENLANE_USAGE' })
  assert.equal(help('help', 'count', '--all'), help('count', '--help', '--all'))
})
