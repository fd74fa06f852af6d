// Options that commands of this package share, and the options of its calls that they become.

import { THREADS, UsageError } from 'tokenlane/internal/cli.mjs'
import { FORMATS } from '../src/formats/names.mjs'
import { CHOICES } from '../src/options.mjs'

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
  choices: CHOICES.packing,
  help: 'with --pack: full rows that cut documents, or rows of whole documents that fit and may be shorter (default: sequential)',
}
export const RESUME_CHECK = {
  choices: CHOICES.resumeCheck,
  default: 'sha256',
  help: 'how the files of an earlier run are compared',
}
export const JSON_EVENTS = { help: 'write events as JSON Lines to standard output, the last one with the result' }

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
