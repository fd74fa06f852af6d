import { inputsOf, sourcesOf } from '../input/files.mjs'
import { idBatches } from '../input/ids.mjs'
import { atRow } from '../input/place.mjs'
import { openOutput } from '../output/file.mjs'
import { ID_FORMATS, formatOf } from '../output/ids.mjs'
import { runInOrder } from '../pipeline.mjs'
import { progressOf } from '../progress.mjs'
import { TOKENIZER_OPTIONS, loadTokenizer } from '../tokenizers.mjs'
import { typeFor } from './encode.mjs'
import { FORMAT, JSON_OPTION, OUTPUT, QUIET, THREADS, withJson, LIMIT_OPTIONS } from './options.mjs'

export const decode = {
  summary: 'Decode token ids to text.',
  usage: ['[options] [FILE | FOLDER | PATTERN | -]…'],
  about: [
    'Reads the formats that tokenlane encode writes. In text a row is a line of numbers, separated by spaces or commas, with or without brackets. In jsonl it is a list, or an object with a list in a field; in parquet, a list in a column. The rows of npy and bin files are defined by the file FILE.rows.npy or FILE.rows.bin, or by the shape of a two-dimensional array; without either, the whole file is one row.',
    'Formats: text has the text of each row, followed by a line end, so rows that contain line ends cannot be distinguished; jsonl has {"text"}.',
  ],
  brief: {
    tokenizer: 'a file, encoding, model, or OWNER/NAME on the hub',
    ids: 'decode these ids instead of files',
    from: ['FORMAT', '{choices} (default: by FILE)'],
    field: 'field with the ids in each line of JSON (default: ids)',
    'skip-special-tokens': 'omit special tokens',
    format: ['text|jsonl', 'format of the results (default: by OUTPUT)'],
    output: 'write to this file instead of standard output',
  },
  options: {
    ...TOKENIZER_OPTIONS,
    ids: { short: 'x', value: 'IDS', help: 'decode these ids instead of files' },
    from: { choices: ID_FORMATS, help: 'format of the ids (default: by the extension of the file, else text)' },
    field: { value: 'PATH', default: 'ids', help: 'field with the ids in a line of JSON, or column of a Parquet file' },
    type: { choices: ['u16', 'u32'], help: 'integer type of a bin file (default: u16 if the vocabulary fits)' },
    'skip-special-tokens': { help: 'omit special tokens' },
    format: { ...FORMAT, choices: ['text', 'jsonl'] },
    json: JSON_OPTION,
    output: OUTPUT,
    ...LIMIT_OPTIONS,
    threads: THREADS,
    quiet: QUIET,
  },
  examples: [
    ["tokenlane decode -x '13225, 11, 2375, 0'", 'decode ids'],
    ['tokenlane encode notes.txt | tokenlane decode', 'encode a file and decode the result'],
    ['tokenlane decode -t tokenizer.json -f jsonl train.npy', 'decode the rows of an array to JSON Lines'],
  ],

  async run({ values: given, positionals }) {
    const values = withJson(given)
    const sources = await sourcesOf(positionals, { text: values.ids, option: '--ids', maxRatio: values.maxRatio })
    const tokenizer = await loadTokenizer(values.tokenizer, values.encoding)
    const file = openOutput(values.output, inputsOf(sources, values.tokenizer))
    const progress = progressOf(sources, values)
    const lineOf =
      formatOf(values, ['text', 'jsonl']) === 'jsonl'
        ? (text) => `${JSON.stringify({ text })}\n`
        : (text) => `${text}\n`
    const options = {
      skipSpecialTokens: values.skipSpecialTokens ?? false,
      ...(values.threads && { threads: values.threads }),
    }
    const decodeRows = async (rows) => {
      try {
        return await tokenizer.decodeBatch(
          rows.map(({ ids }) => ids),
          options,
        )
      } catch (error) {
        throw atRow(rows, error)
      }
    }
    const type = values.type ?? typeFor(tokenizer)
    const rows = idBatches(sources, {
      from: values.from,
      field: values.field,
      type,
      maxRow: values.maxRow,
      onRead: (bytes) => progress.read(bytes),
    })
    for await (const result of runInOrder(rows, decodeRows)) {
      for (const row of result) await file.write(lineOf(row))
    }
    await file.commit()
    progress.stop()
  },
}
