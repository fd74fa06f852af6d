// The packages as npm installs them, but with an addon for another target, for tests.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { root, run } from './setup.mjs'
import { failureOf, SCENARIOS } from './runtimes.mjs'

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
   * @param {import('./runtimes.mjs').Runtime} runtime
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
    const packed = spawnSync('npm', ['pack', '--json', '--dry-run', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
    })
    for (const { path: file } of JSON.parse(packed.stdout)[0].files)
      fs.cpSync(path.join(root, file), path.join(this.folder, file))
    fs.copyFileSync(path.join(built, 'native.js'), path.join(this.folder, 'native.js'))
    fs.cpSync(path.join(root, '__test__'), path.join(this.folder, '__test__'), { recursive: true })
    // The golden data, and the scripts that download vocabularies.
    for (const name of ['core', 'scripts'])
      fs.symlinkSync(path.join(root, name), path.join(this.folder, name), 'junction')
  }

  /** Runs the specs whose file names start with `names`. Returns the names of those that failed. */
  specs(names) {
    return names.filter((name) => {
      const folder = path.join(this.folder, '__test__', path.dirname(name))
      const file = fs
        .readdirSync(folder)
        .find((file) => file.startsWith(path.basename(name)) && file.endsWith('.test.mjs'))
      if (file === undefined) throw new Error(`there is no spec ${name}`)
      const args = [...this.#args, '--test', '--test-reporter=dot', '--test-timeout=1800000']
      console.log(`── ${file}`)
      return !run(this.#command, [...args, this.#place(path.join(folder, file))], { cwd: this.folder, env: this.#env })
    })
  }

  /**
   * Runs scenarios that end processes. Returns the names of those that failed.
   *
   * @param {import('./runtimes.mjs').Scenario[]} scenarios
   */
  scenarios(scenarios = SCENARIOS) {
    return scenarios
      .filter((scenario) => {
        const runtime = { command: this.#command, args: this.#args, place: this.#place, env: this.#env }
        const wrong = failureOf(scenario, runtime, this.folder)
        console.log(
          `${wrong === undefined ? 'ok    ' : 'NOT OK'} ${scenario[0]}${wrong === undefined ? '' : `: ${wrong}`}`,
        )
        return wrong !== undefined
      })
      .map(([name]) => name)
  }

  /**
   * Runs the golden data of ../shared, without its large documents, if it is there. The environment
   * variable CONFORM_VOCAB names the folder of vocabularies. Returns the names of what failed.
   */
  golden() {
    const kit = path.join(root, '..', 'shared', 'conformance', 'check.mjs')
    if (!fs.existsSync(kit)) {
      console.log(`left out: golden data, there is no ${kit}`)
      return []
    }
    const adapter = path.join(this.folder, '__test__', 'conformance', 'adapter.mjs')
    const args = [...this.#args, this.#place(kit), this.#place(adapter), '--skip-docs']
    const { CONFORM_VOCAB: vocabularies } = process.env
    if (vocabularies !== undefined) args.push('--vocab', this.#place(path.resolve(vocabularies)))
    return run(this.#command, args, { cwd: this.folder, env: this.#env }) ? [] : ['golden data']
  }
}

/** Whether the Rust standard library of a target is installed. */
export const hasTarget = (target) =>
  (spawnSync('rustup', ['target', 'list', '--installed'], { encoding: 'utf8' }).stdout ?? '')
    .split('\n')
    .includes(target)
