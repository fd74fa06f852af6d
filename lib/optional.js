'use strict'

// Loads optional packages, which only some calls need. They are looked for beside this package, and
// then as the program that runs would find them: with `npm link`, `npm install ../tokenlane` and
// `npm install -g`, this package is elsewhere than the project that has them.

const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

const { error } = require('./errors.js')

/** The conditions of `exports` in a package.json for a module that is imported. */
const CONDITIONS = ['node', 'import', 'default']
const MISSING = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']

/** Files from whose folders packages are looked for. */
let places

/**
 * Files from whose folders the packages of the project are looked for: the program, as it was
 * called and where a link leads to (a global command is a link).
 */
function projectPlaces() {
  if (places === undefined) {
    const [, program] = process.argv
    places = [path.resolve(program ?? 'index.js')]
    try {
      places.push(path.resolve(path.dirname(places[0]), fs.readlinkSync(places[0])))
    } catch {
      // It is no link.
    }
  }
  return places
}

/** Replaces the places, for a command, and for a thread or a process that has another program. */
function setProjectPlaces(files) {
  places = files
}

/** The name of the package that has a module, and what follows. */
const ownerOf = (name) => /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(name).slice(1)

/** The path of a module of a package in the project, or undefined. */
function fileInProject(name) {
  for (const place of projectPlaces()) {
    const { resolve } = createRequire(place)
    const [owner, subpath] = ownerOf(name)
    for (const folder of resolve.paths(name) ?? []) {
      const manifest = path.join(folder, owner, 'package.json')
      if (!fs.existsSync(manifest)) continue
      const { exports } = JSON.parse(fs.readFileSync(manifest, 'utf8'))
      if (exports === undefined) return resolve(name)
      const target = exportOf(exports, `.${subpath}`)
      if (target !== undefined) return path.join(path.dirname(manifest), target)
    }
  }
  return undefined
}

/** The file that `exports` of a package.json has for a subpath of the package, or undefined. */
function exportOf(exports, subpath) {
  const hasSubpaths = Object.keys(Object(exports)).some((key) => key.startsWith('.'))
  const entries = Object.entries(hasSubpaths ? exports : { '.': exports })
  const [key, value] =
    entries.find(([name]) => name === subpath) ?? entries.find(([name]) => matches(name, subpath)) ?? []
  let target = value
  while (typeof target === 'object' && target !== null) {
    const conditions = target
    target = conditions[Object.keys(conditions).find((name) => CONDITIONS.includes(name))]
  }
  if (typeof target !== 'string') return undefined
  const [before, after] = key.split('*')
  return target.replaceAll('*', subpath.slice(before.length, subpath.length - (after ?? '').length))
}

function matches(pattern, subpath) {
  const [before, after] = pattern.split('*')
  return after !== undefined && subpath.startsWith(before) && subpath.endsWith(after)
}

const isMissing = (cause, name) => MISSING.includes(cause?.code) && cause.message.includes(ownerOf(name)[0])

/**
 * A package, which `load` imports beside the module that needs it.
 *
 * @param {string} name
 * @param {() => any} load
 */
async function importOptional(name, load) {
  try {
    return await load()
  } catch (cause) {
    const file = isMissing(cause, name) ? fileInProject(name) : undefined
    if (file === undefined) throw cause
    const loaded = await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ pathToFileURL(file).href)
    // Not all names of a CommonJS module are those of the ES module that Node makes of it.
    return /\.c?js$/.test(file) && loaded.default?.constructor === Object ? { ...loaded.default, ...loaded } : loaded
  }
}

/** The same for a CommonJS module. */
function requireOptional(name, load) {
  try {
    return load()
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause
    for (const place of projectPlaces()) {
      try {
        return createRequire(place)(name)
      } catch (failure) {
        if (!isMissing(failure, name)) throw failure
      }
    }
    throw cause
  }
}

/** The path of a package, beside the module of a URL or in the project; throws if it is missing. */
function resolveOptional(name, url) {
  try {
    return createRequire(url).resolve(name)
  } catch (cause) {
    const file = fileInProject(name)
    if (file === undefined) throw cause
    return file
  }
}

/** The result of `importOptional`. If the package is missing, the error says how to install it. */
async function optional(load, name, caller) {
  try {
    return await importOptional(name, load)
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause
    const message = `${caller} needs the package ${name}, which is not installed: run "npm install ${name}"`
    throw error('ERR_TOKENLANE_PACKAGE_MISSING', message, { cause })
  }
}

module.exports = { importOptional, optional, projectPlaces, requireOptional, resolveOptional, setProjectPlaces }
