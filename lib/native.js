'use strict'

// The addon: the file that this repository built, or the platform package that npm installed. Where it cannot be loaded, the
// error tells apart that it is missing, that the runtime does not permit it, and that the system cannot load it.

const path = require('node:path')

const { error } = require('./errors.js')

/** Platforms that have an addon. */
const PLATFORMS = ['linux-x64-gnu', 'linux-arm64-gnu', 'linux-x64-musl', 'linux-arm64-musl', 'darwin-x64', 'darwin-arm64', 'win32-x64-msvc', 'win32-arm64-msvc']

/** Flags of Node's permission model that take no value, by its names of the permissions. */
const NODE_FLAGS = { WASI: '--allow-wasi', WorkerThreads: '--allow-worker', ChildProcess: '--allow-child-process' }

try {
  module.exports = require('../native.js')
} catch (cause) {
  throw explain(cause)
}
if (module.exports.__napiBindingTarget === 'wasm32-wasi') require('./wasm.js').complete(module.exports)

function explain(cause) {
  const platform = platformName()
  const failures = [cause, ...attempts(platform)]
  const denied = new Map(failures.map(denialOf).filter((denial) => denial !== undefined).map(({ what, flag }) => [flag, what]))
  if (denied.size > 0) {
    const flags = [...denied.keys()].join(' ')
    const message = `tokenlane's addon (tokenlane-${platform}) is not permitted to load: ${[...denied.values()].join('; ')}. Run with ${flags}`
    return error('ERR_TOKENLANE_ADDON_NOT_PERMITTED', message, { cause })
  }
  const broken = failures.slice(1).find(({ code }) => code !== 'MODULE_NOT_FOUND')
  if (broken !== undefined) {
    const message = `tokenlane's addon (tokenlane-${platform}) is installed, but this system cannot load it: ${firstLine(broken)}${libcHint(broken)}`
    return error('ERR_TOKENLANE_ADDON_LOAD', message, { cause })
  }
  return error('ERR_TOKENLANE_ADDON_MISSING', `tokenlane has no addon for this machine${missingHint(platform)}`, { cause })
}

/** Why each file of the addon does not load. The loader's own error has lost the codes. */
function attempts(platform) {
  const failures = []
  for (const place of [() => process.env.NAPI_RS_NATIVE_LIBRARY_PATH, () => `../tokenlane.${platform}.node`, () => `tokenlane-${platform}`]) {
    try {
      const name = place()
      if (name !== undefined) require(name)
    } catch (failure) {
      failures.push(failure)
    }
  }
  return failures
}

/** What is not permitted, and the flag that permits it; nothing for a failure of another kind. */
function denialOf({ name, code, message, permission, resource }) {
  if (code === 'ERR_DLOPEN_DISABLED') {
    if (process.permission === undefined) return { what: 'Node.js runs with --no-addons', flag: '--addons' }
    return { what: "Node's permission model does not allow addons", flag: '--allow-addons' }
  }
  if (code === 'ERR_ACCESS_DENIED') {
    const own = path.join(__dirname, '..')
    const folder = resource?.startsWith(own + path.sep) ? own : path.dirname(resource ?? own)
    const flag = permission === 'FileSystemRead' ? `--allow-fs-read=${folder}` : NODE_FLAGS[permission]
    return { what: `Node's permission model does not allow ${permission} of ${resource}`, flag: flag ?? 'the flag that allows it' }
  }
  // Deno 2, and Deno 1. Its messages end with the flag.
  if (name !== 'NotCapable' && name !== 'PermissionDenied') return undefined
  const flag = /--allow-[a-z]+/.exec(message)?.[0] ?? '--allow-ffi'
  return { what: `Deno does not allow ${/requires (.*?)(?:, run again|$)/i.exec(message)?.[1] ?? 'native code'}`, flag }
}

function firstLine({ message }) {
  return String(message).split('\n')[0]
}

/** Loaders name symbols or files of the C library that an addon was built for. */
function libcHint({ message }) {
  if (!/GLIBC|libc\.musl|ld-musl|ld-linux|libc\.so|relocating|symbol not found/i.test(message)) return ''
  return '. It was built for another C library (glibc or musl), or for a newer one: run "npm install" again on this system'
}

function missingHint(platform) {
  const name = `tokenlane-${platform}`
  if (!PLATFORMS.includes(platform)) {
    return `, ${platform}. Run "npm install --cpu=wasm32 tokenlane-wasm32-wasi" for the one in WebAssembly.`
  }
  const other = PLATFORMS.find(isInstalled)
  const found = other === undefined ? '' : ` tokenlane-${other} is installed, which is for another one.`
  return (
    `: the package ${name} is missing.${found} ` +
    `Run "npm install ${name}", or "npm run build" in a clone; if npm skipped optional dependencies, ` +
    'remove node_modules and package-lock.json and run "npm install" again.'
  )
}

function isInstalled(platform) {
  try {
    require.resolve(`tokenlane-${platform}`)
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
    return process.report.getReport().header.glibcVersionRuntime === undefined
  } catch {
    return false
  }
}
