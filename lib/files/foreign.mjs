// Recognizes files that are not text, although they may be named as text or be read as lines: text
// in UTF-16, archives, and compressed files of other kinds than gzip and Zstandard.

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
function isUtf16(head) {
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

const TO_PARQUET = 'pyarrow or duckdb, which write Parquet'

/** The first bytes of other files, what they are, and what reads them. */
const MAGIC = /** @type {const} */ ([
  ['fd377a585a00', 'compressed with xz', 'xz -d'],
  ['425a68', 'compressed with bzip2', 'bzip2 -d'],
  ['04224d18', 'compressed with LZ4', 'lz4 -d'],
  ['504b0304', 'a zip archive', 'unzip'],
  ['377abcaf271c', 'a 7z archive', '7z x'],
  ['4152524f5731', 'an Arrow or Feather file', TO_PARQUET],
  ['46454131', 'a Feather file', TO_PARQUET],
  ['ffffffff', 'an Arrow stream, as save_to_disk of datasets writes', 'Dataset.to_parquet'],
  ['4f626a01', 'an Avro file', TO_PARQUET],
  ['574152432f', 'a WARC file', 'warcio or trafilatura, which write JSON Lines'],
]).map(([hex, what, command]) => ({ magic: Buffer.from(hex, 'hex'), what, command }))
/** What follows the level in bzip2: the digits of pi. */
const BZIP2_BLOCK = Buffer.from('314159265359', 'hex')
/** Where the header of the first file of a tar archive has its magic. */
const TAR_START = 257

/** What a file is that is neither text nor read in another way; `undefined` for others. */
function otherOf(bytes) {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (head.subarray(TAR_START, TAR_START + 5).equals(Buffer.from('ustar')) && head[TAR_START - 1] === 0)
    return { what: 'a tar archive', command: 'tar -xf' }
  const found = MAGIC.find(({ magic }) => head.subarray(0, magic.length).equals(magic))
  // These letters can start a text.
  if (found?.what === 'compressed with bzip2' && !head.subarray(4, 10).equals(BZIP2_BLOCK)) return undefined
  return found
}

/**
 * Whether a file with these first bytes is not text, and not read as anything else.
 *
 * @param {Uint8Array} head
 */
export const isForeign = (head) => isUtf16(head) || otherOf(head) !== undefined

/**
 * The failure of a foreign file, with `isForeign`.
 *
 * @param {string} place the name of the file
 * @param {Uint8Array} head its first bytes
 */
export function foreignFailure(place, head) {
  const other = otherOf(head)
  const reason = other && `it is ${other.what}, which is not read: convert it, for example with ${other.command}`
  const failure = reason === undefined ? utf16Failure(place) : new Failure('UNSUPPORTED', reason, { place })
  return Object.assign(failure, { isForeign: true })
}

const HTML = ['HTML', 'trafilatura, which writes JSON Lines']

/** Formats that only their names show, and formats of text whose lines are no documents. */
const REASONS = new Map(
  Object.entries({
    html: HTML,
    htm: HTML,
    orc: ['an ORC file', TO_PARQUET],
    br: ['compressed with brotli', 'brotli -d'],
  }),
)

/** Throws if a file is not read as rows of text unless that is asked for, by its name. */
export function checkName(name) {
  const reason = REASONS.get(/\.(\w+?)(?:\.(?:gz|zst|zstd))?$/.exec(name.toLowerCase())?.[1] ?? '')
  if (reason === undefined) return
  const [what, command] = reason
  const message = `by its name it is ${what}, whose lines are no documents: convert it, for example with ${command}, or say how to read it with rows (--rows lines, --rows files)`
  throw Object.assign(new Failure('UNSUPPORTED', message, { place: name }), { isForeign: true })
}

/** @param {string} place the name of the file */
const utf16Failure = (place) =>
  new Failure(
    'INVALID_UTF8',
    'it is UTF-16, and text is read as UTF-8: convert it, for example with iconv -f UTF-16 -t UTF-8',
    { place },
  )

/** Yields the chunks of an input. Throws if the first one shows that it is not text. */
export async function* notForeign(place, chunks) {
  let isFirst = true
  for await (const chunk of chunks) {
    if (isFirst && isForeign(chunk)) throw foreignFailure(place, chunk)
    isFirst = false
    yield chunk
  }
}
