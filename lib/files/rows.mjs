// Limits of rows, and values in them.

/** Default limit of a row in bytes. A row and its ids are in memory as a whole. */
export const MAX_LINE = 64 << 20
/**
 * Default limit of a line of JSON, whose values take thirty times its size in memory, and of every
 * row of a corpus job that is not a whole file.
 */
export const MAX_JSON = 16 << 20
/** Default limit of a file that is one row. */
export const MAX_WHOLE = 256 << 20

/** Returns the value at a dotted path. A field whose name has dots takes precedence. */
export function valueAt(value, path) {
  if (value === null || typeof value !== 'object') return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const parts = path.split('.')
  const cut = parts.findIndex((_, index) => index > 0 && Object.hasOwn(value, parts.slice(0, index).join('.')))
  if (cut === -1) return undefined
  return valueAt(value[parts.slice(0, cut).join('.')], parts.slice(cut).join('.'))
}
