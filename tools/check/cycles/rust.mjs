// The dependencies among the modules of a Rust crate. A module and those in its folder may use each
// other, so what counts is which of the modules beside each other use each other, with what is in
// their folders. Dependencies are the paths that start with `crate`, `super` or `self`. Code that
// only tests compile does not count.

import fs from 'node:fs'
import path from 'node:path'

/**
 * Returns, for each module that has others in its folder, which of these use which.
 *
 * @param {string} folder
 * @param {string[]} names paths of files, relative to the folder
 * @returns {Map<string, Map<string, string[]>>} by the folder of the modules
 */
export function rustImports(folder, names) {
  const roots = names.filter((name) => path.posix.basename(name) === 'lib.rs').map((name) => path.posix.dirname(name))
  return new Map(roots.flatMap((root) => [...siblingsOf(folder, root, names)]))
}

/** @returns {[string, Map<string, string[]>][]} */
function siblingsOf(folder, root, names) {
  const prefix = root === '.' ? '' : `${root}/`
  const all = new Map(
    names
      .filter((name) => name.startsWith(prefix) && name.endsWith('.rs'))
      .map((name) => {
        const module = moduleOf(name.slice(prefix.length))
        return [keyOf(module), { module, code: withoutText(fs.readFileSync(path.join(folder, name), 'utf8')) }]
      }),
  )
  const inTests = new Set(
    [...all.values()].flatMap(({ module, code }) => testItems(code).map(({ name }) => keyOf([...module, name]))),
  )
  const isTested = (module) => module.some((_, depth) => inTests.has(keyOf(module.slice(0, depth + 1))))
  const sources = [...all.values()].filter(({ module }) => !isTested(module))
  const imports = new Map(
    sources.map(({ module, code }) => [keyOf(module), importsOf(withoutTests(code), module, all)]),
  )
  const siblings = new Map()
  for (const { module } of sources) {
    for (const [depth, name] of module.entries()) {
      const parent = path.posix.join(root, ...module.slice(0, depth))
      siblings.set(parent, (siblings.get(parent) ?? new Map()).set(name, new Set()))
    }
  }
  for (const { module, code } of sources) {
    for (const used of pathsIn(withoutTests(code), module)) {
      const whole = origin(used, all, imports)
      const depth = module.findIndex((name, at) => name !== whole[at])
      if (depth !== -1)
        siblings
          .get(path.posix.join(root, ...module.slice(0, depth)))
          ?.get(module[depth])
          .add(whole[depth])
    }
  }
  return [...siblings].map(([parent, uses]) => [
    parent,
    new Map([...uses].map(([name, used]) => [name, [...used].filter((other) => uses.has(other))])),
  ])
}

const keyOf = (module) => module.join('::')

/** Resolves the names that modules import to the modules that they come from. */
function origin(used, all, imports) {
  for (let length = 0; length < used.length; length += 1) {
    const [before, name] = [keyOf(used.slice(0, length)), used[length]]
    const whole = all.has(keyOf(used.slice(0, length + 1))) ? undefined : imports.get(before)?.get(name)
    if (whole !== undefined) return [...whole, ...used.slice(length + 1)]
  }
  return used
}

/** The names that `use` gives to items of other modules of the crate, with their whole paths. */
function importsOf(code, module, all) {
  const found = new Map()
  for (const [, tree] of code.matchAll(/\buse\s+([^;]+);/g)) {
    for (const {
      path: [first, ...rest],
      name,
    } of pathsOfTree(tree)) {
      const start = { crate: [], self: module, super: module.slice(0, -1) }[first]
      const whole = start === undefined ? [...module, first, ...rest] : [...start, ...rest]
      if (start !== undefined || all.has(keyOf([...module, first]))) found.set(name, whole)
    }
  }
  return found
}

/** The path of a module: `bpe/merges/mod.rs` is `['bpe', 'merges']`. */
function moduleOf(name) {
  const module = name.slice(0, -'.rs'.length).split('/')
  if (['mod', 'lib'].includes(module.at(-1))) module.pop()
  return module
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
  return [
    ...code.matchAll(
      /#\[cfg\((?:any\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(?:mod\s+(\w+))?/g,
    ),
  ].map((match) => ({ name: match[1], start: match.index, end: endOfItem(code, match.index) }))
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
