import { OFFSET_UNITS } from '../../lib/choices.js'
import { UsageError } from '../failure.mjs'
import { ID_FORMATS, idWriter } from '../output/ids.mjs'
import { runInOrder } from '../pipeline.mjs'
import { ON_ERROR_OPTIONS } from '../skips.mjs'
import { TOKENIZER_OPTIONS } from '../tokenizers.mjs'
import {
  ENCODE_OPTIONS,
  FORMAT,
  KEEP,
  OUTPUT,
  QUIET,
  THREADS,
  batchOptions,
  JSON_OPTION,
  withJson,
  LIMIT_OPTIONS,
  textOptions,
} from './options.mjs'
import { startRows } from './rows.mjs'

/**
 * The default row limit in bytes with `--tokens`: each token is a string, which is larger than its
 * id.
 */
const MAX_WITH_TOKENS = 8 << 20

export const encode = {
  summary: 'Encode texts to token ids.',
  usage: ['[options] [FILE | FOLDER | PATTERN | -]…'],
  about: [
    'By default a row is a line without its line end; with --rows files it is a whole file. Input that is compressed with gzip or Zstandard is decompressed, whatever its name is.',
    'Formats: text has a line of ids for each row; jsonl an object for each row. npy and bin consist of two files: the ids of all rows one after the other (u16 or u32, little endian), and OUTPUT.rows.npy or OUTPUT.rows.bin with the start of each row and the end of the last one (rows + 1 numbers, u64). parquet has the ids as a list of int32, and the other fields of the row.',
    'The truncation and padding that a tokenizer defines are not applied; --max-length truncates.',
  ],
  brief: {
    tokenizer: 'a file, encoding, model, or OWNER/NAME on the hub',
    text: 'read this text instead of files',
    rows: ['UNIT', '{choices} (default: lines)'],
    field: 'field with the text in each line of JSON',
    format: ['FORMAT', '{choices} (default: by OUTPUT)'],
    output: 'write to this file instead of standard output',
    'max-length': 'truncate rows to this number of ids',
    'on-error': ['fail|skip', 'skip: continue without rows that fail (default: fail)'],
  },
  options: {
    ...TOKENIZER_OPTIONS,
    ...textOptions('lines'),
    keep: KEEP,
    format: { ...FORMAT, choices: ID_FORMATS },
    json: JSON_OPTION,
    output: OUTPUT,
    type: { choices: ['u16', 'u32'], help: 'integer type of npy and bin files (default: u16 if the vocabulary fits)' },
    tokens: { help: 'write tokens as well as ids (jsonl); the default of --max-row is then 8M' },
    offsets: {
      choices: OFFSET_UNITS,
      help: 'write the position of each token in its row, in this unit (jsonl)',
    },
    'max-length': { value: 'N', number: [1, 2 ** 32 - 1], help: 'truncate rows to this number of ids' },
    ...ENCODE_OPTIONS,
    ...LIMIT_OPTIONS,
    ...ON_ERROR_OPTIONS,
    threads: THREADS,
    quiet: QUIET,
  },
  examples: [
    ["tokenlane encode -x 'Hello, world!'", 'encode a text'],
    ['tokenlane encode -t gpt-4o corpus.txt > ids.txt', 'write a line of ids for each line of text'],
    [
      'tokenlane encode -t tokenizer.json --field text data/*.jsonl.zst -o train.npy',
      'encode compressed JSON Lines to an array that NumPy can map',
    ],
    [
      'tokenlane encode --rows files --tokens --offsets utf16 -f jsonl docs/',
      'encode each file of a folder, with tokens and offsets',
    ],
  ],

  async run({ values: given, positionals }) {
    const values = withJson(given)
    const start = await startRows({ values, positionals }, { unit: 'lines', formats: ID_FORMATS }, (format) => {
      if (format !== 'jsonl' && (values.tokens || values.offsets))
        throw new UsageError("'--tokens' and '--offsets' are for '--format jsonl'")
    })
    const { tokenizer, skips } = start
    const writer = await idWriter(start.format, {
      output: values.output,
      inputs: start.inputs,
      type: values.type ?? typeFor(tokenizer),
      unit: start.unit,
      skips,
    })
    start.open()
    /** @type {import('../../index.js').EncodeBatchOptions & import('../../index.js').RunOptions} */
    const options = {
      ...batchOptions(tokenizer, values),
      padding: false,
      truncation: values.maxLength ? { maxLength: values.maxLength } : false,
      ...(values.tokens && { columns: ['tokens'] }),
      ...(values.offsets && { offsets: values.offsets }),
    }
    /** @param {import('../input/rows.mjs').Row[]} rows */
    const encodeRows = (rows) =>
      skips.run(rows, (some) =>
        tokenizer.encodeBatch(
          some.map(({ text }) => text),
          options,
        ),
      )
    const rows = start.rows(values.maxRow ?? (values.tokens ? MAX_WITH_TOKENS : undefined))
    for await (const parts of runInOrder(rows, encodeRows)) {
      for (const part of parts) {
        await writer.write(part.result, part.rows)
        part.result.dispose()
      }
    }
    await start.finish(writer)
  },
}

/** Returns the narrowest integer type for the ids of a vocabulary. */
export const typeFor = (tokenizer) => (tokenizer.vocabSize() <= 65536 ? 'u16' : 'u32')
