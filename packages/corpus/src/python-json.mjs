// Parses JSON with the numbers of Python, because templates were written for them: `1.0` is a
// float that a template writes as 1.0, and large integers stay exact.

import { randomUUID } from 'node:crypto'

import { Failure, endOfString } from 'tokenlane/internal/files.mjs'
import { modules } from 'tokenlane/internal/corpus.js'

const { Float } = modules.jinja.values

/** Numbers that JSON.parse may change. The test is rough: it may be of a part of a text. */
const CHANGED = /\d(?:\.0*(?!\d)|[eE]|\d{15})|-0/
const NUMBER = /-?\d+(\.\d+)?([eE][-+]?\d+)?/y
const NEXT = /["\d-]/g

/** Python reads no longer integers. */
const MAX_DIGITS = 4300
const MAX_DEPTH = 500

/** Whether a text of JSON may have numbers that JSON.parse changes. */
export const hasPythonNumbers = (text) => CHANGED.test(text)

/**
 * Parses JSON. A float without a fraction is a Float of templates, and an integer that is not safe
 * a bigint.
 *
 * @param {string} text which JSON.parse accepts
 */
export function parsePythonJson(text) {
  if (!hasPythonNumbers(text)) return JSON.parse(text)
  // The text has no field of this name, because nobody knew it before.
  const mark = randomUUID()
  const numbers = []
  let marked = ''
  let from = 0
  for (let at = nextToken(text, 0); at !== -1; ) {
    if (text[at] === '"') {
      at = nextToken(text, endOfString(text, at + 1))
      continue
    }
    NUMBER.lastIndex = at
    const [digits, fraction, exponent] = NUMBER.exec(text)
    const end = at + digits.length
    const number = exactNumber(digits, fraction !== undefined || exponent !== undefined)
    if (number !== undefined) {
      marked += `${text.slice(from, at)}{"${mark}":${numbers.length}}`
      numbers.push(number)
      from = end
    }
    at = nextToken(text, end)
  }
  return unmarked(JSON.parse(marked + text.slice(from)), mark, numbers)
}

function nextToken(text, at) {
  NEXT.lastIndex = at
  return NEXT.exec(text)?.index ?? -1
}

/** A number as Python has it; `undefined` if JSON.parse does not change it. */
function exactNumber(digits, isFloat) {
  const value = Number(digits)
  if (isFloat) return Number.isFinite(value) && !Number.isInteger(value) ? undefined : new Float(value)
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return undefined
  if (digits.length > MAX_DIGITS) throw new Failure('JSON', `an integer has more than ${MAX_DIGITS} digits`)
  return BigInt(digits)
}

/** Puts the numbers where their marks are. */
function unmarked(value, mark, numbers, depth = 0) {
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) throw new Failure('CHAT_LIMIT', `it is nested more than ${MAX_DEPTH} deep`)
  if (Array.isArray(value)) return value.map((one) => unmarked(one, mark, numbers, depth + 1))
  if (Object.hasOwn(value, mark)) return numbers[value[mark]]
  for (const [name, one] of Object.entries(value)) {
    const plain = unmarked(one, mark, numbers, depth + 1)
    // A name such as __proto__ is no field for an assignment.
    if (plain !== one)
      Object.defineProperty(value, name, { value: plain, enumerable: true, writable: true, configurable: true })
  }
  return value
}
