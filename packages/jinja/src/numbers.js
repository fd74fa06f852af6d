'use strict'

// Python's numbers: arithmetic, rounding, and conversion from strings.

const { spend } = require('./render-cost.js')
const { MAX_DIGITS } = require('./print.js')
const text = require('./text.js')
const {
  Float,
  TemplateError,
  Undefined,
  integer,
  isInteger,
  isNumber,
  isText,
  kind,
  numberOf,
  plain,
} = require('./values.js')

/** Maximum number of bits of an integer, so that each operation is fast. */
const MAX_BITS = 1 << 14
const STEPS_PER_BIG_OPERATION = 2000
const STEPS_PER_DIGIT = 8
const STEPS_PER_FOREIGN_DIGIT = 32

function sign(operator, value) {
  if (value instanceof Undefined) value.refuse()
  if (!isNumber(value)) throw new TemplateError(`${kind(value)} has no sign`)
  if (operator === '+') return value instanceof Float ? value : integer(value)
  return value instanceof Float ? new Float(-value.value) : integer(-BigInt(value))
}

function arithmetic(operator, a, b) {
  const isFloat = a instanceof Float || b instanceof Float || operator === '/' || (operator === '**' && numberOf(b) < 0)
  const divides = operator === '/' || operator === '//' || operator === '%' || (operator === '**' && numberOf(b) < 0)
  if (divides && numberOf(operator === '**' ? a : b) === 0) throw new TemplateError('a division by 0')
  return isFloat ? floats(operator, toDouble(a), toDouble(b)) : integers(operator, a, b)
}

/** Converts a number to a double. Throws if it is too large. */
function toDouble(value) {
  const double = numberOf(value)
  if (!(value instanceof Float) && !Number.isFinite(double))
    throw new TemplateError('such an integer is too large for a float')
  return double
}

function floats(operator, x, y) {
  const result = FLOATS[operator](x, y)
  const isLost = operator === '**' && !Number.isFinite(result) && Number.isFinite(x) && Number.isFinite(y)
  if (isLost) throw new TemplateError(`${x} ** ${y} is not a float`)
  return new Float(result)
}

const FLOATS = {
  '+': (x, y) => x + y,
  '-': (x, y) => x - y,
  '*': (x, y) => x * y,
  '**': (x, y) => (Math.abs(x) === 1 && !Number.isFinite(y) ? 1 : x === 1 ? 1 : x ** y),
  '/': (x, y) => x / y,
  '//': floorDivide,
  '%': modulo,
}

/** Python's float division, computed from the remainder so that both are consistent. */
function floorDivide(x, y) {
  const quotient = (x - modulo(x, y)) / y
  const floor = Math.floor(quotient)
  return quotient - floor > 0.5 ? floor + 1 : floor
}

/** A remainder with the sign of the divisor. */
function modulo(x, y) {
  const rest = x % y
  // biome-ignore lint/suspicious/noDoubleEquals: `rest` is a number or a bigint.
  if (rest != 0) return rest < 0 !== y < 0 ? rest + y : rest
  return typeof rest === 'number' && y < 0 ? -0 : typeof rest === 'number' ? 0 : rest
}

function integers(operator, a, b) {
  if (typeof a !== 'bigint' && typeof b !== 'bigint' && Object.hasOwn(SMALL, operator)) {
    const result = SMALL[operator](Number(a), Number(b))
    if (Number.isSafeInteger(result)) return result + 0
  }
  spend(STEPS_PER_BIG_OPERATION)
  const [x, y] = [BigInt(a), BigInt(b)]
  if (operator === '**' && (x > 1n || x < -1n) && bitsOf(x) * Number(y) > MAX_BITS + bitsOf(x)) throw tooLarge()
  const result = operator === '**' ? power(x, y) : BIG[operator](x, y)
  if (BigInt.asIntN(MAX_BITS, result) !== result) throw tooLarge()
  return integer(result)
}

// Operations that are exact for safe integers if their result is one.
const SMALL = {
  '+': (x, y) => x + y,
  '-': (x, y) => x - y,
  '*': (x, y) => x * y,
  '//': (x, y) => Math.floor(x / y),
  '%': modulo,
}

const BIG = {
  '+': (x, y) => x + y,
  '-': (x, y) => x - y,
  '*': (x, y) => x * y,
  '//': (x, y) => (x - modulo(x, y)) / y,
  '%': modulo,
}

const tooLarge = () => new TemplateError(`an integer of more than ${MAX_BITS} bits is not supported`)

const bitsOf = (x) => x.toString(16).length * 4

function power(x, y) {
  if (x === 0n || x === 1n) return y === 0n ? 1n : x
  if (x === -1n) return y % 2n === 0n ? 1n : -1n
  return x ** y
}

const SIGNED_DIGITS = /^[+-]?\p{Nd}+(?:_\p{Nd}+)*$/u
const FLOAT = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?$/i
const BASE36_DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'

/** The filter int, which returns a default for values that are not numbers. */
function toInteger(value, otherwise, base) {
  if (value instanceof Undefined) value.refuse()
  if (isText(value)) return parseInteger(plain(value), base) ?? truncated(parseFloatText(plain(value))) ?? otherwise
  if (!isNumber(value)) return otherwise
  if (!(value instanceof Float)) return integer(value)
  if (value.value === Infinity || value.value === -Infinity)
    throw new TemplateError('an infinite float is not an integer')
  return truncated(value.value) ?? otherwise
}

function truncated(double) {
  return double === null || !Number.isFinite(double) ? null : integer(Math.trunc(double))
}

/** Parses an integer in a base. Returns null for other strings. */
function parseInteger(string, base) {
  const trimmed = ascii(text.strip(string, null, true, true))
  if (base === 10) {
    if (!SIGNED_DIGITS.test(trimmed)) return null
    const digits = trimmed.replaceAll('_', '').replace('+', '')
    if (digits.length > MAX_DIGITS + 1 || digits.replace('-', '').length > MAX_DIGITS) return null
    spend(STEPS_PER_BIG_OPERATION)
    return integer(BigInt(digits))
  }
  return parseInBase(trimmed.toLowerCase(), base)
}

function parseInBase(string, base) {
  if (base !== 0 && !(base >= 2 && base <= 36)) return null
  const [, minus, prefix = '', rest] = string.match(/^([+-]?)(0[box](?=_?[\da-z]))?([^]*)$/)
  const prefixBase = { '0b': 2, '0o': 8, '0x': 16 }[prefix]
  const used = base === 0 ? (prefixBase ?? 10) : base
  const digits =
    prefixBase === undefined || prefixBase === used ? rest.replace(prefix === '' ? '' : /^_/, '') : prefix + rest
  if (!/^[\da-z]+(?:_[\da-z]+)*$/.test(digits) || digits.length > MAX_DIGITS) return null
  if (base === 0 && prefix === '' && /^0[0_]*[1-9]/.test(digits)) return null
  spend(STEPS_PER_BIG_OPERATION + STEPS_PER_DIGIT * digits.length)
  let result = 0n
  for (const digit of digits.replaceAll('_', '')) {
    const worth = BASE36_DIGITS.indexOf(digit)
    if (worth >= used) return null
    result = result * BigInt(used) + BigInt(worth)
  }
  return integer(minus === '-' ? -result : result)
}

/**
 * Replaces decimal digits of all scripts by ASCII digits. Long strings cannot be numbers and stay
 * unchanged.
 */
function ascii(string) {
  if (/^[ -~]*$/.test(string) || string.length > 2 * MAX_DIGITS) return string
  spend(STEPS_PER_FOREIGN_DIGIT * string.length)
  return string.replace(/\p{Nd}/gu, (digit) => {
    // The digits of each script are ten consecutive code points.
    let zero = digit.codePointAt(0)
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && digit.codePointAt(0) - zero < 9) zero--
    return String(digit.codePointAt(0) - zero)
  })
}

/** The filter float. */
function toFloat(value, otherwise) {
  if (value instanceof Undefined) value.refuse()
  if (isNumber(value)) return new Float(toDouble(value))
  const double = isText(value) ? parseFloatText(plain(value)) : null
  return double === null ? otherwise : new Float(double)
}

/** Parses a double. Returns null for other strings. */
function parseFloatText(string) {
  const trimmed = ascii(text.strip(string, null, true, true))
  spend(trimmed.length)
  if (FLOAT.test(trimmed)) return Number(trimmed.replaceAll('_', ''))
  const [, minus, word] = trimmed.toLowerCase().match(/^([+-]?)(inf|infinity|nan)$/) ?? []
  if (word === undefined) return null
  return (minus === '-' ? -1 : 1) * (word === 'nan' ? NaN : Infinity)
}

/**
 * Formats a double with a number of decimals. The exact value is rounded half to even, as in
 * Python.
 */
function fixed(double, decimals) {
  if (decimals > 1100) throw new TemplateError('a float has at most 1100 decimals here')
  spend(STEPS_PER_BIG_OPERATION)
  const [numerator, exponent] = fraction(Math.abs(double))
  const scaled = numerator * 10n ** BigInt(decimals)
  const whole = exponent >= 0 ? scaled << BigInt(exponent) : halfEven(scaled, 1n << BigInt(-exponent))
  const digits = String(whole).padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const minus = double < 0 || Object.is(double, -0) ? '-' : ''
  return minus + digits.slice(0, point) + (decimals === 0 ? '' : `.${digits.slice(point)}`)
}

/**
 * Decomposes a double into an integer and a power of two.
 *
 * @returns {[bigint, number]} the integer, and the exponent of the power
 */
function fraction(double) {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, double)
  const high = bits.getUint32(0)
  const power = (high >>> 20) & 0x7ff
  const mantissa = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4))
  return power === 0 ? [mantissa, -1074] : [mantissa | (1n << 52n), power - 1075]
}

/**
 * Rounds n / d to the nearest integer, half to even.
 *
 * @param {bigint} n
 * @param {bigint} d
 */
function halfEven(n, d) {
  const floor = n / d
  const twice = 2n * (n % d)
  return twice > d || (twice === d && floor % 2n === 1n) ? floor + 1n : floor
}

/** The filter round. */
function round(value, precision, method) {
  const scale = { common: null, ceil: Math.ceil, floor: Math.floor }[method]
  if (scale === undefined) throw new TemplateError("round knows 'common', 'ceil' and 'floor'")
  if (value instanceof Undefined) value.refuse()
  if (!isNumber(value)) throw new TemplateError(`${kind(value)} cannot be rounded`)
  if (Math.abs(precision) > 400) throw new TemplateError('a precision of more than 400 digits is not supported')
  if (scale === null) return value instanceof Float ? roundFloat(value, precision) : roundInteger(value, precision)
  const product = numberOf(value) * 10 ** precision
  if (!Number.isFinite(product)) throw new TemplateError('such a float is not an integer')
  const isExact = isInteger(value) && precision >= 0
  const result = isExact ? numberOf(value) : scale(product) / 10 ** precision
  return new Float(result === 0 ? 0 : result)
}

function roundFloat({ value }, precision) {
  if (!Number.isFinite(value)) return new Float(value)
  if (precision >= 0) return new Float(Number(fixed(value, precision)))
  const whole = Math.trunc(Math.abs(value))
  // Twice the number, plus one for any fraction, because only whole numbers can be halfway.
  const twice = 2n * BigInt(whole) + (whole < Math.abs(value) ? 1n : 0n)
  const scale = 10n ** BigInt(-precision)
  const rounded = Number(halfEven(twice, 2n * scale) * scale)
  return new Float(value < 0 ? -rounded : rounded)
}

function roundInteger(value, precision) {
  if (precision >= 0) return integer(value)
  spend(STEPS_PER_BIG_OPERATION)
  const scale = 10n ** BigInt(-precision)
  const whole = BigInt(value)
  const rounded = halfEven(whole < 0n ? -whole : whole, scale) * scale
  return integer(whole < 0n ? -rounded : rounded)
}

module.exports = { STEPS_PER_BIG_OPERATION, arithmetic, fixed, round, sign, toFloat, toInteger }
