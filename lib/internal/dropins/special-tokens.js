'use strict'

// Finds the first special token in a text.

const expressions = new Map()

function firstOf(text, tokens) {
  if (tokens.length === 0) return undefined
  // Shortcut: most texts contain no special token, and nearly all special tokens start with `<|`.
  if (tokens.every((token) => token.startsWith('<|')) && !text.includes('<|')) return undefined
  return text.match(anyOf(tokens))?.[0]
}

/** The source of a regular expression that matches any of some tokens. */
const sourceOf = (tokens) => tokens.map((token) => token.replace(/[\\^$*+?.()|[\]{}]/g, '\\$&')).join('|')

function anyOf(tokens) {
  const key = tokens.join('\n')
  let expression = expressions.get(key)
  if (expression === undefined) {
    expression = new RegExp(sourceOf(tokens))
    if (expressions.size > 100) expressions.clear()
    expressions.set(key, expression)
  }
  return expression
}

module.exports = { firstOf, sourceOf }
