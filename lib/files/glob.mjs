// Patterns of file names, for shells that do not expand them: `*` and `?` within a name, `**` over
// folders, `[a-z]`, `{md,txt}`. As in a shell, a name that starts with a dot only matches a pattern
// that starts with a dot.

export const isGlob = (pattern) => /[*?[{]/.test(pattern)

/** `a{b,c}d` as `abd` and `acd`. */
export function alternatives(pattern) {
  const braces = /\{([^{}]*,[^{}]*)\}/.exec(pattern)
  if (braces === null) return [pattern]
  const [before, after] = [pattern.slice(0, braces.index), pattern.slice(braces.index + braces[0].length)]
  return braces[1].split(',').flatMap((choice) => alternatives(before + choice + after))
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
