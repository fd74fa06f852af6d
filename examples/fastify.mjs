// A service that counts tokens: `npm install fastify tokenlane @tokenlane/requests`. The size of
// its input is limited, errors have a status and a code for clients, and counting stops if the
// client disconnects.

import Fastify from 'fastify'
import { countRequest } from '@tokenlane/requests'
import { Tokenizer, limits } from 'tokenlane'

limits.configure({ maxInputBytes: 4 << 20, maxQueuedBatches: 100 })
const tokenizer = await Tokenizer.fromEncoding('o200k_base')

const STATUS = { ERR_TOKENLANE_INPUT_TOO_LARGE: 413, ERR_TOKENLANE_QUEUE_FULL: 503 }

/** Other codes of tokenlane are of what the client sent. */
function statusOf({ code, statusCode }) {
  const isOfClient = /^ERR_TOKENLANE_(?!OUT_OF_MEMORY|PANIC)/.test(code)
  return STATUS[code] ?? statusCode ?? (isOfClient ? 400 : 500)
}

const message = {
  type: 'object',
  required: ['role'],
  properties: { role: { type: 'string' } },
  additionalProperties: true,
}

// A number in the body is no text.
const app = Fastify({ bodyLimit: 8 << 20, ajv: { customOptions: { coerceTypes: false } } })

/** Returns a signal that aborts if the client disconnects before the response is sent. */
function disconnectSignal(reply) {
  const controller = new AbortController()
  // Not of the socket, which serves many requests.
  reply.raw.once('close', () => reply.raw.writableFinished || controller.abort())
  return controller.signal
}

app.post('/count', { schema: { body: { type: 'array', items: { type: 'string' } } } }, async (request, reply) => {
  const counts = await tokenizer.countBatch(request.body, {
    specialTokens: 'text',
    signal: disconnectSignal(reply),
  })
  return { counts: [...counts] }
})

app.post('/chat', { schema: { body: { type: 'array', items: message } } }, (request) => ({
  tokens: countRequest(tokenizer, { messages: request.body }).tokens,
}))

app.setErrorHandler((error, _, reply) => {
  reply.code(statusOf(error)).send({ code: error.code, message: error.message })
})

console.log(await app.listen({ port: Number(process.argv[2] ?? 3000) }))
