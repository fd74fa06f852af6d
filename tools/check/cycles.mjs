#!/usr/bin/env node
// Reports JavaScript modules that import each other in a cycle, modules of lib/ that import a layer
// above it, modules that import a file of another package instead of the package, and Rust modules
// beside each other that use each other.
//
//   usage: node tools/check/cycles.mjs [FOLDER]     FOLDER: default: the whole project

import path from 'node:path'

import { javascriptImports } from './cycles/javascript.mjs'
import { rustImports } from './cycles/rust.mjs'
import { cyclesOf } from './cycles/strongly-connected.mjs'
import { root } from '../setup.mjs'
import { sourceFiles } from './source-files.mjs'

const folder = path.resolve(process.argv[2] ?? root)
const names = sourceFiles(folder)
const modules = javascriptImports(folder, names)
/** Modules that use lib/. */
const ABOVE_LIB = /^(?:index\.m?js|(?:cli|dropins)\/.*\.m?js)$/
const TESTS = /(?:^__test__|\/test)\//
/** The folder of the package that a file belongs to; that of the main package is empty. */
const packageOf = (file) => /^packages\/[^/]+\//.exec(file)?.[0] ?? ''

let isWrong = report(modules, 'no import cycle', 'modules')
for (const [module, imports] of modules) {
  for (const above of module.startsWith('lib/') ? imports.filter((other) => ABOVE_LIB.test(other)) : []) {
    console.log(`${module} imports ${above}, which is above lib/`)
    isWrong = true
  }
}
for (const [module, imports] of modules) {
  for (const foreign of TESTS.test(module) ? [] : imports.filter((other) => packageOf(other) !== packageOf(module))) {
    console.log(`${module} imports ${foreign}, a file of another package`)
    isWrong = true
  }
}
for (const [place, siblings] of rustImports(folder, names)) {
  if (report(siblings, `${place}: no cycle`, 'modules')) isWrong = true
}
process.exit(isWrong ? 1 : 0)

/** Prints the cycles of a graph, or that it has none; returns whether it has one. */
function report(graph, none, kind) {
  const cycles = cyclesOf(graph)
  for (const cycle of cycles) {
    console.log(`these ${kind} import each other:`)
    for (const node of cycle) {
      const inCycle = graph.get(node).filter((other) => cycle.includes(other))
      console.log(`  ${node} imports ${inCycle.join(', ')}`)
    }
  }
  if (cycles.length === 0) console.log(`${none} in ${graph.size} ${kind}`)
  return cycles.length > 0
}
