#!/usr/bin/env node
// Reports modules that import each other in a cycle. Imports are `import`, `export … from`,
// `require` and `import()` with a literal path, and the types of JSDoc comments, which are read
// from the declarations beside a module.
//
//   usage: node scripts/check-cycles.mjs [FOLDER]     FOLDER: default: the whole project

import fs from 'node:fs'
import path from 'node:path'

import ts from 'typescript'

import { root } from './setup.mjs'
import { sourceFiles } from './source-files.mjs'

const MODULE = /\.([cm]?js|d\.[cm]?ts)$/
const TYPE_IN_COMMENT = /\bimport\('(\.[^']*)'\)/g
const COMMENT = /\/\*\*[^]*?\*\//g

const folder = path.resolve(process.argv[2] ?? root)
const files = new Set(sourceFiles(folder).filter((name) => MODULE.test(name)))
const imports = new Map([...files].map((file) => [file, importsOf(file)]))
const cycles = cyclesOf(imports)

for (const cycle of cycles) {
  console.log('these modules import each other:')
  for (const file of cycle) {
    const inCycle = imports.get(file).filter((other) => cycle.includes(other))
    console.log(`  ${file} imports ${inCycle.join(', ')}`)
  }
}
if (cycles.length === 0) console.log(`no import cycle in ${files.size} modules`)
process.exit(cycles.length === 0 ? 0 : 1)

/** Returns the files that a module imports, without those that this check does not read. */
function importsOf(file) {
  const text = fs.readFileSync(path.join(folder, file), 'utf8')
  const values = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)
  const types = (text.match(COMMENT) ?? []).flatMap((comment) =>
    [...comment.matchAll(TYPE_IN_COMMENT)].map(([, name]) => name),
  )
  const isTyping = /\.d\.[cm]?ts$/.test(file)
  const found = [
    ...values.map((name) => resolve(file, name, isTyping)),
    ...types.map((name) => resolve(file, name, true)),
  ]
  return [...new Set(found)].filter((other) => other !== undefined)
}

/** The module that `name` stands for in `file`. Types are those of the declarations, if any. */
function resolve(file, name, isType) {
  if (!name.startsWith('.')) return undefined
  const place = path.posix.join(path.posix.dirname(file), name)
  const modules = [place, `${place}.js`, path.posix.join(place, 'index.js')]
  const typings = modules.map((one) => one.replace(/\.([cm]?)js$/, '.d.$1ts'))
  return [...(isType ? typings : []), ...modules].find((one) => files.has(one))
}

/** Returns the groups of modules that import each other (Tarjan's algorithm). */
function cyclesOf(graph) {
  const order = new Map()
  const lowest = new Map()
  const stack = []
  const cycles = []
  const visit = (file) => {
    order.set(file, order.size)
    lowest.set(file, order.get(file))
    stack.push(file)
    for (const other of graph.get(file)) {
      if (!order.has(other)) visit(other)
      if (stack.includes(other)) lowest.set(file, Math.min(lowest.get(file), lowest.get(other)))
    }
    if (lowest.get(file) !== order.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1 || graph.get(file).includes(file)) cycles.push(group)
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return cycles
}
