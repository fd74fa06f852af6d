// A service that counts tokens and can be operated: Prometheus metrics, backpressure, readiness and
// a graceful shutdown. `npm install fastify prom-client tokenlane`. docs/guide/services.md explains
// each part.

import Fastify from 'fastify'
import client from 'prom-client'
import { Tokenizer, limits, memory, queue } from 'tokenlane'

/** Batches that may wait; more are refused, because they would be answered too late. */
const MAX_WAITING = 50
/** Milliseconds that a request may take, and that requests in flight have when the service ends. */
const TIMEOUT = 10_000

limits.configure({ maxInputBytes: 4 << 20, maxQueuedBatches: MAX_WAITING })
const tokenizer = await Tokenizer.forModel('gpt-4o')

// --- Metrics: read when they are scraped, so they cost nothing in between.

client.collectDefaultMetrics() // event loop lag, heap, garbage collections

function gauge(name, help, read) {
  new client.Gauge({
    name: `tokenlane_${name}`,
    help,
    collect() {
      this.set(read())
    },
  })
}

gauge('queue_waiting', 'Batches that wait', () => queue.stats().waiting)
gauge('queue_running', 'Batches that run', () => queue.stats().running)
gauge('memory_mapped_bytes', 'Memory that the pool has from the system', () => memory.stats().mapped)
gauge('memory_outstanding_bytes', 'Memory of running calls and of results', () => memory.stats().outstanding)
gauge('table_bytes', 'Tables of the tokenizer', () => tokenizer.stats().tableBytes)
gauge('cache_bytes', 'Word cache of the tokenizer', () => tokenizer.stats().cacheBytes)
gauge('cache_hit_ratio', 'Hits of the word cache', () => {
  const { cacheHits, cacheMisses } = tokenizer.stats()
  return cacheHits / Math.max(1, cacheHits + cacheMisses)
})
const tokens = new client.Counter({ name: 'tokenlane_tokens_total', help: 'Tokens that were counted' })
const failures = new client.Counter({
  name: 'tokenlane_errors_total',
  help: 'Requests that failed, by code',
  labelNames: ['code'],
})
const seconds = new client.Histogram({
  name: 'tokenlane_count_seconds',
  help: 'Time of a count, with its wait in the queue',
  buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
})

// --- The service.

// A number in the body is no text.
const ajv = { customOptions: { coerceTypes: /** @type {const} */ (false) } }
const app = Fastify({ bodyLimit: 8 << 20, requestTimeout: TIMEOUT, ajv })
let isReady = true

app.get('/metrics', async (_, reply) => reply.type(client.register.contentType).send(await client.register.metrics()))
app.get('/live', async () => ({ status: 'ok' }))
app.get('/ready', (_, reply) => reply.code(isReady ? 200 : 503).send({ ready: isReady }))

/** Refuses a request before its body is read, while more work waits than can be done in time. */
function refuseIfBusy(_, reply, done) {
  if (queue.stats().waiting < MAX_WAITING) return done()
  failures.inc({ code: 'BUSY' })
  reply.code(503).header('retry-after', 1).send({ code: 'BUSY', message: 'too many requests wait' })
}

const texts = { type: 'array', items: { type: 'string' } }

app.post('/count', { onRequest: refuseIfBusy, schema: { body: texts } }, async (request, reply) => {
  // The batch stops if it takes too long, or if nobody waits for the answer any more.
  const gone = new AbortController()
  reply.raw.once('close', () => reply.raw.writableFinished || gone.abort())
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(TIMEOUT)])
  const end = seconds.startTimer()
  const counts = await tokenizer.countBatch(request.body, { specialTokens: 'text', signal })
  end()
  tokens.inc(counts.reduce((sum, count) => sum + count, 0))
  return { counts: [...counts] }
})

const STATUS = { ERR_TOKENLANE_INPUT_TOO_LARGE: 413, ERR_TOKENLANE_QUEUE_FULL: 503, TimeoutError: 504 }

/** Other codes of tokenlane are of what the client sent. */
function statusOf(code, { statusCode }) {
  const isOfClient = /^ERR_TOKENLANE_(?!OUT_OF_MEMORY|PANIC)/.test(code)
  return STATUS[code] ?? statusCode ?? (isOfClient ? 400 : 500)
}

app.setErrorHandler((error, _, reply) => {
  const code = typeof error.code === 'string' ? error.code : error.name
  failures.inc({ code })
  reply.code(statusOf(code, error)).send({ code, message: error.message })
})

// --- Shutdown: no new requests, those in flight are answered, then the process ends by itself.

// A connection that is kept alive would hold the service up until it times out.
app.addHook('onSend', async (_, reply) => {
  if (!isReady) reply.header('connection', 'close')
})

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    isReady = false
    // Whatever still hangs then is cut off.
    setTimeout(() => process.exit(1), TIMEOUT).unref()
    await app.close()
    console.log('closed')
  })
}

console.log(await app.listen({ port: Number(process.argv[2] ?? 3000) }))
