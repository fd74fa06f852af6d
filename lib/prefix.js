'use strict'

/** `most` units behind `start`, or one less if that would be within a character. */
function charactersUpTo(text, most, start = 0) {
  const end = start + most
  if (end >= text.length) return text.length - start
  return (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? most - 1 : most
}

module.exports = { charactersUpTo }
