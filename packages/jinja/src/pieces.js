'use strict'

const { TEMPLATE, bare, messageOf } = require('./origins.js')

/** The text of a string and its runs: the end and the origin of each, in order. */
function textAndRuns(string) {
  const text = bare(string)
  const runs = typeof string === 'string' ? [text.length, TEMPLATE] : (string.runs ?? [text.length, string.origin])
  return { text, runs }
}

/** The text in pieces of one origin. */
function piecesOf({ text, runs }) {
  const pieces = []
  let start = 0
  for (let i = 0; i < runs.length && text !== ''; i += 2) {
    const [end, origin] = [runs[i], runs[i + 1]]
    const message = messageOf(origin)
    pieces.push({
      text: text.slice(start, end),
      source: origin === TEMPLATE ? 'template' : 'input',
      message: message === -1 ? undefined : message,
    })
    start = end
  }
  return pieces
}

module.exports = { piecesOf, textAndRuns }
