#!/usr/bin/env node
// Writes the table of options at the end of docs/guide/cli.md from the help of tokenlane's own
// commands.
//
//   usage: node tools/docs/cli-options.mjs      (npm run maintain docs-cli)

import fs from 'node:fs'
import { pathToFileURL } from 'node:url'

import { bench } from '../../cli/commands/bench.mjs'
import { count } from '../../cli/commands/count.mjs'
import { decode } from '../../cli/commands/decode.mjs'
import { encode } from '../../cli/commands/encode.mjs'
import { inspect } from '../../cli/commands/inspect.mjs'
import { split } from '../../cli/commands/split.mjs'

const PAGE = new URL('../../docs/guide/cli.md', import.meta.url)
const HEADING = '## Options\n'
/** @type {Record<string, { options: Record<string, any> }>} */
const COMMANDS = { encode, decode, count, split, inspect, bench }

/**
 * Replaces the table at the end of the page by the options of the commands. Options with the same
 * help share a row.
 */
export function withOptions(page) {
  const rows = new Map()
  for (const [name, { options }] of Object.entries(COMMANDS)) {
    for (const [option, { short, value, help, choices, default: standard }] of Object.entries(options)) {
      const given = choices ? choices.join('\\|') : value
      const left = `${short ? `-${short}, ` : ''}--${option}${given ? ` ${given}` : ''}`
      const right = standard === undefined || Array.isArray(standard) ? help : `${help} (default: ${standard})`
      const row = `${left}\n${right}`
      rows.set(row, [...(rows.get(row) ?? []), name])
    }
  }
  const lines = [...rows].map(([row, names]) => {
    const [left, right] = row.split('\n')
    return { left, line: `| \`${left}\` | ${names.map((name) => `\`${name}\``).join(', ')} | ${right} |` }
  })
  // Rows of one option follow each other, in the order of the first command that has it.
  const optionOf = ({ left }) => left.match(/--[\w-]+/)[0]
  const places = new Map()
  for (const row of lines) if (!places.has(optionOf(row))) places.set(optionOf(row), places.size)
  const sorted = lines.toSorted((a, b) => places.get(optionOf(a)) - places.get(optionOf(b)))
  const head = ['', '| option | of | meaning |', '|---|---|---|']
  const start = page.indexOf(HEADING) + HEADING.length
  return `${page.slice(0, start)}${[...head, ...sorted.map(({ line }) => line)].join('\n')}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  fs.writeFileSync(PAGE, withOptions(fs.readFileSync(PAGE, 'utf8')))
}
