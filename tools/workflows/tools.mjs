// Downloads the package managers and the versions of Node for npm run maintain workflows.

import fs from 'node:fs'
import path from 'node:path'

import { installInto } from '../setup.mjs'

/** The newest versions that run on Node 20. */
const MANAGERS = {
  npm10: 'npm@10.9.9',
  npm11: 'npm@11.7.0',
  pnpm: 'pnpm@10.34.9',
  '@yarnpkg/cli-dist': '@yarnpkg/cli-dist@4.18.1',
  bun: 'bun@1.4.5',
}
const NODES = { 20: '20.20.2', 22: '22.23.3', 24: '24.9.0' }

/** The major versions of Node. */
export const nodeVersions = Object.keys(NODES).map(Number)

/** The program of a major version of Node below `folder`, which is downloaded if it is missing. */
export function nodeOf(folder, major) {
  const name = `node-${process.platform}-${process.arch}`
  const place = path.join(folder, `node-${major}`)
  const program = path.join(place, 'node_modules', name, 'bin', 'node')
  if (!fs.existsSync(program)) installInto(place, [`${name}@${NODES[major]}`], { scripts: false })
  return program
}

/**
 * The paths of the package managers below `folder`, which are downloaded if they are missing.
 *
 * @returns {Record<'npm10' | 'npm11' | 'pnpm' | 'yarn' | 'bun', string>} bun is a program, the
 *   others are scripts for Node
 */
export function managers(folder) {
  const place = path.join(folder, 'managers')
  const inside = (...parts) => path.join(place, 'node_modules', ...parts)
  if (!fs.existsSync(inside('.package-lock.json')))
    installInto(
      place,
      Object.entries(MANAGERS).map(([name, version]) =>
        version.startsWith(name) ? version : `${name}@npm:${version}`,
      ),
      { scripts: false },
    )
  return {
    npm10: inside('npm10', 'bin', 'npm-cli.js'),
    npm11: inside('npm11', 'bin', 'npm-cli.js'),
    pnpm: inside('pnpm', 'bin', 'pnpm.cjs'),
    yarn: inside('@yarnpkg', 'cli-dist', 'bin', 'yarn.js'),
    bun: inside('@oven', `bun-${process.platform}-${process.arch}`, 'bin', 'bun'),
  }
}
