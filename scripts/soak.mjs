#!/usr/bin/env node
// npm run soak: a small HTTP service in two processes, under requests of mixed size for as long as one likes.
//
//   usage: npm run soak [-- --minutes N] [-- --clients N]     default 30 minutes, 8 clients
//
// Every answer is held against what this process knows to be right. Printed each minute and at the end: requests, errors, and of
// each process the 99th percentile of the event loop's delay, its memory (RSS) now, and at rest, and how that grows. Sixty times in a run
// no request is sent until none is under way, each service collects its garbage fully, and then says its RSS: under load, what waits for
// V8's collector goes up and down by 14 MiB, and a line through that tells nothing. The word caches are taken off: which of them are
// kept, cold ones or warm ones, is chance, they say themselves how large they are, and they do not grow above 24 MiB each.
//
// From ten minutes on it fails when the delay is 5 ms or more, or the memory at rest grows by 1 MiB or more in ten minutes; before, memory
// has not settled, and only errors count.

import { fork } from 'node:child_process'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { Tokenizer } from '../index.mjs'
import { text } from '../__test__/support/texts.mjs'
import { root, stop } from './setup.mjs'

const PROCESSES = 2
const MOST_DELAY = 5
const MOST_GROWTH = 1
/** The part of the time at the start in which memory settles, and that does not count: in thirty minutes it rose until the eighteenth at most. */
const SETTLING = 1 / 2
/** How often in a run the services rest: each second at most. */
const RESTS = 60

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' }, clients: { type: 'string', default: '8' } } })
const minutes = Number(values.minutes)
if (!(minutes > 0)) stop(`--minutes is a number above zero, not ${values.minutes}`)

const services = await Promise.all(Array.from({ length: PROCESSES }, started))
const end = performance.now() + minutes * 60_000
const counts = { requests: 0, errors: 0, underWay: 0 }
/** While the services rest: what clients wait for. */
let pause
const ticker = setInterval(report, 60_000)
const requests = knownRequests()
const agent = new http.Agent({ keepAlive: true })
rests()
await Promise.all(Array.from({ length: Number(values.clients) }, (_, number) => client(number)))
clearInterval(ticker)
agent.destroy()
await pause
await rest()
await Promise.all(services.map((service) => answered(service, 'measure')))
const wrong = report()
for (const service of services) service.child.kill()
if (wrong.length > 0) stop(`\n${wrong.join('\n')}`)

/** A process with the service, its port, and what it measured. */
function started() {
  return new Promise((done, failed) => {
    const child = fork(path.join(root, 'scripts', 'soak', 'service.mjs'))
    const service = { child, measured: [], rested: [] }
    child.on('message', (said) => {
      if (said.port !== undefined) return done(Object.assign(service, { port: said.port }))
      if (said.resting !== undefined) service.rested.push(said.resting)
      else service.measured.push(said)
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

/** Has the services rest now and then. */
async function rests() {
  for (;;) {
    await wait(Math.max(1000, (minutes * 60_000) / RESTS), undefined, { ref: false })
    if (performance.now() >= end) return
    let go
    pause = new Promise((done) => (go = done))
    while (counts.underWay > 0) await wait(1)
    await rest()
    pause = undefined
    go()
  }
}

function rest() {
  return Promise.all(services.map((service) => answered(service, 'rest')))
}

/** Asks a process, and waits until it answered, or ended. */
async function answered({ child, measured, rested }, asked) {
  const answers = asked === 'rest' ? rested : measured
  const before = answers.length
  if (child.connected) child.send(asked)
  while (answers.length === before && child.connected) await wait(1)
}

/** Sends one request after the other until the time is over. */
async function client(number) {
  for (let turn = number; performance.now() < end; turn += 1) {
    const { url, body, answer } = requests[(turn * 7919) % requests.length]
    await pause
    counts.requests += 1
    counts.underWay += 1
    try {
      // From round to round the other process, so that each gets every request.
      const to = services[(turn + Math.floor(turn / requests.length)) % PROCESSES]
      const found = await post(to.port, url, JSON.stringify(body))
      if (found !== JSON.stringify(answer)) throw new Error(`${url}: another answer: ${found.slice(0, 200)}`)
    } catch (error) {
      counts.errors += 1
      if (counts.errors <= 5) console.error(error.message)
      if (services.every(({ ended }) => ended !== undefined)) return
    } finally {
      counts.underWay -= 1
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
  services.forEach(({ measured, rested, ended }, i) => {
    if (ended !== undefined) wrong.push(`process ${i + 1} ended with ${ended}`)
    if (measured.length === 0 || rested.length === 0) return
    const { delay, rss } = measured.at(-1)
    const { growth, error } = slope(rested.slice(Math.floor(rested.length * SETTLING)))
    const [now, resting, caches] = [rss, rested.at(-1).rss, rested.at(-1).caches].map((bytes) => (bytes / 2 ** 20).toFixed(0))
    console.log(`  process ${i + 1}: event loop p99 ${delay.toFixed(2)} ms, RSS ${now} MiB, at rest ${resting}, ${caches} of it word caches; without them ${growth.toFixed(2)} ± ${error.toFixed(2)} MiB per 10 minutes`)
    if (minutes < 10 || performance.now() < end) return
    if (delay >= MOST_DELAY) wrong.push(`process ${i + 1}: the event loop's delay is ${delay.toFixed(2)} ms, not below ${MOST_DELAY}`)
    if (growth >= MOST_GROWTH) wrong.push(`process ${i + 1}: memory grows by ${growth.toFixed(2)} MiB in 10 minutes, not below ${MOST_GROWTH}`)
  })
  return wrong
}

/** The line of least squares through the memory at rest, without word caches, and its standard error, in MiB per ten minutes. */
function slope(rested) {
  const points = rested.map(({ time, rss, caches }) => [time / 600_000, (rss - caches) / 2 ** 20])
  const mean = (at) => points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [time, held] = [mean(0), mean(1)]
  const sum = (of) => points.reduce((sum, [x, y]) => sum + of(x - time, y - held), 0)
  const spread = sum((x) => x * x)
  const growth = spread === 0 ? 0 : sum((x, y) => x * y) / spread
  const left = sum((x, y) => (y - growth * x) ** 2)
  return { growth, error: points.length < 3 ? Infinity : Math.sqrt(left / (points.length - 2) / spread) }
}
