'use strict'

// Converts the arguments of setTruncation and setPadding to tokenlane's options.

const { named, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { error } = require('tokenlane/internal/dropins/errors.js')

const STRATEGIES = { LongestFirst: 'longest_first', OnlyFirst: 'only_first', OnlySecond: 'only_second' }

const TruncationStrategy = { LongestFirst: 'LongestFirst', OnlyFirst: 'OnlyFirst', OnlySecond: 'OnlySecond' }
const TruncationDirection = { Left: 'Left', Right: 'Right' }
const PaddingDirection = { Left: 0, Right: 1, 0: 'Left', 1: 'Right' }

/** Normalizes a direction to 'left' or 'right'. `what` names the option in the error. */
function directionOf(direction, what) {
  const known = { left: 'left', Left: 'left', 0: 'left', right: 'right', Right: 'right', 1: 'right' }
  const found = known[primitive(direction, 'direction') ?? 'right']
  if (found === undefined) throw error('ARGUMENT_VALUE', `${named(direction)} is not a valid ${what} direction`)
  return found
}

function truncation(maxLength, options) {
  const { strategy = 'LongestFirst', direction, stride = 0 } = options ?? {}
  if (!Object.hasOwn(STRATEGIES, primitive(strategy, 'strategy'))) {
    throw error('ARGUMENT_VALUE', `${strategy} is not a valid truncation strategy`)
  }
  primitive(maxLength, 'maxLength')
  primitive(stride, 'stride')
  return { maxLength, stride, strategy: STRATEGIES[strategy], direction: directionOf(direction, 'truncation') }
}

function padding(options) {
  const { maxLength, direction, padToMultipleOf = 1, padId = 0, padTypeId = 0, padToken = '[PAD]' } = options ?? {}
  for (const [name, value] of Object.entries({ maxLength, padToMultipleOf, padId, padTypeId, padToken }))
    primitive(value, name)
  return {
    to: maxLength ?? 'longest',
    multipleOf: padToMultipleOf || 1,
    direction: directionOf(direction, 'padding'),
    padId,
    padTypeId,
    padToken,
  }
}

/** The padding of a tokenizer.json, with the length that the caller passes. */
function paddingOfFile({ direction, pad_id: padId, pad_type_id: padTypeId, pad_token: padToken }) {
  return { direction: directionOf(direction, 'padding'), padId, padTypeId, padToken }
}

const MESSAGES = {
  ERR_TOKENLANE_TRUNCATION_NO_SECOND_TEXT: 'Truncation error: Second sequence not provided',
  ERR_TOKENLANE_TRUNCATION_TOO_SHORT:
    'Truncation error: Sequence to truncate too short to respect the provided max_length',
}

/** An error with the message of Hugging Face's library. */
const truncationError = (code, cause) => Object.assign(new Error(MESSAGES[code], { cause }), { code })

/** Replaces a truncation error of tokenlane by one with the message of Hugging Face's library. */
const withOriginalMessage = (cause) =>
  Object.hasOwn(MESSAGES, cause.code) ? truncationError(cause.code, cause) : cause

module.exports = {
  TruncationStrategy,
  TruncationDirection,
  PaddingDirection,
  directionOf,
  truncationError,
  withOriginalMessage,
  truncation,
  padding,
  paddingOfFile,
}
