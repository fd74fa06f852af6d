'use strict'

// The addon: the file that this repository built, or the platform package that npm installed beside this one.

const { error } = require('./errors.js')

/** What there is an addon for. */
const PLATFORMS = ['linux-x64-gnu', 'linux-arm64-gnu', 'linux-x64-musl', 'linux-arm64-musl', 'darwin-x64', 'darwin-arm64', 'win32-x64-msvc', 'win32-arm64-msvc']

try {
  module.exports = require('../native.js')
} catch (cause) {
  throw explain(cause)
}
if (module.exports.__napiBindingTarget === 'wasm32-wasi') require('./wasm.js').complete(module.exports)

function explain(cause) {
  const platform = platformName()
  // The loader tries several files; where one was there and did not load, its own words say why.
  const broken = causes(cause).find((one) => one.code === 'ERR_DLOPEN_FAILED')
  return error('ERR_TOKENLANE_ADDON_MISSING', `tokenlane${told(platform, broken)}`, { cause })
}

function told(platform, broken) {
  const name = `tokenlane-${platform}`
  if (broken) return `'s addon for this machine (${name}) is there but does not load: ${broken.message}`
  if (!PLATFORMS.includes(platform)) {
    return ` has no addon for this machine, ${platform}. Run "npm install --cpu=wasm32 tokenlane-wasm32-wasi" for the one in WebAssembly.`
  }
  return (
    ` has no addon for this machine: the package ${name} is missing. ` +
    `Run "npm install ${name}", or "npm run build" in a clone; if npm skipped optional dependencies, ` +
    'remove node_modules and package-lock.json and run "npm install" again.'
  )
}

function causes(first) {
  const found = []
  for (const rest = [first]; rest.length > 0 && found.length < 50; ) {
    const next = rest.pop()
    if (!(next instanceof Error)) continue
    found.push(next)
    rest.push(next.cause, ...(next.errors ?? []))
  }
  return found
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
