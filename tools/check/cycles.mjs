#!/usr/bin/env node
// Reports JavaScript modules that import each other in a cycle, and parts of a Rust crate that use
// each other.
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
let hasCycle = report(modules, 'no import cycle', 'modules')
for (const [crate, parts] of rustImports(folder, names)) {
  if (report(parts, `${crate}: no cycle`, 'parts')) hasCycle = true
}
process.exit(hasCycle ? 1 : 0)

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
