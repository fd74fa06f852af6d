// Sums of a report by source, by machine or by group.

import path from 'node:path'

/**
 * Maximum number of names that are counted one by one. Beyond it, names are shortened to folders.
 */
const MAX_NAMES = 10_000
/** Maximum number of rows of a table. The other rows are added up to one. */
export const MAX_SHOWN = 40

const COLUMNS = ['documents', 'tokens', 'cutTokens', 'textBytes', 'characters', 'skipped', 'seconds', 'shards']

/** Sums by name. */
export class Groups {
  #groups = /** @type {Map<string, Record<string, number>>} */ (new Map())
  /** The number of path components that are cut off the end of names, to limit their number. */
  #cut = 0

  /** Adds values to the sums of a name. */
  add(name, values) {
    this.#put(this.#short(name), values)
    while (this.#groups.size > MAX_NAMES) this.#shorten()
  }

  #short(name) {
    let short = name
    for (let cut = 0; cut < this.#cut; cut++) short = path.dirname(short)
    return short
  }

  #shorten() {
    const groups = this.#groups
    const before = groups.size
    this.#groups = new Map()
    this.#cut += 1
    for (const [name, values] of groups) this.#put(path.dirname(name), values)
    // None of the names has a folder.
    if (this.#groups.size === before) this.#groups = new Map([['all', [...groups.values()].reduce(added)]])
  }

  #put(name, values) {
    const known = this.#groups.get(name)
    this.#groups.set(name, known === undefined ? added({}, values) : added(known, values))
  }

  get isEmpty() {
    return this.#groups.size === 0
  }

  /**
   * The names with their sums, those with the most tokens first, and a last entry for all others.
   *
   * @returns {[string, Record<string, number>][]}
   */
  largest() {
    const sorted = [...this.#groups].sort(([a, { tokens: x }], [b, { tokens: y }]) => y - x || (a < b ? -1 : 1))
    const rest = sorted.splice(MAX_SHOWN)
    if (rest.length > 0)
      sorted.push([`${rest.length.toLocaleString('en')} more`, rest.map(([, values]) => values).reduce(added)])
    return sorted
  }
}

/** The sums of two groups. */
const added = (a, b) => Object.fromEntries(COLUMNS.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]))
