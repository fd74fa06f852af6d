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
 * Returns what each module imports: `modules`, without those that are not in `names`, and
 * `packages` of this repository, by name.
 *
 * @param {string} folder
 * @param {string[]} names paths of files, relative to the folder
 */
export function javascriptImports(folder, names) {
  const files = new Set(names.filter((name) => MODULE.test(name)))
  const [modules, packages] = [new Map(), new Map()]
  for (const file of files) {
    const text = fs.readFileSync(path.join(folder, file), 'utf8')
    const values = valuesOf(text)
    modules.set(file, modulesOf(file, text, values, files))
    packages.set(file, [...new Set(values.flatMap((name) => OWN_PACKAGE.exec(name)?.[0] ?? []))])
  }
  return { modules, packages }
}

/** The names in the imports of a module, without those of types in comments. */
const valuesOf = (text) => [
  ...ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName),
  ...[...text.matchAll(REQUIRE_IN_MODULE)].map(([, name]) => name),
]

/** The modules among `files` that a module imports, also for types. */
function modulesOf(file, text, values, files) {
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
