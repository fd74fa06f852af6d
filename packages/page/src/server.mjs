// Serves the page and its API to users of this machine. The server listens on loopback only. It
// checks the Host header, because the domain of another page can resolve to loopback, and the
// Origin header, so that pages of other origins cannot send requests.

import fs from 'node:fs'
import http from 'node:http'

import { Refusal, answersOf } from './answers.mjs'

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
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/**
 * A server that is not listening yet.
 *
 * @param {Parameters<typeof answersOf>[0]} choice
 * @returns {http.Server}
 */
export function pageServer(choice) {
  const files = pageFiles()
  const answers = answersOf({ local: choice.names.filter((name) => fs.existsSync(name)), ...choice })
  const server = http.createServer((request, response) => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    answer(request, port, files, answers).then(
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

async function answer(request, port, files, answers) {
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
  const route = answers[`${method} ${path.replace(/^\/api\//, '')}`]
  if (route === undefined || !path.startsWith('/api/')) throw new Refusal(404, 'there is no such path')
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
