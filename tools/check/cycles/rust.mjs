// The dependencies among the parts of a Rust crate. A part is a module of the crate's root with
// everything below it, since a module and its submodules may use each other. Dependencies are the
// paths that start with `crate` or `super`. Code that only tests compile does not count.

import fs from 'node:fs'
import path from 'node:path'

/**
 * Returns, for each crate among the files, the parts that each part uses.
 *
 * @param {string} folder
 * @param {string[]} names paths of files, relative to the folder
 * @returns {Map<string, Map<string, string[]>>} by the folder of the crate's `lib.rs`
 */
export function rustImports(folder, names) {
  const roots = names.filter((name) => path.posix.basename(name) === 'lib.rs').map((name) => path.posix.dirname(name))
  return new Map(roots.map((root) => [root, partsOf(folder, root, names)]))
}

function partsOf(folder, root, names) {
  const prefix = root === '.' ? '' : `${root}/`
  const modules = names
    .filter((name) => name.startsWith(prefix) && name.endsWith('.rs'))
    .map((name) => ({
      module: moduleOf(name.slice(prefix.length)),
      code: withoutText(fs.readFileSync(path.join(folder, name), 'utf8')),
    }))
  const inTests = new Set(
    modules.flatMap(({ module, code }) => testItems(code).map(({ name }) => [...module, name].join('::'))),
  )
  const isTested = (module) => module.some((_, depth) => inTests.has(module.slice(0, depth + 1).join('::')))
  const sources = modules.filter(({ module }) => module.length > 0 && !isTested(module))
  const crate = modules.find(({ module }) => module.length === 0)
  const context = { exported: crate === undefined ? new Map() : exportsOf(crate.code) }
  const parts = new Map(sources.map(({ module }) => [module[0], new Set()]))
  for (const { module, code } of sources) {
    for (const used of pathsIn(withoutTests(code), module)) {
      const [part] = absolute(used, context)
      if (part !== module[0] && parts.has(part)) parts.get(module[0]).add(part)
    }
  }
  return new Map([...parts].map(([part, used]) => [part, [...used]]))
}

/** The path of a module: `bpe/merges/mod.rs` is `['bpe', 'merges']`. */
function moduleOf(name) {
  const module = name.slice(0, -'.rs'.length).split('/')
  if (['mod', 'lib'].includes(module.at(-1))) module.pop()
  return module
}

/** Resolves a name that the crate's root exports to the module that it comes from. */
function absolute(used, { exported }) {
  return exported.get(used[0]) ?? used
}

/** The names that `pub use` in the crate's root makes shorter, with their whole paths. */
function exportsOf(code) {
  const uses = [...code.matchAll(/\bpub(?:\([^)]*\))?\s+use\s+([^;]+);/g)]
  const named = uses.flatMap(([, tree]) => pathsOfTree(tree))
  return new Map(named.map(({ path: whole, name }) => [name, whole]))
}

/** The paths of a use tree such as `a::{b, c as d}`, each with the name that it gets. */
function pathsOfTree(tree, before = []) {
  const text = tree.trim()
  const group = text.indexOf('{')
  if (group === -1) {
    const [whole, alias] = text.split(/\s+as\s+/)
    const names = [...before, ...whole.split('::').map((name) => name.trim())]
    return [{ path: names, name: alias?.trim() ?? names.at(-1) }]
  }
  const start = text
    .slice(0, group)
    .split('::')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return branches(text.slice(group + 1, text.lastIndexOf('}'))).flatMap((branch) =>
    pathsOfTree(branch, [...before, ...start]),
  )
}

/** Splits the inside of a group at its own commas. */
function branches(text) {
  const found = ['']
  let depth = 0
  for (const character of text) {
    if (character === '{') depth += 1
    if (character === '}') depth -= 1
    if (character === ',' && depth === 0) found.push('')
    else found[found.length - 1] += character
  }
  return found.filter((branch) => branch.trim() !== '')
}

/** The paths that a module uses, from the crate's root on. */
function pathsIn(code, module) {
  const inline = [...code.matchAll(/\bmod\s+(\w+)\s*\{/g)].map((match) => ({
    name: match[1],
    start: match.index,
    end: endOfItem(code, match.index),
  }))
  const found = []
  for (const match of code.matchAll(/(?<!\bin\s)(?<![\w:])(?:crate|super)\s*::\s*/g)) {
    const around = inline.filter(({ start, end }) => start < match.index && match.index < end).map(({ name }) => name)
    let base = match[0].startsWith('crate') ? [] : [...module, ...around].slice(0, -1)
    let rest = code.slice(match.index + match[0].length)
    for (let up = rest.match(/^super\s*::\s*/); up; up = rest.match(/^super\s*::\s*/)) {
      base = base.slice(0, -1)
      rest = rest.slice(up[0].length)
    }
    const simple = rest.match(/^(?:\w+\s*::\s*)*(?:\w+|(?=\{))/)?.[0] ?? ''
    const group = rest[simple.length] === '{' ? rest.slice(simple.length, endOfItem(rest, simple.length)) : ''
    found.push(...pathsOfTree(simple + group, base).map(({ path: whole }) => whole))
  }
  return found
}

/** The items that only tests compile, with the names of modules: `#[cfg(test)] mod tests;`. */
function testItems(code) {
  return [...code.matchAll(/#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(?:mod\s+(\w+))?/g)].map(
    (match) => ({ name: match[1], start: match.index, end: endOfItem(code, match.index) }),
  )
}

function withoutTests(code) {
  const characters = [...code]
  for (const { start, end } of testItems(code)) characters.fill(' ', start, end)
  return characters.join('')
}

/** The end of the item at `start`: after the first `;` or after the end of its first block. */
function endOfItem(code, start) {
  let depth = 0
  for (let at = start; at < code.length; at += 1) {
    if (code[at] === '{') depth += 1
    if (code[at] === '}' && (depth -= 1) === 0) return at + 1
    if (code[at] === ';' && depth === 0) return at + 1
  }
  return code.length
}

/** Replaces comments, and the insides of strings and characters, by spaces. */
function withoutText(code) {
  const text = /\/\/[^\n]*|\/\*[^]*?\*\/|\bb?r(#*)"[^]*?"\1|"(?:[^"\\]|\\[^])*"|'(?:[^'\\\n]|\\(?:u\{[^}]*\}|x..|.))'/g
  return code.replace(text, (found) => ' '.repeat(found.length))
}
