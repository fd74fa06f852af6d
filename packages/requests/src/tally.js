'use strict'

// What a request has of each part that takes tokens, and the tokens of the parts by a family of
// models. The files in prices/ have the constants; `npm run maintain -- fit-requests` writes them.
//
// A family has `models`, a pattern of names, and `parts`. Of a part it has the tokens of one, the
// number of recordings that the constant was fitted to, and the relative error that 95 of 100
// recordings with that part stayed within when their project was left out of the fit.

/** The error of a part without recordings, unless that of other families is larger. */
const UNKNOWN = 0.5

/** Amounts of parts, such as `{ message: 3, call: 1 }`, and the places of estimates. */
class Tally {
  /** @type {Record<string, number>} */
  amounts = {}
  /**
   * The family whose constants are used.
   * @type {any}
   */
  family
  /** @type {string | undefined} */
  api
  /** @type {Map<string, { place: string, reason: string, part: string }>} */
  #notes = new Map()

  add(part, amount = 1) {
    if (amount !== 0) this.amounts[part] = (this.amounts[part] ?? 0) + amount
  }

  /** Says that a place is an estimate, of which part, and why. The first reason stays. */
  note(place, part, reason) {
    const key = JSON.stringify([place, reason])
    if (!this.#notes.has(key)) this.#notes.set(key, { place, reason, part })
  }

  /** The same from a text of the form `place (reason)`. */
  noteText(text, part) {
    const [, place, reason] = /^(.*?) \((.*)\)$/s.exec(text) ?? [undefined, text, 'estimated']
    this.note(place, part, reason)
  }

  notes() {
    return [...this.#notes.values()]
  }

  /** The places with their reasons and errors. */
  estimated() {
    return this.notes().map(({ place, reason, part }) => {
      const { recordings = 0, error = 0 } = this.family?.parts[part] ?? {}
      return { place, reason, error: recordings === 0 ? Math.max(UNKNOWN, error) : error }
    })
  }
}

/** The first family whose pattern the name of a model matches; the last has no pattern. */
const familyOf = ({ families }, model) =>
  families.find(({ models }) => models === undefined || new RegExp(models).test(model))

/** The tokens of one of a part. */
const priceOf = (family, part) => family.parts[part]?.tokens ?? 0

/** The tokens of all parts. */
const tokensOf = ({ amounts, family }) =>
  Object.entries(amounts).reduce((sum, [part, amount]) => sum + amount * priceOf(family, part), 0)

/** Counts the body of a request by the prices of a family. */
class BodyCounter {
  tally = new Tally()
  /** Tokens that a rule gives, or the caller. */
  fixed = 0

  /**
   * @param {any} family
   * @param {{ imageSize?: Function, partTokens?: Function }} options
   * @param {(text: string) => number} countOf returns the number of tokens of a text
   */
  constructor(family, options, countOf) {
    this.tally.family = family
    this.options = options
    this.countOf = countOf
  }

  /** What was counted, as `{ tokens, tally }`. */
  counted() {
    return { tokens: Math.max(1, Math.round(this.fixed + tokensOf(this.tally))), tally: this.tally }
  }
}

module.exports = { BodyCounter, Tally, familyOf, priceOf, tokensOf }
