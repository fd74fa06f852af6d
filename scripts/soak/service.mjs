// The service that soak.mjs holds under load: an endpoint a kind of call. Says its port, and every second what it measured.
//
// It does as the README says, so that the event loop stands still for nobody's text: long ones are counted and encoded on other
// threads, and of a large body no more is read in one turn than the socket gives at once.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'

import fastify from 'fastify'

import { Tokenizer } from '../../index.mjs'

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

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
// What the timer itself waits, a millisecond, is no delay.
const measure = () => process.send({ time: performance.now(), rss: process.memoryUsage.rss(), delay: Math.max(0, delay.percentile(99) / 1e6 - 1) })
process.on('message', measure)
process.on('disconnect', () => process.exit())
setInterval(measure, 1000)
process.send({ port: app.server.address().port })
