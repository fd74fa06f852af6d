#!/usr/bin/env node
// npm run soak: a small HTTP service in two processes, under requests of mixed size for as long as one likes.
//
//   usage: npm run soak [-- --minutes N] [-- --clients N]     default 30 minutes, 8 clients
//
// Every answer is held against what this process knows to be right. Printed each minute and at the end: requests, errors, and of
// each process the 99th percentile of the event loop's delay and how its memory (RSS, the least of each minute) grows. From ten
// minutes on it fails when the delay is 5 ms or more, or the memory grows by 1 MiB or more in ten minutes; before, memory has not
// settled, and only errors count.

import { fork } from 'node:child_process'
import http from 'node:http'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { Tokenizer } from '../index.mjs'
import { text } from '../__test__/support/texts.mjs'
import { root, stop } from './setup.mjs'

const PROCESSES = 2
const MOST_DELAY = 5
const MOST_GROWTH = 1
/** The part of the time at the start in which memory settles, and that does not count. */
const SETTLING = 1 / 3

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' }, clients: { type: 'string', default: '8' } } })
const minutes = Number(values.minutes)
if (!(minutes > 0)) stop(`--minutes is a number above zero, not ${values.minutes}`)

const services = await Promise.all(Array.from({ length: PROCESSES }, started))
const end = performance.now() + minutes * 60_000
const counts = { requests: 0, errors: 0 }
const ticker = setInterval(report, 60_000)
const requests = knownRequests()
const agent = new http.Agent({ keepAlive: true })
await Promise.all(Array.from({ length: Number(values.clients) }, (_, number) => client(number)))
clearInterval(ticker)
agent.destroy()
await Promise.all(services.map((service) => new Promise((done) => service.child.once('message', done).send('measure'))))
const wrong = report()
for (const service of services) service.child.kill()
if (wrong.length > 0) stop(`\n${wrong.join('\n')}`)

/** A process with the service, its port, and what it measured. */
function started() {
  return new Promise((done, failed) => {
    const child = fork(path.join(root, 'scripts', 'soak', 'service.mjs'))
    const service = { child, measured: [] }
    child.on('message', (said) => {
      if (said.port !== undefined) return done(Object.assign(service, { port: said.port }))
      service.measured.push(said)
    })
    child.on('exit', (code, signal) => {
      service.ended = signal ?? code
      failed(new Error(`the service ended with ${service.ended}`))
    })
  })
}

/** Requests with their answers: many short ones, some long ones, batches. */
function knownRequests() {
  const gpt = Tokenizer.fromEncodingSync('o200k_base')
  const one = (url, units, seed) => {
    const body = text(units, seed)
    return { url, body: { text: body }, answer: url === '/count' ? { count: gpt.count(body) } : { ids: [...gpt.encode(body).ids] } }
  }
  const batch = (rows, units) => {
    const texts = Array.from({ length: rows }, (_, i) => text(units, i))
    return { url: '/batch', body: { texts }, answer: { counts: texts.map((text) => gpt.count(text)) } }
  }
  return [
    ...Array.from({ length: 40 }, (_, seed) => one('/count', 20 + 50 * seed, seed)),
    ...Array.from({ length: 20 }, (_, seed) => one('/encode', 100 + 200 * seed, seed)),
    one('/count', 200_000, 1),
    one('/encode', 50_000, 2),
    batch(50, 500),
    batch(300, 2000),
  ]
}

/** Sends one request after the other until the time is over. */
async function client(number) {
  for (let turn = number; performance.now() < end; turn += 1) {
    const { url, body, answer } = requests[(turn * 7919) % requests.length]
    counts.requests += 1
    try {
      // From round to round the other process, so that each gets every request.
      const to = services[(turn + Math.floor(turn / requests.length)) % PROCESSES]
      const found = await post(to.port, url, JSON.stringify(body))
      if (found !== JSON.stringify(answer)) throw new Error(`${url}: another answer: ${found.slice(0, 200)}`)
    } catch (error) {
      counts.errors += 1
      if (counts.errors <= 5) console.error(error.message)
      if (services.every(({ ended }) => ended !== undefined)) return
    }
  }
}

function post(port, url, body) {
  return new Promise((done, failed) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const request = http.request({ port, path: url, method: 'POST', agent, headers }, (response) => {
      let found = ''
      response.setEncoding('utf8').on('data', (part) => (found += part))
      response.on('end', () => (response.statusCode === 200 ? done(found) : failed(new Error(`${url}: ${response.statusCode} ${found.slice(0, 200)}`))))
    })
    request.on('error', failed).end(body)
  })
}

/** Prints how it goes; gives what is wrong. */
function report() {
  console.log(`${counts.requests} requests, ${counts.errors} errors`)
  const wrong = counts.errors > 0 ? [`${counts.errors} errors`] : []
  services.forEach(({ measured, ended }, i) => {
    if (ended !== undefined) wrong.push(`process ${i + 1} ended with ${ended}`)
    if (measured.length === 0) return
    const { delay, rss } = measured.at(-1)
    const growth = slope(measured.slice(Math.floor(measured.length * SETTLING)))
    console.log(`  process ${i + 1}: event loop p99 ${delay.toFixed(2)} ms, RSS ${(rss / 2 ** 20).toFixed(0)} MiB, ${growth.toFixed(2)} MiB per 10 minutes`)
    if (minutes < 10 || performance.now() < end) return
    if (delay >= MOST_DELAY) wrong.push(`process ${i + 1}: the event loop's delay is ${delay.toFixed(2)} ms, not below ${MOST_DELAY}`)
    if (growth >= MOST_GROWTH) wrong.push(`process ${i + 1}: memory grows by ${growth.toFixed(2)} MiB in 10 minutes, not below ${MOST_GROWTH}`)
  })
  return wrong
}

/**
 * The line of least squares through the memory, in MiB per ten minutes: through the least of each minute. What waits for V8's collector,
 * ten MiB and more of it, comes and goes within seconds, and a line through all of that is a MiB off by chance in half an hour.
 */
function slope(seconds) {
  const minuteOf = (one) => Math.floor((one.time - seconds[0].time) / 60_000)
  const least = []
  for (const one of seconds) if (!(one.rss >= least[minuteOf(one)]?.rss)) least[minuteOf(one)] = one
  // The last minute is not over, and so its least is none yet.
  const measured = least.length > 1 ? least.slice(0, -1) : least
  const mean = (of) => measured.reduce((sum, one) => sum + of(one), 0) / measured.length
  const [time, rss] = [mean((one) => one.time), mean((one) => one.rss)]
  const spread = measured.reduce((sum, one) => sum + (one.time - time) ** 2, 0)
  const together = measured.reduce((sum, one) => sum + (one.time - time) * (one.rss - rss), 0)
  return spread === 0 ? 0 : (together / spread) * 600_000 / 2 ** 20
}
