'use strict'

// String formatting: the operator %, the filter `format` and the method `format`.

const { spend, walk } = require('./render-cost.js')
const { wholeOf } = require('./arguments.js')
const { escaped } = require('./markup.js')
const { STEPS_PER_BIG_OPERATION, fixed, toInteger } = require('./numbers.js')
const { hexEscape, quoted, repr, str } = require('./print.js')
const { INPUT, TEMPLATE, bare, computed, marked, originOf } = require('./origins.js')
const text = require('./traced.js')
const {
  Dict,
  Float,
  Markup,
  TemplateError,
  Tuple,
  Undefined,
  isNumber,
  isText,
  numberOf,
  keeping,
  seen,
  stringIn,
  textLength,
} = require('./values.js')

// %(key)-08.3d: a key, flags, a width, a precision, a length modifier without effect, and a letter.
const CONVERSION = /%(?:\(([^()]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?([^]?)/gu

/** `pattern % values`, where `values` is a tuple, a mapping or one value. */
function percent(pattern, values) {
  const isMarkup = pattern instanceof Markup
  let args = values instanceof Tuple ? [...values] : [values]
  // Values with elements by key need not use all of them.
  const hasKeys = values instanceof Dict || values instanceof Undefined || values?.constructor === Array
  let next = 0
  const take = () => {
    if (next >= args.length) throw new TemplateError('there are fewer values than places for them')
    return args[next++]
  }
  const written = text.substitute(stringIn(pattern), CONVERSION, ([whole, key, flags, width, precision, letter]) => {
    if (whole === '%%') return '%'
    if (key !== undefined) {
      // Python takes what follows from the value of the last key.
      args = [valueOf(values, key)]
      next = 0
    }
    const size = width === '*' ? wholeOf(take()) : Number(width ?? 0)
    const digits = precision === '*' ? wholeOf(take()) : precision === undefined ? null : Number(precision)
    const value = take()
    return convert({ flags, size, digits, letter }, value, isMarkup)
  })
  if (next < args.length && !hasKeys) throw new TemplateError('there are more values than places for them')
  return isMarkup ? new Markup(written) : written
}

function valueOf(values, key) {
  const value = values instanceof Dict ? values.get(key) : undefined
  if (value === undefined) throw new TemplateError(`there is no value for %(${key})`)
  return value
}

/** Formats one value for a conversion of a pattern. */
function convert({ flags, size, digits, letter }, value, isMarkup) {
  const isLeft = flags.includes('-') || size < 0
  const width = Math.abs(size)
  const shape = {
    sign: flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '-',
    isAlternate: flags.includes('#'),
    digits,
  }
  let written
  if ('sra'.includes(letter) && letter !== '') {
    written =
      letter === 's'
        ? isMarkup
          ? escaped(value)
          : str(value)
        : letter === 'r'
          ? reprOf(value, isMarkup)
          : asciiOf(value)
    if (digits !== null) written = text.slice(written, 0, digits, 1)
  } else if (letter === 'c') {
    written = character(value)
  } else {
    const number = numeric(value, letter)
    const body = numberBody(number, { ...shape, type: letter === 'i' || letter === 'u' ? 'd' : letter, isPrintf: true })
    if (flags.includes('0') && !isLeft) return computed(padNumber(body, width))
    written = computed(body.sign + body.digits)
  }
  return isLeft ? text.padRight(written, width, ' ') : text.padLeft(written, width, ' ')
}

const reprOf = (value, isMarkup) => (isMarkup ? escaped(repr(value)) : repr(value))
const asciiOf = (value) =>
  isText(value)
    ? quoted(stringIn(value), true)
    : text.substitute(repr(value), /[^\x00-\x7f]/gu, ([one]) => hexEscape(one.codePointAt(0)))

function character(value) {
  if (isText(value)) {
    if ([...seen(value).slice(0, 3)].length !== 1) throw new TemplateError('%c needs one character')
    return stringIn(value)
  }
  const code = wholeOf(value)
  if (!(code >= 0 && code <= 0x10ffff)) throw new TemplateError('%c needs the code of a character')
  return computed(String.fromCodePoint(code))
}

function numeric(value, letter) {
  if (!isNumber(value)) throw new TemplateError(`%${letter} needs a number`)
  if ('diu'.includes(letter)) return toInteger(value, null, 10) ?? value
  if ('xXo'.includes(letter) && value instanceof Float) throw new TemplateError(`%${letter} needs an integer`)
  return value
}

const padNumber = ({ sign, digits }, width) => sign + text.padLeft(digits, width - sign.length, '0')

/** What stands before a number; `sign` is what a format asks for: `-`, `+` or a space. */
const signOf = (isNegative, sign) => (isNegative ? '-' : sign === '-' ? '' : sign)

/** Formats a number for a type. Returns its sign with the prefix, and its digits. */
function numberBody(value, { type, sign, isAlternate, digits, isPrintf = false, keepsPoint = false }) {
  const number = typeof value === 'boolean' ? Number(value) : value
  const isNegative = number instanceof Float ? number.value < 0 || Object.is(number.value, -0) : number < 0
  const signText = signOf(isNegative, sign)
  const radix = { d: 10, n: 10, x: 16, X: 16, o: 8, b: 2 }[type]
  if (radix !== undefined) {
    if (number instanceof Float) throw new TemplateError(`the type ${type} needs an integer`)
    if (typeof number === 'bigint') spend(STEPS_PER_BIG_OPERATION)
    let body = BigInt(number).toString(radix).replace('-', '')
    if (type === 'X') body = body.toUpperCase()
    if (digits !== null && isPrintf) body = text.padLeft(body, digits, '0')
    return { sign: signText + (isAlternate && radix !== 10 ? `0${type}` : ''), digits: body }
  }
  const double = Math.abs(numberOf(number))
  const body = floatBody(double, type, digits ?? 6, { isAlternate, keepsPoint })
  return { sign: signText, digits: /[EFG]/.test(type) ? body.toUpperCase() : body }
}

function floatBody(double, type, digits, { isAlternate, keepsPoint }) {
  if (Number.isNaN(double)) return 'nan'
  if (!Number.isFinite(double)) return 'inf'
  const pointed = isAlternate ? withPoint : (body) => body
  switch (type.toLowerCase()) {
    case 'f':
      return pointed(fixed(double, digits))
    case '%':
      return `${pointed(fixed(double * 100, digits))}%`
    case 'e':
      return pointed(exponential(double, digits))
    case 'g':
      return general(double, digits === 0 ? 1 : digits, { isAlternate, keepsPoint })
    default:
      throw new TemplateError(`the format type '${type}' is not supported`)
  }
}

/** The alternate form of a float has a point, even without digits after it. */
const withPoint = (body) => (body.includes('.') ? body : body.replace(/^\d+/, '$&.'))

function exponential(double, digits) {
  if (digits > 100) throw new TemplateError('a float has at most 100 digits in this form')
  return double.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2')
}

/** With `keepsPoint` a digit after the point counts as one of the digits. */
function general(double, digits, { isAlternate, keepsPoint }) {
  const exponent = double === 0 ? 0 : Number(exponential(double, digits - 1).split('e')[1])
  const isLong = exponent < -4 || exponent >= digits - Number(keepsPoint)
  const written = isLong ? exponential(double, digits - 1) : fixed(double, digits - 1 - exponent)
  if (isAlternate) return withPoint(written)
  return written.includes('.') ? written.replace(/\.?0+(?=e|$)/, '') : written
}

/** `'{} {name!r:>8}'.format(…)`. `lookUp(value, name, isAttribute)` returns parts of a value. */
function formatFields(pattern, args, kwargs, lookUp) {
  const isMarkup = pattern instanceof Markup
  const string = stringIn(pattern)
  const context = { args, kwargs, lookUp, isMarkup, origin: originOf(string), automatic: { next: 0, used: undefined } }
  const written = fill(bare(string), context, 2)
  return isMarkup ? new Markup(written) : written
}

function fill(pattern, context, depth) {
  if (depth < 0) throw new TemplateError('fields are nested too deeply')
  walk(pattern.length)
  const parts = []
  let at = 0
  while (at < pattern.length) {
    spend(30)
    const brace = /[{}]/g
    brace.lastIndex = at
    const start = brace.exec(pattern)?.index ?? pattern.length
    parts.push(marked(pattern.slice(at, start), context.origin))
    if (start === pattern.length) break
    if (pattern[start + 1] === pattern[start]) {
      parts.push(marked(pattern[start], context.origin))
      at = start + 2
      continue
    }
    if (pattern[start] === '}') throw new TemplateError("a single '}' in a format string")
    const end = fieldEnd(pattern, start)
    parts.push(field(pattern.slice(start + 1, end), context, depth))
    at = end + 1
  }
  return text.join(parts, '')
}

/** The index of the closing brace of the field that opens at `start`. */
function fieldEnd(pattern, start) {
  const braces = /[{}]/g
  braces.lastIndex = start
  let depth = 0
  for (let found; (found = braces.exec(pattern)) !== null; ) {
    depth += found[0] === '{' ? 1 : -1
    if (depth === 0) return found.index
  }
  throw new TemplateError("a '{' without a '}' in a format string")
}

function field(source, context, depth) {
  const [, name, conversion, spec] = source.match(/^([^!:]*)(?:!([^]))?(?::([^]*))?$/) ?? []
  if (name === undefined) throw new TemplateError('a field of a format string that cannot be read')
  const value = converted(resolve(name, context), conversion)
  const filled = fill(spec ?? '', context, depth - 1)
  const made = formatValue(value, bare(filled), context.isMarkup)
  // The specification has fill characters, and values may be part of it.
  const written = originOf(filled) === TEMPLATE ? made : marked(bare(made), INPUT)
  return context.isMarkup ? escaped(value instanceof Markup ? new Markup(written) : written) : written
}

function resolve(name, { args, kwargs, lookUp, automatic }) {
  const [, first, rest] = name.match(/^([^.[]*)([^]*)$/)
  const kindOfField = first === '' ? 'automatic' : /^\d+$/.test(first) ? 'manual' : 'named'
  if (kindOfField !== 'named') {
    if ((automatic.used ??= kindOfField) !== kindOfField)
      throw new TemplateError('automatic and manual numbers of fields')
  }
  let value = kindOfField === 'named' ? kwargs.get(first) : args[first === '' ? automatic.next++ : Number(first)]
  if (value === undefined) throw new TemplateError(`there is no value for the field '${name}'`)
  for (const [whole, attribute, element] of rest.matchAll(/\.([^.[]+)|\[([^\]]+)\]|[^]/g)) {
    if (attribute === undefined && element === undefined) throw new TemplateError(`a field cannot have '${whole}'`)
    if (attribute !== undefined) value = lookUp(value, attribute, true)
    else value = lookUp(value, /^\d+$/.test(element) ? Number(element) : element, false)
  }
  return value
}

function converted(value, conversion) {
  if (conversion === undefined) return value
  const convert = { s: str, r: repr, a: asciiOf }[conversion]
  if (convert === undefined) throw new TemplateError(`there is no conversion '${conversion}'`)
  return convert(value)
}

const SPEC = /^(?:([^])?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/u

/** Python's format(value, spec). */
function formatValue(value, spec, isMarkup) {
  if (spec === '') return str(value)
  if (isMarkup && value instanceof Markup) throw new TemplateError('Markup has no format specification')
  const parts = spec.match(SPEC)
  if (parts === null) throw new TemplateError(`the format specification '${spec}' is not supported`)
  const [, fillWith, align, givenSign, alternate, zero, widthText, grouping, precision, letter] = parts
  // Without a locale, n is d for an integer and g for a float.
  const type = letter === 'n' && value instanceof Float ? 'g' : letter
  const sign = givenSign ?? '-'
  const width = Number(widthText ?? 0)
  if (!isText(value) && !isNumber(value)) throw new TemplateError('only strings and numbers have format specifications')
  if (isText(value)) {
    if ((type ?? 's') !== 's' || givenSign !== undefined || grouping !== undefined)
      throw new TemplateError(`'${spec}' is not for strings`)
    const cut = precision === undefined ? stringIn(value) : text.slice(stringIn(value), 0, Number(precision), 1)
    return aligned(cut, width, align ?? '<', fillWith ?? (zero ? '0' : ' '))
  }
  const isFloat = value instanceof Float || /[eEfFgG%]/.test(type ?? '')
  const digits = precision === undefined ? null : Number(precision)
  if (!isFloat && digits !== null) throw new TemplateError('an integer has no precision')
  const isCharacter = type === 'c' && !isFloat
  if (isCharacter && [givenSign, alternate, grouping].some((part) => part !== undefined))
    throw new TemplateError(`'${spec}' is not for characters`)
  const body = isCharacter
    ? { sign: '', digits: bare(character(value)) }
    : type === undefined && isFloat && digits === null
      ? shortest(bare(str(value)), sign, alternate !== undefined)
      : numberBody(value, {
          type: type ?? (isFloat ? 'g' : 'd'),
          sign,
          isAlternate: alternate !== undefined,
          digits,
          keepsPoint: type === undefined,
        })
  if (type === undefined && isFloat && !/[.einf]/.test(body.digits)) body.digits += '.0'
  if (grouping !== undefined) {
    const isDecimal = /[deEfFgG%]/.test(type ?? 'd')
    if (!isDecimal && (grouping === ',' || !/[boxX]/.test(type)))
      throw new TemplateError(`'${grouping}' does not go with the type ${type}`)
    const fills = zero !== undefined && (align === undefined || align === '=') && fillWith === undefined
    body.digits = grouped(body.digits, grouping, isDecimal ? 3 : 4, fills ? width - body.sign.length : 0)
  }
  if (align === '=' || (zero !== undefined && align === undefined)) {
    return computed(body.sign + text.padLeft(body.digits, width - body.sign.length, fillWith ?? (zero ? '0' : ' ')))
  }
  return aligned(computed(body.sign + body.digits), width, align ?? '>', fillWith ?? (zero ? '0' : ' '))
}

/** The parts of a float as `str` writes it. */
function shortest(written, sign, isAlternate) {
  const isNegative = written.startsWith('-')
  const digits = isNegative ? written.slice(1) : written
  return { sign: signOf(isNegative, sign), digits: isAlternate ? withPoint(digits) : digits }
}

/** Groups the digits before the point. Zeros before them, up to a width, are in groups as well. */
function grouped(digits, by, size, width) {
  const [, whole, rest] = digits.match(size === 3 ? /^(\d*)([^]*)$/ : /^([\da-fA-F]*)([^]*)$/)
  const spare = width - rest.length
  // A group is never empty, so zeros may exceed the width by one.
  const zeros = spare > 0 ? Math.max(0, Math.floor((spare * size) / (size + 1)) + 1 - whole.length) : 0
  const all = text.padLeft(whole, whole.length + zeros, '0')
  const groups = []
  for (let end = all.length; end > 0; end -= size) groups.push(all.slice(Math.max(0, end - size), end))
  return groups.reverse().join(by) + rest
}

function aligned(written, width, align, fillWith) {
  if (align === '=') throw new TemplateError("'=' is for numbers")
  if (align === '<') return text.padRight(written, width, fillWith)
  if (align === '>') return text.padLeft(written, width, fillWith)
  const spare = Math.max(0, width - textLength(written))
  const left = Math.floor(spare / 2)
  return text.concat(text.concat(text.repeat(fillWith, left), written), text.repeat(fillWith, spare - left))
}

module.exports = { formatFields, percent: keeping(percent) }
