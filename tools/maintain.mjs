#!/usr/bin/env node
// npm run maintain: the commands that only maintainers need.
//
//   usage: npm run maintain                       lists the commands
//          npm run maintain -- NAME [ARGUMENTS]   runs one; its file has the usage

import { createRequire } from 'node:module'

import { root, run, stop } from './setup.mjs'

/**
 * The commands: what each does, and the command line that runs it.
 *
 * @type {Record<string, [string, string]>}
 */
const COMMANDS = createRequire(import.meta.url)('./commands.json')

const [name, ...rest] = process.argv.slice(2)
if (name === undefined) {
  const width = Math.max(...Object.keys(COMMANDS).map(({ length }) => length))
  for (const [command, [what]] of Object.entries(COMMANDS)) console.log(`${command.padEnd(width)}  ${what}`)
} else {
  if (!Object.hasOwn(COMMANDS, name)) stop(`there is no command ${name}; "npm run maintain" lists them`)
  const [program, ...given] = COMMANDS[name][1].split(' ')
  process.exit(run(program, [...given, ...rest], { cwd: root }) ? 0 : 1)
}
