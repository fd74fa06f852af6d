#!/usr/bin/env node
// npm run maintain -- assertions: runs specs, and lists their assertions that never run. An
// assertion in a branch that no fixture reaches, in a loop over an empty list, or behind a field
// that is missing passes without judging anything. V8 counts the blocks of the spec.
//
//   usage: node tools/check/assertions.mjs [SPEC… | FOLDER]     SPEC: such as core/decode; default: all
//                                                               FOLDER: with specs in it
//
// A comment `// not here: REASON` on the line, or on the one before, names what another platform or
// client reaches. Specs that skip a test say so.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

import { specNames, specOf } from './specs.mjs'
import { root } from '../setup.mjs'

/** Calls of assert, apart from those that say what must not happen. */
const ASSERTION = /(?<![\w.'"`])assert(?:\.(?!fail\b)\w+)?\(/g
/** What a spec starts as well is not counted. */
const ALONE = `data:text/javascript,${encodeURIComponent('delete process.env.NODE_V8_COVERAGE')}`

const given = process.argv.slice(2)
const isFolder = given.length === 1 && path.isAbsolute(given[0])
/** @type {[name: string, file: string][]} */
const specs = isFolder
  ? fs.readdirSync(given[0]).map((name) => [name, path.join(given[0], name)])
  : (given.length > 0 ? given : specNames()).map((name) => [name, path.join(root, specOf(name).file)])
let isComplete = true
for (const [name, file] of specs) {
  const { status, lines, skipped } = run(file)
  for (const line of lines) console.log(`${name}:${line}`)
  if (status !== 0) console.log(`${name}: the spec fails`)
  if (skipped > 0) console.log(`${name}: ${skipped} tests skipped`)
  isComplete &&= status === 0 && lines.length === 0
}
if (isComplete) console.log(`each assertion of ${specs.length} specs ran`)
process.exit(isComplete ? 0 : 1)

/** Runs a spec. Returns the lines of its assertions that did not run. */
function run(file) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-assertions-'))
  try {
    const { status, stdout } = spawnSync(process.execPath, ['--import', ALONE, '--test-reporter=tap', file], {
      cwd: root,
      env: { ...process.env, NODE_V8_COVERAGE: folder },
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    const reports = fs.readdirSync(folder).map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')))
    const scripts = reports.flatMap(({ result }) => result)
    const script = scripts.find(({ url }) => url === pathToFileURL(file).href)
    const lines = script === undefined ? [] : deadAssertions(fs.readFileSync(file, 'utf8'), script.functions)
    return { status, lines, skipped: Number(/\n# skipped (\d+)/.exec(stdout)?.[1] ?? 0) }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

/** Assertions in blocks that did not run: the smallest block around each has the count. */
function deadAssertions(text, functions) {
  const blocks = functions.flatMap(({ ranges }) => ranges)
  const size = ({ startOffset, endOffset }) => endOffset - startOffset
  const lines = text.split('\n')
  const lineAt = (offset) => lines[text.slice(0, offset).split('\n').length - 1]
  return [...text.matchAll(ASSERTION)].flatMap(({ index }) => {
    const around = blocks.filter(({ startOffset, endOffset }) => startOffset <= index && index < endOffset)
    const [inner] = around.sort((a, b) => size(a) - size(b))
    if (inner?.count !== 0) return []
    // A test that is skipped says so itself.
    const outer = around.filter(({ count }) => count === 0).at(-1)
    if (lineAt(outer.startOffset).startsWith('test(')) return []
    const line = text.slice(0, index).split('\n').length
    const isElsewhere = [line - 2, line - 1].some((at) => lines[at]?.includes('// not here: '))
    return isElsewhere ? [] : [`${line}: ${lines[line - 1].trim()}`]
  })
}
