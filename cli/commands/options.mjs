// Options that several commands share, and the options of the library's calls that they become.

import { MAX_RATIO } from '../../lib/files/ratio.mjs'
import { usualSpecialTokens } from '../../lib/files/tokenizers.mjs'
import { SPECIAL_TOKEN_MODES } from '../../lib/choices.js'
import { UsageError } from '../failure.mjs'
import { Ignored } from '../input/ignore.mjs'
import { MAX_ROW_OPTION, ROW_OPTIONS } from '../input/rows.mjs'

export const ENCODE_OPTIONS = {
  'special-tokens': {
    choices: SPECIAL_TOKEN_MODES,
    help: "how special tokens in a text are treated: parse them, encode them as ordinary text, or throw an error (default: 'parse' for a tokenizer.json, as in Hugging Face's library, and 'text' for rank files)",
  },
  'no-add-special-tokens': { help: 'do not add special tokens around a text' },
}

export const THREADS = {
  value: 'N',
  number: [1, 256],
  help: 'maximum number of threads (default: the number of processors)',
}
/** The option of all commands that read files. */
export const RATIO_OPTION = {
  'max-ratio': {
    value: 'N',
    number: [1, 1_000_000],
    default: MAX_RATIO,
    help: 'maximum ratio of decompressed to compressed bytes (gzip, Zstandard), beyond the first 64 MiB',
  },
}

/** Options of the commands that read rows. */
export const LIMIT_OPTIONS = { ...MAX_ROW_OPTION, ...RATIO_OPTION }

/** Options of the commands that read rows of text; `unit` is the default. */
export const textOptions = (unit) => ({
  ...ROW_OPTIONS,
  ...IGNORE_OPTIONS,
  rows: { ...ROW_OPTIONS.rows, help: `unit of a row (default: ${unit})` },
})

/** What folders and patterns leave out. */
export const IGNORE_OPTIONS = {
  exclude: {
    value: 'PATTERN',
    multiple: true,
    help: 'leave these files and folders out of folders and patterns, in the form of .gitignore; can be repeated',
  },
  'no-ignore': { help: 'do not leave out the files of a folder that .gitignore files name' },
}

/** What the options leave out. */
export const ignoredOf = ({ exclude = [], noIgnore = false }) => new Ignored(exclude, !noIgnore)

export const OUTPUT = {
  short: 'o',
  value: 'FILE',
  help: 'write to this file instead of standard output; it appears when it is complete',
}
export const QUIET = { short: 'q', help: 'show no progress bar, and no warnings of packages' }
export const KEEP = {
  value: 'FIELD',
  multiple: true,
  help: "with '--field': another field of the row to write with the result; can be repeated (jsonl, parquet; default: none for jsonl, all for parquet)",
}

/** Returns which fields rows keep, and whether they keep the raw values of Parquet files. */
export function keepOf({ keep, field }, format) {
  if (keep === undefined)
    return { keep: format === 'parquet' && field !== undefined ? 'all' : undefined, isRaw: format === 'parquet' }
  if (field === undefined) throw new UsageError("'--keep' needs '--field'")
  if (format !== 'jsonl' && format !== 'parquet')
    throw new UsageError("'--keep' needs '--format jsonl' or '--format parquet'")
  return { keep, isRaw: format === 'parquet' }
}

export const JSON_OPTION = { help: 'the same as --format jsonl' }

/** Returns the options, with `--json` replaced by the format that it stands for. */
export function withJson(values) {
  if (!values.json) return values
  if (values.format !== undefined && values.format !== 'jsonl')
    throw new UsageError(`'--json' means '--format jsonl', which contradicts '--format ${values.format}'`)
  return { ...values, format: 'jsonl' }
}

export const FORMAT = { short: 'f', help: 'format of the results (default: by the extension of the output, else text)' }

/** The options of a call that counts or encodes. */
export const countOptions = (tokenizer, values) => ({
  specialTokens: values.specialTokens ?? usualSpecialTokens(tokenizer),
  addSpecialTokens: !values.noAddSpecialTokens,
})

/** The options of `countOptions` and the number of threads. */
export const batchOptions = (tokenizer, values) => ({
  ...countOptions(tokenizer, values),
  ...(values.threads && { threads: values.threads }),
})
