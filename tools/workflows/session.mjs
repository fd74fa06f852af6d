// A run of a workflow on this machine: its commit, the artifacts that jobs hand to each other, and
// the registry that packages are published to.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { root } from '../setup.mjs'
import { startRegistry } from './registry.mjs'

/**
 * Everything that the command keeps. It is not below the repository, whose node_modules would serve
 * the clones of the jobs.
 */
export const CACHE = path.join(os.homedir(), '.cache', 'tokenlane-workflows', path.basename(root))

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
  /** @type {string | undefined} */
  #standInFolder
  /** @type {{ kept: string, used: string } | undefined} where builds are */
  #builds

  /** @param {string} workflow */
  constructor(workflow) {
    this.folder = path.join(CACHE, workflow)
    fs.mkdirSync(path.join(this.folder, 'artifacts'), { recursive: true })
  }

  /** Removes artifacts but those of these names: what jobs made that are gone. */
  keep(names) {
    for (const name of this.made().filter((name) => !names.includes(name)))
      fs.rmSync(path.join(this.folder, 'artifacts', name), { recursive: true })
  }

  /** Whether the working tree has changes that a clone does not get. */
  static get changes() {
    return git('status', '--porcelain').split('\n').filter(Boolean)
  }

  /** The folder of a job. */
  placeOf(job) {
    return path.join(CACHE, 'jobs', job.name.replaceAll(/[^\w.]+/g, '-'))
  }

  /** The artifacts that jobs made here, in this run or an earlier one. */
  made() {
    return fs.readdirSync(path.join(this.folder, 'artifacts')).sort()
  }

  artifacts() {
    return [...new Set([...this.made(), ...this.standIns])].sort()
  }

  folderOf(artifact) {
    if (this.made().includes(artifact)) return path.join(this.folder, 'artifacts', artifact)
    this.#standInFolder ??= fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-stand-ins-'))
    return path.join(this.#standInFolder, artifact)
  }

  /** Replaces an artifact by what `write` puts into its folder. */
  store(name, write, { isStandIn = false } = {}) {
    if (isStandIn) this.standIns.push(name)
    const folder = isStandIn ? this.folderOf(name) : path.join(this.folder, 'artifacts', name)
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
    this.#builds = { kept: path.join(CACHE, 'target'), used: path.join(machine.workspace, 'target') }
    fs.mkdirSync(this.#builds.kept, { recursive: true })
    fs.renameSync(this.#builds.kept, this.#builds.used)
  }

  /** Ends a job. */
  end() {
    // Another run of this command may have brought back its own.
    if (this.#builds !== undefined && !fs.existsSync(this.#builds.kept))
      fs.renameSync(this.#builds.used, this.#builds.kept)
    this.#builds = undefined
  }

  stop() {
    this.#registry?.stop()
    if (this.#standInFolder !== undefined) fs.rmSync(this.#standInFolder, { recursive: true })
  }
}
