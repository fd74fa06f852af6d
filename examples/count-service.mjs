// A service that counts tokens: POST a text, get their number. It takes so much text and no more, and goes on answering while a long
// text or list is counted, because that happens on other threads. fastify.mjs is the same with fastify.

import http from 'node:http'

import { Tokenizer, limits } from 'tokenlane'

limits.configure({ maxInputBytes: 4 << 20, maxQueuedBatches: 100 })
const tokenizer = await Tokenizer.fromEncoding('o200k_base')

/** What is shorter is counted before another thread would have begun. */
const LONG_TEXT = 32 << 10

/** Of a text its tokens; of a list of texts those of each. */
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
  const answer = (status, value) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  try {
    answer(200, await countOf(JSON.parse(Buffer.concat(chunks).toString())))
  } catch (error) {
    answer(STATUS[error.code] ?? 400, { code: error.code, message: error.message })
  }
})

server.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
  console.log(`curl -d '"Hello, world!"' http://127.0.0.1:${server.address().port}`)
})
