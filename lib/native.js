'use strict'

// The addon: the file that this repository built, or the platform package that npm installed beside this one.

const { error } = require('./errors.js')

try {
  module.exports = require('../native.js')
} catch (cause) {
  throw explain(cause)
}

function explain(cause) {
  const name = platformPackage()
  // The loader tries several files; where one was there and did not load, its own words say why.
  const broken = causes(cause).find((one) => one.code === 'ERR_DLOPEN_FAILED')
  const message = broken
    ? `tokenlane's addon for this machine (${name}) is there but does not load: ${broken.message}`
    : `tokenlane has no addon for this machine: the package ${name} is missing. ` +
      `Run "npm install ${name}", or "npm run build" in a clone; if npm skipped optional dependencies, ` +
      'remove node_modules and package-lock.json and run "npm install" again.'
  return error('ERR_TOKENLANE_ADDON_MISSING', message, { cause })
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

function platformPackage() {
  const { platform, arch } = process
  const abi = platform === 'linux' ? (usesMusl() ? '-musl' : '-gnu') : platform === 'win32' ? '-msvc' : ''
  return `tokenlane-${platform}-${arch}${abi}`
}

function usesMusl() {
  try {
    return process.report.getReport().header.glibcVersionRuntime === undefined
  } catch {
    return false
  }
}
