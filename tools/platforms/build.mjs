// Builds the addon for one platform on Linux.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { root, run, stop } from '../setup.mjs'
import { hasTarget } from './staged.mjs'
import { ENTRY, addonOf, builtFolder, folder } from './table.mjs'

/** Packages of PyPI with the compiler and linker for most targets. */
const ZIG = ['ziglang==0.17.1', 'cargo-zigbuild==0.24.0']
const MINGW = 'x86_64-w64-mingw32-gcc'

/** The oldest supported macOS. Node 20 needs 10.15, and Rust needs 11.0 for arm64. */
const OLDEST_MACOS = { 'x86_64-apple-darwin': '10.15', 'aarch64-apple-darwin': '11.0' }

/**
 * Stops if a tool or a Rust target for these platforms is missing. The error says how to get it.
 */
export function checkTools(platforms) {
  const missing = platforms.map(({ target }) => rustTarget(target)).filter((target) => !hasTarget(target))
  if (missing.length > 0) stop(`Rust targets are missing: run "rustup target add ${missing.join(' ')}"`)
  if (platforms.some(({ tool }) => tool === 'mingw') && spawnSync(MINGW, ['--version']).status !== 0)
    stop(`there is no ${MINGW}: run "apt-get install gcc-mingw-w64-x86-64"`)
}

/** Builds the addon of a platform in release mode. Stops if that fails. */
export function build(platform) {
  const { target, tool } = platform
  // The previous build stays until this one has succeeded.
  const place = `${builtFolder(platform)}.new`
  fs.rmSync(place, { recursive: true, force: true })
  fs.mkdirSync(place, { recursive: true })
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, RUSTFLAGS: `${process.env.RUSTFLAGS ?? ''} ${withoutPaths()}`.trim() }
  if (tool === 'zig') env.PATH = `${zigFolder()}${path.delimiter}${env.PATH}`
  if (target in OLDEST_MACOS) env.MACOSX_DEPLOYMENT_TARGET = OLDEST_MACOS[target]
  if (target.includes('windows')) env.LIBNODE_PATH = emptyLibnode()
  // napi-cli does not know this target.
  if (target.endsWith('gnullvm')) {
    env.RUSTFLAGS += ` -Clink-arg=${exportsFile()}`
    if (!run('cargo', ['zigbuild', '--release', '--lib', '--target', target], { env })) failed(platform)
    fs.copyFileSync(
      path.join(root, 'target', target, 'release', 'tokenlane.dll'),
      path.join(place, path.basename(addonOf(platform))),
    )
    return replace(place, builtFolder(platform))
  }
  const args = [
    'napi',
    'build',
    '--config-path',
    'napi.json',
    '--platform',
    '--release',
    '--target',
    target,
    '--output-dir',
    place,
  ]
  args.push('--js', 'native.js', '--dts', 'native.d.ts')
  if (tool === 'zig') args.push('--cross-compile')
  if (!run('npx', args, { env })) failed(platform)
  replace(place, builtFolder(platform))
}

function replace(from, to) {
  fs.rmSync(to, { recursive: true, force: true })
  fs.renameSync(from, to)
}

/** @returns {never} */
function failed({ built }) {
  stop(`the build of ${built} failed`)
}

/** The name of the target in Rust, without the version of glibc. */
function rustTarget(target) {
  return target.replace(/\.[\d.]+$/, '')
}

/**
 * Flags that keep the names of this machine's folders out of the addon. Messages of panics have the
 * paths of source files.
 */
function withoutPaths() {
  const cargo = process.env.CARGO_HOME ?? path.join(os.homedir(), '.cargo')
  const registry = path.join(cargo, 'registry', 'src')
  const indexes = fs.existsSync(registry) ? fs.readdirSync(registry) : []
  return [
    ...indexes.map((index) => `--remap-path-prefix=${path.join(registry, index)}=crates`),
    `--remap-path-prefix=${path.join(sysroot(), 'lib', 'rustlib', 'src')}=std`,
    `--remap-path-prefix=${root.replace(/\/$/, '')}=tokenlane`,
  ].join(' ')
}

/** The folder of the Rust tool chain. */
function sysroot() {
  return spawnSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' }).stdout.trim()
}

/** Installs zig and cargo-zigbuild below .cache if missing. Returns the folder of the programs. */
export function zigFolder() {
  const place = path.join(root, '.cache', 'zig')
  const bin = path.join(place, 'bin')
  if (!fs.existsSync(path.join(bin, 'cargo-zigbuild'))) {
    fs.mkdirSync(path.dirname(place), { recursive: true })
    const installed =
      run('python3', ['-m', 'venv', place]) &&
      run(path.join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...ZIG])
    if (!installed) stop(`pip could not install ${ZIG.join(' and ')}`)
  }
  return bin
}

/**
 * A file that lists the exports of a library for Windows. Rust passes such a file, list.def, but
 * cargo-zigbuild drops it, because zig does not accept Rust's form. Without a list, lld exports
 * every symbol.
 */
function exportsFile() {
  fs.mkdirSync(folder, { recursive: true })
  const place = path.join(folder, 'exports.def')
  fs.writeFileSync(place, `EXPORTS\n  ${ENTRY}\n`)
  return place
}

/**
 * An empty libnode.dll, which napi-build needs for a GNU tool chain. The addon looks up Node's
 * functions when it is loaded, so an empty library satisfies the linker.
 */
function emptyLibnode() {
  const place = path.join(folder, 'libnode')
  fs.mkdirSync(place, { recursive: true })
  fs.writeFileSync(path.join(place, 'libnode.dll'), '')
  // The names under which gcc and zig look for a library.
  for (const name of ['libnode.dll.a', 'libnode.a']) fs.writeFileSync(path.join(place, name), '!<arch>\n')
  return place
}
