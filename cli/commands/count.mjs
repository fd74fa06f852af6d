import { UsageError } from '../failure.mjs'
import { jsonText } from '../output/ids.mjs'
import { openResults } from '../output/results.mjs'
import { runInOrder } from '../pipeline.mjs'
import { ON_ERROR_OPTIONS } from '../skips.mjs'
import { nameForOutput } from '../terminal.mjs'
import { TOKENIZERS_OPTIONS, loadTokenizer } from '../tokenizers.mjs'
import {
  ENCODE_OPTIONS,
  FORMAT,
  JSON_OPTION,
  KEEP,
  OUTPUT,
  QUIET,
  THREADS,
  batchOptions,
  withJson,
  LIMIT_OPTIONS,
  textOptions,
} from './options.mjs'
import { startRows } from './rows.mjs'

const WIDTH = 10
const FORMATS = ['text', 'jsonl', 'parquet']

export const count = {
  summary: 'Count the tokens of texts.',
  usage: ['[options] [FILE | FOLDER | PATTERN | -]…'],
  about: [
    'By default a row is a whole file, as in wc. With --rows lines a row is a line without its line end; with --field it is a field of each line of JSON. With --messages it is a chat in a field of each line of JSON: the count is that of countChat, by the chat template of the tokenizer, or by what OpenAI documents. Files that are larger than memory need --rows lines or --field, which read line by line.',
    'Formats: text has a line with the count and the name for each file, and a last line with the sum; if rows are lines, only the count. jsonl and parquet have {"file", "line", "tokens"}. With several tokenizers, text has a column for each, below their names, and jsonl has "tokens" with a count for each name.',
  ],
  brief: {
    tokenizer: 'a file, encoding, model, or OWNER/NAME; repeatable',
    text: 'read this text instead of files',
    rows: ['UNIT', '{choices} (default: files)'],
    field: 'field with the text in each line of JSON',
    messages: 'field with the messages of a chat in each line of JSON',
    total: 'print only the sum of all rows',
    json: 'write an object for each row (or see --format)',
    output: 'write to this file instead of standard output',
  },
  options: {
    ...TOKENIZERS_OPTIONS,
    ...textOptions('files'),
    messages: {
      value: 'PATH',
      help: 'read JSON Lines, and count the chat whose messages this field has',
    },
    tools: { value: 'PATH', help: 'with --messages: the field with the tools of a chat' },
    total: { help: 'print only the sum of all rows' },
    keep: KEEP,
    format: { ...FORMAT, choices: FORMATS },
    json: JSON_OPTION,
    output: OUTPUT,
    ...ENCODE_OPTIONS,
    ...LIMIT_OPTIONS,
    ...ON_ERROR_OPTIONS,
    threads: THREADS,
    quiet: QUIET,
  },
  examples: [
    ['tokenlane count README.md', 'count the tokens of a file'],
    ["tokenlane count -t gpt-4o --total 'src/**/*.{js,ts}'", 'count the tokens of a project'],
    ['tokenlane count -t gpt-5 -t gpt-4 docs/', 'compare two tokenizers, side by side'],
    ['cat prompt.txt | tokenlane count', 'count the tokens of standard input'],
    ['tokenlane count --field text docs.jsonl.gz', 'count the tokens of a field of each line'],
    ['tokenlane count -t gpt-4o --messages messages chats.jsonl', 'count the tokens of chats'],
  ],

  async run({ values: given, positionals }) {
    checkChatOptions(given)
    const names = given.tokenizer
    const values = { ...withJson(given), tokenizer: names[0] }
    const start = await startRows({ values, positionals }, { unit: 'files', formats: FORMATS }, (format) => {
      if (values.total && format === 'parquet')
        throw new UsageError("'--total' prints one number, which parquet cannot hold: choose another '--format'")
      if (names.length > 1 && format === 'parquet')
        throw new UsageError("parquet has the counts of one tokenizer: give one '--tokenizer', or another '--format'")
    })
    const { unit, format, inputs, sources, tokenizer, skips } = start
    const others = await Promise.all(names.slice(1).map((name) => loadTokenizer(name, values.encoding)))
    const results = await openResults(format, { output: values.output, inputs, columns: columnsOf(unit), skips })
    start.open()
    const write = values.total ? () => '' : format === 'jsonl' ? jsonLine : unit === 'files' ? fileLine : numberLine
    const nameOf = [undefined, '-'].includes(values.output) ? nameForOutput : String
    const countWith = (one, rows) =>
      values.messages === undefined
        ? one.countBatch(
            rows.map(({ text }) => text),
            batchOptions(one, values),
          )
        : countChats(one, rows, values)
    /** @param {import('../input/rows.mjs').Row[]} rows */
    const countRows = (rows) =>
      skips.run(rows, async (some) => {
        const first = await countWith(tokenizer, some)
        if (others.length === 0) return first
        // One after the other, so that memory does not grow with the number of tokenizers.
        const all = [first]
        for (const other of others) all.push(await countWith(other, some))
        return some.map((_, row) => all.map((counts) => counts[row]))
      })
    const sums = names.map(() => 0)
    const shown = (counts) =>
      names.length === 1 ? counts[0] : Object.fromEntries(names.map((name, at) => [name, counts[at]]))
    if (names.length > 1 && format === 'text') await results.write(`${columns(names)}\n`)
    for await (const parts of runInOrder(start.rows(), countRows)) {
      for (const part of parts) {
        if (results.isTable) {
          await addCounts(results, part)
          continue
        }
        let text = ''
        part.result.forEach((tokens, index) => {
          const counts = names.length === 1 ? [tokens] : tokens
          counts.forEach((count, at) => (sums[at] += count))
          text += write(part.rows[index], counts, { nameOf, shown })
        })
        await results.write(text)
      }
    }
    if (values.total)
      await results.write(format === 'jsonl' ? `${JSON.stringify({ tokens: shown(sums) })}\n` : `${columns(sums)}\n`)
    else if (!results.isTable && write === fileLine && sources.length > 1)
      await results.write(`${padded(sums)}  total\n`)
    await start.finish(results)
  },
}

function checkChatOptions({ messages, tools, field, noAddSpecialTokens }) {
  if (messages === undefined && tools !== undefined) throw new UsageError("'--tools' needs '--messages'")
  if (messages === undefined) return
  if (field !== undefined) throw new UsageError("'--field' has texts and '--messages' chats: give one of them")
  if (noAddSpecialTokens) throw new UsageError("'--no-add-special-tokens' is for texts, not for chats")
}

/** The numbers of tokens of chats. An error has the index of its row. */
function countChats(tokenizer, rows, { specialTokens: content }) {
  return rows.map(({ chat: { messages, tools } }, row) => {
    try {
      return tokenizer.countChat(messages, { tools, content })
    } catch (error) {
      throw Object.assign(error, { row })
    }
  })
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

/** Numbers or names in columns; one alone has no column. */
const columns = (list) => (list.length === 1 ? String(list[0]) : padded(list))
const padded = (list) => list.map((one) => String(one).padStart(WIDTH)).join('  ')

/** @type {(row: any, counts: any[], how: any) => string} */
const numberLine = (_, counts) => `${columns(counts)}\n`

/**
 * As in wc, an input without a name is printed as a number alone.
 *
 * @type {(row: any, counts: any[], how: any) => string}
 */
const fileLine = ({ source }, counts, { nameOf }) =>
  source.file === undefined ? `${columns(counts)}\n` : `${padded(counts)}  ${nameOf(source.name)}\n`

/** @type {(row: any, counts: any[], how: any) => string} */
const jsonLine = ({ source, line, fields }, counts, { shown }) =>
  `${jsonText({ ...fields, file: source.name, line, tokens: shown(counts) })}\n`
