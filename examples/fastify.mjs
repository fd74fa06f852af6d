// A service that counts tokens, with fastify: `npm install fastify tokenlane`. The size of its
// input is limited, errors have a status and a code for clients, and counting stops if the client
// disconnects.

import Fastify from 'fastify'
import { Tokenizer, limits } from 'tokenlane'

limits.configure({ maxInputBytes: 4 << 20, maxQueuedBatches: 100 })
const tokenizer = await Tokenizer.fromEncoding('o200k_base')

const STATUS = {
  ERR_TOKENLANE_INPUT_TOO_LARGE: 413,
  ERR_TOKENLANE_QUEUE_FULL: 503,
  ERR_TOKENLANE_ARGUMENT_TYPE: 400,
  ERR_TOKENLANE_ARGUMENT_VALUE: 400,
}
const message = {
  type: 'object',
  required: ['role'],
  properties: { role: { type: 'string' } },
  additionalProperties: true,
}

const app = Fastify({ bodyLimit: 8 << 20 })

/** Returns a signal that aborts if the client disconnects before the response is sent. */
function disconnectSignal(request, reply) {
  const controller = new AbortController()
  request.raw.socket.once('close', () => reply.raw.writableFinished || controller.abort())
  return controller.signal
}

app.post('/count', { schema: { body: { type: 'array', items: { type: 'string' } } } }, async (request, reply) => {
  const counts = await tokenizer.countBatch(request.body, {
    specialTokens: 'text',
    signal: disconnectSignal(request, reply),
  })
  return { counts: [...counts] }
})

app.post('/chat', { schema: { body: { type: 'array', items: message } } }, (request) => ({
  tokens: tokenizer.countChat(request.body),
}))

app.setErrorHandler((error, _, reply) => {
  reply.code(STATUS[error.code] ?? error.statusCode ?? 500).send({ code: error.code, message: error.message })
})

console.log(await app.listen({ port: Number(process.argv[2] ?? 3000) }))
