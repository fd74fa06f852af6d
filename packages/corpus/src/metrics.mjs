// The figures of a corpus job or of a worker for Prometheus, at http://HOST:PORT/metrics. They are
// sums of the events that a job and a worker report anyway, and are written when they are read, so
// they cost nothing in between. The text format is a line per figure, none of which has a label
// that comes from a queue or an input.

import { once } from 'node:events'
import http from 'node:http'
import os from 'node:os'

import { memory, VERSION } from 'tokenlane/internal/corpus.js'
import { error } from './errors.mjs'
import { isSize } from './values.mjs'

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'
/** Limits of the server, which another machine may be able to reach. */
const MAX_CONNECTIONS = 32
const REQUEST_TIMEOUT_MS = 10_000
/** What became of a shard. */
const RESULTS = ['done', 'kept', 'failed', 'returned', 'lost']
const HOST = os.hostname()
const STARTED = Date.now() / 1000 - process.uptime()

/**
 * Serves the figures of a job or of a worker, if it has the option metrics.
 *
 * @template {{ metrics?: { port: number, host: string }, onEvent: (event: any) => void }} Options
 * @param {Options} options
 * @param {'job' | 'planner' | 'worker'} role
 * @returns {Promise<{ options: Options, end: () => void }>} options whose `onEvent` counts too, and
 *   what ends the server
 */
export async function startMetrics(options, role) {
  if (options.metrics === undefined) return { options, end() {} }
  const figures = new Figures(role)
  const { url, end } = await serve(figures, options.metrics)
  const onEvent = (event) => {
    figures.add(event)
    options.onEvent(event)
  }
  try {
    onEvent({ event: 'metrics', url })
  } catch (failure) {
    end()
    throw failure
  }
  return { options: { ...options, onEvent }, end }
}

/** The sums of a job or a worker. */
export class Figures {
  #role
  #documents = 0
  #tokens = 0
  #bytes = 0
  #skipped = 0
  #unreadable = 0
  #queueErrors = 0
  /** The number of shards for each result. */
  #shards = Object.fromEntries(RESULTS.map((result) => [result, 0]))
  /** The last event about the progress, which a worker does not have. */
  #progress = /** @type {any} */ (undefined)
  /** The machines that handed a shard back and have not processed one since. */
  #paused = /** @type {Set<string>} */ (new Set())

  /** @param {'job' | 'planner' | 'worker'} role */
  constructor(role) {
    this.#role = role
  }

  /** @param {any} event of a job or of a worker */
  add(event) {
    const { host = HOST } = event
    switch (event.event) {
      case 'shard':
        this.#shards[event.isNew ? 'done' : 'kept'] += 1
        this.#paused.delete(host)
        if (event.isNew) this.#addShard(event)
        return
      case 'failed':
        if (event.shard !== undefined) this.#shards.failed += 1
        return
      case 'refused':
      case 'paused':
        this.#shards.returned += 1
        this.#paused.add(host)
        return
      case 'stalled':
        this.#shards.lost += 1
        return
      case 'unreadable':
        this.#unreadable += 1
        return
      case 'error':
        this.#queueErrors += 1
        return
      case 'progress':
        this.#progress = event
    }
  }

  #addShard({ documents, tokens, bytes, skipped }) {
    this.#documents += documents
    this.#tokens += tokens
    this.#bytes += bytes
    // In a planner the event comes from a queue, which checks the other figures.
    this.#skipped += isSize(skipped) ? skipped : 0
  }

  /** The figures in the text format of Prometheus. */
  toString() {
    const { user, system } = process.cpuUsage()
    const { mapped, outstanding } = memory.stats()
    return [
      gauge('tokenlane_corpus_info', 'What this process is', {
        [`{version="${VERSION}",role="${this.#role}"}`]: 1,
      }),
      counter('tokenlane_corpus_documents_total', 'Documents of shards that this run processed', this.#documents),
      counter('tokenlane_corpus_tokens_total', 'Tokens of these documents', this.#tokens),
      counter('tokenlane_corpus_input_bytes_total', 'Bytes of the inputs of these shards, as stored', this.#bytes),
      counter('tokenlane_corpus_skipped_rows_total', 'Rows that on-error skip left out', this.#skipped),
      counter('tokenlane_corpus_unreadable_inputs_total', 'Inputs that on-error skip left out', this.#unreadable),
      counter('tokenlane_corpus_queue_errors_total', 'Failures of the connection to Redis', this.#queueErrors),
      counter('tokenlane_corpus_shards_total', 'Shards by what became of them', this.#shardsByResult()),
      gauge('tokenlane_corpus_paused_machines', 'Machines that cannot process shards now', this.#paused.size),
      ...this.#ofProgress(),
      gauge('tokenlane_memory_mapped_bytes', 'Memory that the pool of results has from the system', mapped),
      gauge('tokenlane_memory_outstanding_bytes', 'Memory of running calls and of results', outstanding),
      gauge('process_resident_memory_bytes', 'Resident memory', process.memoryUsage.rss()),
      gauge('process_start_time_seconds', 'Start of the process since the epoch', STARTED),
      counter('process_cpu_seconds_total', 'Processor time', (user + system) / 1e6),
    ].join('')
  }

  #shardsByResult() {
    return Object.fromEntries(RESULTS.map((result) => [`{result="${result}"}`, this.#shards[result]]))
  }

  #ofProgress() {
    if (this.#progress === undefined) return []
    const { bytes, allBytes, allShards, hosts } = this.#progress
    const running = Object.values(hosts).reduce((sum, host) => sum + host.running, 0)
    return [
      gauge('tokenlane_corpus_planned_shards', 'Shards of the job', allShards),
      gauge('tokenlane_corpus_planned_input_bytes', 'Bytes of the inputs of the job', allBytes),
      gauge('tokenlane_corpus_running_shards', 'Shards in progress', running),
      gauge('tokenlane_corpus_progress_ratio', 'Share of the bytes that were read', bytes / Math.max(1, allBytes)),
    ]
  }
}

/** The lines of a metric: its value, or values by labels. */
function metric(type, name, help, value) {
  const values = typeof value === 'number' ? { '': value } : value
  const lines = Object.entries(values).map(([labels, one]) => `${name}${labels} ${one}\n`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

const gauge = (name, help, value) => metric('gauge', name, help, value)
const counter = (name, help, value) => metric('counter', name, help, value)

/** Serves figures until `end` is called. */
async function serve(figures, { port, host }) {
  const server = http.createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    const { status, body } = answer(request, figures)
    response.writeHead(status, { 'content-type': TYPE, 'x-content-type-options': 'nosniff' }).end(body)
  })
  server.maxConnections = MAX_CONNECTIONS
  const place = (number) => `${host.includes(':') ? `[${host}]` : host}:${number}`
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (failure) {
    throw error('ERR_TOKENLANE_METRICS', `metrics cannot be served at ${place(port)}: ${reasonOf(failure)}`, {
      cause: failure,
    })
  }
  // A failure of a connection is none of the job.
  server.on('error', () => {})
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  const end = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://${place(address.port)}/metrics`, end }
}

/**
 * @param {http.IncomingMessage} request
 * @param {Figures} figures
 * @returns {{ status: number, body: string }}
 */
function answer({ method, url = '' }, figures) {
  if (url.split('?')[0] !== '/metrics') return { status: 404, body: 'the metrics are at /metrics\n' }
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: `${method} is not allowed\n` }
  return { status: 200, body: String(figures) }
}

function reasonOf({ code, message }) {
  switch (code) {
    case 'EADDRINUSE':
      return 'another program uses this port; name another one, or 0 for any'
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'this machine has no such address'
    case 'EACCES':
      return 'this user may not open this port'
    default:
      return message
  }
}
