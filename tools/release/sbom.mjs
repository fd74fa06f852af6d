#!/usr/bin/env node
// Writes the list of what a release contains (SBOM, CycloneDX 1.5): the crates that are compiled
// into the addon on any platform, and the npm packages that an install may add.
//
//   usage: node tools/release/sbom.mjs FILE

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { root, stop } from '../setup.mjs'

const [file] = process.argv.slice(2)
if (file === undefined) stop('usage: node tools/release/sbom.mjs FILE')

const own = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
const bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: {
    component: {
      type: 'library',
      name: own.name,
      version: own.version,
      purl: `pkg:npm/${own.name}@${own.version}`,
      licenses: [{ expression: own.license }],
    },
  },
  components: [...crates(), ...npmPackages()],
}
fs.writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`)
console.log(`${file}: ${bom.components.length} components`)

/** The crates that the addon depends on, except those that only run while it is compiled. */
function crates() {
  const args = ['metadata', '--format-version=1', '--locked']
  const metadata = JSON.parse(execFileSync('cargo', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 }))
  const packages = new Map(metadata.packages.map((entry) => [entry.id, entry]))
  const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]))
  const checksums = cargoChecksums()
  const found = new Set()
  const waiting = [metadata.resolve.root]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue
    found.add(id)
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) {
      // The kind of a normal dependency is null.
      const isMacro = packages.get(pkg).targets.some((target) => target.kind.includes('proc-macro'))
      if (!isMacro && kinds.some(({ kind }) => kind === null)) waiting.push(pkg)
    }
  }
  return [...found]
    .map((id) => packages.get(id))
    .filter(({ source }) => source !== null)
    .map(({ name, version, license }) => ({
      type: 'library',
      name,
      version,
      purl: `pkg:cargo/${name}@${version}`,
      ...(license ? { licenses: [{ expression: license.replaceAll('/', ' OR ') }] } : {}),
      hashes: [{ alg: 'SHA-256', content: checksums.get(`${name} ${version}`) }],
    }))
    .sort((a, b) => (a.purl < b.purl ? -1 : 1))
}

/** The SHA-256 of each crate of a registry, by name and version, from Cargo.lock. */
function cargoChecksums() {
  const lock = fs.readFileSync(path.join(root, 'Cargo.lock'), 'utf8')
  const entries = lock.matchAll(/^name = "(.+)"\nversion = "(.+)"\nsource = .+\nchecksum = "(.+)"/gm)
  return new Map([...entries].map(([, name, version, checksum]) => [`${name} ${version}`, checksum]))
}

/** The optional dependencies of the package, with their own. */
function npmPackages() {
  const { packages } = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  /** Paths in the lock file. A package finds its dependencies in its folder and in those above. */
  const found = new Set()
  const waiting = Object.keys(own.optionalDependencies).map((name) => ['', name])
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [from, name] = next
    const place = `${from}node_modules/${name}`
    if (packages[place] === undefined) {
      if (from !== '') waiting.push([from.replace(/node_modules\/(@[^/]+\/)?[^/]+\/$/, ''), name])
    } else if (!found.has(place)) {
      found.add(place)
      waiting.push(...Object.keys(packages[place].dependencies ?? {}).map((child) => [`${place}/`, child]))
    }
  }
  return [...found]
    .map((place) => ({ name: place.slice(place.lastIndexOf('node_modules/') + 13), ...packages[place] }))
    .map(({ name, version, license, integrity }) => ({
      type: 'library',
      name,
      version,
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      ...(license ? { licenses: [{ expression: license }] } : {}),
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }],
    }))
    .sort((a, b) => (a.purl < b.purl ? -1 : 1))
}
