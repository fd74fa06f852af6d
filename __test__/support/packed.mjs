// The packages of this repository as npm packs them, with the addon of this machine.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const windows = process.platform === 'win32'

/** The name of the addon of this machine. */
export const addon = fs.readdirSync(root).find((name) => /^tokenlane\..*\.node$/.test(name))

/** Runs npm, and returns what it prints. */
function npm(cwd, args, env = process.env) {
  const result = spawnSync('npm', [...args, '--loglevel=error'], { cwd, env, encoding: 'utf8', shell: windows })
  assert.equal(result.status, 0, result.stdout + result.stderr)
  return result.stdout.trim()
}

/** Packs a package into a folder: its name, its files and the path of the archive. */
export function pack(from, to) {
  const [{ name, filename, files }] = JSON.parse(npm(from, ['pack', '--json', '--pack-destination', to]))
  return { name, files, tarball: path.join(to, filename) }
}

/** Packs the package of this platform with its addon, and returns the path of its archive. */
export function packAddon(to) {
  const staged = path.join(to, 'platform')
  fs.cpSync(path.join(root, 'npm', addon.split('.')[1]), staged, { recursive: true })
  fs.copyFileSync(path.join(root, addon), path.join(staged, addon))
  return pack(staged, to).tarball
}

/**
 * Installs archives into an empty project. No registry is used, so peers are left alone: npm asks
 * the registry for optional ones, too, to find conflicts.
 */
export function installed(project, tarballs, env = process.env) {
  fs.mkdirSync(project, { recursive: true })
  fs.writeFileSync(path.join(project, 'package.json'), '{ "name": "app", "private": true }')
  npm(project, ['install', '--offline', '--legacy-peer-deps', '--no-audit', '--no-fund', ...tarballs], env)
}
