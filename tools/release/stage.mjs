// Copies the packages to folders in the form in which they are published: the platform packages
// with their addons, `tokenlane` with the platform packages as optional dependencies, and those of
// packages/ with what `npm run maintain -- web` built.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

// This import writes files that belong to the package.
import '../model-entries.mjs'
import { ENCODINGS } from '../data/packed-ranks.mjs'
import { root, stop, workspaces } from '../setup.mjs'
import { DROPINS } from '../web-entries.mjs'

/** The files that `npm run maintain -- web` builds, in packages/. */
export const WEB = [
  ...['tokenlane.wasm', 'wasm.mjs', 'core.mjs'].map((file) => `web/dist/${file}`),
  ...ENCODINGS.flatMap((name) => [`web/dist/${name}.bin`, `web/dist/${name}.mjs`]),
  ...['requests', ...DROPINS].map((name) => `${name}/web/bundle.mjs`),
]

/** The platform packages. npm installs the one that fits; WebAssembly must be requested. */
const names = fs.readdirSync(path.join(root, 'npm')).sort()

/**
 * Stages all packages.
 *
 * @param {string} to the folder, which is replaced; it must not have sources
 * @param {(name: string) => string} addonFolder the folder with the addon of a platform of npm/;
 *   files have the names that the package lists
 * @returns {string[]} the folders of the packages in the order in which they are published: each
 *   after those that it depends on, so that no install finds it without them
 */
export function stage(to, addonFolder) {
  const isIn = (place) => !path.relative(to, place).startsWith('..')
  if ([path.join(root, 'npm'), ...workspaces()].some(isIn))
    stop(`${to} has the sources of packages: packages are staged in a folder that is replaced`)
  fs.rmSync(to, { recursive: true, force: true })
  const { version } = manifestOf(root)
  const platforms = names.map((name) => {
    const folder = path.join(to, name)
    fs.cpSync(path.join(root, 'npm', name), folder, { recursive: true })
    const manifest = manifestOf(folder)
    if (manifest.version !== version)
      stop(
        `npm/${name} has the version ${manifest.version}, and package.json ${version}: run "npx napi version -c napi.json"`,
      )
    for (const file of manifest.files.filter((file) => !file.startsWith('LICENSE'))) {
      const from = path.join(addonFolder(name), file)
      if (!fs.existsSync(from)) stop(`${from} is missing: tokenlane-${name} cannot be published without it`)
      fs.copyFileSync(from, path.join(folder, file))
    }
    return folder
  })
  for (const file of WEB) {
    if (!fs.existsSync(path.join(root, 'packages', file)))
      stop(`packages/${file} is missing: nothing can be published without it; run "npm run maintain -- web"`)
  }
  const libraries = workspaces().map((from) => stageLibrary(from, path.join(to, path.basename(from)), version))
  return [...platforms, ...inOrder([stageMain(path.join(to, 'tokenlane')), ...libraries])]
}

/** Packages in the order in which they are published. */
function inOrder(folders) {
  const waiting = new Map(folders.map((folder) => [manifestOf(folder).name, folder]))
  const isReady = (folder) => {
    const { dependencies, peerDependencies, name } = manifestOf(folder)
    return !Object.keys({ ...dependencies, ...peerDependencies }).some((other) => other !== name && waiting.has(other))
  }
  const ordered = []
  while (waiting.size > 0) {
    const [name, folder] = [...waiting].find(([, folder]) => isReady(folder))
    ordered.push(folder)
    waiting.delete(name)
  }
  return ordered
}

/** Copies the files that npm packs of a package to a folder, which it returns. */
function copyPacked(from, to) {
  const missing = missingFiles(manifestOf(from), from)
  const { name } = manifestOf(from)
  if (missing.length > 0)
    stop(`${missing.join(', ')} is missing: ${name} cannot be published without it; run "npm run build"`)
  const args = ['pack', '--json', '--dry-run', '--ignore-scripts', '--loglevel=error']
  const { stdout, stderr, status } = spawnSync('npm', args, { cwd: from, encoding: 'utf8' })
  if (status !== 0) stop(`npm could not list the files of ${name}:\n${stderr}`)
  for (const { path: file } of JSON.parse(stdout)[0].files) fs.cpSync(path.join(from, file), path.join(to, file))
  return to
}

function stageLibrary(from, to, version) {
  const manifest = manifestOf(from)
  if (manifest.version !== version)
    stop(`${manifest.name} has the version ${manifest.version}, and package.json ${version}: both must be the same`)
  copyPacked(from, to)
  delete manifest.devDependencies
  fs.writeFileSync(path.join(to, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  return to
}

function stageMain(folder) {
  copyPacked(root, folder)
  const manifest = manifestOf(folder)
  // Users of the package do not need these fields, and npm would run some scripts at each install.
  delete manifest.devDependencies
  delete manifest.scripts
  delete manifest.overrides
  delete manifest.workspaces
  for (const name of names) manifest.optionalDependencies[`tokenlane-${name}`] = manifest.version
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  return folder
}

/**
 * The entries of `files` in a package.json that a folder lacks. npm packs without them and reports
 * nothing. Entries that are patterns are left out.
 *
 * @param {{ files: string[] }} manifest
 * @param {string} folder
 */
export function missingFiles({ files }, folder) {
  return files.filter((file) => !file.includes('*') && !fs.existsSync(path.join(folder, file)))
}

/** The package.json of a folder. */
export function manifestOf(folder) {
  return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
}
