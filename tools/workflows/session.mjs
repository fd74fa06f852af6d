// A run of a workflow on this machine: its commit, the artifacts that jobs hand to each other, and
// the registry that packages are published to.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { root } from '../setup.mjs'
import { startRegistry } from './registry.mjs'

/** Everything that the command keeps. */
export const CACHE = path.join(root, '.cache', 'workflows')

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

export class Session {
  /** What this workflow leaves for a later run: artifacts, logs and packages. */
  folder
  cache = CACHE
  commit = git('rev-parse', 'HEAD')
  /** @type {Map<string, string>} the outcome of each job of this run, or of a whole id */
  outcomes = new Map()
  /** Names of artifacts that no job made here. */
  standIns = /** @type {string[]} */ ([])
  #registry
  #builds

  /** @param {string} workflow */
  constructor(workflow) {
    this.folder = path.join(CACHE, workflow)
    fs.mkdirSync(path.join(this.folder, 'artifacts'), { recursive: true })
  }

  /** Whether the working tree has changes that a clone does not get. */
  static get changes() {
    return git('status', '--porcelain').split('\n').filter(Boolean)
  }

  artifacts() {
    return fs.readdirSync(path.join(this.folder, 'artifacts')).sort()
  }

  /** Replaces an artifact by what `write` puts into its folder. */
  store(name, write) {
    const folder = path.join(this.folder, 'artifacts', name)
    fs.rmSync(folder, { recursive: true, force: true })
    fs.mkdirSync(folder, { recursive: true })
    write(folder)
  }

  /** The registry, which is empty at first. */
  async registry() {
    this.#registry ??= await startRegistry(path.join(CACHE, 'tools'))
    return this.#registry
  }

  /** Moves the folder of builds into the workspace of a job; {@link end} moves it back. */
  lendBuilds(machine) {
    this.#builds = [path.join(CACHE, 'target'), path.join(machine.workspace, 'target')]
    fs.mkdirSync(this.#builds[0], { recursive: true })
    fs.renameSync(...this.#builds)
  }

  /** Ends a job. */
  end() {
    if (this.#builds !== undefined) fs.renameSync(this.#builds[1], this.#builds[0])
    this.#builds = undefined
  }

  stop() {
    this.#registry?.stop()
  }
}
