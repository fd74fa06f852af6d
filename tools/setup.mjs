// The first steps of `npm start` and `npm test`: check the machine, install the packages, and build
// the addon if it is missing or outdated.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

const OLDEST_NODE = 20
const isWindows = process.platform === 'win32'

/**
 * Prints an error message and ends the process.
 *
 * @returns {never}
 */
export function stop(message) {
  console.error(message)
  process.exit(1)
}

/** The exit status of a build if Rust cannot compile for its target on this machine. */
export const NO_TARGET = 3

/**
 * A port of this machine that no server uses.
 *
 * @returns {Promise<number>}
 */
export function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {net.AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })
}

/** The folders of the packages of this repository that are published beside `tokenlane`. */
export const workspaces = () =>
  fs
    .readdirSync(path.join(root, 'packages'))
    .sort()
    .map((name) => path.join(root, 'packages', name))

/** Runs a command with its output shown; returns whether it succeeded. */
export function run(command, args, options = {}) {
  // npm is a .cmd file on Windows, which only a shell starts.
  const shell = isWindows && command === 'npm'
  return spawnSync(command, args, { cwd: root, stdio: 'inherit', shell, ...options }).status === 0
}

/**
 * Installs packages, such as `name@1.0.0`, into a folder, which is a project of its own. Stops if
 * npm cannot.
 *
 * @param {string} folder
 * @param {string[]} packages
 * @param {{ scripts?: boolean, overrides?: Record<string, string> }} [options] `scripts`: whether
 *   the packages may run theirs, by default true
 */
export function installInto(folder, packages, { scripts = true, overrides } = {}) {
  fs.mkdirSync(folder, { recursive: true })
  const manifest = path.join(folder, 'package.json')
  // Without this file npm would install into a folder above.
  if (!fs.existsSync(manifest)) fs.writeFileSync(manifest, JSON.stringify({ private: true, overrides }))
  const options = ['--no-audit', '--no-fund', '--loglevel=error', ...(scripts ? [] : ['--ignore-scripts'])]
  if (!run('npm', ['install', ...options, ...packages], { cwd: folder }))
    stop(`npm could not install ${packages.join(' ')}`)
}

const found = (command, ...args) => spawnSync(command, args, { stdio: 'ignore', shell: isWindows }).status === 0

/** Stops if Node is too old. */
export function checkNode() {
  const major = Number(process.versions.node.split('.')[0])
  if (major < OLDEST_NODE)
    stop(`tokenlane needs Node ${OLDEST_NODE} or newer, and this is ${process.version}: see https://nodejs.org`)
}

/** Stops if the machine cannot build the addon. */
export function checkCompilers() {
  if (!found('cargo', '--version')) {
    stop('building tokenlane needs a Rust toolchain, and there is no cargo: see https://rustup.rs')
  }
  if (!isWindows && !found(process.env.CC ?? 'cc', '--version')) {
    stop(
      'building tokenlane needs a C compiler, and there is no cc: install gcc or clang (Debian: apt install build-essential)',
    )
  }
}

/** Installs the packages of package-lock.json, unless they are installed. */
export function install() {
  const done = path.join(root, 'node_modules', '.package-lock.json')
  if (modified(done) >= modified(path.join(root, 'package-lock.json'))) return
  console.log('Installing what package-lock.json lists …')
  if (!run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])) {
    stop('npm could not install the dependencies; its output is above')
  }
}

/** Whether a source of the addon is newer than the addon, or there is none. */
export function buildIsOld() {
  const addons = fs.readdirSync(root).filter((name) => /^tokenlane\..*\.node$/.test(name))
  const built = Math.min(...['native.js', ...addons].map((name) => modified(path.join(root, name))))
  const sources = ['Cargo.toml', 'Cargo.lock', 'build.rs', 'src', 'crates']
  return addons.length === 0 || built < Math.max(...sources.map(newest))
}

/** Whether a source of @tokenlane/web is newer than its last build, or there is none. */
export function webIsOld() {
  // What tools/platforms/web.mjs writes last.
  const built = modified(path.join(root, 'packages', 'gpt-tokenizer', 'web', 'bundle.mjs'))
  const sources = [
    'Cargo.toml',
    'Cargo.lock',
    'crates',
    'encodings',
    'lib',
    ...['jinja', 'requests', 'web/src', 'tiktoken', 'js-tiktoken', 'gpt-tokenizer'].map((name) => `packages/${name}`),
    'tools/platforms/web.mjs',
  ]
  return built < Math.max(...sources.map(newest))
}

/** Builds the addon in release mode, unless it is newer than every source. */
export function build() {
  run(process.execPath, ['tools/model-entries.mjs'])
  if (!buildIsOld()) return
  checkCompilers()
  console.log('Building the addon; the first build takes a minute or two …')
  buildForSpeed()
}

/** Builds the addon as a release does, also if `npm test` built it, which optimizes less. */
export function buildForSpeed() {
  if (!run('npm', ['run', '--silent', 'build'])) stop('the addon did not build; the output of the compiler is above')
}

/** The modification time of a file; 0 if it does not exist. */
function modified(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** The latest modification time below a path. */
function newest(name) {
  const place = path.join(root, name)
  if (!fs.statSync(place).isDirectory()) return modified(place)
  return Math.max(0, ...fs.readdirSync(place).map((child) => newest(path.join(name, child))))
}
