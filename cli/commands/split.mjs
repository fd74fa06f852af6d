import { Readable } from 'node:stream'

import { BOUNDARIES } from '../../lib/choices.js'
import { Failure, UsageError, at } from '../failure.mjs'
import { isParquet } from '../../lib/files/parquet.mjs'
import { asUtf8Failure } from '../../lib/files/json-rows.mjs'
import { placeOf } from '../input/place.mjs'
import { refuseParquet } from '../input/rows.mjs'
import { jsonText } from '../output/ids.mjs'
import { openResults } from '../output/results.mjs'
import { ON_ERROR_OPTIONS } from '../skips.mjs'
import { TOKENIZER_OPTIONS } from '../tokenizers.mjs'
import {
  ENCODE_OPTIONS,
  FORMAT,
  JSON_OPTION,
  KEEP,
  OUTPUT,
  QUIET,
  countOptions,
  withJson,
  LIMIT_OPTIONS,
  textOptions,
} from './options.mjs'
import { startRows } from './rows.mjs'

const FORMATS = ['jsonl', 'text', 'parquet']

export const split = {
  summary: 'Split texts into pieces with a maximum number of tokens.',
  usage: ['--max-tokens N [options] [FILE | FOLDER | PATTERN | -]…'],
  about: [
    'By default a row is a whole file, which is read as a stream. With --rows lines a row is a line; with --field it is a field of each line of JSON.',
    'Formats: jsonl and parquet have {"file", "line", "start", "end", "tokens", "text"}, where start and end count UTF-16 units of the row; text has each piece below a line with its position.',
  ],
  brief: {
    'max-tokens': 'maximum number of tokens of a piece',
    overlap: 'maximum tokens that a piece repeats of the last one',
    boundary: ['UNIT', '{choices}'],
    tokenizer: 'a file, encoding, model, or OWNER/NAME on the hub',
    rows: ['UNIT', '{choices} (default: files)'],
    field: 'field with the text in each line of JSON',
    format: ['FORMAT', '{choices} (default: by OUTPUT)'],
    output: 'write to this file instead of standard output',
  },
  options: {
    ...TOKENIZER_OPTIONS,
    ...textOptions('files'),
    'max-tokens': {
      short: 'n',
      value: 'N',
      number: [1, 2 ** 32 - 1],
      help: 'maximum number of tokens of a piece, including special tokens that the tokenizer adds',
    },
    overlap: {
      value: 'N',
      number: [0, 2 ** 32 - 1],
      default: 0,
      help: 'maximum number of tokens that a piece repeats from the end of the one before',
    },
    boundary: {
      choices: BOUNDARIES,
      default: 'token',
      help: 'boundary at which pieces end',
    },
    keep: KEEP,
    format: {
      ...FORMAT,
      choices: FORMATS,
      help: 'format of the pieces (default: by the extension of the output, else jsonl)',
    },
    json: JSON_OPTION,
    output: OUTPUT,
    ...ENCODE_OPTIONS,
    ...LIMIT_OPTIONS,
    ...ON_ERROR_OPTIONS,
    quiet: QUIET,
  },
  examples: [
    ['tokenlane split -n 512 book.txt', 'split a book'],
    [
      'tokenlane split -n 256 --overlap 32 --boundary sentence docs/ -o chunks.jsonl',
      'split documents at sentences, for retrieval',
    ],
    ['tokenlane split -n 512 --boundary markdown docs/ -o chunks.jsonl', 'split Markdown at its blocks, with headings'],
    ['tokenlane split -n 100 --boundary line -f text notes.md', 'print pieces that end at lines'],
  ],

  async run(given) {
    const values = withJson(given.values)
    const maxTokens = values.maxTokens
    if (maxTokens === undefined) throw new UsageError("'--max-tokens N' is required")
    if (values.overlap >= maxTokens) throw new UsageError("'--overlap' must be less than '--max-tokens'")
    const start = await startRows({ ...given, values }, { unit: 'files', formats: FORMATS, format: 'jsonl' })
    const { unit, format, inputs, sources, tokenizer, skips } = start
    const results = await openResults(format, { output: values.output, inputs, columns: columnsOf(unit), skips })
    start.open()
    const options = {
      maxTokens,
      overlap: values.overlap,
      boundary: values.boundary,
      ...countOptions(tokenizer, values),
    }
    const write = format === 'jsonl' ? jsonLine : readable
    // A file whose end fails is left out as a whole, so it is read before its first piece is
    // written.
    const pieces =
      unit === 'files' && !skips.isOn
        ? streamed(tokenizer, sources, options, start)
        : splitRows(tokenizer, start.rows(), options, skips)
    let skipped
    for await (const piece of pieces) {
      if (!results.isTable) await results.write(write(piece))
      // The pieces of a row have the same fields: if one does not fit, none does.
      else if (piece.row === undefined || piece.row !== skipped) {
        const isWritten = await results.add({ ...piece, text: piece.piece.text }, valuesOf(piece))
        if (!isWritten) skipped = piece.row
      }
    }
    await start.finish(results)
  },
}

/** Yields the pieces of whole files, which are read as streams. */
async function* streamed(tokenizer, sources, options, { onRead, skips }) {
  for (const source of sources) {
    const texts = Readable.toWeb(Readable.from(decoded(source, onRead)))
    try {
      if (isParquet(source)) refuseParquet(source)
      for await (const piece of texts.pipeThrough(tokenizer.splitStream(options))) yield { source, piece }
      skips.done(1)
    } catch (error) {
      skips.source(source, error instanceof Failure ? error : at(source.name, asUtf8Failure(error)))
    }
  }
}

async function* decoded(source, onRead) {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  for await (const chunk of source.chunks(onRead)) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

async function* splitRows(tokenizer, batches, options, skips) {
  for await (const rows of batches) {
    for (const row of rows) {
      for (const piece of splitRow(tokenizer, row, options, skips)) yield { ...row, row, piece }
    }
  }
}

function splitRow(tokenizer, row, options, skips) {
  try {
    const text =
      typeof row.text === 'string'
        ? row.text
        : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(row.text)
    const pieces = tokenizer.split(text, options)
    skips.done(1)
    return pieces
  } catch (error) {
    skips.row(row, at(placeOf(row), asUtf8Failure(error)))
    return []
  }
}

/**
 * Returns the columns of a table. Pieces of whole files have no line.
 *
 * @param {string} unit
 * @returns {import('../output/parquet.mjs').Columns}
 */
const columnsOf = (unit) => ({
  file: 'string',
  ...(unit !== 'files' && { line: 'int32' }),
  start: 'int32',
  end: 'int32',
  tokens: 'int32',
  text: 'string',
})

/**
 * A piece and the place of its row.
 *
 * @typedef {object} PlacedPiece
 * @property {import('../input/files.mjs').Source} source
 * @property {number} [line]
 * @property {Record<string, any>} [fields]
 * @property {import('../input/rows.mjs').Row} [row] undefined for a streamed file
 * @property {import('../../index.js').Piece} piece
 */

/** @param {PlacedPiece} placed */
const valuesOf = ({ source, line, piece: { start, end, count, text } }) => ({
  file: source.name,
  line,
  start,
  end,
  tokens: count,
  text,
})

/** @param {PlacedPiece} placed */
const jsonLine = ({ fields, ...row }) => `${jsonText({ ...fields, ...valuesOf(row), headings: row.piece.headings })}\n`

/** @param {PlacedPiece} placed */
const readable = ({ source, line, piece: { start, end, count, text } }) =>
  `── ${placeOf({ source, line })}, ${start}–${end}: ${count} ${count === 1 ? 'token' : 'tokens'} ──\n${text}${text.endsWith('\n') ? '' : '\n'}`
