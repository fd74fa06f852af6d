// Random responses of a hub.

import zlib from 'node:zlib'

import { COMMIT } from './hub.mjs'
import { CONFIG, MORE, entries } from './limited-hub.mjs'
import { bytesOf, tiny } from './tiny.mjs'

/** Deterministic pseudo-random numbers from 0 to 1 (mulberry32). */
export function seeded(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Sends a random correct or incorrect response of a hub. */
export function randomAnswer(random, { path: name = '', kind }, request, response) {
  const pick = (...all) => all[Math.floor(random() * all.length)]
  const chance = (part) => random() < part
  const size = Math.floor(random() * 3000)
  const good = { 'tokenizer.json': Buffer.from(bytesOf(tiny())), 'tokenizer_config.json': CONFIG }[name]
  const bodies = [
    () => good ?? Buffer.from('[]'),
    () => good ?? Buffer.from(JSON.stringify(entries(Math.floor(random() * 5)))),
    () => Buffer.from(JSON.stringify({ sha: pick(COMMIT, '../x', 7, null) })),
    () =>
      Buffer.from(
        pick(
          '',
          'null',
          '[',
          '{}',
          '[null]',
          '[{"path":"../../x.jinja"}]',
          `[{"path":"${MORE}/../../../x.jinja"}]`,
          `[{"path":"${MORE}/..jinja"}]`,
        ),
      ),
    () => Buffer.alloc(size, Math.floor(random() * 256)),
  ]
  let body = chance(0.6) ? bodies[kind === 'info' ? 2 : 0]() : pick(...bodies)()
  const status = chance(0.6)
    ? kind === 'resolve' || kind === 'cdn'
      ? 206
      : 200
    : pick(100, 200, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 416, 429, 500, 503, 999)
  const headers = {}
  const maybe = (likely, header, ...values) => chance(likely) && (headers[header] = String(pick(...values)))
  maybe(0.9, 'x-repo-commit', COMMIT, COMMIT, COMMIT, COMMIT, 'x', '../../../x', '', 'f'.repeat(40))
  maybe(0.9, 'x-linked-size', body.length, body.length, body.length, size, -1, 1e12, '1e400', 'x')
  maybe(
    0.9,
    'x-linked-etag',
    '"abc"',
    `"${name.replace(/\W/g, '-')}"`,
    '"../../x"',
    '"a/../../../x"',
    '""',
    '"."',
    'W/"x"',
    `"${'a'.repeat(64)}"`,
    '"abc.tokenlane.incomplete"',
  )
  maybe(0.3, 'etag', '"other"', '".."', 'x')
  maybe(0.5, 'content-range', `bytes 0-0/${body.length}`, `bytes 0-${size}/${size}`, 'bytes */0', 'x', 'bytes 5-1/2')
  maybe(0.2, 'x-error-code', 'EntryNotFound', 'RepoNotFound', 'RevisionNotFound', 'GatedRepo', 'x')
  maybe(0.2, 'retry-after', 0, 1e9, -1, 'x', 'Thu, 01 Jan 1970 00:00:00 GMT')
  maybe(0.2, 'content-type', 'application/json', 'application/vnd.xet-fileinfo+json', 'text/html', 'x')
  maybe(
    0.2,
    'link',
    `<http://${request.headers.host}${request.url}>; rel="next"`,
    '<x>; rel="next"',
    '<http://[>; rel="next"',
    '<http://127.0.0.1:1/>; rel="next"',
  )
  if (status >= 300 && status < 400)
    maybe(
      0.8,
      'location',
      request.url,
      `http://${request.headers.host}${request.url}`,
      '/x',
      '//[',
      'data:,x',
      'http://127.0.0.1:1/',
      '../../../../x',
    )
  if (chance(0.2)) {
    headers['content-encoding'] = pick('gzip', 'deflate', 'br', 'x', 'gzip, gzip')
    if (headers['content-encoding'] === 'gzip' && chance(0.8))
      body = zlib.gzipSync(chance(0.3) ? Buffer.alloc(3 << 20) : body)
  }
  if (chance(0.1)) headers['content-length'] = pick(0, body.length + 10, Math.max(0, body.length - 1), 1e9)
  if (chance(0.05)) return request.socket.destroy()
  if (chance(0.03)) return undefined
  try {
    response.strictContentLength = false
    response.writeHead(status, headers)
    if (chance(0.15))
      response.write(body.subarray(0, Math.floor(random() * body.length)), () => request.socket.destroy())
    else response.end(body)
  } catch {
    // Responses that Node's server does not send.
    request.socket.destroy()
  }
  return undefined
}
