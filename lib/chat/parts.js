'use strict'

// The contents of messages whose tokens are counted without a template.

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

module.exports = { countContent }
