'use strict'

/**
 * The length of the longest prefix of at most `max` UTF-16 units that does not end inside of a
 * surrogate pair.
 */
function charactersUpTo(text, max) {
  if (max >= text.length) return text.length
  return (text.charCodeAt(max - 1) & 0xfc00) === 0xd800 ? max - 1 : max
}

module.exports = { charactersUpTo }
