// Checks of values in JSON that another program can have written.

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is a number of bytes, rows or the like. */
export const isSize = (value) => Number.isSafeInteger(value) && value >= 0

/** Whether a value is a string that a path or a name can be: without NUL, and not too long. */
export const isText = (value, maxLength) =>
  typeof value === 'string' && value !== '' && value.length <= maxLength && !value.includes('\0')

/** Whether a value is a SHA-256. */
export const isHash = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
