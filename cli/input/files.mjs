// The inputs of a command: files, the files of folders or patterns, and standard input.

import path from 'node:path'

import { Failure, UsageError, at, fileFailure } from '../failure.mjs'
import { decompressed } from '../../lib/files/decompress.mjs'
import { Ratio } from '../../lib/files/ratio.mjs'
import { notForeign } from '../../lib/files/foreign.mjs'
import { onlyText } from './not-text.mjs'
import { tokenizerFiles } from '../tokenizers.mjs'
import { readInput } from './open.mjs'
import { rowsFileOf } from './rows-file.mjs'
import { statIfThere } from '../../lib/files/stat.mjs'

/** @typedef {import('./ignore.mjs').Ignored} Ignored */

/**
 * Bytes with a name.
 *
 * @typedef {object} Source
 * @property {string} name for messages
 * @property {string} [file] its path
 * @property {number} [descriptor] its file descriptor, if it is already open
 * @property {number} [size] bytes on disk; undefined for a pipe
 * @property {number} [maxRatio] maximum number of bytes per compressed byte
 * @property {boolean} [isTable] whether its rows are those of a Parquet file
 * @property {boolean} [isFound] whether it was found in a folder or by a pattern, and is skipped if
 *   it is not text
 * @property {(onRead?: (bytes: number) => void) => AsyncIterable<Buffer>} chunks its bytes,
 *   decompressed; `onRead` is called with the number of bytes read from disk
 */

/**
 * The sources that arguments name, in the order of the arguments. Files of folders and patterns are
 * sorted by name.
 *
 * @param {string[]} names paths, folders, patterns, or `-` for standard input, which is also read
 *   if there are no names
 * @param {{ text?: string, option?: string, maxRatio?: number, isText?: boolean, ignored?: Ignored
 *   }} [how] `text` is
 *   read instead of files, and `option` is the option that has it; `maxRatio` is the maximum number
 *   of bytes per compressed byte; with `isText`, reading a file of a folder or pattern that is not
 *   text throws a NotText; `ignored` is left out of folders and patterns
 * @returns {Promise<Source[]>}
 */
export async function sourcesOf(names, { text, option = '--text', maxRatio, isText = false, ignored } = {}) {
  if (text !== undefined) {
    if (names.length > 0) throw new UsageError(`give files or '${option}', not both`)
    return [textSource(text, option)]
  }
  if (names.length > 0) {
    const sources = []
    for (const name of names) {
      try {
        sources.push(...(await named(name, { maxRatio, isText, ignored })))
      } catch (error) {
        throw error.code === 'ERR_TOKENLANE_FILE_NOT_FOUND' ? (textForFiles(names, option) ?? error) : error
      }
    }
    return sources
  }
  if (process.stdin.isTTY)
    throw new UsageError(`there is no input: name files, use ${option}, or pipe text to standard input`)
  return [stdin({ maxRatio, isText })]
}

/**
 * The error for names of files that are rather what `option` takes: texts or ids. `undefined` if
 * one of them is a file, or could be the path of one.
 */
function textForFiles(names, option) {
  const areIds = option === '--ids'
  const isMeant = areIds ? (name) => /^[\d\s,[\]]+$/.test(name) : isProse
  if (!names.every((name) => isMeant(name) && statIfThere(name) === undefined)) return undefined
  const command = `tokenlane ${[...othersThan(names).map(word), '-x', quoted(names.join(' '))].join(' ')}`
  if (areIds) return new UsageError(`there is no file '${names[0]}'; ids are given with -x: ${command}`)
  const reason = `there is no such file; a text is given with -x: ${command}`
  return new Failure('FILE_NOT_FOUND', reason, { place: names[0] })
}

/** The arguments of this process without some of them, of which options can have equal values. */
function othersThan(names) {
  const args = process.argv.slice(2)
  for (const name of names.toReversed()) args.splice(args.lastIndexOf(name), 1)
  return args
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`
const word = (text) => (/^[\w./:=,-]+$/.test(text) ? text : quoted(text))

/** Whether a name has words, or none of the marks of a path: folders, an extension, a pattern. */
const isProse = (name) => /\s/.test(name) || !(/[\\/*]/.test(name) || /\.\w{1,10}$/.test(name))

/**
 * Returns all files that a command reads, which its output must not replace: the sources, the files
 * of row starts beside them, and the tokenizer.
 */
export function inputsOf(sources, tokenizer) {
  const beside = sources.flatMap(({ file }) =>
    file !== undefined && /\.(npy|bin)$/i.test(file) ? [{ name: rowsFileOf(file), file: rowsFileOf(file) }] : [],
  )
  return [...sources, ...beside, ...tokenizerFiles(tokenizer)]
}

/**
 * The sources that a name stands for. Pipes and devices are read only if they are named. A folder
 * that cannot be read is a source whose reading fails. A link in a folder that leads nowhere is
 * left out: folders of programs have such links, and no text is lost.
 */
async function named(name, options) {
  if (name === '-') return [stdin(options)]
  const stat = statIfThere(name)
  if (stat !== undefined && !stat.isDirectory())
    return [fileSource(name, { maxRatio: options.maxRatio, isNamedText: options.isText })]
  const sources = []
  const onUnreadable = (place, error) => error.code !== 'ENOENT' && sources.push(unreadable(place, error))
  const { Walk } = await import('../../lib/files/walk.mjs')
  const walk = new Walk({ onUnreadable, ignored: options.ignored })
  if (stat !== undefined) {
    for await (const file of walk.below(name)) sources.push(fileSource(path.normalize(file), options))
    return sources
  }
  for await (const file of walk.matching(name)) sources.push(fileSource(file, options))
  return sources.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function fileSource(file, { maxRatio, isText = false, isNamedText = false }) {
  const stat = statIfThere(file)
  const size = stat?.isFile() ? stat.size : undefined
  const bytes = (onRead) => bytesOf(file, () => readInput(file), { onRead, maxRatio })
  return {
    name: file,
    file,
    size,
    maxRatio,
    isFound: isText,
    chunks: isText
      ? (onRead) => onlyText(notForeign(file, bytes(onRead)))
      : isNamedText
        ? (onRead) => notForeign(file, bytes(onRead))
        : bytes,
  }
}

const unreadable = (folder, error) => ({
  name: folder,
  file: folder,
  size: 0,
  // biome-ignore lint/correctness/useYield: reading fails.
  async *chunks() {
    throw fileFailure(folder, error)
  },
})

function stdin({ maxRatio, isText = false }) {
  const name = 'standard input'
  const bytes = (onRead) => bytesOf(name, () => process.stdin, { onRead, maxRatio })
  return {
    name,
    descriptor: 0,
    size: undefined,
    chunks: isText ? (onRead) => notForeign(name, bytes(onRead)) : bytes,
  }
}

const textSource = (text, option) => ({
  name: option,
  size: undefined,
  async *chunks() {
    yield Buffer.from(text)
  },
})

/** Error codes of the decompressors, whose messages do not name the source. */
const WITHOUT_NAME = ['DECOMPRESS', 'DECOMPRESS_LIMIT', 'PACKAGE_MISSING'].map((code) => `ERR_TOKENLANE_${code}`)

async function* bytesOf(name, open, { onRead, maxRatio }) {
  async function* raw() {
    try {
      for await (const chunk of open()) {
        onRead?.(chunk.length)
        yield chunk
      }
    } catch (error) {
      throw fileFailure(name, error)
    }
  }
  try {
    yield* decompressed(raw(), new Ratio(maxRatio))
  } catch (error) {
    throw WITHOUT_NAME.includes(error.code) ? at(name, error) : error
  }
}
