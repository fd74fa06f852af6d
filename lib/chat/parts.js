'use strict'

// The contents of messages whose tokens are counted without a template.

const { error, wrongType } = require('../errors.js')
const { sourceOf } = require('../reading.js')

/**
 * The tokens of a text, or of parts; adjacent texts are counted together. `textIn` returns the text
 * of a part, if it is one, and `countPart` the tokens of another part at an index.
 *
 * @param {any} content
 * @param {{ countOf: (text: string) => number, textIn: (part: any) => string | undefined,
 *   countPart: (part: any, index: number) => number }} ways
 */
function countContent(content, { countOf, textIn, countPart }) {
  if (typeof content === 'string') return countOf(content)
  let tokens = 0
  let text = ''
  content.forEach((part, i) => {
    const said = textIn(part)
    if (said !== undefined) {
      text += said
      return
    }
    tokens += countOf(text) + countPart(part, i)
    text = ''
  })
  return tokens + countOf(text)
}

/** The tokens of a part that only the caller's function knows. */
function givenTokens(part, location, partTokens) {
  const given = partTokens?.(sourceOf(part))
  if (given === undefined) {
    const what = typeof part?.type === 'string' ? JSON.stringify(part.type.slice(0, 100)) : 'undefined'
    const message = `the tokens of ${location} (a part of the type ${what}) depend on what is in it: give the option partTokens, a function that returns the tokens of such a part`
    throw error('ERR_TOKENLANE_CHAT_UNDOCUMENTED', message)
  }
  if (!Number.isSafeInteger(given) || given < 0) throw wrongType('the result of partTokens', 'a whole number', given)
  return given
}

module.exports = { countContent, givenTokens }
