// A service that counts tokens, with fastify: `npm install fastify tokenlane`. It takes so much and no more, answers errors with
// what clients can act on, and stops counting for a client that has gone.

import Fastify from 'fastify'
import { Tokenizer, limits } from 'tokenlane'

limits.configure({ maxInputBytes: 4 << 20, maxQueuedBatches: 100 })
const tokenizer = await Tokenizer.fromEncoding('o200k_base')

const STATUS = { ERR_TOKENLANE_INPUT_TOO_LARGE: 413, ERR_TOKENLANE_QUEUE_FULL: 503, ERR_TOKENLANE_ARGUMENT_TYPE: 400, ERR_TOKENLANE_ARGUMENT_VALUE: 400 }
const message = { type: 'object', required: ['role'], properties: { role: { type: 'string' } }, additionalProperties: true }

const app = Fastify({ bodyLimit: 8 << 20 })

/** Aborts when the connection is closed before there is an answer. */
function goneSignal(request, reply) {
  const controller = new AbortController()
  request.raw.socket.once('close', () => reply.raw.writableFinished || controller.abort())
  return controller.signal
}

app.post('/count', { schema: { body: { type: 'array', items: { type: 'string' } } } }, async (request, reply) => {
  const counts = await tokenizer.countBatch(request.body, { specialTokens: 'text', signal: goneSignal(request, reply) })
  return { counts: [...counts] }
})

app.post('/chat', { schema: { body: { type: 'array', items: message } } }, (request) => ({ tokens: tokenizer.countChat(request.body) }))

app.setErrorHandler((error, request, reply) => {
  reply.code(STATUS[error.code] ?? error.statusCode ?? 500).send({ code: error.code, message: error.message })
})

console.log(await app.listen({ port: Number(process.argv[2] ?? 3000) }))
