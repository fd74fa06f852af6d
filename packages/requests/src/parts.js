'use strict'

const {
  errors: { error, wrongType },
  reading: { sourceOf },
} = require('tokenlane/internal/requests.js')

/** The tokens of a part that the caller's function returns, or undefined. */
function callerTokens(part, partTokens) {
  const given = partTokens?.(sourceOf(part))
  if (given !== undefined && (!Number.isSafeInteger(given) || given < 0))
    throw wrongType('the result of partTokens', 'a whole number', given)
  return given
}

/** The error of a part whose tokens nothing tells. */
function undocumented(location, what) {
  const message = `the tokens of ${location} (${what}) depend on what is in it: give the option partTokens, a function that returns the tokens of such a part`
  return error('ERR_TOKENLANE_CHAT_UNDOCUMENTED', message)
}

/** The tokens of a part that only the caller's function knows. */
function givenTokens(part, location, partTokens) {
  const given = callerTokens(part, partTokens)
  if (given !== undefined) return given
  const type = typeof part?.type === 'string' ? JSON.stringify(part.type.slice(0, 100)) : 'undefined'
  throw undocumented(location, `a part of the type ${type}`)
}

module.exports = { callerTokens, givenTokens, undocumented }
