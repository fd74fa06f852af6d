#!/usr/bin/env node
// The command `tokenlane`: its subcommands and exit codes. 0: success; 1: failure; 2: invalid
// command line; 130, 143 and 129: ended by SIGINT, SIGTERM or SIGHUP.

import { stopBars } from './bar.mjs'
import { briefHelpOf, examples, helpOf, readArguments, table } from './arguments.mjs'
import { Failure, UsageError, errorLine, fileFailure } from './failure.mjs'
import { mayBlockExit } from './input/open.mjs'
import { SIGNALS } from './interrupt.mjs'
import { PACKAGES, PACKAGE_COMMANDS, ownVersion } from './packages.mjs'
import { nearestOf } from '../lib/errors.js'
import { projectPlaces, setProjectPlaces } from '../lib/optional.js'

const COMMANDS = {
  encode: async () => (await import('./commands/encode.mjs')).encode,
  decode: async () => (await import('./commands/decode.mjs')).decode,
  count: async () => (await import('./commands/count.mjs')).count,
  split: async () => (await import('./commands/split.mjs')).split,
  inspect: async () => (await import('./commands/inspect.mjs')).inspect,
  bench: async () => (await import('./commands/bench.mjs')).bench,
  completion: async () => (await import('./commands/completion.mjs')).completionOf(allCommands),
}
/** With the commands of other packages. */
const ALL_COMMANDS = { ...COMMANDS, ...PACKAGE_COMMANDS }

// A reader that closes the pipe early, such as head, is not a failure.
process.stdout.on('error', (error) =>
  process.exit(error.code === 'EPIPE' ? 0 : fail(fileFailure('standard output', error))),
)
// Without a reader of standard error, errors cannot be printed.
process.stderr.on('error', () => {})
for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, (error) => process.exit(fail(error)))
// Unfinished files are removed as the process ends (output/file.mjs), whatever ends it.
for (const [signal, status] of Object.entries(SIGNALS)) process.on(signal, () => end(signal, status))

// Optional packages are also those of the working directory.
setProjectPlaces([...projectPlaces(), `${process.cwd()}/index.js`])
try {
  await main(process.argv.slice(2))
} catch (error) {
  process.exit(fail(error))
}

/** @param {string[]} args without the program */
async function main([name, ...args]) {
  if (name === undefined) {
    process.stderr.write(await overview())
    process.exitCode = 2
    return
  }
  if (['version', '--version', '-v', '-V'].includes(name)) return print(ownVersion())
  if (name === '--help' || name === '-h') return print(await overview())
  if (name === 'help') return args.length > 0 ? main([...args, '--help']) : print(await overview())
  if (!Object.hasOwn(ALL_COMMANDS, name)) {
    const names = Object.keys(ALL_COMMANDS)
    const near = nearestOf(name, names)
    const hint = near === undefined ? '' : `; did you mean '${near}'?`
    throw new UsageError(`there is no command '${name}'${hint}; the commands are ${names.join(', ')}`)
  }
  const load = ALL_COMMANDS[name]
  const command = await load(args[0])
  const parsed = readArguments(command, args)
  if (parsed.help) {
    // The name of a command that the first argument selects has that argument, too.
    const isFurther = load.length > 0 && command !== (await load(undefined))
    return print((parsed.help.all ? helpOf : briefHelpOf)(isFurther ? `${name} ${args[0]}` : name, command))
  }
  if (parsed.values.quiet) silenceWarnings()
  await command.run(parsed)
}

/** Warnings are printed by a listener of Node.js, which threads have unless a variable is set. */
function silenceWarnings() {
  process.removeAllListeners('warning')
  process.env.NODE_NO_WARNINGS = '1'
}

/** All commands by name. Those of a package that is not installed have no options. */
async function allCommands() {
  const loaded = async ([name, load]) => [name, await load(undefined)]
  const summaries = Object.assign({}, ...Object.values(PACKAGES))
  const orSummary = async ([name, load]) => {
    try {
      return await loaded([name, load])
    } catch (error) {
      if (error.code !== 'ERR_TOKENLANE_PACKAGE_MISSING') throw error
      return [name, { summary: summaries[name], options: {} }]
    }
  }
  const commands = [...Object.entries(COMMANDS).map(loaded), ...Object.entries(PACKAGE_COMMANDS).map(orSummary)]
  return Object.fromEntries(await Promise.all(commands))
}

async function overview() {
  const commands = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, load]) => [name, (await load()).summary]),
  )
  const summaries = Object.values(PACKAGES).flatMap(Object.entries)
  const places = Object.entries(PACKAGES).map(
    ([name, ofPackage]) => ` ${Object.keys(ofPackage).join(', ')}: package ${name}.`,
  )
  return `Converts text to token ids and back, exactly as the tokenizer of a model does.

Usage: tokenlane COMMAND [options] [files…]

Commands:
${table([...commands, ...summaries])}

Run tokenlane COMMAND --help for the usual options and examples, with --all for every option.
Without files, standard input is read.${places.join('')}

Examples:
${examples([
  ['tokenlane count README.md', 'count the tokens of a file'],
  ["tokenlane encode -t gpt-4o -x 'Hello, world!'", 'encode a text'],
])}
`
}

/** Ends the process by a signal. */
function end(signal, status) {
  if (!mayBlockExit()) process.exit(status)
  // `process.exit` would wait for a blocked thread. Without a listener, the signal ends the process
  // at once.
  process.emit('exit', status)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}

function print(text) {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

/**
 * Whether an error is the RangeError that V8 throws for buffers, arrays and strings that are too
 * large.
 */
function isOutOfMemory(error) {
  return (
    error instanceof RangeError &&
    /allocation failed|Invalid (?:string|array|typed array|array buffer) length/.test(error.message)
  )
}

function asFailure(thrown) {
  if (isOutOfMemory(thrown)) return new Failure('OUT_OF_MEMORY', `out of memory: ${thrown.message}`)
  // Such as too many open files while a module is loaded.
  if (thrown?.syscall !== undefined && thrown.path !== undefined) return fileFailure(thrown.path, thrown)
  // Options that contradict each other are a mistake of the command line.
  return thrown?.code === 'ERR_TOKENLANE_ARGUMENT_TYPE' ? new UsageError(thrown.message) : thrown
}

/** Prints an error and returns the exit code. */
function fail(thrown) {
  const error = asFailure(thrown)
  stopBars()
  process.stderr.write(`${errorLine(error)}\n`)
  return error?.code === 'ERR_TOKENLANE_USAGE' ? 2 : 1
}
