// Copies the packages as npm installs them, with an addon for another target, and tests them.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

// This import writes files that belong to the package.
import '../model-entries.mjs'
import { root, workspaces } from '../setup.mjs'
import { failureOf, SCENARIOS } from '../check/runtimes.mjs'
import { specOf } from '../check/specs.mjs'

/** @typedef {import('./steps.mjs').Steps} Steps */

/** Seconds after which a step has failed, so that a run ends; long enough for an emulator. */
const LIMIT_SECONDS = 20 * 60

export class Staged {
  /** The folder of the package. Its dependencies resolve to the node_modules of the repository. */
  folder
  #command
  #args
  #place
  #env

  /**
   * Copies `tokenlane`, and the package `name` of npm/ with its files from `built`, to
   * target/<name>/node_modules.
   *
   * @param {string} name
   * @param {string} built
   * @param {import('../check/runtimes.mjs').Runtime} runtime
   */
  constructor(name, built, { command = process.execPath, args = [], place = (path) => path, env = process.env } = {}) {
    this.#command = command
    this.#args = args
    this.#place = place
    this.#env = env
    const modules = path.join(root, 'target', name, 'node_modules')
    this.folder = path.join(modules, 'tokenlane')
    fs.rmSync(modules, { recursive: true, force: true })
    const addon = path.join(modules, `tokenlane-${name}`)
    fs.cpSync(path.join(root, 'npm', name), addon, { recursive: true })
    const { files } = JSON.parse(fs.readFileSync(path.join(addon, 'package.json'), 'utf8'))
    for (const file of files.filter((file) => !file.startsWith('LICENSE')))
      fs.copyFileSync(path.join(built, file), path.join(addon, file))
    for (const file of packedFiles()) fs.cpSync(path.join(root, file), path.join(this.folder, file))
    fs.copyFileSync(path.join(built, 'native.js'), path.join(this.folder, 'native.js'))
    fs.cpSync(path.join(root, '__test__'), path.join(this.folder, '__test__'), { recursive: true })
    // The packages that it needs, with their specs.
    for (const workspace of workspaces()) {
      const { name } = JSON.parse(fs.readFileSync(path.join(workspace, 'package.json'), 'utf8'))
      for (const place of [path.join(modules, name), path.join(this.folder, path.relative(root, workspace))])
        fs.cpSync(workspace, place, { recursive: true })
    }
    // What specs read of the repository: golden data, the scripts that download vocabularies, rank
    // files as OpenAI has them, documents, examples and settings of tools.
    for (const name of ['crates', 'tools'])
      fs.symlinkSync(path.join(root, name), path.join(this.folder, name), 'junction')
    for (const name of ['encodings', 'docs', 'examples', 'biome.jsonc', 'DESIGN.md'])
      fs.cpSync(path.join(root, name), path.join(this.folder, name), { recursive: true })
  }

  /**
   * Runs specs, a step for each.
   *
   * @param {Steps} steps
   * @param {string[]} names see specOf
   * @param {string} [label] in front of the names of the steps
   */
  specs(steps, names, label = '') {
    for (const name of names) {
      const { file, env } = specOf(name, this.folder)
      const args = [...this.#args, '--test', '--test-reporter=dot', this.#place(path.join(this.folder, file))]
      steps.run(`${label}${name}`, () => this.#run(args, { ...this.#env, ...env }))
    }
  }

  /**
   * Runs scenarios that end processes, a step for each.
   *
   * @param {Steps} steps
   * @param {import('../check/runtimes.mjs').Scenario[]} scenarios
   */
  scenarios(steps, scenarios = SCENARIOS, label = '') {
    const runtime = { command: this.#command, args: this.#args, place: this.#place, env: this.#env }
    for (const scenario of scenarios)
      steps.run(`${label}scenario: ${scenario[0]}`, () => failureOf(scenario, runtime, this.folder))
  }

  /**
   * Runs the golden data of ../shared, if this folder exists, without its large documents. The
   * environment variable CONFORM_VOCAB names the folder of vocabularies.
   *
   * @param {Steps} steps
   */
  golden(steps, label = '') {
    const kit = path.join(root, '..', 'shared', 'conformance', 'check.mjs')
    if (!fs.existsSync(kit)) {
      console.log(`left out: golden data, because there is no ${kit}`)
      return
    }
    const adapter = path.join(this.folder, '__test__', 'conformance', 'adapter.mjs')
    const args = [...this.#args, this.#place(kit), this.#place(adapter), '--skip-docs']
    const { CONFORM_VOCAB: vocabularies } = process.env
    if (vocabularies !== undefined) args.push('--vocab', this.#place(path.resolve(vocabularies)))
    steps.run(`${label}golden data of ../shared`, () => this.#run(args, this.#env, 3 * LIMIT_SECONDS))
  }

  /** Runs a program, and ends it with all that it started when its time is over. */
  #run(args, env, seconds = LIMIT_SECONDS) {
    const command = ['--kill-after=10', String(seconds), this.#command, ...args]
    const { status } = spawnSync('timeout', command, { cwd: this.folder, env, stdio: 'inherit' })
    return status === 124 || status === 137 ? `it did not end in ${seconds / 60} minutes` : status === 0
  }
}

/** The files of the package, relative to the root, as npm packs them. */
export function packedFiles() {
  const args = ['pack', '--json', '--dry-run', '--ignore-scripts']
  const { stdout } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' })
  return JSON.parse(stdout)[0].files.map(({ path: file }) => file)
}

/** Whether the Rust standard library of a target is installed. */
export const hasTarget = (target, toolchain = process.env.RUSTUP_TOOLCHAIN) =>
  (
    spawnSync('rustup', ['target', 'list', '--installed', ...(toolchain ? ['--toolchain', toolchain] : [])], {
      encoding: 'utf8',
    }).stdout ?? ''
  )
    .split('\n')
    .includes(target)
