// Installs the packages that the job `publish` gave to the registry on this machine, with each
// package manager and each version of Node. It also tests installs that go wrong.
//
// Nothing here runs the addons of other platforms. Tools are downloaded (about 700 MB).

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { PLATFORMS } from '../platforms/table.mjs'
import { root, run } from '../setup.mjs'
import { Project, RESULT } from './project.mjs'
import { CACHE } from './session.mjs'
import { managers, nodeVersions } from './tools.mjs'

const folder = path.join(CACHE, 'tools')
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
const HERE = `linux-${process.arch}-gnu`
const OTHER_VERSION = `${version}-rehearsal.1`

/** @type {import('../platforms/steps.mjs').Steps} */
let steps
let tools
let registry
let projects

/**
 * @param {import('../platforms/steps.mjs').Steps} given
 * @param {Awaited<ReturnType<typeof import('./registry.mjs').startRegistry>>} server
 * @param {string} workspace the clone that was published
 */
export function installs(given, server, workspace) {
  steps = given
  registry = server
  tools = managers(folder)
  projects = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-installs-'))
  try {
    steps.run('a release that is repeated', () => publishAgain(workspace))
    managersAndNodes()
    platforms()
    mishaps()
  } finally {
    fs.rmSync(projects, { recursive: true, force: true })
  }
}

/** All packages are published already; then one platform package has another version, too. */
function publishAgain(workspace) {
  const env = { ...process.env, npm_config_userconfig: registry.userconfig }
  const args = ['tools/release/publish.mjs', '--addons', 'addons', '--staged', 'staged']
  if (!run(process.execPath, args, { cwd: workspace, env })) return false
  const again = path.join(workspace, 'staged', HERE)
  const file = path.join(again, 'package.json')
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(`"${version}"`, `"${OTHER_VERSION}"`))
  return run('npm', ['publish', '--tag=next', '--loglevel=error'], { cwd: again, env })
}

/** Each manager on each Node: the package works, and there is one platform package. */
function managersAndNodes() {
  for (const major of nodeVersions) {
    const npm = major < 24 ? 'npm10' : 'npm11'
    check(`npm, Node ${major}`, major, (project) => project.npm(npm, 'install', 'tokenlane'))
    check(`npm --ignore-scripts, Node ${major}`, major, (project) =>
      project.npm(npm, 'install', '--ignore-scripts', 'tokenlane'),
    )
    check(`pnpm, Node ${major}`, major, (project) =>
      project.script(tools.pnpm, 'add', '--store-dir', path.join(project.folder, '.store'), 'tokenlane'),
    )
    for (const linker of ['node-modules', 'pnp'])
      check(`yarn ${linker}, Node ${major}`, major, (project) => project.yarn(linker, 'add', 'tokenlane'))
    check(`bun, Node ${major}`, major, (project) => project.program(tools.bun, 'add', 'tokenlane'))
  }
}

/** If npm's options choose a platform, npm installs only the package of that platform. */
function platforms() {
  for (const { name } of PLATFORMS) {
    scenario(`npm for ${name}`, 22, (project) => {
      const [system, cpu, abi] = name.split('-')
      const libc = { gnu: ['--libc=glibc'], musl: ['--libc=musl'] }[abi] ?? []
      project.npm('npm11', 'install', `--os=${system}`, `--cpu=${cpu}`, ...libc, 'tokenlane')
      return same(project.platformPackages(), [`tokenlane-${name}`])
    })
  }
}

/** Installs that go wrong: the package works, or its error has the command that repairs it. */
function mishaps() {
  const other = process.arch === 'arm64' ? 'x64' : 'arm64'
  repaired('npm --omit=optional', /^ERR_TOKENLANE_ADDON_MISSING /, (project) =>
    project.npm('npm11', 'install', '--omit=optional', 'tokenlane'),
  )
  repaired('node_modules of another platform', /^ERR_TOKENLANE_ADDON_MISSING .*it is for another platform/, (project) =>
    project.npm('npm11', 'install', '--os=darwin', `--cpu=${other}`, 'tokenlane'),
  )
  repaired(
    'a lock file that npm made of node_modules on another platform',
    /^$|^ERR_TOKENLANE_ADDON_MISSING /,
    (project) => {
      const elsewhere = ['--os=darwin', `--cpu=${other}`]
      project.npm('npm11', 'install', ...elsewhere, 'tokenlane')
      // npm then lists only the installed packages (https://github.com/npm/cli/issues/4828).
      fs.rmSync(path.join(project.folder, 'package-lock.json'))
      project.npm('npm11', 'install', ...elsewhere)
      project.npm('npm11', 'ci')
    },
  )
  repaired('a platform package of another version', /^ERR_TOKENLANE_ADDON_VERSION /, (project) => {
    project.npm('npm11', 'install', '--omit=optional', 'tokenlane')
    project.npm('npm11', 'install', '--omit=optional', `tokenlane-${HERE}@${OTHER_VERSION}`)
  })
}

/** A case in which the package must work, with the platform package of this machine only. */
function check(name, major, install) {
  scenario(name, major, (project) => {
    install(project)
    return same(project.check(), RESULT) ?? same(project.platformPackages(), [`tokenlane-${HERE}`])
  })
}

/**
 * A case in which the error must match `pattern`, and the command in the error must repair the
 * install.
 */
function repaired(name, pattern, install) {
  scenario(name, 22, (project) => {
    install(project)
    const message = project.check()
    // Newer versions of npm repair a lock file of another platform themselves.
    if (message === RESULT && pattern.test('')) return undefined
    const command = /Run "npm ([^"]+)"/.exec(message)?.[1]
    if (!pattern.test(message) || command === undefined) return `the error is not as expected: ${message}`
    console.log(`       ${message.split('\n')[0]}`)
    project.npm('npm11', ...command.split(' '))
    return same(project.check(), RESULT)
  })
}

/** Runs a case in an empty folder. `work` returns a description of the failure, or undefined. */
function scenario(name, major, work) {
  steps.run(name, () => {
    try {
      return work(new Project(projects, major, { folder, tools, registry }))
    } catch (failure) {
      return failure.message
    }
  })
}

function same(is, expected) {
  const [a, b] = [is, expected].map((value) => JSON.stringify(value))
  return a === b ? undefined : `${a}, not ${b}`
}
