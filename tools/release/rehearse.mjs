#!/usr/bin/env node
// npm run rehearse: publishes all packages to a registry on this machine, and installs them from it
// with each package manager and each version of Node. It also tests installs that go wrong.
//
//   usage: npm run maintain -- rehearse [--from TEXT] [--only TEXT…]
//
//   --from       starts at the first case with this text in its name
//   --only       runs the cases with this text in their names
//
// Needs the builds of `npm run maintain platforms` and `npm run maintain -- web`. The builds for
// Windows are published under the names of the packages for Windows, although a release builds them
// with another tool chain; nothing here runs them. Tools are downloaded to .cache/rehearse (about
// 700 MB).

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { PLATFORMS, builtFolder } from '../platforms/table.mjs'
import { Project, RESULT } from './rehearse/project.mjs'
import { startRegistry } from './rehearse/registry.mjs'
import { managers, nodeVersions } from './rehearse/tools.mjs'
import { root, run, stop } from '../setup.mjs'
import { STEP_OPTIONS, Steps } from '../platforms/steps.mjs'

const { values } = parseArgs({ options: STEP_OPTIONS })
const folder = path.join(root, '.cache', 'rehearse')
const projects = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-rehearse-'))
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
const HERE = `linux-${process.arch}-gnu`
const OTHER_VERSION = `${version}-rehearsal.1`

const tools = managers(folder)
const registry = await startRegistry(folder)
process.on('exit', registry.stop)
publish()

const steps = new Steps(values)
try {
  installs()
  platforms()
  mishaps()
} finally {
  registry.stop()
  fs.rmSync(projects, { recursive: true, force: true })
}
steps.end()

/**
 * Publishes the packages with the program that a release uses. Then publishes one platform package
 * with another version.
 */
function publish() {
  const addons = path.join(root, 'target', 'rehearse', 'addons')
  fs.rmSync(addons, { recursive: true, force: true })
  for (const platform of PLATFORMS) {
    const from = builtFolder(platform)
    if (!fs.existsSync(from)) stop(`${from} is missing: run "npm run maintain platforms"`)
    const to = path.join(addons, platform.name)
    fs.cpSync(from, to, { recursive: true })
    if (platform.built !== platform.name)
      fs.renameSync(path.join(to, `tokenlane.${platform.built}.node`), path.join(to, `tokenlane.${platform.name}.node`))
  }
  fs.cpSync(path.join(root, 'web', 'dist'), path.join(addons, 'web'), { recursive: true })
  // The release workflow takes native.js from the same build.
  const here = PLATFORMS.find(({ name }) => name === HERE)
  fs.copyFileSync(path.join(builtFolder(here), 'native.js'), path.join(root, 'native.js'))
  const env = { ...process.env, npm_config_userconfig: registry.userconfig }
  const packages = path.join(root, 'target', 'rehearse', 'packages')
  const args = [
    path.join(root, 'tools', 'release', 'publish.mjs'),
    '--addons',
    addons,
    '--staged',
    packages,
    '--registry',
    registry.url,
  ]
  // The second time, all packages are published already.
  for (const _ of [1, 2]) if (!run(process.execPath, args, { env })) stop('the packages could not be published')
  const again = path.join(root, 'target', 'rehearse', 'again')
  fs.rmSync(again, { recursive: true, force: true })
  fs.cpSync(path.join(packages, HERE), again, { recursive: true })
  const file = path.join(again, 'package.json')
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(`"${version}"`, `"${OTHER_VERSION}"`))
  if (!run('npm', ['publish', '--tag=next', '--loglevel=error'], { cwd: again, env })) stop('npm could not publish')
}

/** Each manager on each Node: the package works, and there is one platform package. */
function installs() {
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
