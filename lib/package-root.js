'use strict'

// Finds the files of this package that are not JavaScript: the addon and the encodings. Bundlers
// move code away from its package, so in a bundle they are looked for where Node would find the
// package. Nothing here is a call that bundlers follow.

const { error } = require('./errors.js')

const OWN_FILE = 'package-root.js'

/** @type {typeof import('node:path')} */
let path
/** @type {typeof import('node:module').createRequire} */
let createRequire
try {
  path = require('node:path')
  createRequire = require('node:module').createRequire
} catch (cause) {
  throw notFound('it was bundled as an ES module, in which require does not work', cause)
}

const isBundled = typeof __filename !== 'string' || path.basename(__filename) !== OWN_FILE || !isThere(__filename)

let found

/**
 * Whether a file exists. A file that may not be read exists. (Some bundlers write the original path
 * of this file to `__filename`. That file need not exist.)
 */
function isThere(file) {
  try {
    require('node:fs').statSync(file)
    return true
  } catch ({ code }) {
    return code !== 'ENOENT' && code !== 'ENOTDIR'
  }
}

/** The folder of the package. */
function packageRoot() {
  found ??= isBundled ? installed() : path.join(__dirname, '..')
  return found
}

/** Loads a module of the package. */
const requireOwn = (name) => createRequire(path.join(packageRoot(), OWN_FILE))(path.join(packageRoot(), name))

/** The folder where Node finds the package, seen from the bundle or the working directory. */
function installed() {
  const own =
    typeof __filename === 'string' && path.isAbsolute(__filename) ? [__filename, belowProgram(__filename)] : []
  const { version } = require('../package.json')
  for (const base of [...own, process.argv[1], path.join(process.cwd(), OWN_FILE)]) {
    const folder = base && resolved(base)
    if (folder === undefined) continue
    const { version: other } = createRequire(base)(path.join(folder, 'package.json'))
    if (other === version) return folder
    throw notFound(`it is bundled in version ${version}, and ${folder} has version ${other}`)
  }
  throw notFound('it is bundled, and its folder is not in a node_modules beside the bundle or the working directory')
}

/**
 * This file below a folder of the program: Turbopack writes /ROOT for the project's folder, and its
 * standalone output has no link to the folders in which pnpm keeps packages.
 */
function belowProgram(file) {
  const inProject = file.slice(Math.max(file.indexOf('node_modules'), 0))
  for (let folder = path.resolve(process.argv[1] ?? '.'); folder !== path.dirname(folder); ) {
    folder = path.dirname(folder)
    if (isThere(path.join(folder, inProject))) return path.join(folder, inProject)
  }
  return undefined
}

function resolved(base) {
  try {
    return path.dirname(createRequire(base).resolve('tokenlane/package.json'))
  } catch {
    return undefined
  }
}

/** An error with the line that each bundler needs. */
function notFound(reason, cause) {
  const message = `tokenlane's addon and encodings are not found: ${reason}. \
Leave the package out of the bundle and install it beside it: esbuild and bun --external:tokenlane; \
webpack externals: { tokenlane: 'commonjs tokenlane' }; Next.js serverExternalPackages: ['tokenlane']; \
Vite ssr: { external: ['tokenlane'] } (see docs/guide/deployment.md)`
  return error('ERR_TOKENLANE_BUNDLED', message, cause === undefined ? undefined : { cause })
}

/**
 * The path of a bundled rank file, which is packed: see crates/core/src/load/ranks.rs. Tools that
 * collect the files of a deployment follow the second form.
 */
const encodingPath = (file) =>
  isBundled
    ? path.join(packageRoot(), 'encodings', `${file}.ranks`)
    : path.join(__dirname, '..', 'encodings', `${file}.ranks`)

/**
 * The folder of a platform package, which package managers install beside this one. Turbopack,
 * which bundles no addon and ignores code that never runs, follows the second form. It does not
 * copy the link that pnpm puts there, only the folder in pnpm's store that it leads to.
 */
function platformFolder(platform) {
  const name = `tokenlane-${platform}`
  const beside = isBundled ? path.join(packageRoot(), '..', name) : path.join(__dirname, '..', '..', name)
  const { version } = require('../package.json')
  const inStore = path.join(packageRoot(), '..', '..', '..', `${name}@${version}`, 'node_modules', name)
  return isThere(beside) ? beside : inStore
}

module.exports = { createRequire, encodingPath, packageRoot, platformFolder, requireOwn }
