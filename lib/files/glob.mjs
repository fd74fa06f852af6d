// Patterns of file names, for shells that do not expand them: `*` and `?` within a name, `**` over
// folders, `[a-z]`, `{md,txt}`. As in a shell, a name that starts with a dot only matches a pattern
// that starts with a dot. A name is matched in time proportional to its length and the pattern's.

import { Failure } from './failure.mjs'

/** Maximum length of a pattern in UTF-16 units, that of a path on Linux. */
const MAX_LENGTH = 4096
/** Maximum number of patterns that the braces of one stand for. */
const MAX_ALTERNATIVES = 1024

export const isGlob = (pattern) => /[*?[{]/.test(pattern)

/** `a{b,c}d` as `abd` and `acd`. Inner braces come first, so that they may be nested. */
export function alternatives(pattern) {
  if (pattern.length > MAX_LENGTH)
    throw new Failure(
      'ARGUMENT_VALUE',
      `a pattern has at most ${MAX_LENGTH} characters, but this has ${pattern.length}`,
    )
  const plain = new Set()
  const open = new Set([pattern])
  // A set is iterated with what is added to it on the way.
  for (const one of open) {
    const braces = /\{([^{}]*,[^{}]*)\}/.exec(one)
    if (braces === null) {
      plain.add(one)
      continue
    }
    open.delete(one)
    const [before, after] = [one.slice(0, braces.index), one.slice(braces.index + braces[0].length)]
    for (const choice of braces[1].split(',')) open.add(before + choice + after)
    if (open.size > MAX_ALTERNATIVES)
      throw new Failure(
        'ARGUMENT_VALUE',
        `the braces stand for more than ${MAX_ALTERNATIVES} patterns: name a folder, or give a list with --files-from`,
        { place: pattern },
      )
  }
  return [...plain]
}

const STAR = Symbol('*')
const any = () => true

/** Whether a character is in a set such as `a-z_`. A range from a higher one is empty. */
function inSet(set, isNegated) {
  const characters = Array.from(set)
  const ranges = []
  for (let at = 0; at < characters.length; at++) {
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length
    ranges.push([characters[at], characters[isRange ? at + 2 : at]].map((one) => one.codePointAt(0)))
    if (isRange) at += 2
  }
  return (character) => {
    const code = character.codePointAt(0)
    return ranges.some(([from, to]) => from <= code && code <= to) !== isNegated
  }
}

/**
 * Returns a function that tests whether a name matches a pattern of one name. An unclosed bracket
 * is literal.
 *
 * @param {string} part
 * @returns {(name: string) => boolean}
 */
export function matcher(part) {
  const steps = Array.from(part.matchAll(/\[(!?)([^\]]+)\]|\*+|[^]/gu), ([token, not, set]) => {
    if (set !== undefined) return inSet(set, not === '!')
    if (token.startsWith('*')) return STAR
    return token === '?' ? any : (character) => character === token
  })
  const isForHidden = part.startsWith('.')
  return (name) => (isForHidden || !name.startsWith('.')) && matches(steps, Array.from(name))
}

/** If a step fails, the last star takes one more character; what an earlier star takes stays. */
function matches(steps, characters) {
  let step = 0
  let star = -1
  let from = 0
  for (let at = 0; at < characters.length; ) {
    if (steps[step] === STAR) {
      star = step++
      from = at
    } else if (step < steps.length && steps[step](characters[at])) {
      step++
      at++
    } else if (star !== -1) {
      step = star + 1
      at = ++from
    } else {
      return false
    }
  }
  while (steps[step] === STAR) step++
  return step === steps.length
}
