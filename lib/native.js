'use strict'

// Loads the addon: the file that this repository built, or the platform package that npm installed.
// If that fails, the error distinguishes three causes: the addon is missing, the runtime does not
// permit it, or the system cannot load it.

// This comes first: in a bundle of ES modules it reports why the modules of Node are not found.
const { createRequire, packageRoot, platformFolder, requireOwn } = require('./package-root.js')
const path = require('node:path')

const { error } = require('./errors.js')
const { inThisRealm } = require('./realm.js')

/** Platforms that have an addon. */
const PLATFORMS = [
  'linux-x64-gnu',
  'linux-arm64-gnu',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'win32-x64-msvc',
  'win32-arm64-msvc',
]

/** Flags without a value of Node's permission model, by the name of the permission. */
const NODE_FLAGS = { WorkerThreads: '--allow-worker', ChildProcess: '--allow-child-process' }

// Never runs, and bundlers leave it out. @vercel/nft, which collects the files of a deployment,
// follows it; Turbopack does not (see platformFolder).
// biome-ignore lint/correctness/noConstantCondition: see above.
if (false) require('../native.js')

try {
  module.exports = withVersionCheck(() => requireOwn('native.js'))
} catch (cause) {
  module.exports = loadDirectly() ?? raise(explain(cause))
}
module.exports = inThisRealm(module.exports)
// Throws if TOKENLANE_CPU_LEVEL, which is for tests, names a level that the CPU lacks.
module.exports.cpuLevel()

/**
 * The generated loader refuses a platform package of another version only if this variable is set.
 */
function withVersionCheck(load) {
  const name = 'NAPI_RS_ENFORCE_VERSION_CHECK'
  const before = process.env[name]
  process.env[name] = '1'
  try {
    return load()
  } finally {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  }
}

/**
 * The versions of this package and of the platform package, if that is installed and they differ.
 */
function versionsThatDiffer(platform) {
  try {
    const requireFrom = ownRequire()
    const [own, addon] = ['../package.json', `tokenlane-${platform}/package.json`].map(
      (name) => requireFrom(name).version,
    )
    return own === addon ? undefined : { own, addon }
  } catch {
    return undefined
  }
}

/** The `require` of this file in its package, also in a bundle. */
function ownRequire() {
  return createRequire(path.join(packageRoot(), 'lib', 'native.js'))
}

function raise(thrown) {
  throw thrown
}

/**
 * Loads the platform package's file by its path: an executable of `bun build --compile` does not
 * resolve the package's name.
 */
function loadDirectly() {
  const platform = platformName()
  if (versionsThatDiffer(platform) !== undefined) return undefined
  try {
    return ownRequire()(path.join(platformFolder(platform), `tokenlane.${platform}.node`))
  } catch {
    return undefined
  }
}

function explain(cause) {
  if (cause.code === 'ERR_TOKENLANE_BUNDLED') return cause
  const platform = platformName()
  const failures = [cause, ...attempts(platform)]
  const denied = new Map(
    failures
      .map(denialOf)
      .filter((denial) => denial !== undefined)
      .map(({ what, flag }) => [flag, what]),
  )
  if (denied.size > 0) {
    const flags = [...denied.keys()].join(' ')
    const message = `tokenlane's addon (tokenlane-${platform}) is not permitted to load: ${[...denied.values()].join('; ')}. Run with ${flags}`
    return error('ERR_TOKENLANE_ADDON_NOT_PERMITTED', message, { cause })
  }
  const versions = versionsThatDiffer(platform)
  if (versions !== undefined) {
    const { own, addon } = versions
    const message = `tokenlane ${own} found its addon, tokenlane-${platform}, in version ${addon}: both must be the same. Run "npm install tokenlane@${own} tokenlane-${platform}@${own}"`
    return error('ERR_TOKENLANE_ADDON_VERSION', message, { cause })
  }
  const broken = failures.slice(1).find(({ code }) => code !== 'MODULE_NOT_FOUND')
  if (broken !== undefined) {
    const message = `tokenlane's addon (tokenlane-${platform}) is installed, but this system cannot load it: ${firstLine(broken)}${libcHint(broken)}`
    return error('ERR_TOKENLANE_ADDON_LOAD', message, { cause })
  }
  return error('ERR_TOKENLANE_ADDON_MISSING', `tokenlane has no addon for this machine${missingHint(platform)}`, {
    cause,
  })
}

/** Returns the error of each file of the addon. The error of the generated loader has no codes. */
function attempts(platform) {
  const failures = []
  const requireFrom = ownRequire()
  for (const place of [
    () => process.env.NAPI_RS_NATIVE_LIBRARY_PATH,
    () => `../tokenlane.${platform}.node`,
    () => `tokenlane-${platform}`,
  ]) {
    try {
      const name = place()
      if (name !== undefined) requireFrom(name)
    } catch (failure) {
      failures.push(failure)
    }
  }
  return failures
}

/**
 * Describes a missing permission, with the flag that grants it. Returns undefined for other errors.
 */
function denialOf({ name, code, message, permission, resource }) {
  if (code === 'ERR_DLOPEN_DISABLED') {
    if (process.permission === undefined) return { what: 'Node.js runs with --no-addons', flag: '--addons' }
    return { what: "Node's permission model does not allow addons", flag: '--allow-addons' }
  }
  if (code === 'ERR_ACCESS_DENIED') {
    const own = packageRoot()
    const folder = resource?.startsWith(own + path.sep) ? own : path.dirname(resource ?? own)
    const flag = permission === 'FileSystemRead' ? `--allow-fs-read=${folder}` : NODE_FLAGS[permission]
    return {
      what: `Node's permission model does not allow ${permission} of ${resource}`,
      flag: flag ?? 'the flag that allows it',
    }
  }
  // NotCapable is Deno 2, PermissionDenied is Deno 1. Their messages end with the flag.
  if (name !== 'NotCapable' && name !== 'PermissionDenied') return undefined
  const flag = /--allow-[a-z]+/.exec(message)?.[0] ?? '--allow-ffi'
  return { what: `Deno does not allow ${/requires (.*?)(?:, run again|$)/i.exec(message)?.[1] ?? 'native code'}`, flag }
}

function firstLine({ message }) {
  return String(message).split('\n')[0]
}

/** A hint for errors that name symbols or files of a C library. */
function libcHint({ message }) {
  if (!/GLIBC|libc\.musl|ld-musl|ld-linux|libc\.so|relocating|symbol not found/i.test(message)) return ''
  return '. It was built for another C library (glibc or musl), or for a newer one: run "npm install" again on this system'
}

function missingHint(platform) {
  const name = `tokenlane-${platform}`
  if (!PLATFORMS.includes(platform)) {
    return `, ${platform}. Install and import @tokenlane/web, which is WebAssembly and runs everywhere, on one thread.`
  }
  const other = PLATFORMS.find(isInstalled)
  const found = other === undefined ? '' : ` tokenlane-${other} is installed, but it is for another platform.`
  return (
    `: the package ${name} is missing.${found} ` +
    `Run "npm install ${name}", or "npm run build" in a clone; if npm skipped optional dependencies, ` +
    'remove node_modules and package-lock.json and run "npm install" again.'
  )
}

function isInstalled(platform) {
  try {
    ownRequire().resolve(`tokenlane-${platform}`)
    return true
  } catch {
    return false
  }
}

function platformName() {
  const { platform, arch } = process
  const abi = platform === 'linux' ? (usesMusl() ? '-musl' : '-gnu') : platform === 'win32' ? '-msvc' : ''
  return `${platform}-${arch}${abi}`
}

function usesMusl() {
  try {
    const report = /** @type {any} */ (process.report.getReport())
    return report.header.glibcVersionRuntime === undefined
  } catch {
    return false
  }
}
