// Recognizes text in UTF-16, which this package reads as UTF-8 and cannot.

import { Failure } from './failure.mjs'

/** Number of bytes at the start of a file that are checked. */
export const HEAD_BYTES = 4096

/** Texts that are shorter, in bytes, are recognized by their byte order mark only. */
const MIN_BYTES = 8

/** Characters that no text has: other bytes can look like UTF-16. */
const CONTROLS = /[\0-\x08\x0b\x0e-\x1f\ufffe\uffff]/

/**
 * Whether the first bytes of a file are text in UTF-16: with a byte order mark, or with zeros in at
 * least half of its code units, always in the same half of a unit. UTF-8 never starts like the
 * first, and has the second only in a list of single characters that NULs separate.
 *
 * @param {Uint8Array} head
 */
export function isUtf16(head) {
  const bytes = head.subarray(0, Math.min(head.length, HEAD_BYTES) & ~1)
  const order = orderOf(bytes)
  if (order === undefined) return false
  try {
    // A pair of surrogates may be cut.
    return !CONTROLS.test(new TextDecoder(order, { fatal: true }).decode(bytes, { stream: true }))
  } catch {
    return false
  }
}

function orderOf(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes.length < MIN_BYTES) return undefined
  const zeros = [0, 0]
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0) zeros[at & 1] += 1
  if (Math.min(...zeros) > 0 || Math.max(...zeros) < bytes.length / 4) return undefined
  return zeros[0] > 0 ? 'utf-16be' : 'utf-16le'
}

/** @param {string} place the name of the file */
export const utf16Failure = (place) =>
  new Failure(
    'INVALID_UTF8',
    'it is UTF-16, and text is read as UTF-8: convert it, for example with iconv -f UTF-16 -t UTF-8',
    {
      place,
    },
  )
