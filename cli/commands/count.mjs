import { UsageError } from '../failure.mjs'
import { MAX_ROW_OPTION, ROW_OPTIONS } from '../input/rows.mjs'
import { jsonText } from '../output/ids.mjs'
import { openResults } from '../output/results.mjs'
import { inOrder } from '../pipeline.mjs'
import { ON_ERROR_OPTIONS } from '../skips.mjs'
import { nameForOutput } from '../terminal.mjs'
import { TOKENIZER_OPTIONS } from '../tokenizers.mjs'
import {
  ENCODE_OPTIONS,
  FORMAT,
  JSON_OPTION,
  KEEP,
  OUTPUT,
  QUIET,
  RATIO_OPTION,
  THREADS,
  batchOptions,
  withJson,
} from './options.mjs'
import { startRows } from './rows.mjs'

const WIDTH = 10
const FORMATS = ['text', 'jsonl', 'parquet']

export const count = {
  summary: 'Count the tokens of texts.',
  usage: ['[options] [FILE | FOLDER | PATTERN | -]…'],
  about: [
    'By default a row is a whole file, as in wc. With --rows lines a row is a line without its line end; with --field it is a field of each line of JSON. Files that are larger than memory need --rows lines or --field, which read line by line.',
    'Formats: text has a line with the count and the name for each file, and a last line with the sum; if rows are lines, only the count. jsonl and parquet have {"file", "line", "tokens"}.',
  ],
  brief: {
    tokenizer: 'a file, encoding, model, or OWNER/NAME on the hub',
    text: 'read this text instead of files',
    rows: ['UNIT', 'files or lines (default: files)'],
    field: 'field with the text in each line of JSON',
    total: 'print only the sum of all rows',
    json: 'write an object for each row (or see --format)',
    output: 'write to this file instead of standard output',
    'on-error': ['fail|skip', 'skip: continue without rows that fail (default: fail)'],
  },
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
    const start = await startRows({ values, positionals }, { unit: 'files', formats: FORMATS }, (format) => {
      if (values.total && format === 'parquet')
        throw new UsageError("'--total' prints one number, which parquet cannot hold: choose another '--format'")
    })
    const { unit, format, inputs, sources, tokenizer, skips } = start
    const results = await openResults(format, { output: values.output, inputs, columns: columnsOf(unit), skips })
    start.open()
    const write = values.total ? () => '' : format === 'jsonl' ? jsonLine : unit === 'files' ? fileLine : numberLine
    const nameOf = [undefined, '-'].includes(values.output) ? nameForOutput : String
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
    for await (const { result: parts } of inOrder(start.rows(), countRows)) {
      for (const part of parts) {
        if (results.isTable) {
          await addCounts(results, part)
          continue
        }
        let text = ''
        part.result.forEach((tokens, index) => {
          sum += tokens
          text += write(part.rows[index], tokens, nameOf)
        })
        await results.write(text)
      }
    }
    if (values.total) await results.write(format === 'jsonl' ? `${JSON.stringify({ tokens: sum })}\n` : `${sum}\n`)
    else if (!results.isTable && write === fileLine && sources.length > 1)
      await results.write(`${String(sum).padStart(WIDTH)}  total\n`)
    await start.finish(results)
  },
}

/**
 * Returns the columns of a table. Rows that are files have no line.
 *
 * @param {string} unit
 * @returns {import('../output/parquet.mjs').Columns}
 */
const columnsOf = (unit) => ({ file: 'string', ...(unit !== 'files' && { line: 'int32' }), tokens: 'int32' })

async function addCounts(table, { rows, result }) {
  for (const [index, row] of rows.entries())
    await table.add(row, { file: row.source.name, line: row.line, tokens: result[index] })
}

const numberLine = (_, tokens) => `${tokens}\n`

/** As in wc, an input without a name is printed as a number alone. */
const fileLine = ({ source }, tokens, nameOf) =>
  source.file === undefined ? `${tokens}\n` : `${String(tokens).padStart(WIDTH)}  ${nameOf(source.name)}\n`

const jsonLine = ({ source, line, fields }, tokens) => `${jsonText({ ...fields, file: source.name, line, tokens })}\n`
