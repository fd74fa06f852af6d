// What the commands that count words share: options, and the file that they write.

import fs from 'node:fs'
import path from 'node:path'

import { fileFailure, realPathIfThere } from 'tokenlane/internal/files.mjs'
import { interruptible, plural, openOutput, RATIO_OPTION } from 'tokenlane/internal/cli.mjs'
import { CHOICES } from '../src/options.mjs'
import { Notices, howToGoOn } from './corpus-progress.mjs'
import { trainProgress } from './train-progress.mjs'
import {
  CONCURRENCY,
  FIELD,
  FILES_FROM,
  MAX_ROW,
  QUEUE_OPTIONS,
  QUEUE_VARIABLE,
  RESUME_CHECK,
  SHARD_SIZE,
} from './options.mjs'

const MAX_COUNT = 2 ** 31 - 1

export const count = (help, least = 0) => ({ value: 'N', number: [least, MAX_COUNT], help })
export const text = (value, help) => ({ value, help })

/** Options of what is written. */
export const OUTPUT = {
  short: 'o',
  value: 'FILE',
  help: 'the tokenizer.json, or - for standard output; it appears when it is complete',
}
export const JSON_SUMMARY = { help: 'print the summary as JSON' }

/** Options of what is read. */
export const INPUT_OPTIONS = {
  rows: { choices: CHOICES.rows, help: 'what a text is (default: by the name of the file)' },
  field: FIELD,
  'files-from': FILES_FROM,
  'on-error': {
    choices: CHOICES.onError,
    default: 'fail',
    help: 'skip: continue without rows and texts that cannot be read, and count them',
  },
  'max-row': MAX_ROW,
  ...RATIO_OPTION,
}

/** Options of what is counted, and how. */
export const COUNT_OPTIONS = {
  ...INPUT_OPTIONS,
  memory: {
    value: 'SIZE',
    size: [1 << 20, 2 ** 50],
    help: 'memory for counts of words; more go to files in TMPDIR (default: 2G, at most half of the memory)',
  },
  'work-dir': {
    value: 'FOLDER',
    help: 'count in shards, whose counts are kept in this folder or s3://bucket/prefix/; the same command continues after a crash, and other options of the vocabulary use the same counts',
  },
  'shard-size': SHARD_SIZE,
  concurrency: CONCURRENCY,
  'resume-check': { ...RESUME_CHECK, default: undefined, help: `${RESUME_CHECK.help} (default: sha256)` },
  ...QUEUE_OPTIONS,
  queue: {
    ...QUEUE_OPTIONS.queue,
    help: `with --work-dir: ${QUEUE_OPTIONS.queue.help.replace(', except for --dry-run', '')}`,
  },
}

/**
 * The options of a call that counts words, checked by `check`.
 *
 * @template Checked
 * @param {(options: object) => Checked} check
 * @param {Record<string, any>} values
 * @param {string[]} inputs
 * @param {(string | undefined)[]} outputs that a folder of inputs may contain
 * @param {object} [more] options of that call alone
 * @returns {Checked & { exclude: string[] }}
 */
export function countOf(check, values, inputs, outputs, more = {}) {
  const { output, ids, json, quiet, against, heldOut, groupBy, giveUp, ...own } = values
  const queue = values.queue ?? (values.workDir && (process.env[QUEUE_VARIABLE] || undefined))
  const options = { ...own, inputs, queue, giveUpSeconds: giveUp, ...more }
  return { ...check(options), exclude: outputs.flatMap((output) => realPathIfThere(output) ?? []) }
}

/** What a summary says about skipped texts and inputs. */
export const skippedLine = (skipped) => `skipped: ${plural(skipped, 'text')} or ${skipped === 1 ? 'input' : 'inputs'}`

/** Opens an output in a folder that is created if it is missing, such as that of a new model. */
export function openInFolder(name) {
  const folder = path.dirname(name)
  try {
    if (name !== '-') fs.mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw fileFailure(folder, error)
  }
  return openOutput(name, [])
}

/**
 * Makes a tokenizer with a progress bar, and writes its tokenizer.json.
 *
 * @template {{ tokenizer: { toBuffer: () => Uint8Array }, [more: string]: any }} TrainOutcome
 * @param {Record<string, any>} values
 * @param {import('../src/train/options.mjs').CountOptions} options of `make`
 * @param {(options: any) => Promise<TrainOutcome>} make
 * @param {(outcome: TrainOutcome) => Promise<void>} [beside] writes other files before the
 * tokenizer.json
 * @returns {Promise<{ outcome: TrainOutcome, seen: { texts: number, bytes: number }, seconds:
 * number }>}
 */
export async function published(values, options, make, beside = async () => {}) {
  const progress = trainProgress(values)
  const output = openInFolder(values.output)
  const start = performance.now()
  const seen = { texts: 0, bytes: 0 }
  const onProgress = (state) => {
    if (state.phase === 'count') Object.assign(seen, { texts: state.texts, bytes: state.bytes })
    progress.on(state)
  }
  const { job } = options
  const notices = new Notices()
  const watched = job === undefined ? options : { ...options, job: { ...job, onEvent: (event) => notices.on(event) } }
  const onInterrupted = () => {
    progress.stop()
    if (job !== undefined && !values.quiet) process.stderr.write(`tokenlane: ${howToGoOn(job)}\n`)
  }
  try {
    const outcome = await interruptible((signal) => make({ ...watched, onProgress, signal }), onInterrupted)
    const seconds = (performance.now() - start) / 1000
    await output.write(Buffer.from(outcome.tokenizer.toBuffer()))
    await beside(outcome)
    await output.commit()
    return { outcome, seen, seconds }
  } finally {
    progress.stop()
  }
}
