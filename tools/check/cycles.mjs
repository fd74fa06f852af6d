#!/usr/bin/env node
// Reports JavaScript modules that import each other in a cycle, modules of lib/ that import a layer
// above it, modules that import a file of another package instead of the package, or a package that
// theirs does not list, packages that need each other, and Rust modules beside each other that use
// each other.
//
//   usage: node tools/check/cycles.mjs [FOLDER]     FOLDER: default: the whole project

import fs from 'node:fs'
import path from 'node:path'

import { javascriptImports } from './cycles/javascript.mjs'
import { rustImports } from './cycles/rust.mjs'
import { cyclesOf } from './cycles/strongly-connected.mjs'
import { root } from '../setup.mjs'
import { sourceFiles } from './source-files.mjs'

const folder = path.resolve(process.argv[2] ?? root)
const names = sourceFiles(folder)
const { modules, packages: ofPackages } = javascriptImports(folder, names)
/** Modules that use lib/. */
const ABOVE_LIB = /^(?:index\.m?js|(?:cli|dropins)\/.*\.m?js)$/
/** What belongs to the whole project, and imports every package. */
const OF_PROJECT = /(?:^(?:__test__|tools|examples)\/|\/test\/)/
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
  for (const foreign of OF_PROJECT.test(module)
    ? []
    : imports.filter((other) => packageOf(other) !== packageOf(module))) {
    console.log(`${module} imports ${foreign}, a file of another package`)
    isWrong = true
  }
}
const manifests = new Map(
  [...new Set([...modules.keys()].map(packageOf))]
    .filter((own) => fs.existsSync(path.join(folder, own, 'package.json')))
    .map((own) => [own, JSON.parse(fs.readFileSync(path.join(folder, own, 'package.json'), 'utf8'))]),
)
for (const [module, imports] of ofPackages) {
  const { name, dependencies, peerDependencies, devDependencies } = manifests.get(packageOf(module)) ?? {}
  const listed = { [name]: '', ...dependencies, ...peerDependencies, ...devDependencies }
  for (const foreign of OF_PROJECT.test(module) ? [] : imports.filter((other) => !Object.hasOwn(listed, other))) {
    console.log(`${module} imports ${foreign}, which the package.json of its package does not list`)
    isWrong = true
  }
}
const ownNames = [...manifests.values()].map(({ name }) => name)
const inProject = (manifest) => needed(manifest).filter((name) => ownNames.includes(name))
const packages = new Map([...manifests.values()].map((manifest) => [manifest.name, inProject(manifest)]))
if (packages.size > 0 && report(packages, 'no cycle', 'packages')) isWrong = true
for (const [place, siblings] of rustImports(folder, names)) {
  if (report(siblings, `${place}: no cycle`, 'modules')) isWrong = true
}
process.exit(isWrong ? 1 : 0)

/** The packages that npm installs with a package. Those that a build bundles are not among them. */
function needed({ dependencies, peerDependencies, peerDependenciesMeta }) {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true)
  return [...Object.keys(dependencies ?? {}), ...peers]
}

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
