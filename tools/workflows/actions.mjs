// The actions that the workflows use, as far as they matter to the steps behind them. An action, or
// an input of one, that is not here is an error.

import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { zigFolder } from '../platforms/build.mjs'
import { hasTarget } from '../platforms/staged.mjs'
import { root, run } from '../setup.mjs'
import { managers, nodeOf } from './tools.mjs'

/**
 * What a step of a job works with.
 *
 * @typedef {object} Step
 * @property {import('./image.mjs').Machine} machine
 * @property {import('./session.mjs').Session} session
 * @property {string} comment behind the commit of the action: its version
 */

/**
 * @typedef {(inputs: any, step: Step) => Promise<string | undefined | void>
 *   | string | undefined | void} Action  returns why it failed
 */

/** @type {Record<string, { inputs: string[], act: Action }>} */
const ACTIONS = {
  // Clones are whole in any case.
  'actions/checkout': { inputs: ['fetch-depth'], act: checkout },
  'actions/setup-node': { inputs: ['node-version', 'cache', 'registry-url'], act: setupNode },
  'actions/upload-artifact': { inputs: ['name', 'path', 'if-no-files-found'], act: upload },
  'actions/download-artifact': { inputs: ['name', 'path'], act: download },
  'dtolnay/rust-toolchain': { inputs: ['targets', 'components'], act: rustToolchain },
  // Cargo's folder of a job is kept for the next run in any case: see rustToolchain.
  'Swatinem/rust-cache': { inputs: [], act: () => {} },
  'mlugg/setup-zig': { inputs: [], act: zig },
  'taiki-e/install-action': { inputs: ['tool'], act: cargoTool },
}
/** Actions that need what only GitHub has, with the reason. Their steps are left out. */
const LEFT_OUT = { 'EmbarkStudios/cargo-deny-action': 'the database of RustSec is on GitHub' }

/**
 * Runs the action of a step. Returns why it failed, or `left out: …`.
 *
 * @param {string} uses
 * @param {Record<string, string>} inputs
 * @param {Step} step
 */
export async function act(uses, inputs, step) {
  const name = uses.split('@')[0]
  if (name in LEFT_OUT) return `left out: ${LEFT_OUT[name]}`
  return refusal(uses, inputs) ?? (await ACTIONS[name].act(inputs, step))
}

/** Why an action is not emulated; undefined if it is, or is left out. */
export function refusal(uses, inputs) {
  const name = uses.split('@')[0]
  if (name in LEFT_OUT) return undefined
  if (ACTIONS[name] === undefined) return `the action ${name} is not emulated`
  const unknown = Object.keys(inputs).filter((input) => !ACTIONS[name].inputs.includes(input))
  return unknown.length > 0 ? `the input ${unknown.join(', ')} of ${name} is not emulated` : undefined
}

/** A clone of the commit, without what is not committed. */
function checkout(_, { machine, session }) {
  const git = (...args) =>
    run('git', ['-c', 'advice.detachedHead=false', ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (!git('clone', '--quiet', '--no-checkout', '--no-hardlinks', root, machine.workspace)) return 'git could not clone'
  if (!git('-C', machine.workspace, 'checkout', '--quiet', session.commit)) return 'git could not check out'
}

async function setupNode({ 'node-version': version, 'registry-url': registry }, { machine, session }) {
  const tools = path.join(session.cache, 'tools')
  machine.linkNode(nodeOf(tools, Number(version)), Number(version), managers(tools))
  // npm then takes packages from this registry, and publishes to it.
  if (registry !== undefined) machine.env.NPM_CONFIG_USERCONFIG = (await session.registry()).userconfig
}

function upload({ name, path: paths, 'if-no-files-found': missing }, { machine, session }) {
  const files = linesOf(paths).flatMap((pattern) => filesOf(machine.workspace, pattern))
  if (files.length === 0) return missing === 'error' ? `no file fits ${paths}` : undefined
  session.store(name, (folder) => {
    for (const file of files)
      fs.cpSync(path.join(machine.workspace, file), path.join(folder, path.relative(commonFolder(paths), file)), {
        recursive: true,
      })
  })
}

/** One artifact, or all, each in a folder of its name. */
function download({ name, path: to = '.' }, { machine, session }) {
  const names = name === undefined ? session.artifacts() : [name]
  const missing = names.filter((name) => !session.artifacts().includes(name))
  if (missing.length > 0) return `there is no artifact ${missing.join()}`
  for (const one of names) {
    const place = path.join(machine.workspace, to, name === undefined ? one : '')
    // Without the times of the files, as an archive that was unpacked.
    fs.cpSync(session.folderOf(one), place, { recursive: true })
  }
}

const linesOf = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** The files below a folder that fit a pattern, which has `*` in its last part only. */
function filesOf(folder, pattern) {
  const [place, name] = [path.dirname(pattern), path.basename(pattern)]
  const fits = new RegExp(`^${name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`)
  const above = path.join(folder, place)
  if (!fs.existsSync(above)) return []
  return fs
    .readdirSync(above)
    .filter((file) => fits.test(file))
    .map((file) => path.join(place, file))
}

/** The folder that has two others. */
function above(one, other) {
  const [parts, others] = [one.split('/'), other.split('/')]
  const differs = parts.findIndex((part, at) => part !== others[at])
  return parts.slice(0, differs === -1 ? parts.length : differs).join('/') || '.'
}

/** The folder that paths in an artifact are relative to. One path that is a folder is left out. */
function commonFolder(paths) {
  const lines = linesOf(paths)
  if (lines.length > 1) return lines.map((line) => path.dirname(line)).reduce(above)
  return lines[0].includes('*') || path.extname(lines[0]) !== '' ? path.dirname(lines[0]) : lines[0]
}

/**
 * Rust's tool chain of this machine. Targets that are missing are added to it. The folder of builds
 * moves from job to job, as with the action that caches it.
 */
function rustToolchain({ targets = '', components = '' }, { machine, session, comment }) {
  const toolchain = comment === 'nightly' ? 'nightly' : 'stable'
  const which = (program) => {
    const made = spawnSync('rustup', ['which', '--toolchain', toolchain, program], { encoding: 'utf8' })
    return made.status === 0 ? made.stdout.trim() : undefined
  }
  if (which('rustc') === undefined) return `rustup has no tool chain ${toolchain}`
  const rustup = execFileSync('sh', ['-c', 'command -v rustup'], { encoding: 'utf8' }).trim()
  for (const name of ['cargo', 'rustc', 'rustdoc', 'rustup', 'cargo-clippy', 'clippy-driver', 'cargo-fmt', 'rustfmt'])
    if (which(name === 'rustup' ? 'rustc' : name) !== undefined) machine.link(name, rustup)
  for (const component of components
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean))
    if (!run('rustup', ['component', 'add', '--toolchain', toolchain, component]))
      return `rustup could not add ${component}`
  for (const target of targets
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean))
    if (!hasTarget(target, toolchain) && !run('rustup', ['target', 'add', '--toolchain', toolchain, target]))
      return `rustup could not add ${target}`
  const home = process.env.HOME ?? '/root'
  machine.env.RUSTUP_HOME = process.env.RUSTUP_HOME ?? path.join(home, '.rustup')
  machine.env.CARGO_HOME = process.env.CARGO_HOME ?? path.join(home, '.cargo')
  machine.env.RUSTUP_TOOLCHAIN = toolchain
  session.lendBuilds(machine)
}

/** The compiler zig, and what of cargo uses it, from PyPI. */
function zig(_, { machine }) {
  machine.script('zig', `exec ${path.join(zigFolder(), 'python')} -m ziglang "$@"`)
}

function cargoTool({ tool }, { machine }) {
  if (tool !== 'cargo-zigbuild') return `the tool ${tool} is not emulated`
  machine.link(tool, path.join(zigFolder(), tool))
}
