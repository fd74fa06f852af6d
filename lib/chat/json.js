'use strict'

// Python's json.dumps, as the filter tojson of chat templates calls it.

const { Float, Namespace, TemplateError, Undefined, View, compare, floatText, isInteger, kind, str } = require('./values.js')

const ESCAPES = new Map([['\n', '\\n'], ['\r', '\\r'], ['\t', '\\t'], ['\b', '\\b'], ['\f', '\\f'], ['"', '\\"'], ['\\', '\\\\']])
const escaped = (unit) => ESCAPES.get(unit) ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** `indent` is a number of spaces, a string or null; `separators` a pair or null. */
function toJson(value, { ensureAscii = false, indent = null, separators = null, sortKeys = false } = {}) {
  const step = indent === null ? null : typeof indent === 'string' ? indent : ' '.repeat(Math.max(0, Number(indent)))
  const [between, colon] = separators ?? [step === null ? ', ' : ',', ': ']
  // eslint-disable-next-line no-control-regex
  const pattern = ensureAscii ? /["\\]|[^ -~]/g : /["\\\x00-\x1f]/g
  const quote = (text) => `"${text.replace(pattern, escaped)}"`

  const list = (open, parts, close, depth) => {
    if (parts.length === 0) return open + close
    if (step === null) return open + parts.join(between) + close
    const line = `\n${step.repeat(depth + 1)}`
    return `${open}${line}${parts.join(between + line)}\n${step.repeat(depth)}${close}`
  }

  const write = (item, depth) => {
    if (item === null || typeof item === 'boolean' || isInteger(item)) return String(item)
    if (item instanceof Float) return number(item)
    if (typeof item === 'string') return quote(item)
    if (Array.isArray(item) && !(item instanceof View)) return list('[', Array.from(item, (one) => write(one, depth + 1)), ']', depth)
    if (item instanceof Map) {
      const entries = sortKeys ? [...item].sort(([a], [b]) => compare(a, b)) : [...item]
      return list('{', entries.map(([key, one]) => `${quote(name(key))}${colon}${write(one, depth + 1)}`), '}', depth)
    }
    throw new TemplateError(`${kind(item)} is nothing that JSON can say`)
  }
  return write(value, 0)
}

const NUMBERS = { nan: 'NaN', inf: 'Infinity', '-inf': '-Infinity' }

function number(item) {
  const text = floatText(item.value)
  return NUMBERS[text] ?? text
}

function name(key) {
  if (key === null || typeof key === 'boolean') return String(key)
  if (key instanceof Undefined || key instanceof Namespace) throw new TemplateError('a key of JSON is text')
  return str(key)
}

module.exports = { toJson }
