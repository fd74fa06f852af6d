#!/usr/bin/env node
// npm run platforms: builds the addon of each platform on this Linux machine, inspects it, and
// packs the packages.
//
// usage: npm run maintain -- platforms [--only NAME] [--no-build]     NAME: part of the name of a
// platform
//
// Needs the Rust targets, gcc for Windows (Debian: apt-get install gcc-mingw-w64-x86-64), and pip,
// which installs zig. If one is missing, the error has the command that installs it.
//
// Builds are in target/platforms/built, packages in target/platforms/packages. The builds for
// Windows use GNU tool chains, and their names say so; the release workflow builds with MSVC. The
// command writes the sizes of the packages into docs/measurements/sizes.md, unless variables change
// the release profile.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'

import { inspect } from './inspect.mjs'
import { build, checkTools } from './build.mjs'
import { PLATFORMS, addonOf, builtFolder, folder } from './table.mjs'
import { root, stop } from '../setup.mjs'
import { withSizes } from './sizes.mjs'

const { values } = parseArgs({ options: { only: { type: 'string' }, 'no-build': { type: 'boolean' } } })
const chosen = PLATFORMS.filter(({ built }) => built.includes(values.only ?? ''))
if (chosen.length === 0)
  stop(`no platform has a name with "${values.only}": ${PLATFORMS.map(({ built }) => built).join(', ')}`)
if (!values['no-build']) checkTools(chosen)

const problems = []
for (const platform of chosen) {
  const start = performance.now()
  console.log(`── ${platform.built}, ${platform.target} ──`)
  if (!values['no-build']) build(platform)
  if (!fs.existsSync(addonOf(platform))) stop(`${addonOf(platform)} is missing: run without --no-build`)
  const { facts, wrong } = inspect(platform)
  for (const fact of facts) console.log(`   ${fact}`)
  const { size, unpackedSize, file } = packed(platform)
  const sizes = [size, unpackedSize].map((bytes) => (bytes / 1e6).toFixed(1))
  console.log(`   ${file}: ${sizes[0]} MB packed, ${sizes[1]} MB installed`)
  writeSizes(`tokenlane-${platform.name}`, sizes)
  for (const what of wrong) console.log(`   NOT OK ${what}`)
  problems.push(...wrong.map((what) => `${platform.built}: ${what}`))
  console.log(`   ${((performance.now() - start) / 1e3).toFixed(0)} s`)
}
for (const [name, from] of [
  ['tokenlane', root],
  ['@tokenlane/web', path.join(root, 'packages', 'web')],
]) {
  // What `npm test` builds is larger.
  if (from !== root && !isReleased(path.join(from, 'dist', 'tokenlane.wasm'))) continue
  const { size, unpackedSize } = packedFolder(from, ['--dry-run'])
  writeSizes(
    name,
    [size, unpackedSize].map((bytes) => (bytes / 1e6).toFixed(1)),
  )
}
if (problems.length > 0) stop(`failed:\n${problems.join('\n')}`)

/** Whether a module of @tokenlane/web is what the profile of a release compiled. */
function isReleased(module) {
  const compiled = path.join(root, 'target', 'wasm32-unknown-unknown', 'web', 'tokenlane_web.wasm')
  return [module, compiled].every(fs.existsSync) && fs.readFileSync(module).equals(fs.readFileSync(compiled))
}

/** Packs the package of a platform, as npm publishes it. */
function packed(platform) {
  const staged = path.join(folder, 'staged', platform.built)
  fs.rmSync(staged, { recursive: true, force: true })
  fs.cpSync(path.join(root, 'npm', platform.name), staged, { recursive: true })
  const manifestFile = path.join(staged, 'package.json')
  const manifest = JSON.parse(fs.readFileSync(manifestFile, 'utf8').replaceAll(platform.name, platform.built))
  fs.writeFileSync(manifestFile, `${JSON.stringify(manifest, undefined, 2)}\n`)
  for (const file of manifest.files.filter((file) => !file.startsWith('LICENSE')))
    fs.copyFileSync(path.join(builtFolder(platform), file), path.join(staged, file))
  const packages = path.join(folder, 'packages')
  fs.mkdirSync(packages, { recursive: true })
  const { size, unpackedSize, filename } = packedFolder(staged, ['--pack-destination', packages])
  return { size, unpackedSize, file: filename }
}

/** Packs a folder. Returns what npm says about it. */
function packedFolder(cwd, options) {
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', ...options]
  const { stdout, stderr, status } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) stop(`npm could not pack ${cwd}:\n${stderr}`)
  return JSON.parse(stdout)[0]
}

/** Writes the sizes of a package, in MB, and the date into docs/measurements/sizes.md. */
function writeSizes(name, sizes) {
  if (Object.keys(process.env).some((variable) => variable.startsWith('CARGO_PROFILE_'))) return
  const file = path.join(root, 'docs', 'measurements', 'sizes.md')
  fs.writeFileSync(
    file,
    withSizes(fs.readFileSync(file, 'utf8'), name, [...sizes, new Date().toISOString().slice(0, 10)]),
  )
}
