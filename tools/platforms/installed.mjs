// Installs the packed package, with the addon of this machine, and other packages into a folder, as
// a project has them.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'

import { installInto, root, run, stop, workspaces } from '../setup.mjs'

/**
 * What the commands that bundle the package install. Newer versions of wrangler need Node 22.
 *
 * @type {Record<string, string>}
 */
export const VERSIONS = createRequire(import.meta.url)('../versions.json').bundlers

/**
 * @param {string} folder the project, which is made if it is missing
 * @param {string[]} names packages of VERSIONS
 */
export function installPackage(folder, names) {
  fs.mkdirSync(folder, { recursive: true })
  const staged = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-installed-'))
  const addon = fs.readdirSync(root).find((name) => /^tokenlane\..*\.node$/.test(name))
  if (addon === undefined) stop('the addon is missing: npm run build')
  const platform = path.join(staged, 'platform')
  fs.cpSync(path.join(root, 'npm', addon.split('.')[1]), platform, { recursive: true })
  fs.copyFileSync(path.join(root, addon), path.join(platform, addon))
  const packed = [root, platform, ...workspaces()].map((from) => pack(from, staged))
  fs.writeFileSync(path.join(folder, 'package.json'), '{"private": true}')
  fs.rmSync(path.join(folder, 'package-lock.json'), { force: true })
  for (const name of ['tokenlane', `tokenlane-${addon.split('.')[1]}`])
    fs.rmSync(path.join(folder, 'node_modules', name), { recursive: true, force: true })
  fs.rmSync(path.join(folder, 'node_modules', '@tokenlane'), { recursive: true, force: true })
  const wanted = names.map((name) => `${name}@${VERSIONS[name]}`)
  installInto(folder, [...packed, ...wanted])
  // npm does not run this script if install scripts are switched off.
  if (
    names.includes('bun') &&
    !run(process.execPath, ['install.js'], { cwd: path.join(folder, 'node_modules', 'bun') })
  )
    stop('bun could not be installed')
  fs.rmSync(staged, { recursive: true })
}

function pack(from, to) {
  const args = ['pack', '--loglevel=error', '--pack-destination', to]
  const { stdout } = spawnSync('npm', args, { cwd: from, encoding: 'utf8' })
  return path.join(to, stdout.trim().split('\n').at(-1))
}
