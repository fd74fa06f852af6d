// The imports of JavaScript modules and typings: `import`, `export … from`, `require` and
// `import()` with a literal path, and the types of JSDoc comments, which are read from the
// declarations beside a module.

import fs from 'node:fs'
import path from 'node:path'

import ts from 'typescript'

const MODULE = /\.([cm]?js|d\.[cm]?ts)$/
const TYPE_IN_COMMENT = /\bimport\('(\.[^']*)'\)/g
const REQUIRE_IN_MODULE = /\bcreateRequire\(import\.meta\.url\)\('(\.[^']*)'\)/g
/** The name of the main package or of one of packages/, without the path in it. */
const OWN_PACKAGE = /^(?:tokenlane|@tokenlane\/[^/]+)(?=\/|$)/
const COMMENT = /\/\*\*[^]*?\*\//g

/**
 * Returns the modules that each module imports, without those that are not in `names`.
 *
 * @param {string} folder
 * @param {string[]} names paths of files, relative to the folder
 */
export function javascriptImports(folder, names) {
  const files = new Set(names.filter((name) => MODULE.test(name)))
  return new Map([...files].map((file) => [file, importsOf(folder, file, files)]))
}

/**
 * Returns the packages of this repository that each module imports by name.
 *
 * @param {string} folder
 * @param {string[]} names paths of files, relative to the folder
 */
export function packageImports(folder, names) {
  const packages = (file) =>
    valuesOf(fs.readFileSync(path.join(folder, file), 'utf8')).flatMap((name) => OWN_PACKAGE.exec(name)?.[0] ?? [])
  return new Map(names.filter((name) => MODULE.test(name)).map((file) => [file, [...new Set(packages(file))]]))
}

/** The names in the imports of a module, without those of types in comments. */
const valuesOf = (text) => [
  ...ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName),
  ...[...text.matchAll(REQUIRE_IN_MODULE)].map(([, name]) => name),
]

function importsOf(folder, file, files) {
  const text = fs.readFileSync(path.join(folder, file), 'utf8')
  const values = valuesOf(text)
  const types = (text.match(COMMENT) ?? []).flatMap((comment) =>
    [...comment.matchAll(TYPE_IN_COMMENT)].map(([, name]) => name),
  )
  const isTyping = /\.d\.[cm]?ts$/.test(file)
  const found = [
    ...values.map((name) => resolve(file, name, isTyping, files)),
    ...types.map((name) => resolve(file, name, true, files)),
  ]
  return [...new Set(found)].filter((other) => other !== undefined)
}

/** The module that `name` stands for in `file`. Types are those of the declarations, if any. */
function resolve(file, name, isType, files) {
  if (!name.startsWith('.')) return undefined
  const place = path.posix.join(path.posix.dirname(file), name)
  const modules = [place, `${place}.js`, path.posix.join(place, 'index.js')]
  const typings = modules.map((one) => one.replace(/\.([cm]?)js$/, '.d.$1ts'))
  return [...(isType ? typings : []), ...modules].find((one) => files.has(one))
}
