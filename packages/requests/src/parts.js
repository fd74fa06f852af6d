'use strict'

const {
  errors: { error, wrongType },
  reading: { sourceOf },
} = require('tokenlane/internal/requests.js')

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

module.exports = { givenTokens }
