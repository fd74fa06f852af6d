// A project in a new folder, in which npm run maintain workflows installs the package and uses it.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { PLATFORMS } from '../platforms/table.mjs'
import { managers, nodeOf } from './tools.mjs'

/** Prints whether all entries work, ids, and whether the process has loaded an addon. */
const CHECK = `
  const { Tokenizer } = require('tokenlane')
  require('@tokenlane/tiktoken')
  import('tokenlane').then(async (tokenlane) => {
    const { ids } = await Tokenizer.fromEncodingSync('o200k_base').encodeBatch(['Hello, world!'])
    const files = process.report.getReport().sharedObjects
    const kind = files.some((file) => /tokenlane\\.[\\w-]+\\.node$/.test(file)) ? 'addon' : 'WebAssembly'
    console.log(tokenlane.Tokenizer === Tokenizer, ids.join(), kind)
  })
`
/** What {@link Project.check} returns if the package works with its addon. */
export const RESULT = 'true 13225,11,2375,0 addon'

/** @typedef {Awaited<ReturnType<typeof import('./registry.mjs').startRegistry>>} Registry */

export class Project {
  folder
  /** The program and arguments that run a script of the project. */
  node
  env
  #tools
  #program
  #registry

  /**
   * Creates the project below `projects`, for a major version of Node.
   *
   * @param {string} projects
   * @param {number} major
   * @param {{ folder: string, tools: ReturnType<typeof managers>, registry: Registry }} means the
   *   folder with versions of Node, the package managers, and the registry
   */
  constructor(projects, major, { folder, tools, registry }) {
    this.#tools = tools
    this.#registry = registry
    this.#program = nodeOf(folder, major)
    this.node = [this.#program]
    this.folder = fs.mkdtempSync(path.join(projects, 'project-'))
    this.write('package.json', '{ "name": "app", "private": true }')
    this.write('.npmrc', fs.readFileSync(this.#registry.userconfig, 'utf8'))
    this.env = {
      PATH: [path.dirname(this.#program), '/usr/bin', '/bin'].join(path.delimiter),
      HOME: path.join(this.folder, 'home'),
      npm_config_cache: path.join(projects, 'npm-cache'),
      NO_COLOR: '1',
      CI: '1',
    }
  }

  write(name, content) {
    const file = path.join(this.folder, name)
    fs.writeFileSync(file, content)
    return file
  }

  npm(version, ...args) {
    this.script(this.#tools[version], ...args, '--no-audit', '--no-fund', '--loglevel=error')
  }

  yarn(linker, ...args) {
    const settings = [
      `nodeLinker: ${linker}`,
      `npmRegistryServer: '${this.#registry.url}'`,
      'unsafeHttpWhitelist: [127.0.0.1]',
      'enableGlobalCache: false',
      'enableTelemetry: false',
      'enableImmutableInstalls: false',
      // yarn must not refuse new releases, because all packages of this registry are new.
      'npmMinimalAgeGate: 0',
    ]
    this.write('.yarnrc.yml', `${settings.join('\n')}\n`)
    this.write('yarn.lock', '')
    this.script(this.#tools.yarn, ...args)
    if (linker === 'pnp') this.node.push('-r', './.pnp.cjs', '--no-warnings', '--loader', './.pnp.loader.mjs')
  }

  /** Runs a script with the project's Node. */
  script(script, ...args) {
    this.program(this.#program, script, ...args)
  }

  program(command, ...args) {
    const { status, stdout, stderr, error } = spawnSync(command, args, {
      cwd: this.folder,
      env: this.env,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error ?? ''}${stdout}${stderr}`.slice(-2000))
  }

  /** What a program that uses the package prints, or its error. */
  check() {
    const script = `try {${CHECK}} catch ({ code, message }) { console.log(code, message) }`
    const [command, ...args] = [...this.node, this.write('check.cjs', script)]
    const { stdout, stderr } = spawnSync(command, args, { cwd: this.folder, env: this.env, encoding: 'utf8' })
    return stdout.trim() || stderr.slice(-2000)
  }

  /** The names of the platform packages that are installed, wherever the manager puts them. */
  platformPackages() {
    const found = ['node_modules', 'node_modules/.pnpm', '.yarn/unplugged', '.yarn/cache']
      .map((name) => path.join(this.folder, name))
      .filter((place) => fs.existsSync(place))
      .flatMap((place) => fs.readdirSync(place))
      .map((name) => /^tokenlane-(?!npm)[a-z0-9]+(-[a-z][a-z0-9]+)*/.exec(name)?.[0].replace(/-npm$/, ''))
      .filter((name) => PLATFORMS.some((platform) => name === `tokenlane-${platform.name}`))
    return [...new Set(found)].sort()
  }
}
