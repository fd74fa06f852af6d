#!/usr/bin/env node
// Writes docs/api/commands.md: every command of `npx tokenlane`, with those of @tokenlane/corpus,
// and all of its options.
//
//   usage: node tools/docs/cli-options.mjs      (npm run maintain docs-cli)

import fs from 'node:fs'
import { pathToFileURL } from 'node:url'

import { commands as corpusCommands } from '@tokenlane/corpus/commands'
import { bench } from '../../cli/commands/bench.mjs'
import { count } from '../../cli/commands/count.mjs'
import { decode } from '../../cli/commands/decode.mjs'
import { encode } from '../../cli/commands/encode.mjs'
import { inspect } from '../../cli/commands/inspect.mjs'
import { split } from '../../cli/commands/split.mjs'

const PAGE = new URL('../../docs/api/commands.md', import.meta.url)
/** The first arguments that select another command. */
const SELECTED = {
  corpus: ['merge', 'show', 'verify', 'clean', 'report'],
  train: ['extend', 'prune', 'report'],
  worker: [],
}

/** Every command by its whole name. */
async function commands() {
  const all = { encode, decode, count, split, inspect, bench }
  for (const [name, firsts] of Object.entries(SELECTED))
    for (const first of [undefined, ...firsts])
      all[first === undefined ? name : `${name} ${first}`] = await corpusCommands[name](first)
  return all
}

function rowOf([option, { short, value, help, choices, default: standard }]) {
  const given = choices ? choices.join('\\|') : value
  const name = `${short ? `-${short}, ` : ''}--${option}${given ? ` ${given}` : ''}`
  const meaning = standard === undefined || Array.isArray(standard) ? help : `${help} (default: ${standard})`
  return `| \`${name}\` | ${meaning.replaceAll('<', '\\<')} |`
}

/** The page with a section for each command. */
export async function commandsPage() {
  const sections = Object.entries(await commands()).map(([name, { summary, usage, about = [], options }]) => [
    `## ${name}\n\n${summary}\n`,
    ...usage.map((line) => `    tokenlane ${name} ${line}`),
    ...about.map((paragraph) => `\n${paragraph}`),
    '\n| option | meaning |\n|---|---|',
    ...Object.entries(options).map(rowOf),
  ])
  return `# Commands and their options\n\n${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) fs.writeFileSync(PAGE, await commandsPage())
