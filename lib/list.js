'use strict'

/**
 * A list whose entries can leave from any place. An entry is an object in one list at most; the
 * list keeps its neighbours in `before` and `after`. It calls no method of a built-in prototype,
 * because a program may have replaced it by one that throws.
 */
class List {
  size = 0
  /** @type {any} */
  first
  /** @type {any} */
  #last

  push(entry) {
    entry.list = this
    entry.before = this.#last
    entry.after = undefined
    if (this.#last === undefined) this.first = entry
    else this.#last.after = entry
    this.#last = entry
    this.size++
  }

  has(entry) {
    return entry.list === this
  }

  remove(entry) {
    if (entry.list !== this) return
    if (entry.before === undefined) this.first = entry.after
    else entry.before.after = entry.after
    if (entry.after === undefined) this.#last = entry.before
    else entry.after.before = entry.before
    entry.list = entry.before = entry.after = undefined
    this.size--
  }
}

module.exports = { List }
