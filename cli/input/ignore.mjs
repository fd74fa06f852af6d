// The files of folders that commands leave out: those that `.gitignore` files name, by Git's rules,
// and those that `--exclude` names in the same form. A name on the command line is never left out.

import fs from 'node:fs'
import path from 'node:path'

import { UsageError } from '../failure.mjs'

/** Longer `.gitignore` files are no list of patterns. */
const MAX_BYTES = 1 << 20

/**
 * @typedef {object} Rule
 * @property {string} base the folder that the pattern is relative to
 * @property {Pattern} pattern of the path below it
 * @property {boolean} isNegated
 * @property {boolean} isFolder whether only folders match
 */

/** `**` between slashes, a character class, and the characters that stand for others. */
const PARTS = /\/\*\*\/|^\*\*\/|\/\*\*$|\*+|\?|\[(!?)((?:\\.|[^\]\\])+)\]|\\(.)|[^]/g

const any = () => true
const inName = (character) => character !== '/'
const is = (wanted) => (character) => character === wanted

/** One of the characters and ranges of a class. */
function classOf(set, isNegated) {
  const characters = Array.from(set.replace(/\\(.)/g, '$1'))
  const ranges = []
  for (let at = 0; at < characters.length; at++) {
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length
    ranges.push([characters[at], characters[isRange ? at + 2 : at]])
    if (isRange) at += 2
  }
  return (character) =>
    character !== '/' && ranges.some(([from, to]) => from <= character && character <= to) !== isNegated
}

/** A pattern of `.gitignore`. Matching takes time in proportion to pattern and path. */
class Pattern {
  /** Tests of characters; a `star` matches any number, and `skip` steps can be left out. */
  #steps = []

  constructor(pattern) {
    const folders = [{ test: any, star: true, skip: 2 }, { test: is('/') }]
    if (!pattern.slice(0, -1).includes('/')) this.#steps.push(...folders)
    for (const [found, not, set, escaped] of pattern.replace(/^\//, '').replace(/\/$/, '').matchAll(PARTS)) {
      if (found === '/**/') this.#steps.push({ test: is('/') }, ...folders)
      else if (found === '**/') this.#steps.push(...folders)
      else if (found === '/**') this.#steps.push({ test: is('/') }, { test: any, star: true })
      else if (found.startsWith('*')) this.#steps.push({ test: inName, star: true })
      else if (found === '?') this.#steps.push({ test: inName })
      else if (set !== undefined) this.#steps.push({ test: classOf(set, not === '!') })
      else this.#steps.push({ test: is(escaped ?? found) })
    }
  }

  /** @param {string} place a path with slashes */
  test(place) {
    let states = this.#closure([0])
    for (const character of place) {
      const next = []
      for (const state of states) {
        const step = this.#steps[state]
        if (step?.test(character)) next.push(step.star ? state : state + 1)
      }
      if (next.length === 0) return false
      states = this.#closure(next)
    }
    return states.has(this.#steps.length)
  }

  /** The steps that can come next: also those behind a star, and behind what can be left out. */
  #closure(states) {
    const reached = new Set(states)
    for (const state of reached) {
      const step = this.#steps[state]
      if (step?.star) reached.add(state + 1)
      if (step?.skip) reached.add(state + step.skip)
    }
    return reached
  }
}

/**
 * @param {string} line
 * @param {string} base
 * @returns {Rule[]} one rule, or none for a comment and an empty line
 */
function rulesOf(line, base) {
  const trimmed = line.replace(/\r$/, '').replace(/(?<!\\) +$/, '')
  const isNegated = trimmed.startsWith('!')
  const pattern = isNegated ? trimmed.slice(1) : trimmed
  if (pattern === '' || pattern === '/' || pattern.startsWith('#')) return []
  return [{ base, pattern: new Pattern(pattern), isNegated, isFolder: pattern.endsWith('/') }]
}

/** The rule of `--exclude`. */
function excluding(pattern, base) {
  const rules = rulesOf(pattern, base)
  if (rules.length === 0) throw new UsageError(`'--exclude' needs a pattern, but it is '${pattern}'`)
  return rules
}

/** The rules of a folder's `.gitignore`. */
function rulesIn(folder) {
  const file = path.join(folder, '.gitignore')
  try {
    if (!fs.statSync(file).isFile() || fs.statSync(file).size > MAX_BYTES) return []
    return fs
      .readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line) => rulesOf(line, folder))
  } catch {
    return []
  }
}

/** What is left out below folders. */
export class Ignored {
  #excludes
  #readsGit
  /** The rules of `--exclude` for files that patterns match. */
  #ofPatterns

  /**
   * @param {string[]} excludes patterns of `--exclude`
   * @param {boolean} readsGit whether to read `.gitignore` files
   */
  constructor(excludes, readsGit) {
    this.#excludes = excludes
    this.#readsGit = readsGit
    this.#ofPatterns = { git: [], own: excludes.flatMap((pattern) => excluding(pattern, process.cwd())) }
  }

  /**
   * The rules for a folder that the command line names: those of the folders above it, up to the
   * root of its repository, and of `--exclude`. The last rule that matches decides.
   */
  start(folder) {
    const here = path.resolve(folder)
    const above = []
    if (this.#readsGit) {
      for (let at = here; ; at = path.dirname(at)) {
        above.unshift(at)
        if (fs.existsSync(path.join(at, '.git'))) break
        if (at === path.dirname(at)) {
          // Not a repository: only the folder itself counts.
          above.splice(0, above.length, here)
          break
        }
      }
    }
    return { git: above.flatMap(rulesIn), own: this.#excludes.flatMap((pattern) => rulesOf(pattern, here)) }
  }

  /** The rules within a folder below. */
  enter(rules, folder) {
    const more = this.#readsGit ? rulesIn(path.resolve(folder)) : []
    return more.length === 0 ? rules : { ...rules, git: [...rules.git, ...more] }
  }

  /** Whether `--exclude` names a file or folder that a pattern matches. */
  isExcluded(place, isFolder) {
    return this.has(this.#ofPatterns, place, isFolder)
  }

  /** Whether a file or folder is left out. */
  has({ git, own }, place, isFolder) {
    const full = path.resolve(place)
    const decides = ({ base, pattern, isFolder: isForFolders }) => {
      const below = path.relative(base, full).replaceAll(path.sep, '/')
      return (isFolder || !isForFolders) && !below.startsWith('../') && pattern.test(below)
    }
    return [git, own].some((rules) => rules.findLast(decides)?.isNegated === false)
  }
}
