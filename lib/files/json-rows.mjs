// Limits of rows, and values in them. Commands and corpus jobs read rows of JSON with these
// functions, whose errors do not name the position of the row. What happens to a row that fails is
// decided by cli/skips.mjs, and in @tokenlane/corpus by shard.mjs, train/count.mjs and
// train/report.mjs; `decode` of the command line never skips a row.

import { randomUUID } from 'node:crypto'

import { Failure } from './failure.mjs'

/** Default limit of a row in bytes. A row and its ids are in memory as a whole. */
export const MAX_ROW_BYTES = 64 << 20
/**
 * Default limit of a line of JSON, whose values take thirty times its size in memory, and of every
 * row of a corpus job that is not a whole file.
 */
export const MAX_JSON_ROW_BYTES = 16 << 20
/** Default limit of a file that is one row. */
export const MAX_FILE_ROW_BYTES = 256 << 20

/** Maximum number of names in the path of a field. */
const MAX_FIELD_NAMES = 32
/** Maximum length of the path of a field. */
const MAX_FIELD_LENGTH = 1024

/** Why a path cannot be that of a field, for messages; `undefined` if it can. */
export function fieldProblem(path) {
  if (path.length <= MAX_FIELD_LENGTH && path.split('.').length <= MAX_FIELD_NAMES) return undefined
  return `a path of at most ${MAX_FIELD_NAMES} names and ${MAX_FIELD_LENGTH} characters`
}

/** For a path, its prefixes: `a`, `a.b` and `a.b.c` of `a.b.c`, each with the rest. */
const prefixesByPath = /** @type {Map<string, { name: string, rest: string }[]>} */ (new Map())
/** Maximum number of paths whose prefixes are kept. */
const MAX_KEPT_PATHS = 256

function prefixesOf(path) {
  const known = prefixesByPath.get(path)
  if (known !== undefined) return known
  const prefixes = []
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1))
    prefixes.push({ name: path.slice(0, dot), rest: path.slice(dot + 1) })
  if (prefixesByPath.size >= MAX_KEPT_PATHS) prefixesByPath.clear()
  prefixesByPath.set(path, prefixes)
  return prefixes
}

/** Returns the value at a dotted path. A field whose name has dots takes precedence. */
export function valueAt(value, path) {
  if (value === null || typeof value !== 'object') return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const prefix = prefixesOf(path).find(({ name }) => Object.hasOwn(value, name))
  return prefix === undefined ? undefined : valueAt(value[prefix.name], prefix.rest)
}

const isSpace = (byte) => byte === 32 || byte === 9 || byte === 13

/** Whether a line has only white space. */
export const isBlank = (bytes) => bytes.length === 0 || (bytes[0] <= 32 && bytes.every(isSpace))

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The error of a row that is not UTF-8. */
export const utf8Failure = (cause = undefined) => new Failure('INVALID_UTF8', 'it is not valid UTF-8', { cause })

/** The failure for an error of TextDecoder; other errors as they are. */
export const asUtf8Failure = (error) =>
  error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? utf8Failure(error) : error

/** The start of a line that has only the start of an array or of an indented object. */
const CUT_VALUE = /^(?:\xef\xbb\xbf)?\s*(?:\[|\{\s*$)/
const HINT_BYTES = 256
const NO_LINES = '; each line is a value of its own, as jq -c writes it (.[] for the values of an array)'

/** The values that Python's json writes and JSON does not have, and the starts of strings. */
const NOT_FINITE = /"|-?\bInfinity\b|\bNaN\b/g
/** The name of the only field of the object that stands for such a value. No text has it. */
const NOT_FINITE_MARK = randomUUID()

/** The position after the string that has started before a position; -1 if it does not end. */
export function endOfString(text, start) {
  for (let quote = text.indexOf('"', start); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (quote - backslashes > start && text[quote - backslashes - 1] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
  return -1
}

/** JSON as Python's json writes it, with objects for the numbers that are not finite. */
export function finiteJson(text) {
  if (!/NaN|Infinity/.test(text)) return text
  const parts = []
  let [copied, at] = [0, 0]
  for (;;) {
    NOT_FINITE.lastIndex = at
    const found = NOT_FINITE.exec(text)
    if (found === null) break
    at = found.index + found[0].length
    if (found[0] !== '"') {
      parts.push(text.slice(copied, found.index), `{"${NOT_FINITE_MARK}":0}`)
      copied = at
    } else {
      at = endOfString(text, at)
      // No JSON, whatever stands in it.
      if (at === -1) return text
    }
  }
  return parts.join('') + text.slice(copied)
}

/** Throws if a value that is used has a number that is not finite. */
export function checkFinite(value) {
  if (JSON.stringify(value)?.includes(NOT_FINITE_MARK))
    throw new Failure('JSON', 'it is not valid JSON: a field that is used has NaN or Infinity')
}

/**
 * Parses a line of JSON. Numbers that are not finite, which Python's json writes, become objects:
 * they matter only in fields that are used, which are refused then.
 */
export function parseJson(bytes) {
  try {
    const text = utf8.decode(bytes)
    try {
      return JSON.parse(text)
    } catch (error) {
      const finite = finiteJson(text)
      if (finite === text) throw error
      return JSON.parse(finite)
    }
  } catch (error) {
    const cause = asUtf8Failure(error)
    if (cause instanceof Failure) throw cause
    const hint = CUT_VALUE.test(bytes.subarray(0, HINT_BYTES).toString('latin1')) ? NO_LINES : ''
    throw new Failure('JSON', `it is not valid JSON: ${cause.message}${hint}`, { cause })
  }
}

/** The error of a field that is not what it must be. */
export function fieldFailure(field, must, value, row = undefined) {
  const kind = value === null ? 'null' : `of the type ${Array.isArray(value) ? 'array' : typeof value}`
  const missing = Array.isArray(row)
    ? 'the row is an array, whose values jq -c .[] writes as lines'
    : 'the field is missing'
  const found = value === undefined ? missing : `it is ${kind}`
  return new Failure('FIELD', `the field '${field}' must be ${must}, but ${found}`)
}
