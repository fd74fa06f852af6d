// The packages as npm installs them, but with an addon for another target, for tests.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { root, run } from './setup.mjs'
import { failureOf, SCENARIOS } from './runtimes.mjs'

export class Staged {
  /** The folder of the package. Its dependencies resolve to the node_modules of the repository. */
  folder
  #node
  #args

  /**
   * Copies `tokenlane`, and the package `name` of npm/ with its files from `built`, to
   * target/<name>/node_modules. `node` is the program that runs the tests.
   */
  constructor(name, built, { node = process.execPath, args = [] } = {}) {
    this.#node = node
    this.#args = args
    const modules = path.join(root, 'target', name, 'node_modules')
    this.folder = path.join(modules, 'tokenlane')
    fs.rmSync(modules, { recursive: true, force: true })
    const addon = path.join(modules, `tokenlane-${name}`)
    fs.cpSync(path.join(root, 'npm', name), addon, { recursive: true })
    const { files } = JSON.parse(fs.readFileSync(path.join(addon, 'package.json'), 'utf8'))
    for (const file of files) fs.copyFileSync(path.join(built, file), path.join(addon, file))
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
      const args = [...this.#args, '--test', '--test-reporter=dot', '--test-timeout=300000', path.join(folder, file)]
      console.log(`── ${file}`)
      return !run(this.#node, args, { cwd: this.folder })
    })
  }

  /** Runs the scenarios that end processes. Returns the names of those that failed. */
  scenarios() {
    return SCENARIOS.filter((scenario) => {
      const wrong = failureOf(scenario, this.#node, this.#args, this.folder)
      console.log(
        `${wrong === undefined ? 'ok    ' : 'NOT OK'} ${scenario[0]}${wrong === undefined ? '' : `: ${wrong}`}`,
      )
      return wrong !== undefined
    }).map(([name]) => name)
  }
}

/** Whether the Rust standard library of a target is installed. */
export const hasTarget = (target) =>
  (spawnSync('rustup', ['target', 'list', '--installed'], { encoding: 'utf8' }).stdout ?? '')
    .split('\n')
    .includes(target)
