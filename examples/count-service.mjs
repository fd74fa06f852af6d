// A service that counts the tokens of a posted text. It reads no more of a body than its limit,
// stops when the client disconnects, and stays responsive while long texts are counted, because
// they are counted on background threads. fastify.mjs is the same with fastify.

import http from 'node:http'

import { Tokenizer, limits } from 'tokenlane'

limits.configure({ maxInputBytes: 4 << 20, maxQueuedBatches: 100 })
const tokenizer = await Tokenizer.fromEncoding('o200k_base')

/** Bytes of a body, in which JSON may write a character of a text as six. */
const MAX_BODY = 8 << 20
/** In UTF-16 units. Shorter texts are counted synchronously, because a hand-over takes longer. */
const LONG_TEXT = 32 << 10

/** Counts the tokens of a text, or of each text of a list. */
async function countOf(body, signal) {
  const options = { specialTokens: 'text' }
  if (typeof body === 'string' && body.length <= LONG_TEXT) return { tokens: tokenizer.count(body, options) }
  const counts = await tokenizer.countBatch(typeof body === 'string' ? [body] : body, { ...options, signal })
  const tokens = counts.reduce((a, b) => a + b, 0)
  return typeof body === 'string' ? { tokens } : { tokens, counts: [...counts] }
}

/** The body of a request, of which no more than the limit is read. */
async function bodyOf(request) {
  const tooLarge = () => refusal('BODY_TOO_LARGE', `a body may have ${MAX_BODY} bytes`)
  if (Number(request.headers['content-length']) > MAX_BODY) throw tooLarge()
  const chunks = []
  let bytes = 0
  // The request stays open for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > MAX_BODY) throw tooLarge()
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch (error) {
    // Not always a SyntaxError: values that are nested too deeply use up the stack.
    throw refusal('BODY_NOT_JSON', error.message)
  }
}

const refusal = (code, message) => Object.assign(new Error(message), { code })

const STATUS = {
  BODY_TOO_LARGE: 413,
  BODY_NOT_JSON: 400,
  ERR_TOKENLANE_INPUT_TOO_LARGE: 413,
  ERR_TOKENLANE_QUEUE_FULL: 503,
}

/** Other codes of tokenlane are of what the client sent. */
function statusOf({ code }) {
  const isOfClient = /^ERR_TOKENLANE_(?!OUT_OF_MEMORY|PANIC)/.test(code)
  return STATUS[code] ?? (isOfClient ? 400 : 500)
}

const server = http.createServer(async (request, response) => {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const answer = (status, value, headers = {}) => {
    const json = { 'content-type': 'application/json', ...headers }
    // The rest of a body that was not read ends with the connection.
    response.once('finish', () => request.complete || request.destroy())
    response.writeHead(status, json).end(JSON.stringify(value))
  }
  try {
    answer(200, await countOf(await bodyOf(request), gone.signal))
  } catch (error) {
    // Nobody waits for the answer.
    if (response.destroyed) return
    const headers = request.complete ? {} : { connection: 'close' }
    answer(statusOf(error), { code: error.code, message: error.message }, headers)
  }
})

server.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
  console.log(`curl -d '"Hello, world!"' http://127.0.0.1:${server.address().port}`)
})
