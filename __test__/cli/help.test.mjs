// The help of every command fits a terminal of 80 columns and 24 lines, `--help --all` has every
// option, and so has docs/api/commands.md.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import { test } from 'node:test'

import { readArguments } from '../../cli/arguments.mjs'
import { columnsOf } from '../../cli/bar.mjs'
import { PACKAGES } from '../../cli/packages.mjs'
import { runIn } from '../support/cli.mjs'

const run = runIn(os.tmpdir())
const help = (...args) => {
  const { status, stdout, stderr } = run(args)
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' }, args.join(' '))
  return stdout
}
const page = fs.readFileSync(new URL('../../docs/api/commands.md', import.meta.url), 'utf8')

const { commands: ofCorpus } = await import('@tokenlane/corpus/commands')
const COMMANDS = {
  encode: (await import('../../cli/commands/encode.mjs')).encode,
  decode: (await import('../../cli/commands/decode.mjs')).decode,
  count: (await import('../../cli/commands/count.mjs')).count,
  split: (await import('../../cli/commands/split.mjs')).split,
  inspect: (await import('../../cli/commands/inspect.mjs')).inspect,
  bench: (await import('../../cli/commands/bench.mjs')).bench,
  train: await ofCorpus.train(undefined),
  'train extend': await ofCorpus.train('extend'),
  'train prune': await ofCorpus.train('prune'),
  'train report': await ofCorpus.train('report'),
  worker: await ofCorpus.worker(),
  completion: (await import('../../cli/commands/completion.mjs')).completionOf(async () => ({})),
  corpus: await ofCorpus.corpus(undefined),
  'corpus verify': await ofCorpus.corpus('verify'),
  'corpus clean': await ofCorpus.corpus('clean'),
  'corpus merge': await ofCorpus.corpus('merge'),
  'corpus report': await ofCorpus.corpus('report'),
  'corpus show': await ofCorpus.corpus('show'),
}

test('the overview names every command, and those of packages with their summaries', async () => {
  const overview = help('--help')
  const named = [...overview.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name)
  assert.deepEqual(
    named.sort(),
    Object.keys(COMMANDS)
      .filter((name) => !name.includes(' '))
      .sort(),
  )
  assert.ok(overview.trimEnd().split('\n').length <= 24)
  for (const [name, summaries] of Object.entries(PACKAGES)) {
    assert.ok(overview.includes(name))
    const { commands } = await import(`${name}/commands`)
    const loaded = Object.entries(commands).map(async ([command, load]) => [command, (await load()).summary])
    assert.deepEqual(summaries, Object.fromEntries(await Promise.all(loaded)))
  }
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
    if (name === 'completion') return
    const section = page.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? ''
    const unnamed = Object.keys(command.options).filter((option) => !section.includes(`--${option}`))
    assert.deepEqual(unnamed, [], 'the page names every option')
  })
}

test('--all needs --help', () => {
  assert.throws(() => readArguments(COMMANDS.encode, ['--all', 'x']), { code: 'ERR_TOKENLANE_USAGE' })
  assert.equal(help('help', 'count', '--all'), help('count', '--help', '--all'))
})
