// Options that several commands share, and the options of the library's calls that they become.

import { FORMATS } from '../../lib/corpus/formats/names.mjs'
import { MAX_RATIO } from '../../lib/files/ratio.mjs'
import { usualSpecialTokens } from '../../lib/files/tokenizers.mjs'
import { UsageError } from '../failure.mjs'
import { Ignored } from '../input/ignore.mjs'
import { MAX_ROW_OPTION, ROW_OPTIONS } from '../input/rows.mjs'

export const ENCODE_OPTIONS = {
  'special-tokens': {
    choices: ['parse', 'text', 'throw'],
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

/** Options of the commands that read a corpus, `corpus` and `train`. */
export const FIELD = {
  value: 'PATH',
  help: 'the field with the text in a line of JSON or a row of Parquet (default: text)',
}
export const FILES_FROM = { value: 'FILE', help: 'also read names of inputs from this file, one per line' }
export const MAX_ROW = {
  value: 'SIZE',
  size: [1, 2 ** 32 - 1],
  help: 'maximum size of a row in bytes (default: 16M; 256M for a whole file)',
}

/** Throws if a command that reads a corpus has no inputs. */
export function checkInputs({ filesFrom }, positionals) {
  if (positionals.length === 0 && filesFrom === undefined)
    throw new UsageError('there is nothing to read: name files, folders or patterns')
}

/** Options of `corpus` and `corpus merge`. */
export const CORPUS_FORMAT = { short: 'f', choices: FORMATS }
export const PACKING = {
  choices: ['sequential', 'best-fit'],
  help: 'with --pack: full rows that cut documents, or rows of whole documents that fit and may be shorter (default: sequential)',
}
export const RESUME_CHECK = {
  choices: ['sha256', 'size'],
  default: 'sha256',
  help: 'how the files of an earlier run are compared',
}
export const JSON_EVENTS = { help: 'write events as JSON Lines to standard output, the last one with the result' }

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

/** Options of `corpus` and `worker`. */
export const SHARD_THREADS = {
  ...THREADS,
  help: 'maximum number of threads of a batch, of which two run at a time (default: half the number of processors)',
}
export const CONCURRENCY = {
  value: 'N',
  number: [1, 256],
  help: 'number of shards at a time (default: half the number of processors, from 2 to 4)',
}
/** The environment variable with the URL of the queue. */
export const QUEUE_VARIABLE = 'TOKENLANE_QUEUE'
export const QUEUE_OPTIONS = {
  queue: {
    value: 'URL',
    help: `distribute the shards to the workers of this queue: redis://host:6379, or rediss:// for TLS (default: ${QUEUE_VARIABLE} of the environment, except for --dry-run)`,
  },
  'queue-name': { value: 'NAME', help: 'name of the queue (default: tokenlane-corpus)' },
  'give-up': {
    value: 'SECONDS',
    number: [1, 86_400],
    help: 'with a queue: end with an error if no worker has had a shard for this long (default: wait)',
  },
}

export const METRICS = {
  value: '[HOST:]PORT',
  help: 'serve metrics for Prometheus at http://HOST:PORT/metrics; port 0 is any free one (default host: 127.0.0.1)',
}

/** The option `metrics` of the library. */
export function metricsOf({ metrics }) {
  if (metrics === undefined) return undefined
  const [, host, port] = /^(?:(.+):)?(\d{1,5})$/.exec(metrics) ?? []
  if (port === undefined || Number(port) > 65_535)
    throw new UsageError(`'--metrics' is a port from 0 to 65535, or HOST:PORT, not '${metrics}'`)
  return { port: Number(port), host: host?.replace(/^\[|\]$/g, '') }
}

export const SHARD_SIZE = {
  value: 'SIZE',
  size: [1, 2 ** 40],
  help: 'approximate bytes of text of a shard (default: 256M)',
}

export const OUTPUT = {
  short: 'o',
  value: 'FILE',
  help: 'write to this file instead of standard output; it appears when it is complete',
}
export const QUIET = { short: 'q', help: 'show no progress bar' }
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
