'use strict'

// markupsafe's Markup: a string that is already HTML. Strings that are added to it are escaped.

const { allocate } = require('./render-cost.js')
const { str } = require('./print.js')
const text = require('./traced.js')
const { Traced } = require('./origins.js')
const { Markup, stringIn } = require('./values.js')

/** Converts any value to Markup. Values that are not Markup are escaped. */
const escape = (value) => (value instanceof Markup ? value : new Markup(text.escapeHtml(str(value))))

/** The HTML of a value, escaped unless it is Markup. */
const escaped = (value) => escape(value).text

/** Converts strings, also in lists, to Markup if `like` is Markup. */
function asMarkup(value, like) {
  if (!(like instanceof Markup)) return value
  if (typeof value === 'string' || value instanceof Traced) return new Markup(value)
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

/** Applies `take` to the text of a value. The result is Markup if the value is. */
const part = (value, take) => asMarkup(take(stringIn(value)), value)

module.exports = { add, asMarkup, escape, escaped, part }
