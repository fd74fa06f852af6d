'use strict'

// markupsafe's Markup: a string that is HTML already. What is added to it is escaped.

const { allocate } = require('./budget.js')
const { str } = require('./print.js')
const text = require('./text.js')
const { Markup, plain } = require('./values.js')

/** Markup of any value: that which is Markup stays, the rest is escaped. */
const escape = (value) => (value instanceof Markup ? value : new Markup(text.escapeHtml(str(value))))

/** The text of Markup that is made of values: a string among them is escaped. */
const escaped = (value) => escape(value).text

/** Strings as Markup if `like` is Markup, in lists too. */
function asMarkup(value, like) {
  if (!(like instanceof Markup)) return value
  if (typeof value === 'string') return new Markup(value)
  if (!Array.isArray(value)) return value
  allocate(64 * value.length)
  const List = /** @type {ArrayConstructor} */ (value.constructor)
  return List.from(value, (one) => asMarkup(one, like))
}

/** a + b for strings and Markup. */
function add(a, b) {
  if (a instanceof Markup || b instanceof Markup) return new Markup(text.concat(escaped(a), escaped(b)))
  return text.concat(a, b)
}

/** A part of Markup that is Markup, and a part of a string that is a string. */
const part = (value, take) => asMarkup(take(plain(value)), value)

module.exports = { add, asMarkup, escape, escaped, part }
