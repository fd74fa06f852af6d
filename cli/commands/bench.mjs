import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

import { Failure } from '../failure.mjs'
import { inputsOf, sourcesOf } from '../input/files.mjs'
import { atRow } from '../input/place.mjs'
import { batchesOf, unitOf } from '../input/rows.mjs'
import { openOutput } from '../output/file.mjs'
import { formatOf } from '../output/ids.mjs'
import { Skips } from '../skips.mjs'
import { nameForOutput } from '../terminal.mjs'
import { TOKENIZERS_OPTIONS, loadTokenizer } from '../tokenizers.mjs'
import {
  ENCODE_OPTIONS,
  FORMAT,
  JSON_OPTION,
  THREADS,
  batchOptions,
  withJson,
  ignoredOf,
  LIMIT_OPTIONS,
  textOptions,
} from './options.mjs'

const MIB = 2 ** 20

export const bench = {
  summary: 'Measure how fast a tokenizer encodes your texts.',
  usage: ['[options] [FILE | FOLDER | PATTERN | -]…'],
  about: [
    'Texts are read into memory first, up to --mib, and encoded in batches of a few megabytes. "first" is the first pass, with an empty word cache; "again" is the median of the other passes. "loop delay" is the longest time for which the event loop was blocked.',
    'Other programs on this machine affect the figures: run it more than once.',
  ],
  brief: {
    tokenizer: 'a file, encoding, model, or OWNER/NAME; repeatable',
    text: 'read this text instead of files',
    rows: ['UNIT', '{choices} (default: lines)'],
    field: 'field with the text in each line of JSON',
    passes: 'number of passes after the first one (default: 5)',
    mib: 'maximum amount of text, in MiB (default: 64)',
    threads: 'maximum number of threads (default: all processors)',
    json: 'write an object for each tokenizer',
  },
  options: {
    ...TOKENIZERS_OPTIONS,
    ...textOptions('lines'),
    passes: { value: 'N', number: [1, 1000], default: 5, help: 'number of passes after the first one' },
    mib: { value: 'N', number: [1, 4096], default: 64, help: 'maximum amount of text, in MiB' },
    format: { ...FORMAT, choices: ['text', 'jsonl'], help: 'jsonl: an object for each tokenizer' },
    json: JSON_OPTION,
    ...ENCODE_OPTIONS,
    ...LIMIT_OPTIONS,
    threads: THREADS,
  },
  examples: [
    ['tokenlane bench corpus.txt', 'measure the default tokenizer with a file'],
    ['tokenlane bench -t gpt-4o -t tokenizer.json --threads 1 docs/', 'compare two tokenizers on one thread'],
  ],

  async run({ values: given, positionals }) {
    const values = withJson(given)
    const sources = await sourcesOf(positionals, {
      text: values.text,
      maxRatio: values.maxRatio,
      isText: true,
      ignored: ignoredOf(values),
    })
    const out = openOutput(
      undefined,
      values.tokenizer.flatMap((name) => inputsOf(sources, name)),
    )
    const skips = new Skips()
    const batches = await readUpTo(values.mib * MIB, sources, {
      skips,
      unit: unitOf(values, 'lines'),
      field: values.field,
      maxRow: values.maxRow,
    })
    const rows = batches.reduce((sum, batch) => sum + batch.length, 0)
    const bytes = batches.flat().reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    skips.done(rows)
    await skips.finish()
    if (bytes === 0) throw new Failure('USAGE', 'the input has no text to measure')
    const results = []
    for (const name of values.tokenizer)
      results.push({ tokenizer: name, rows, bytes, ...(await measure(name, batches, bytes, values)) })
    const write =
      formatOf({ format: values.format }, ['text', 'jsonl']) === 'jsonl'
        ? (all) => all.map((one) => `${JSON.stringify(one)}\n`).join('')
        : table
    await out.write(write(results))
    await out.commit()
  },
}

/** Reads batches of rows up to a number of bytes, and at least one row. */
async function readUpTo(maxBytes, sources, options) {
  const batches = []
  let bytes = 0
  for await (const batch of batchesOf(sources, options)) {
    const end = batch.findIndex(({ text }) => (bytes += Buffer.byteLength(text)) > maxBytes)
    if (end === -1) {
      batches.push(batch)
      continue
    }
    batches.push(batch.slice(0, batches.length === 0 ? Math.max(end, 1) : end))
    break
  }
  return batches.filter((batch) => batch.length > 0)
}

/** Loads a tokenizer and measures its passes over the batches. */
async function measure(name, batches, bytes, values) {
  const start = performance.now()
  const tokenizer = await loadTokenizer(name, values.encoding)
  const loadMs = performance.now() - start
  const options = { ...batchOptions(tokenizer, values), padding: false, truncation: false }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  // The sampler needs one iteration of the event loop before it is accurate.
  await new Promise((resolve) => setTimeout(resolve, 20))
  delay.reset()
  delay.enable()
  const passes = []
  let tokens = 0
  for (let pass = 0; pass <= values.passes; pass++) {
    const begin = performance.now()
    tokens = await onePass(tokenizer, batches, options)
    passes.push((performance.now() - begin) / 1e3)
  }
  delay.disable()
  const [first, ...others] = passes
  const again = others.sort((a, b) => a - b)[others.length >> 1]
  const round = (value) => Number(value.toPrecision(4))
  return {
    loadMs: round(loadMs),
    tokens,
    bytesPerToken: round(bytes / tokens),
    firstMibPerSecond: round(bytes / MIB / first),
    mibPerSecond: round(bytes / MIB / again),
    tokensPerSecond: Math.round(tokens / again),
    loopDelayMs: round(delay.max / 1e6),
  }
}

/** Encodes all batches. Returns the number of tokens. */
async function onePass(tokenizer, batches, options) {
  let tokens = 0
  for (const rows of batches) {
    try {
      const batch = await tokenizer.encodeBatch(
        rows.map(({ text }) => text),
        options,
      )
      tokens += batch.ids.length
      batch.dispose()
    } catch (error) {
      throw atRow(rows, error)
    }
  }
  return tokens
}

/**
 * @typedef {{ tokenizer: string, rows: number, bytes: number }
 *   & Awaited<ReturnType<typeof measure>>} Result
 */

/** @param {Result[]} results */
function table(results) {
  const number = (value, digits = 0) => value.toLocaleString('en', { maximumFractionDigits: digits })
  const [{ rows, bytes }] = results
  /** @type {[heading: string, cell: (result: Result) => string][]} */
  const columns = [
    ['tokenizer', ({ tokenizer }) => nameForOutput(tokenizer)],
    ['load', ({ loadMs }) => `${number(loadMs)} ms`],
    ['tokens', ({ tokens }) => number(tokens)],
    ['bytes/token', ({ bytesPerToken }) => bytesPerToken.toFixed(2)],
    ['first', ({ firstMibPerSecond }) => `${number(firstMibPerSecond, 1)} MiB/s`],
    ['again', ({ mibPerSecond }) => `${number(mibPerSecond, 1)} MiB/s`],
    ['tokens/s', ({ tokensPerSecond }) => number(tokensPerSecond)],
    ['loop delay', ({ loopDelayMs }) => `${number(loopDelayMs, 1)} ms`],
  ]
  const cells = [
    columns.map(([heading]) => heading),
    ...results.map((result) => columns.map(([, cell]) => cell(result))),
  ]
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column].length)))
  const line = (row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  ')
  return `${number(rows)} ${rows === 1 ? 'row' : 'rows'}, ${number(bytes / MIB, 2)} MiB\n\n${cells.map(line).join('\n')}\n`
}
