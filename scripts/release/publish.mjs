#!/usr/bin/env node
// Publishes the ten packages: the platform packages first, then `tokenlane`.
//
//   usage: node scripts/release/publish.mjs --addons FOLDER [--registry URL] [--dry-run]
//          FOLDER: has a folder for each platform of npm/, with its addon
//
// A package that the registry has in this version is left out, so that a release that failed
// halfway can be repeated. The release workflow and `npm run rehearse` both use this.

import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root, run, stop } from '../setup.mjs'
import { manifestOf, stage } from './stage.mjs'

const { values } = parseArgs({
  options: { addons: { type: 'string' }, registry: { type: 'string' }, 'dry-run': { type: 'boolean' } },
})
if (values.addons === undefined) stop('--addons FOLDER is missing')
const addons = path.resolve(values.addons)
const registry = values.registry === undefined ? [] : [`--registry=${values.registry}`]

for (const folder of stage(path.join(root, 'target', 'release-packages'), (name) => path.join(addons, name))) {
  const { name, version } = manifestOf(folder)
  if (isPublished(`${name}@${version}`)) {
    console.log(`${name} ${version} is published already`)
    continue
  }
  const args = ['publish', '--access=public', '--ignore-scripts', '--loglevel=error', ...registry]
  if (values['dry-run']) args.push('--dry-run')
  if (!run('npm', args, { cwd: folder })) stop(`npm could not publish ${name} ${version}`)
}

function isPublished(specifier) {
  const args = ['view', specifier, 'version', '--json', ...registry]
  const { status, stdout } = spawnSync('npm', args, { encoding: 'utf8' })
  return status === 0 && stdout.trim() !== ''
}
