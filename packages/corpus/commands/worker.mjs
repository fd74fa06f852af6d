// `tokenlane worker`: processes shards of corpus jobs from a queue.

import { UsageError, onFirstSignal, plural, forOutput, oneLine, QUIET } from 'tokenlane/internal/cli.mjs'
import { createWorker } from '../index.mjs'
import { CONCURRENCY, METRICS, QUEUE_OPTIONS, QUEUE_VARIABLE, SHARD_THREADS, metricsOf } from './options.mjs'

/** Time in seconds after the grace period at which a worker exits in any case. */
const EXIT_DELAY_SECONDS = 10
/** Default grace period in seconds. */
const GRACE = 20

export const worker = {
  summary: 'Process shards of corpus jobs from a queue.',
  usage: ['--queue URL --allow FOLDER [options]'],
  about: [
    `Start one on each machine; tokenlane corpus --queue URL plans, and the workers share the shards. The URL may also be in the environment variable ${QUEUE_VARIABLE}, user and password in ${QUEUE_VARIABLE}_USERNAME and ${QUEUE_VARIABLE}_PASSWORD. It needs the packages bullmq and ioredis, Redis 6.2 or newer, and a folder that all machines see under the same path, or S3.`,
    'Whatever a job says, a worker reads and writes only below the folders and prefixes of --allow. SIGTERM ends it when its shards are done; shards that take longer than the grace period return to the queue. A shard that this machine cannot process (a folder that is not mounted or allowed, another tokenizer, a full disk) returns to the queue, and the worker pauses for 1 to 60 seconds.',
  ],
  brief: {
    queue: `redis://host:6379, or rediss:// (default: ${QUEUE_VARIABLE})`,
    allow: 'folder that jobs may read and write; repeatable',
    'allow-hub': 'let jobs use tokenizers of the hub',
    concurrency: 'shards at a time (default: half the processors)',
    threads: 'maximum number of threads (default: all processors)',
    grace: 'seconds that SIGTERM waits for shards (default: 20)',
    json: 'write events as JSON Lines to standard output',
  },
  options: {
    queue: {
      value: 'URL',
      help: `redis://host:6379, or rediss:// for TLS (default: ${QUEUE_VARIABLE} of the environment)`,
    },
    'queue-name': QUEUE_OPTIONS['queue-name'],
    allow: {
      value: 'FOLDER',
      multiple: true,
      help: 'folder, s3://bucket/prefix/ (gs://, az://) or hf://datasets/OWNER/NAME that jobs may use; can be repeated',
    },
    'allow-hub': { help: 'let jobs use tokenizers of the Hugging Face Hub' },
    hooks: { value: 'FILE', help: 'the module of hooks for jobs with this SHA-256' },
    concurrency: CONCURRENCY,
    threads: SHARD_THREADS,
    'lock-time': {
      value: 'SECONDS',
      number: [4, 86_400],
      default: 30,
      help: 'seconds after which another worker takes over the shard of a dead one',
    },
    grace: {
      value: 'SECONDS',
      number: [0, 86_400],
      default: GRACE,
      help: 'time for which SIGTERM waits for shards before they return to the queue',
    },
    'max-stalls': {
      value: 'N',
      number: [0, 1_000_000],
      default: 25,
      help: 'workers that may end while they have a shard before the shard counts as failed',
    },
    wait: {
      value: 'SECONDS',
      number: [0, 86_400],
      default: 300,
      help: 'how long to wait at the start for a Redis that cannot be reached',
    },
    metrics: METRICS,
    json: { help: 'write events as JSON Lines to standard output' },
    quiet: { ...QUIET, help: 'print no lines about events' },
  },
  examples: [
    ['tokenlane worker --queue redis://host:6379 --allow /shared', 'start a worker for jobs below /shared'],
    [
      `${QUEUE_VARIABLE}_PASSWORD=… tokenlane worker --queue rediss://host:6379 --allow /shared`,
      'the same with TLS and a password',
    ],
  ],

  async run({ values, positionals }) {
    if (positionals.length > 0) throw new UsageError(`a worker takes no files: '${positionals[0]}'`)
    const queue = values.queue ?? process.env[QUEUE_VARIABLE]
    if (queue === undefined) throw new UsageError(`name the queue with '--queue' or ${QUEUE_VARIABLE}`)
    if (values.allow === undefined) throw new UsageError("name the folders that jobs may use with '--allow'")
    const { json, quiet, lockTime, grace, wait, ...how } = values
    const running = await createWorker({
      ...how,
      queue,
      lockSeconds: lockTime,
      graceSeconds: grace,
      waitSeconds: wait,
      metrics: metricsOf(values),
      onEvent: (event) => say(event, values),
    })
    say({ event: 'ready' }, values)
    onFirstSignal(() => {
      setTimeout(() => process.exit(1), (values.grace + EXIT_DELAY_SECONDS) * 1000).unref()
      running.close().catch(() => {})
    })
    await running.done
    process.exit(0)
  },
}

function say(event, { json, quiet }) {
  if (json) process.stdout.write(forOutput(`${JSON.stringify(event)}\n`))
  else if (!quiet) process.stderr.write(`${oneLine(lineOf(event))}\n`)
}

function lineOf(event) {
  switch (event.event) {
    case 'ready':
      return 'ready for shards'
    case 'shard':
      return `shard ${event.shard}: ${event.isNew ? 'done' : 'was done'}, ${plural(event.documents, 'document')}, ${plural(event.tokens, 'token')}, ${event.seconds.toFixed(1)} s`
    case 'compared':
      return `${event.first + 1 === event.end ? `shard ${event.first}` : `shards ${event.first} to ${event.end - 1}`} compared: ${event.problems === 0 ? 'as recorded' : plural(event.problems, 'problem')}, ${event.seconds.toFixed(1)} s`
    case 'manifest':
      return `manifest of ${plural(event.shards, 'shard')} written`
    case 'failed':
      return `${event.shard === undefined ? 'the manifest' : `shard ${event.shard}`} failed (attempt ${event.attempt}): ${event.message}`
    case 'paused':
      return `paused for ${event.seconds} s, because this machine cannot process ${event.shard === undefined ? 'the manifest' : `shard ${event.shard}`}: ${event.message}`
    case 'metrics':
      return `metrics at ${event.url}`
    default:
      return event.message
  }
}
