// A service that counts the tokens of a posted text. The size of its input is limited, and it stays
// responsive while long texts are counted, because they are counted on background threads.
// fastify.mjs is the same with fastify.

import http from 'node:http'

import { Tokenizer, limits } from 'tokenlane'

limits.configure({ maxInputBytes: 4 << 20, maxQueuedBatches: 100 })
const tokenizer = await Tokenizer.fromEncoding('o200k_base')

/** In UTF-16 units. Shorter texts are counted synchronously, because a hand-over takes longer. */
const LONG_TEXT = 32 << 10

/** Counts the tokens of a text, or of each text of a list. */
async function countOf(body) {
  const options = { specialTokens: 'text' }
  if (typeof body === 'string' && body.length <= LONG_TEXT) return { tokens: tokenizer.count(body, options) }
  const counts = await tokenizer.countBatch(typeof body === 'string' ? [body] : body, options)
  const tokens = counts.reduce((a, b) => a + b, 0)
  return typeof body === 'string' ? { tokens } : { tokens, counts: [...counts] }
}

const STATUS = { ERR_TOKENLANE_INPUT_TOO_LARGE: 413, ERR_TOKENLANE_QUEUE_FULL: 503 }

const server = http.createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const answer = (status, value) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  try {
    answer(200, await countOf(JSON.parse(Buffer.concat(chunks).toString())))
  } catch (error) {
    answer(STATUS[error.code] ?? 400, { code: error.code, message: error.message })
  }
})

server.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
  console.log(`curl -d '"Hello, world!"' http://127.0.0.1:${server.address().port}`)
})
