// The errors of corpus jobs, and how they are passed between threads and machines.

import { error, typeError, wrongType, wrongValue } from 'tokenlane/internal/corpus.js'

export { error, wrongType, wrongValue }

/** Options that contradict each other, or the inputs. */
export const contradiction = (message) => typeError('ERR_TOKENLANE_ARGUMENT_TYPE', message)

/** An argument out of range. The message does not show its value. */
export const rangeError = (message) => Object.assign(new RangeError(message), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })

/** An input changed after it was planned. */
export const inputChanged = (path, what) =>
  error('ERR_TOKENLANE_CORPUS_INPUT_CHANGED', `${path} changed since the job was planned: ${what}`)

/** The job needs something that tokenlane does not support. */
export const unsupported = (message) => error('ERR_TOKENLANE_UNSUPPORTED', message)

/** The output folder belongs to another job, or to something else. */
export const otherJob = (message) => error('ERR_TOKENLANE_CORPUS_MISMATCH', message)

/** A file of the output is missing or differs from its record. */
export const damaged = (message) => error('ERR_TOKENLANE_CORPUS_DAMAGED', message)

/**
 * The fields of an error that another thread or machine needs. `system` is the code of the system's
 * error.
 */
export const packError = ({ code, message, name, place, isOfHost, system, cause }) => ({
  code,
  message,
  name,
  place,
  isOfHost,
  system: system ?? cause?.code,
})

/** Restores an error that {@link packError} packed. */
export function unpackError({ code, message, name, ...more }) {
  const made =
    name === 'TypeError' ? new TypeError(message) : name === 'RangeError' ? new RangeError(message) : new Error(message)
  // People see the fields of an error that is printed, so those without a value are left out.
  const fields = Object.entries({ code, ...more }).filter(([, value]) => value !== undefined)
  return Object.assign(made, Object.fromEntries(fields))
}
