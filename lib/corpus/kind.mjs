// The kind of an input: the first bytes of a file show it.

import { codecOf, isTable } from '../files/magic.mjs'
import { isUtf16 } from '../files/utf16.mjs'

/** @typedef {'plain' | 'gzip' | 'zstd' | 'table' | 'utf16'} Kind */

/** @type {Kind[]} */
export const KINDS = ['plain', 'gzip', 'zstd', 'table', 'utf16']

/**
 * @param {Buffer} head the first bytes, HEAD_BYTES unless the input is shorter
 * @returns {Kind}
 */
export const kindOf = (head) => (isTable(head) ? 'table' : (codecOf(head) ?? (isUtf16(head) ? 'utf16' : 'plain')))
