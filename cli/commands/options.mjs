// Options that several commands share, and the options of the library's calls that they become.

import { UsageError } from '../failure.mjs'

export const ENCODE_OPTIONS = {
  'special-tokens': {
    type: 'string',
    choices: ['parse', 'text', 'throw'],
    help: "special tokens that a text spells out; by default 'parse' for a tokenizer.json, as Hugging Face's library does, and 'text' for ranks",
  },
  'no-add-special-tokens': { type: 'boolean', help: 'leave out what the tokenizer puts around a text' },
}

export const THREADS = {
  type: 'string',
  value: 'N',
  number: [1, 256],
  help: 'the most threads (default: as many as there are processors)',
}
/** Options of `corpus` and `worker`. */
export const CONCURRENCY = {
  type: 'string',
  value: 'N',
  number: [1, 256],
  help: 'shards at a time (default: half as many as processors, from 2 to 8)',
}
export const QUEUE_NAME = {
  type: 'string',
  value: 'NAME',
  help: 'the name of the queue (default: tokenlane-corpus)',
}

export const OUTPUT = {
  type: 'string',
  short: 'o',
  value: 'FILE',
  help: 'write here instead of standard output; the file appears when it is complete',
}
export const QUIET = { type: 'boolean', short: 'q', help: 'no progress bar' }
export const KEEP = {
  type: 'string',
  value: 'FIELD',
  multiple: true,
  help: "a field that is written beside the result, with '--field'; may be given more than once (jsonl, parquet; default: none for jsonl, all for parquet)",
}

/** Returns which fields rows keep, and whether they keep the raw values of Parquet files. */
export function keepOf({ keep, field }, format) {
  if (keep === undefined)
    return { keep: format === 'parquet' && field !== undefined ? 'all' : undefined, isRaw: format === 'parquet' }
  if (field === undefined) throw new UsageError("'--keep' is for rows with fields: give '--field' too")
  if (format !== 'jsonl' && format !== 'parquet') throw new UsageError("'--keep' is for '--format jsonl' and parquet")
  return { keep, isRaw: format === 'parquet' }
}

export const JSON_OPTION = { type: 'boolean', help: 'the same as --format jsonl' }

/** Returns the options, with `--json` replaced by the format that it stands for. */
export function withJson(values) {
  if (!values.json) return values
  if (values.format !== undefined && values.format !== 'jsonl')
    throw new UsageError(`'--json' is '--format jsonl', and '--format' says ${values.format}`)
  return { ...values, format: 'jsonl' }
}

export const FORMAT = {
  type: 'string',
  short: 'f',
  help: 'how results are written; by default as the name of the output ends, else text',
}

/**
 * The options of a call that counts or encodes. With ranks, the library rejects special tokens in
 * texts by default. A file may contain them, so they are encoded as text.
 */
export const countOptions = (tokenizer, values) => ({
  specialTokens: values['special-tokens'] ?? (isOfRanks(tokenizer) ? 'text' : 'parse'),
  addSpecialTokens: !values['no-add-special-tokens'],
})

/** The options of `countOptions` and the number of threads. */
export const batchOptions = (tokenizer, values) => ({
  ...countOptions(tokenizer, values),
  ...(values.threads && { threads: values.threads }),
})

/** Ranks have no normalizer that could be taken away. */
function isOfRanks(tokenizer) {
  try {
    tokenizer.with({ normalizer: null })
    return false
  } catch {
    return true
  }
}
