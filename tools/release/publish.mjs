#!/usr/bin/env node
// Publishes all packages: the platform packages, then `tokenlane` and those of packages/, each
// after those that it needs.
//
//   usage: node tools/release/publish.mjs --addons FOLDER --staged FOLDER [--registry URL]
//          --addons: has a folder for each platform of npm/, with its addon
//          --staged: is replaced, and has the packages as they are published
//
// A package that the registry already has in this version is left out, so that a release that
// failed halfway can be repeated. The release workflow uses this command.

import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { run, stop } from '../setup.mjs'
import { manifestOf, stage } from './stage.mjs'

const { values } = parseArgs({
  options: { addons: { type: 'string' }, staged: { type: 'string' }, registry: { type: 'string' } },
})
if (values.addons === undefined || values.staged === undefined) stop('--addons FOLDER and --staged FOLDER are needed')
const [addons, staged] = [values.addons, values.staged].map((folder) => path.resolve(folder))
const registry = values.registry ?? spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim()

for (const folder of stage(staged, (name) => path.join(addons, name))) {
  const { name, version } = manifestOf(folder)
  if (await isPublished(name, version)) {
    console.log(`${name} ${version} is published already`)
    continue
  }
  const args = ['publish', '--access=public', '--ignore-scripts', '--loglevel=error', `--registry=${registry}`]
  if (!run('npm', args, { cwd: folder })) stop(`npm could not publish ${name} ${version}`)
}

/** Whether the registry has a version of a package. */
async function isPublished(name, version) {
  const { ok, status } = await patiently(() => fetch(new URL(`${name}/${version}`, registry)))
  if (!ok && status !== 404) stop(`${registry} answers ${status} to the question for ${name}`)
  return ok
}

/**
 * Repeats a request up to twice if the connection fails, for example because the registry closed
 * it.
 */
async function patiently(request) {
  for (let left = 2; ; left -= 1) {
    try {
      return await request()
    } catch (failure) {
      if (left === 0) throw failure
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
  }
}
