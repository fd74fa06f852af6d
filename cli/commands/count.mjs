import { UsageError } from '../failure.mjs'
import { RATIO_OPTION, inputsOf, sourcesOf } from '../input/files.mjs'
import { MAX_ROW_OPTION, ROW_OPTIONS, batchesOf, unitOf } from '../input/rows.mjs'
import { formatOf, jsonText } from '../output/ids.mjs'
import { openRows } from '../output/rows.mjs'
import { inOrder } from '../pipeline.mjs'
import { progressOf } from '../progress.mjs'
import { ON_ERROR_OPTIONS, Skips } from '../skips.mjs'
import { TOKENIZER_OPTIONS, loadTokenizer } from '../tokenizers.mjs'
import {
  ENCODE_OPTIONS,
  FORMAT,
  JSON_OPTION,
  KEEP,
  OUTPUT,
  QUIET,
  THREADS,
  batchOptions,
  keepOf,
  withJson,
} from './options.mjs'

const WIDTH = 10
const FORMATS = ['text', 'jsonl', 'parquet']

export const count = {
  summary: 'Count the tokens of texts.',
  usage: ['[options] [FILE | FOLDER | PATTERN | -]…'],
  about: [
    'By default a row is a whole file, as in wc. With --rows lines a row is a line without its line end; with --field it is a field of each line of JSON. Files that are larger than memory need --rows lines or --field, which read line by line.',
    'Formats: text has a line with the count and the name for each file, and a last line with the sum; if rows are lines, only the count. jsonl and parquet have {"file", "line", "tokens"}.',
  ],
  options: {
    ...TOKENIZER_OPTIONS,
    ...ROW_OPTIONS,
    rows: { ...ROW_OPTIONS.rows, help: 'unit of a row (default: files)' },
    total: { type: 'boolean', help: 'print only the sum of all rows' },
    keep: KEEP,
    format: { ...FORMAT, choices: FORMATS },
    json: JSON_OPTION,
    output: OUTPUT,
    ...ENCODE_OPTIONS,
    ...MAX_ROW_OPTION,
    ...RATIO_OPTION,
    ...ON_ERROR_OPTIONS,
    threads: THREADS,
    quiet: QUIET,
  },
  examples: [
    ['tokenlane count README.md', 'count the tokens of a file'],
    ["tokenlane count -t gpt-4o --total 'src/**/*.{js,ts}'", 'count the tokens of a project'],
    ['cat prompt.txt | tokenlane count', 'count the tokens of standard input'],
    ['tokenlane count --field messages.0.content chats.jsonl.gz', 'count the tokens of a field of each line'],
  ],

  async run({ values: given, positionals }) {
    const values = withJson(given)
    const unit = unitOf(values, 'files')
    const format = formatOf(values, FORMATS)
    if (values.total && format === 'parquet')
      throw new UsageError("'--total' prints one number, which parquet cannot hold: choose another '--format'")
    const kept = keepOf(values, format)
    const sources = sourcesOf(positionals, { text: values.text, maxRatio: values['max-ratio'], isText: true })
    const tokenizer = await loadTokenizer(values.tokenizer, values.encoding)
    const inputs = inputsOf(sources, values.tokenizer)
    const { table, file, commit } = await openRows(format, { output: values.output, inputs, columns: columnsOf(unit) })
    const skips = new Skips(values)
    skips.open({ inputs, output: values.output, isOneRow: unit === 'files' && sources.length === 1 })
    const progress = progressOf(sources, values)
    const write = values.total ? () => '' : format === 'jsonl' ? jsonLine : unit === 'files' ? fileLine : numberLine
    const options = batchOptions(tokenizer, values)
    /** @param {import('../input/rows.mjs').Row[]} rows */
    const countRows = (rows) =>
      skips.run(rows, (some) =>
        tokenizer.countBatch(
          some.map(({ text }) => text),
          options,
        ),
      )
    let sum = 0
    const rows = batchesOf(sources, {
      ...kept,
      unit,
      field: values.field,
      maxRow: values['max-row'],
      skips,
      onRead: (bytes) => progress.read(bytes),
    })
    for await (const { result: counted } of inOrder(rows, countRows)) {
      if (table !== undefined) {
        await addCounts(table, counted, skips)
        continue
      }
      let text = ''
      counted.result.forEach((tokens, index) => {
        sum += tokens
        text += write(counted.rows[index], tokens)
      })
      await file.write(text)
    }
    if (values.total) await file.write(format === 'jsonl' ? `${JSON.stringify({ tokens: sum })}\n` : `${sum}\n`)
    else if (table === undefined && write === fileLine && sources.length > 1)
      await file.write(`${String(sum).padStart(WIDTH)}  total\n`)
    progress.stop()
    await skips.finish()
    await commit()
  },
}

/**
 * Returns the columns of a table. Rows that are files have no line.
 *
 * @param {string} unit
 * @returns {import('../output/parquet.mjs').Columns}
 */
const columnsOf = (unit) => ({ file: 'string', ...(unit !== 'files' && { line: 'int32' }), tokens: 'int32' })

async function addCounts(table, { rows, result }, skips) {
  for (const [index, row] of rows.entries()) {
    const values = { file: row.source.name, line: row.line, tokens: result[index] }
    await skips.attempt(row, () => table.add(row, values))
  }
}

const numberLine = (_, tokens) => `${tokens}\n`

/** As in wc, an input without a name is printed as a number alone. */
const fileLine = ({ source }, tokens) =>
  source.file === undefined ? `${tokens}\n` : `${String(tokens).padStart(WIDTH)}  ${source.name}\n`

const jsonLine = ({ source, line, fields }, tokens) => `${jsonText({ ...fields, file: source.name, line, tokens })}\n`
