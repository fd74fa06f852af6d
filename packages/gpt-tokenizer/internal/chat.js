'use strict'

// The chat formats of OpenAI's models. Each function yields the ids piece by piece; `write` has the
// functions that encode the pieces.

const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const special = require('../specialTokens.js')

const { HarmonyCall, HarmonyChannel, HarmonyConstrain, HarmonyEnd, HarmonyMessage } = special
const { HarmonyReturn, HarmonyStart, ImEnd, ImStart } = special

/** `<|im_start|>name<|im_sep|>content<|im_end|>` for each message, then the start of the answer. */
function* chatml(chat, prime, { messageSeparator, roleSeparator }, write) {
  const betweenRoleAndContent = unlessEmpty(write.separator(roleSeparator))
  for (const message of chat) {
    checkMessage(message)
    const { role = 'system', name = role, content } = message
    yield write.special(ImStart)
    yield write.text(name)
    yield* betweenRoleAndContent
    yield* write.content(content)
    yield write.special(ImEnd)
    yield write.separator(messageSeparator)
  }
  if (prime !== '') {
    yield write.special(ImStart)
    yield* write.content(prime)
  }
  yield* betweenRoleAndContent
}

/**
 * `<|start|>role<|channel|>channel<|message|>content<|end|>` for each message, then the start of
 * the answer.
 */
function* harmony(chat, prime, write) {
  const ends = { [HarmonyReturn]: HarmonyReturn, [HarmonyCall]: HarmonyCall }
  for (const message of chat) {
    checkMessage(message)
    const { channel, constraint, content, name, recipient, recipientPlacement, role = 'user', terminator } = message
    const to = recipient ? ` to=${recipient}` : ''
    const isInRole = recipientPlacement === 'role' || !channel
    yield write.special(HarmonyStart)
    yield write.text(name ?? role)
    if (to && isInRole) yield write.text(to)
    if (channel) {
      yield write.special(HarmonyChannel)
      yield write.text(channel)
      if (to && !isInRole) yield write.text(to)
    }
    if (constraint) {
      yield write.special(HarmonyConstrain)
      yield write.text(constraint)
    }
    yield write.special(HarmonyMessage)
    yield* write.content(content)
    yield write.special(ends[terminator] ?? HarmonyEnd)
  }
  if (prime !== '') {
    yield write.special(HarmonyStart)
    yield write.text(prime)
  }
}

/** Yields a list of tokens unless it is empty, as the original does. */
function unlessEmpty(tokens) {
  return tokens.length > 0 ? [tokens] : []
}

function checkMessage(message) {
  if (typeof message !== 'object' || message === null) throw typeError('a message must be an object')
  if (message.content === undefined) throw error('ARGUMENT_VALUE', 'Content must be defined for all messages.')
}

module.exports = { chatml, harmony }
