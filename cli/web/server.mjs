// Serves the page and its API to users of this machine. The server listens on loopback only. It
// checks the Host header, because the domain of another page can resolve to loopback, and the
// Origin header, so that pages of other origins cannot send requests.

import fs from 'node:fs'
import http from 'node:http'

import { LOOK, charactersOf, describe, hex, tokensPerLine, tokensWithin } from '../tokens.mjs'
import { costs } from './languages.mjs'

const PAGE = new URL('../page/', import.meta.url)
const TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** Maximum size of a request in bytes of JSON. The page limits the text too. */
const MAX_BODY_BYTES = 20 << 20
/** Maximum length of the drawn part of a text, in UTF-16 units. */
const MAX_DRAWN_UNITS = 3000
/** Maximum number of bars in the chart. More lines share bars. */
const MAX_BARS = 120

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** An error response. */
class Refusal extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/**
 * A server that is not listening yet.
 *
 * @param {object} choice
 * @param {string[]} choice.names of the tokenizers that the page offers; the first two are selected
 * @param {(name: string) => Promise<import('../../index.js').Tokenizer>} choice.load
 * @param {string} [choice.text] the initial text of the page
 * @returns {http.Server}
 */
export function pageServer({ names, load, text }) {
  const files = pageFiles()
  const loaded = new Map()
  const tokenizerOf = (name) => {
    if (!names.includes(name)) throw new Refusal(404, 'there is no such tokenizer')
    if (!loaded.has(name)) {
      const loading = load(name)
      loaded.set(name, loading)
      // A failed load is tried again on the next request.
      loading.catch(() => loaded.delete(name))
    }
    return loaded.get(name)
  }
  const routes = {
    'GET /api/tokenizers': () => ({ names, shown: [names[0], names[1] ?? names[0]], text }),
    'POST /api/tokens': async (body) => tokens(await tokenizerOf(body.tokenizer), body),
    'POST /api/ids': async (body) => ids(await tokenizerOf(body.tokenizer), body),
    'POST /api/languages': async (body) => costs(await tokenizerOf(body.tokenizer)),
  }
  const server = http.createServer((request, response) => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    answer(request, port, files, routes).then(
      ({ status = 200, type, body }) => response.writeHead(status, { ...HEADERS, 'content-type': type }).end(body),
      ({ status = 500, message, code }) => {
        response.writeHead(status, { ...HEADERS, 'content-type': JSON_TYPE }).end(JSON.stringify({ message, code }))
      },
    )
  })
  return server
}

/** Returns all files of the page by path. No other files are served. */
function pageFiles() {
  /** @type {[path: string, file: { type: string, body: Buffer }][]} */
  const files = fs
    .readdirSync(PAGE)
    .map((name) => [`/${name}`, { type: TYPES[name.split('.').pop()], body: fs.readFileSync(new URL(name, PAGE)) }])
  return new Map([...files, ['/', files.find(([path]) => path === '/index.html')[1]]])
}

async function answer(request, port, files, routes) {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  const { host, origin } = request.headers
  // Browsers omit the port 80.
  if (!hosts.includes(port === 80 ? `${host}:80` : host))
    throw new Refusal(403, 'this server answers on this machine only')
  const { method } = request
  const path = request.url.split('?')[0]
  const file = files.get(path)
  if (file !== undefined) {
    if (method !== 'GET' && method !== 'HEAD') throw new Refusal(405, `${method} is not allowed for files`)
    return file
  }
  const route = routes[`${method} ${path}`]
  if (route === undefined) throw new Refusal(404, 'there is no such path')
  if (origin !== undefined && origin !== `http://${host}`)
    throw new Refusal(403, 'only the page of this server may send this request')
  const body = method === 'POST' ? await json(request) : undefined
  return { type: JSON_TYPE, body: JSON.stringify(await route(body)) }
}

/**
 * Returns the body of a request. A page of another origin cannot send this content type without a
 * CORS preflight, which the server does not allow.
 */
async function json(request) {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    throw new Refusal(415, 'the content type must be application/json')
  const chunks = []
  let bytes = 0
  // Bytes beyond the limit are read and dropped, because a browser reads the response only after it
  // has sent the whole request.
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  if (bytes > MAX_BODY_BYTES) throw new Refusal(413, 'the text is too long for this page')
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString())
    if (body !== null && typeof body === 'object') return body
  } catch {
    // Reported below.
  }
  throw new Refusal(400, 'the body must be a JSON object')
}

/** Returns the counts of the whole text, and the tokens of the part that is drawn. */
async function tokens(tokenizer, { text, at = 0 }) {
  if (typeof text !== 'string' || !Number.isSafeInteger(at) || at < 0)
    throw new Refusal(400, 'text must be a string, and at a position in it')
  const batch = await tokenizer.encodeBatch([text], { ...LOOK, columns: ['specialTokensMask'] })
  const start = at < text.length ? at : 0
  const end = start + MAX_DRAWN_UNITS < text.length ? start + MAX_DRAWN_UNITS : Infinity
  const shown = describe(tokenizer, text, batch, ...tokensWithin(batch, start, end))
  const answer = {
    count: batch.ids.length,
    characters: charactersOf(text),
    bytes: Buffer.byteLength(text),
    start,
    end: Math.min(end, text.length),
    step: MAX_DRAWN_UNITS,
    // The page has the text itself.
    tokens: shown.map(({ text: _, bytes, ...token }) => ({ ...token, bytes: hex(bytes) })),
    lines: bars(tokensPerLine(text, batch)),
  }
  batch.dispose()
  return answer
}

/** Returns the ids of the whole text, which the page copies. */
async function ids(tokenizer, { text }) {
  if (typeof text !== 'string') throw new Refusal(400, 'text must be a string')
  const batch = await tokenizer.encodeBatch([text], LOOK)
  const all = [...batch.ids]
  batch.dispose()
  return all
}

/** Adds up the counts of adjacent lines, so that there are at most `MAX_BARS` bars. */
function bars(counts) {
  const per = Math.ceil(counts.length / MAX_BARS)
  const sums = Array.from({ length: Math.ceil(counts.length / per) }, (_, bar) =>
    counts.slice(bar * per, (bar + 1) * per).reduce((sum, count) => sum + count, 0),
  )
  return { total: counts.length, per, counts: sums }
}
