// Lists the files of folders and patterns, one by one and in the same order on every machine: the
// names in a folder are sorted by their UTF-16 units. Memory does not grow with the number of
// files: a folder with very many names is sorted in runs on disk.

import fs from 'node:fs'
import path from 'node:path'
import readline from 'node:readline'

import { Failure, fileFailure } from './failure.mjs'
import { alternatives, isGlob, matcher } from './glob.mjs'
import { newScratch, removeScratch } from './scratch.mjs'
import { statIfThere } from './stat.mjs'

/** Number of names that are sorted in memory at once. */
const RUN_LENGTH = 100_000

/** Yields the lines of a file. */
export async function* linesOf(file) {
  try {
    const handle = await fs.promises.open(file)
    yield* readline.createInterface({ input: handle.createReadStream(), crlfDelay: Infinity })
  } catch (failure) {
    throw fileFailure(file, failure)
  }
}

/**
 * A path with slashes, which Windows reads too: so files below folders have the same names and
 * order on every machine. Verbatim paths stay unchanged, because Windows reads slashes in them
 * literally.
 */
const withSlashes = (place) => (path.sep === '\\' && !place.startsWith('\\\\?\\') ? place.replaceAll('\\', '/') : place)

/**
 * What is left out of folders and patterns. `rules` are those that hold within a folder.
 *
 * @typedef {object} LeftOut
 * @property {(folder: string) => any} start the rules for a folder that is named
 * @property {(rules: any, folder: string) => any} enter the rules for a folder below
 * @property {(rules: any, place: string, isFolder: boolean) => boolean} has
 * @property {(place: string, isFolder: boolean) => boolean} isExcluded of a pattern's matches
 */

/** Lists files, except those below an excluded folder. */
export class Walk {
  #exclude
  #excludedNames
  #run
  #onUnreadable
  #ignored

  /**
   * @param {{ exclude?: string[], run?: number, ignored?: LeftOut, onUnreadable?: (name: string,
   *   failure: any) => void }} [options] `exclude` has the real paths of folders and files; `run`
   *   is the number of names that are sorted at once; `onUnreadable` receives a folder that cannot
   *   be read, or a link in a folder that leads nowhere; by default these throw
   */
  constructor({ exclude = [], run = RUN_LENGTH, onUnreadable, ignored } = {}) {
    this.#ignored = ignored
    this.#exclude = exclude
    this.#excludedNames = new Set(exclude.map((place) => path.basename(place)))
    this.#run = run
    this.#onUnreadable = onUnreadable
  }

  /** All files below a folder, except hidden ones. */
  async *below(folder, rules = this.#ignored?.start(folder)) {
    if (this.#isExcluded(folder)) return
    // What `path.join` puts before each name.
    const start = withSlashes(path.join(folder, 'x')).slice(0, -1)
    for await (const { name, kind } of this.#entries(folder)) {
      if (name.startsWith('.')) continue
      const place = start + name
      if (rules !== undefined && this.#ignored.has(rules, place, kind === 'd')) continue
      if (kind === 'd') yield* this.below(place, rules && this.#ignored.enter(rules, place))
      else if (this.#isFile(place, kind) && !this.#isExcluded(place, kind)) yield place
    }
  }

  /** Whether a name in a folder is a file, or a link to one. */
  #isFile(place, kind) {
    if (kind === 'f') return true
    try {
      return fs.statSync(place).isFile()
    } catch (failure) {
      if (this.#onUnreadable === undefined) throw fileFailure(place, failure)
      this.#onUnreadable(place, failure)
      return false
    }
  }

  /** The files that match a pattern. */
  async *matching(given) {
    const pattern = withSlashes(given)
    if (!isGlob(pattern)) throw fileFailure(pattern, { code: 'ENOENT' })
    const parts = pattern.split('/')
    const first = parts.findIndex(isGlob)
    const base = parts.slice(0, first).join('/')
    const start = startOf(parts.slice(first).join('/'))
    let found = false
    for await (const file of this.#match(first > 0 ? `${base}/` : '', start)) {
      found = true
      yield file
    }
    if (!found) throw new Failure('FILE_NOT_FOUND', `${pattern}: no file matches`)
  }

  /** Walks a folder once, with all positions in the patterns that its names may match. */
  async *#match(folder, states) {
    if (this.#isExcluded(folder || '.') || statIfThere(folder || '.')?.isDirectory() !== true) return
    for await (const { name, kind } of this.#entries(folder || '.')) {
      const next = after(states, name)
      if (next.size === 0) continue
      const place = folder + name
      if (this.#ignored?.isExcluded(place, kind === 'd')) continue
      const isInner = next.size > (next.has(END) ? 1 : 0)
      if (kind === 'd') yield* isInner ? this.#match(`${place}/`, next) : []
      else if (next.has(END) && this.#isFile(place, kind) && !this.#isExcluded(place, kind)) yield place
    }
  }

  /**
   * Whether a folder or a file is the output. A file that is no link has the name of its real path,
   * so only the real paths of a few files are looked up.
   */
  #isExcluded(place, kind = 'o') {
    if (this.#exclude.length === 0) return false
    if (kind === 'f' && !this.#excludedNames.has(path.basename(place))) return false
    try {
      return this.#exclude.includes(fs.realpathSync(place))
    } catch {
      return false
    }
  }

  /**
   * The names of a folder in order; `kind` is `d` for a folder, `f` for a file and `o` for anything
   * else, such as a link.
   */
  async *#entries(folder) {
    let names = []
    /** @type {string[]} */
    const runs = []
    let scratch
    try {
      for await (const entry of await fs.promises.opendir(folder, { bufferSize: 1024 })) {
        names.push({ name: entry.name, kind: entry.isDirectory() ? 'd' : entry.isFile() ? 'f' : 'o' })
        if (names.length < this.#run) continue
        scratch ??= newScratch('names')
        runs.push(await writeRun(path.join(scratch, String(runs.length)), names))
        names = []
      }
      names.sort(byName)
      if (runs.length === 0) yield* names
      else yield* merged([...runs.map(readRun), names])
    } catch (failure) {
      if (failure.syscall === undefined) throw failure
      if (this.#onUnreadable === undefined) throw fileFailure(folder, failure)
      this.#onUnreadable(folder, failure)
    } finally {
      if (scratch !== undefined) await removeScratch(scratch)
    }
  }
}

/** Returns a function that tests whether a path with slashes matches a pattern. */
export function pathMatcher(pattern) {
  const start = startOf(pattern)
  return (place) => place.split('/').reduce(after, start).has(END)
}

/**
 * A position in a pattern: what the next name of a path has to match, and the position after it.
 *
 * @typedef {{ test?: (name: string) => boolean, isAnyFolders?: boolean, next?: Position }} Position
 */

/** @type {Position} */
const END = {}

/**
 * The first position of a pattern without braces. `**` stands for any number of folders; at the end
 * it stands for all files below.
 *
 * @returns {Position}
 */
function compile(pattern) {
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.at(-1) === '**') parts.push('*')
  return parts
    .filter((part, i) => part !== '**' || parts[i - 1] !== '**')
    .reduceRight((next, part) => (part === '**' ? { isAnyFolders: true, next } : { test: matcher(part), next }), END)
}

/** The positions at which a pattern starts. */
const startOf = (pattern) => new Set(alternatives(pattern).map(compile).flatMap(reached))

/** What a position stands for: at `**`, also the one after it. */
const reached = (position) => (position.isAnyFolders ? [position, position.next] : [position])

/**
 * The positions after a name was matched.
 *
 * @param {Set<Position>} positions
 * @param {string} name
 */
function after(positions, name) {
  const next = new Set()
  for (const position of positions) {
    if (position.isAnyFolders) {
      if (!name.startsWith('.')) for (const one of reached(position)) next.add(one)
    } else if (position.test?.(name)) {
      for (const one of reached(position.next)) next.add(one)
    }
  }
  return next
}

const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

/** Writes a sorted run of names to a file. */
async function writeRun(file, names) {
  names.sort(byName)
  try {
    await fs.promises.writeFile(file, linesOfRun(names), { flag: 'wx' })
  } catch (failure) {
    throw fileFailure(file, failure)
  }
  return file
}

function* linesOfRun(names) {
  for (let from = 0; from < names.length; from += 1000) {
    yield names
      .slice(from, from + 1000)
      .map(({ name, kind }) => `${JSON.stringify(kind + name)}\n`)
      .join('')
  }
}

async function* readRun(file) {
  for await (const line of linesOf(file)) {
    const text = JSON.parse(line)
    yield { kind: text[0], name: text.slice(1) }
  }
}

/** Merges sorted lists. */
async function* merged(lists) {
  const iterators = lists.map((list) =>
    Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator](),
  )
  const heads = await Promise.all(iterators.map((iterator) => iterator.next()))
  for (;;) {
    let least = -1
    heads.forEach(({ done, value }, index) => {
      if (!done && (least === -1 || byName(value, heads[least].value) < 0)) least = index
    })
    if (least === -1) return
    yield heads[least].value
    heads[least] = await iterators[least].next()
  }
}
