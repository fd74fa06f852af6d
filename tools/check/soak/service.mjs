// The service of soak.mjs, with one endpoint for each kind of call. It reports its port, its
// measurements every second, and on request its memory use at rest.
//
// No text blocks the event loop: long texts are counted and encoded on background threads, and each
// turn of the loop reads only one chunk of a large body.

import inspector from 'node:inspector'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'

import fastify from 'fastify'

import { memory, Tokenizer } from '../../../index.mjs'

// In UTF-16 units.
/** Encoding a shorter text takes less time than passing it to another thread. */
const LONG_TEXT = 32 << 10
const LARGE_PART = 16 << 10
const LARGE_BODY = 64 << 10
const MAX_BODY = 16 << 20

const gpt = await Tokenizer.fromEncoding('o200k_base')
const app = fastify({ bodyLimit: MAX_BODY })
app.removeContentTypeParser('application/json')
app.addContentTypeParser('application/json', async (_, payload) => {
  let body = ''
  for await (const part of payload.setEncoding('utf8')) {
    body += part
    if (body.length > MAX_BODY) throw Object.assign(new Error('the body is too large'), { statusCode: 413 })
    if (part.length > LARGE_PART) await turn()
  }
  const value = JSON.parse(body)
  if (body.length > LARGE_BODY) await turn()
  return value
})

app.post('/count', async (/** @type {any} */ { body: { text } }) => ({
  count: text.length > LONG_TEXT ? (await gpt.countBatch([text]))[0] : gpt.count(text),
}))
app.post('/encode', async (/** @type {any} */ { body: { text } }, reply) => {
  reply.type('application/json')
  if (text.length <= LONG_TEXT) return jsonOf(gpt.encode(text).ids)
  const batch = await gpt.encodeBatch([text])
  const json = jsonOf(batch.row(0))
  batch.dispose()
  return json
})
app.post('/batch', async (/** @type {any} */ { body: { texts } }) => ({ counts: [...(await gpt.countBatch(texts))] }))

/** The JSON of ids. It takes half as long as `JSON.stringify` of an array. */
function jsonOf(ids) {
  return `{"ids":[${ids.join()}]}`
}

await app.listen({ port: 0, host: '127.0.0.1' })

const session = new inspector.Session()
session.connect()
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
// The timer itself waits one millisecond, which is not a delay.
const measure = () =>
  process.send({
    time: performance.now(),
    rss: process.memoryUsage.rss(),
    delay: Math.max(0, delay.percentile(99) / 1e6 - 1),
  })

/**
 * Reports the memory at rest. `HeapProfiler.collectGarbage` collects as thoroughly as V8 does
 * before it runs out of memory and shrinks its heap; `gc()` would keep 32 MiB for new objects.
 * `trim` releases the pages that the pool keeps for the next results.
 */
async function rest() {
  for (let turns = 0; turns < 2; turns++) {
    await new Promise((done) => session.post('HeapProfiler.collectGarbage', done))
    // Other threads free the collected memory, and finalizers run between two turns of the loop.
    await wait(100)
  }
  memory.trim()
  process.send({ resting: { time: performance.now(), rss: process.memoryUsage.rss(), caches: gpt.stats().cacheBytes } })
}

process.on('message', (command) => (command === 'rest' ? rest() : measure()))
process.on('disconnect', () => process.exit())
setInterval(measure, 1000)
process.send({ port: /** @type {import('node:net').AddressInfo} */ (app.server.address()).port })
