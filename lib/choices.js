'use strict'

// The values of options that are one of a few, for the calls, for the messages of their errors, and
// for the command line.

/** What can be done with special tokens in a text. */
const SPECIAL_TOKEN_MODES = ['parse', 'text', 'throw']
/** The units of offsets. */
const OFFSET_UNITS = ['utf16', 'codepoint', 'byte']
/** The boundaries of pieces that the core finds, by their numbers. */
const CORE_BOUNDARIES = ['token', 'sentence', 'line', 'word']
/** Those that lib/markdown.js finds. */
const BLOCK_BOUNDARIES = ['paragraph', 'markdown', 'code']
const BOUNDARIES = ['token', 'word', 'sentence', 'line', ...BLOCK_BOUNDARIES]

/** Values in words: 'a', 'b' or 'c'. */
const listed = (values) =>
  values
    .map((value) => `'${value}'`)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ')

module.exports = { BLOCK_BOUNDARIES, BOUNDARIES, CORE_BOUNDARIES, OFFSET_UNITS, SPECIAL_TOKEN_MODES, listed }
