'use strict'

/**
 * Returns `max`, or one less if a text slice of `max` units from `start` ended inside of a
 * surrogate pair.
 */
function charactersUpTo(text, max, start = 0) {
  const end = start + max
  if (end >= text.length) return text.length - start
  return (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? max - 1 : max
}

module.exports = { charactersUpTo }
