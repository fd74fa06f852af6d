// What clients do to a service: hostile bodies, uploads that are aborted or never end, and many
// requests on one connection.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'

const audio = { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }
const HOSTILE = [
  '',
  'null',
  '5',
  '{}',
  '[null]',
  '[5]',
  '[[[]]]',
  '{"__proto__": {"length": 1}}',
  '{"length": 4294967295}',
  '['.repeat(200_000),
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  '["\\ud800 <|endoftext|>"]',
  Buffer.from([0x22, 0xff, 0x22]),
  JSON.stringify([{ role: 'user', content: [audio] }]),
  JSON.stringify([{ role: { toString: 1 }, content: { toString: 1 } }]),
  JSON.stringify([{ role: 'user', content: 7 }]),
]

/** The answer to a request: its status, and its body as text. */
async function answerOf(address, body, agent = undefined) {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const request = http.request(address, { method: 'POST', agent, headers })
  request.end(body)
  const [response] = await once(request, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, text }
}

/** Sends the start of a request, and closes the connection, at once or when it was read. */
async function abort({ hostname, port, pathname }, body, { after }) {
  const socket = net.connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  const head = `POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${after ? body.length : body.length + 1000}\r\n\r\n${body}`)
  await new Promise((resolve) => setTimeout(resolve, after ?? 0))
  socket.resetAndDestroy()
}

/**
 * How many bytes of an upload that never ends are taken, and the status of the answer if there is
 * one.
 */
async function endlessUpload(address) {
  const request = http.request(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
  })
  let sent = 0
  let status
  let isOver = false
  const over = new Promise((resolve) => {
    request.on('response', (response) => {
      status = response.statusCode
      response.resume()
    })
    for (const event of ['error', 'close', 'response']) request.on(event, resolve)
  }).then(() => (isOver = true))
  const chunk = Buffer.alloc(2 ** 18, 0x22)
  while (!isOver && sent < 300 << 20) {
    sent += chunk.length
    if (!request.write(chunk)) await Promise.race([once(request, 'drain').catch(() => {}), over])
  }
  await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 2000))])
  request.destroy()
  return { sent, status }
}

/** Throws if a service at an address ends, answers 500, or reads an endless body. */
export async function withstands(address) {
  const plain = '["Hello, world!"]'
  const asks = address.pathname === '/chat' ? JSON.stringify([{ role: 'user', content: 'Hello!' }]) : plain
  const usual = await answerOf(address, asks)
  assert.equal(usual.status, 200, usual.text)
  for (const body of HOSTILE) {
    const { status, text } = await answerOf(address, body)
    assert.ok(status === 200 || (status >= 400 && status < 500), `${status} ${text} for ${String(body).slice(0, 80)}`)
    if (status !== 200) assert.equal(typeof JSON.parse(text).message, 'string', text)
  }
  const long = JSON.stringify(['word '.repeat(200_000)])
  await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 ? abort(address, plain, {}) : abort(address, long, { after: 5 * i }))),
  )
  const { sent, status } = await endlessUpload(address)
  assert.ok(sent < 100 << 20 && (status === undefined || status === 413), `${sent} bytes, ${status}`)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  for (let i = 0; i < 30; i++) assert.deepEqual(await answerOf(address, asks, agent), usual)
  agent.destroy()
}
