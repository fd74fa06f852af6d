// The service that soak.mjs holds under load: an endpoint a kind of call. Says its port, every second what it measured, and when it is
// asked to rest, what memory it holds then.
//
// It does as the README says, so that the event loop stands still for nobody's text: long ones are counted and encoded on other
// threads, and of a large body no more is read in one turn than the socket gives at once.

import inspector from 'node:inspector'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'

import fastify from 'fastify'

import { memory, Tokenizer } from '../../index.mjs'

/** In UTF-16 units: what is shorter takes less time than handing it to another thread. */
const LONG_TEXT = 32 << 10
const LARGE_PART = 16 << 10
const LARGE_BODY = 64 << 10
const MOST = 16 << 20

const gpt = await Tokenizer.fromEncoding('o200k_base')
const app = fastify({ bodyLimit: MOST })
app.removeContentTypeParser('application/json')
app.addContentTypeParser('application/json', async (_, payload) => {
  let body = ''
  for await (const part of payload.setEncoding('utf8')) {
    body += part
    if (body.length > MOST) throw Object.assign(new Error('the body is too large'), { statusCode: 413 })
    if (part.length > LARGE_PART) await turn()
  }
  const value = JSON.parse(body)
  if (body.length > LARGE_BODY) await turn()
  return value
})

app.post('/count', async ({ body: { text } }) => ({ count: text.length > LONG_TEXT ? (await gpt.countBatch([text]))[0] : gpt.count(text) }))
app.post('/encode', async ({ body: { text } }, reply) => {
  reply.type('application/json')
  if (text.length <= LONG_TEXT) return jsonOf(gpt.encode(text).ids)
  const batch = await gpt.encodeBatch([text])
  const json = jsonOf(batch.row(0))
  batch.dispose()
  return json
})
app.post('/batch', async ({ body: { texts } }) => ({ counts: [...(await gpt.countBatch(texts))] }))

/** Half the time of an array of them and `JSON.stringify`. */
function jsonOf(ids) {
  return `{"ids":[${ids.join()}]}`
}

await app.listen({ port: 0, host: '127.0.0.1' })

const session = new inspector.Session()
session.connect()
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
// What the timer itself waits, a millisecond, is no delay.
const measure = () => process.send({ time: performance.now(), rss: process.memoryUsage.rss(), delay: Math.max(0, delay.percentile(99) / 1e6 - 1) })

/**
 * What is held with no request under way: collected as V8 does when it runs out of memory, which also makes its heap small (`gc()` leaves
 * 32 MiB for new objects), and without the pages that are kept for the next results.
 */
async function rest() {
  for (let turns = 0; turns < 2; turns++) {
    await new Promise((done) => session.post('HeapProfiler.collectGarbage', done))
    // What was collected is freed by other threads, and finalized between two turns of the loop.
    await wait(100)
  }
  memory.trim()
  process.send({ resting: { time: performance.now(), rss: process.memoryUsage.rss(), caches: gpt.stats().cacheBytes } })
}

process.on('message', (asked) => (asked === 'rest' ? rest() : measure()))
process.on('disconnect', () => process.exit())
setInterval(measure, 1000)
process.send({ port: app.server.address().port })
