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
/** Maximum size of a tokenizer's file that is opened, in bytes. */
const MAX_FILE_BYTES = 128 << 20
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
  const answers = answersOf(choice)
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
  const [path, query] = request.url.split('?')
  const file = files.get(path)
  if (file !== undefined) {
    if (method !== 'GET' && method !== 'HEAD') throw new Refusal(405, `${method} is not allowed for files`)
    return file
  }
  const route = answers[`${method} ${path.replace(/^\/api\//, '')}`]
  if (route === undefined || !path.startsWith('/api/')) throw new Refusal(404, 'there is no such path')
  if (origin !== undefined && origin !== `http://${host}`)
    throw new Refusal(403, 'only the page of this server may send this request')
  const body = method === 'POST' ? await bodyOf(request, query) : undefined
  return { type: JSON_TYPE, body: JSON.stringify(await route(body)) }
}

/**
 * Returns the body of a request: JSON, or a file with the name that the query has. A page of
 * another origin cannot send these content types without a CORS preflight, which the server does
 * not allow.
 */
async function bodyOf(request, query) {
  const type = request.headers['content-type'] ?? ''
  if (/^application\/octet-stream\b/.test(type)) {
    const bytes = await bytesOf(request, MAX_FILE_BYTES, 'the file is too large for this page')
    return { name: new URLSearchParams(query).get('name'), bytes }
  }
  if (!/^application\/json\b/.test(type)) throw new Refusal(415, 'the content type must be application/json')
  const bytes = await bytesOf(request, MAX_BODY_BYTES, 'the text is too long for this page')
  try {
    const body = JSON.parse(bytes.toString())
    if (body !== null && typeof body === 'object') return body
  } catch {
    // Reported below.
  }
  throw new Refusal(400, 'the body must be a JSON object')
}

async function bytesOf(request, max, message) {
  const chunks = []
  let length = 0
  // Bytes beyond the limit are read and dropped, because a browser reads the response only after it
  // has sent the whole request.
  for await (const chunk of request) {
    length += chunk.length
    if (length <= max) chunks.push(chunk)
    else chunks.length = 0
  }
  if (length > max) throw new Refusal(413, message)
  return Buffer.concat(chunks)
}
