#!/usr/bin/env node
// Reports comments, docstrings and prose that are wider than 100 columns. Tables and code blocks of
// Markdown are excluded, because they cannot be wrapped.
//
//   usage: node tools/check/widths.mjs [FOLDER]     FOLDER: default: the whole project

import fs from 'node:fs'
import path from 'node:path'

import { root } from '../setup.mjs'
import { sourceFiles } from './source-files.mjs'

const WIDTH = 100
// Generated files, and texts by others.
const EXCLUDED = /^(docs\/api\/|LICENSE)/

const COMMENT = { rs: /^\s*\/\/|\s\/\/ /, js: /^\s*(\/\/|\/?\*)|[\s;{,]\/\/ /, hash: /^\s*#|\s# / }
/** The comments of files by their extension. */
const KINDS = { rs: 'rs', js: 'js mjs cjs ts mts css', hash: 'py toml yaml yml sh' }
const KIND = Object.fromEntries(
  Object.entries(KINDS).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind])),
)

const folder = path.resolve(process.argv[2] ?? root)
const wide = []
for (const name of sourceFiles(folder).filter((one) => !EXCLUDED.test(one))) {
  // A program without an extension is a shell script.
  const extension = path.extname(name).slice(1) || (name === '.ci/run' ? 'sh' : '')
  if (KIND[extension] === undefined && extension !== 'md') continue
  const lines = fs.readFileSync(path.join(folder, name), 'utf8').split('\n')
  const isChecked = checkOf(extension, lines)
  lines.forEach((line, at) => {
    if (isChecked(line) && [...line].length > WIDTH) wide.push(`${name}:${at + 1}: ${[...line].length} columns`)
  })
}
console.log(wide.length === 0 ? `no comment is wider than ${WIDTH} columns` : wide.join('\n'))
process.exit(wide.length === 0 ? 0 : 1)

/** A function that tells whether a line of the file has a comment or prose. */
function checkOf(extension, lines) {
  if (extension === 'md') return prose(lines)
  const docstrings = extension === 'py' ? docstringLines(lines) : new Set()
  return (line) => docstrings.has(line) || COMMENT[KIND[extension]].test(withoutStrings(line))
}

/** The lines of docstrings: strings in triple quotes that start a line. */
function docstringLines(lines) {
  const found = new Set()
  let isString = false
  let isDocstring = false
  for (const line of lines) {
    if (!isString) isDocstring = /^\s*"""/.test(line)
    if (isDocstring) found.add(line)
    const quotes = line.split('"""').length - 1
    if (quotes % 2 === 1) isString = !isString
    if (!isString) isDocstring = false
  }
  return found
}

/** Lines of Markdown that are prose: neither code, nor a row of a table, nor a picture. */
function prose(lines) {
  let isCode = false
  const states = new Map()
  for (const line of lines) {
    if (line.startsWith('```')) isCode = !isCode
    states.set(line, !isCode && !/^(```|\|| {4}|<|!\[|\[[^\]]+\]:)/.test(line))
  }
  return (line) => states.get(line)
}

/**
 * A line whose string literals are empty, so that `//` in an address is not taken for a comment.
 */
function withoutStrings(line) {
  return /^\s*(\/\/|#|\/?\*)/.test(line)
    ? line
    : line.replaceAll(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/g, "''")
}
