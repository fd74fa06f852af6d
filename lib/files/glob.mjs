// Patterns of file names, for shells that do not expand them: `*` and `?` within a name, `**` over
// folders, `[a-z]`, `{md,txt}`. As in a shell, a name that starts with a dot only matches a pattern
// that starts with a dot.

import fs from 'node:fs'
import path from 'node:path'

export const isGlob = (pattern) => /[*?[{]/.test(pattern)

/** The files that match, in the order of their names. */
export function glob(pattern) {
  const found = alternatives(pattern.replaceAll('\\', path.sep === '\\' ? '/' : '\\')).flatMap((one) => {
    const parts = one.split('/')
    const start = one.startsWith('/') ? parts.splice(0, 1) && '/' : ''
    return within(start, parts)
  })
  return [...new Set(found)].sort()
}

/** `a{b,c}d` as `abd` and `acd`. */
export function alternatives(pattern) {
  const braces = /\{([^{}]*,[^{}]*)\}/.exec(pattern)
  if (braces === null) return [pattern]
  const [before, after] = [pattern.slice(0, braces.index), pattern.slice(braces.index + braces[0].length)]
  return braces[1].split(',').flatMap((choice) => alternatives(before + choice + after))
}

/**
 * The files below a folder that match the rest of a pattern.
 *
 * @param {string} folder '' for the current one
 * @param {string[]} parts of the pattern
 */
function within(folder, [part, ...rest]) {
  if (part === '' || part === '.' || part === '..')
    return rest.length > 0 ? within(joined(folder, part || '.'), rest) : []
  const here = entries(folder)
  const folders = here.filter((entry) => entry.isDirectory())
  if (part === '**') {
    const deeper = folders
      .filter(({ name }) => !name.startsWith('.'))
      .flatMap(({ name }) => within(joined(folder, name), [part, ...rest]))
    return [...within(folder, rest.length > 0 ? rest : ['*']), ...deeper]
  }
  const matches = matcher(part)
  if (rest.length > 0)
    return folders.filter(({ name }) => matches.test(name)).flatMap(({ name }) => within(joined(folder, name), rest))
  return here
    .filter((entry) => !entry.isDirectory() && matches.test(entry.name))
    .map(({ name }) => joined(folder, name))
}

const joined = (folder, name) => (folder === '' || folder.endsWith('/') ? folder + name : `${folder}/${name}`)

function entries(folder) {
  try {
    return fs.readdirSync(folder || '.', { withFileTypes: true })
  } catch {
    return []
  }
}

/** Returns the regular expression for a pattern of one name. An unclosed bracket is literal. */
export function matcher(part) {
  const source = part.replace(/\[(!?)([^\]]+)\]|[*?]|[^*?[]+|\[/g, (found, not, set) => {
    if (found === '*') return '[^]*'
    if (found === '?') return '[^]'
    if (set === undefined) return found.replace(/[\\^$.|+(){}[\]]/g, '\\$&')
    return `[${not ? '^' : ''}${set.replace(/[\\^[\]]/g, '\\$&')}]`
  })
  return new RegExp(`^${part.startsWith('.') ? '' : '(?!\\.)'}${source}$`, 'u')
}
