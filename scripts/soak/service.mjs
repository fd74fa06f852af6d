// The service that soak.mjs holds under load: an endpoint a kind of call. Says its port, and every second what it measured.

import { monitorEventLoopDelay } from 'node:perf_hooks'

import fastify from 'fastify'

import { Tokenizer } from '../../index.mjs'

const gpt = await Tokenizer.fromEncoding('o200k_base')
const app = fastify({ bodyLimit: 16 << 20 })
app.post('/count', async ({ body }) => ({ count: gpt.count(body.text) }))
app.post('/encode', async ({ body }) => ({ ids: [...gpt.encode(body.text).ids] }))
app.post('/batch', async ({ body }) => ({ counts: [...(await gpt.countBatch(body.texts))] }))
await app.listen({ port: 0, host: '127.0.0.1' })

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
// What the timer itself waits, a millisecond, is no delay.
const measure = () => process.send({ time: performance.now(), rss: process.memoryUsage.rss(), delay: Math.max(0, delay.percentile(99) / 1e6 - 1) })
process.on('message', measure)
process.on('disconnect', () => process.exit())
setInterval(measure, 1000)
process.send({ port: app.server.address().port })
