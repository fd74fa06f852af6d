// The places of rows in their sources, for messages.

import { at } from '../failure.mjs'

/**
 * The source of a row, and its line or row number there, counted from 1. A whole file has no line.
 *
 * @typedef {{ source: import('./files.mjs').Source, line?: number }} Place
 */

/**
 * Returns the place of a row in words.
 *
 * @param {Place} place
 */
export const placeOf = ({ source, line }) =>
  line === undefined ? source.name : `${source.name}, ${source.isTable ? 'row' : 'line'} ${line}`

/** Adds the place of the failed row to an error of a call on these rows. */
export const atRow = (rows, error) => (rows[error.row] === undefined ? error : at(placeOf(rows[error.row]), error))

/** Calls `read`, whose errors get the place of the row. */
export function withPlace(place, read) {
  try {
    return read()
  } catch (error) {
    throw at(placeOf(place), error)
  }
}
