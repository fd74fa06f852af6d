// The kind of an input: the first bytes of a file show it.

import { isForeign, codecOf, isTable } from 'tokenlane/internal/files.mjs'

/** @typedef {'plain' | 'gzip' | 'zstd' | 'table' | 'foreign'} Kind */

/** @type {Kind[]} */
export const KINDS = ['plain', 'gzip', 'zstd', 'table', 'foreign']

/**
 * @param {Buffer} head the first bytes, HEAD_BYTES unless the input is shorter
 * @returns {Kind}
 */
export const kindOf = (head) => (isTable(head) ? 'table' : (codecOf(head) ?? (isForeign(head) ? 'foreign' : 'plain')))
