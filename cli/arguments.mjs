// Parses command lines and writes the help of commands. The parser of Node.js splits the arguments;
// errors have messages of this tool.

import { parseArgs } from 'node:util'

import { UsageError } from './failure.mjs'
import { nearestOf } from '../lib/errors.js'

/** Option names of other tools, and the options of this tool with the same meaning. */
const SYNONYMS = {
  model: ['tokenizer'],
  vocab: ['tokenizer'],
  'chunk-size': ['max-tokens'],
  'max-length': ['max-tokens'],
  'max-tokens': ['max-length'],
  truncate: ['max-length'],
  'chunk-overlap': ['overlap'],
  stride: ['overlap'],
  separator: ['boundary'],
  out: ['output'],
  'output-file': ['output'],
  'output-format': ['format'],
  column: ['field'],
  key: ['field'],
  lines: ['rows'],
  jobs: ['threads'],
  workers: ['threads'],
  silent: ['quiet'],
  sum: ['total'],
  colour: ['color'],
  'ignore-errors': ['on-error'],
  'skip-errors': ['on-error'],
  dtype: ['type'],
}

const HELP = { short: 'h', help: 'show the help; with --all, all options' }
const ALL = { help: "with --help: all options, and the command's rules" }

/**
 * Reads the arguments of a command.
 *
 * @param {any} command `options` has for each name `{ short, value, choices, help, number, size,
 *   default, multiple }`: an option with a `value` or `choices` takes a value, another one is a
 *   flag; `number` is the range of an integer, and `size` the range of a number of bytes, which may
 *   be written as 64M
 * @param {string[]} args
 * @returns {{ values: any, positionals: string[], help?: { all?: boolean } }} `values` by the
 *   name of the option in camelCase, as the library's options are named; `help` if `--help` was
 *   given
 * @throws {UsageError}
 */
export function readArguments(command, args) {
  const known = { ...command.options, help: HELP, all: ALL }
  const config = Object.entries(known).map(([name, option]) => {
    /** @type {'string' | 'boolean'} */
    const type = takesValue(option) ? 'string' : 'boolean'
    return [name, { type, ...(option.short && { short: option.short }) }]
  })
  const { tokens } = parseArgs({ args, options: Object.fromEntries(config), strict: false, tokens: true })
  const given = {}
  const positionals = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind === 'option') take(given, known, token)
  }
  const { help, all, ...values } = Object.fromEntries(
    Object.entries(known).map(([name, option]) => [camelCase(name), given[name] ?? option.default]),
  )
  if (all && !help) throw new UsageError("'--all' belongs to '--help'")
  return { values, positionals, help: help && { all } }
}

const takesValue = ({ value, choices }) => value !== undefined || choices !== undefined
const camelCase = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())

function take(values, known, { name, rawName, value }) {
  const option = Object.hasOwn(known, name) ? known[name] : undefined
  if (option === undefined) {
    const near = rawName.startsWith('--') ? nearOption(name, Object.keys(known)) : undefined
    throw new UsageError(
      `there is no option '${rawName}'${near === undefined ? '; --help --all lists the options' : `; did you mean '--${near}'?`}`,
    )
  }
  if (!takesValue(option)) {
    if (value !== undefined) throw new UsageError(`'${rawName}' takes no value`)
    values[name] = true
    return
  }
  if (value === undefined)
    throw new UsageError(`'${rawName}' needs a value: ${option.choices?.join(' or ') ?? option.value}`)
  const checked = check(rawName, option, value)
  if (option.multiple) values[name] = [...(values[name] ?? []), checked]
  else if (values[name] !== undefined) throw new UsageError(`'${rawName}' is given twice`)
  else values[name] = checked
}

function nearOption(name, known) {
  const meant = Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name].find((one) => known.includes(one)) : undefined
  return meant ?? nearestOf(name, known)
}

function check(rawName, { choices, number, size }, value) {
  if (choices !== undefined && !choices.includes(value)) {
    throw new UsageError(`'${rawName}' must be one of ${choices.join(', ')}, but it is '${value}'`)
  }
  if (size !== undefined) return bytesOf(rawName, size, value)
  if (number === undefined) return value
  const [min, max] = number
  if (!/^\d+$/.test(value) || Number(value) < min || Number(value) > max) {
    const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`
    throw new UsageError(`'${rawName}' must be a whole number ${range}, but it is '${value}'`)
  }
  return Number(value)
}

const UNITS = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }

/** Parses a size such as 4096, 64M or 1G. Units are powers of 1024. */
function bytesOf(rawName, [min, max], value) {
  const [, digits, unit] = /^(\d{1,15})([KMG]?)i?B?$/i.exec(value) ?? []
  const bytes = digits === undefined ? undefined : Math.min(Number(digits) * UNITS[unit.toUpperCase()], 2 ** 53)
  // 4G stands for the largest row, which is a byte smaller.
  if (bytes === 2 ** 32) return Math.min(bytes, max)
  if (bytes !== undefined && bytes >= min && bytes <= max) return bytes
  throw new UsageError(
    `'${rawName}' must be a number of bytes from ${min} to ${max}, such as 4096, 64M or 1G, but it is '${value}'`,
  )
}

const WIDTH = 100
/** The width and the number of examples of the short help. */
const NARROW = 80
const SHORT_HELP_EXAMPLES = 3

/**
 * The help of a command that fits a terminal of 80 columns and 24 lines: the options in
 * `command.brief`, which has for each name a line, or the name of the value and a line.
 */
export function briefHelpOf(name, command) {
  const known = { ...command.options, help: HELP }
  const brief = command.brief ?? Object.fromEntries(Object.entries(known).map(([option, { help }]) => [option, help]))
  const options = Object.entries({ ...brief, help: HELP.help }).map(([option, text]) => {
    const { short, value, choices = [] } = known[option]
    const [given, line] = Array.isArray(text) ? text : [value, text]
    return [leftOf(short, option, given), line.replace('{choices}', listed(choices))]
  })
  const few = command.examples.filter(([line]) => line.length + 2 <= NARROW).slice(0, SHORT_HELP_EXAMPLES)
  const more = command.brief && ` (all ${Object.keys(known).length}: tokenlane ${name} --help --all)`
  return [
    `${command.summary}\n`,
    ...command.usage.map((usage, i) => `${i === 0 ? 'Usage:' : '      '} tokenlane ${name} ${usage}`),
    `\nOptions${more ?? ''}:`,
    table(options, NARROW),
    `\nExamples:\n${examples(few)}`,
  ].join('\n')
}

/** Words as a list: a, b or c. */
const listed = (words) => words.join(', ').replace(/, (?=[^,]*$)/, ' or ')

const leftOf = (short, option, given) => `${short ? `-${short}, ` : '    '}--${option}${given ? ` ${given}` : ''}`

/** The help of a command with all options. */
export function helpOf(name, command) {
  const options = Object.entries({ ...command.options, help: HELP }).map(
    ([option, { short, value, help, choices, default: byDefault }]) => {
      const standard = byDefault === undefined || Array.isArray(byDefault) ? '' : ` (default: ${byDefault})`
      return [leftOf(short, option, choices ? choices.join('|') : value), `${help}${standard}`]
    },
  )
  const usages = command.usage.map((usage) => `  tokenlane ${name} ${usage}`)
  return [
    `${command.summary}\n`,
    `Usage:\n${usages.join('\n')}\n`,
    ...(command.about ? [`${command.about.map((paragraph) => wrap(paragraph, WIDTH)).join('\n\n')}\n`] : []),
    `Options:\n${table(options)}\n`,
    `Examples:\n${examples(command.examples)}`,
  ].join('\n')
}

/** Formats examples: each command below its description. */
export const examples = (list) => list.map(([line, what]) => `  # ${what}\n  ${line}`).join('\n')

/** Formats two columns. The second one is wrapped. */
export function table(rows, width = WIDTH) {
  const left = Math.max(...rows.map(([name]) => name.length)) + 4
  return rows
    .map(([name, text]) => {
      const [first, ...rest] = wrap(text, width - left).split('\n')
      return [`  ${name.padEnd(left - 2)}${first}`, ...rest.map((line) => ' '.repeat(left) + line)].join('\n')
    })
    .join('\n')
}

function wrap(text, width) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join('\n')
}
