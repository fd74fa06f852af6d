#!/usr/bin/env node
// npm run soak: runs a small HTTP service in two processes under requests of mixed size.
//
//   usage: npm run maintain -- soak [[--minutes N] [--clients N]]     default 30 minutes, 8 clients
//
// Compares every answer with the known result. Prints each minute and at the end: requests, errors,
// and for each process the 99th percentile of the event loop's delay, the RSS now and at rest, and
// its growth. To measure the RSS at rest, the requests pause sixty times in a run; each service
// then collects all garbage and reports its RSS. Under load, garbage that V8 has not collected yet
// makes the RSS vary by 14 MiB, which hides any trend. The size of the word caches is subtracted,
// because chance decides which caches a tokenizer keeps; together they have about 32 MiB.
//
// Runs of ten minutes or more fail if the delay is 5 ms or more, or if the memory at rest grows by
// 1 MiB or more in ten minutes. In shorter runs memory has not settled, and only errors count.

import { fork } from 'node:child_process'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { Tokenizer } from '../../index.mjs'
import { text } from '../../__test__/support/texts.mjs'
import { root, stop } from '../setup.mjs'

const PROCESSES = 2
const MAX_DELAY_MS = 5
const MAX_GROWTH_MIB = 1
/**
 * The measurements in this part of a run, from its start, do not count, because memory has not
 * settled yet. In runs of thirty minutes it settled after at most eighteen minutes.
 */
const SETTLING_SHARE = 1 / 2
/** Number of pauses in a run, if it is long enough for one second between two pauses. */
const REST_COUNT = 60

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, clients: { type: 'string', default: '8' } },
})
const minutes = Number(values.minutes)
if (!(minutes > 0)) stop(`--minutes must be a number above 0, not ${values.minutes}`)

const services = await Promise.all(Array.from({ length: PROCESSES }, startService))
const end = performance.now() + minutes * 60_000
const counts = { requests: 0, errors: 0, underWay: 0 }
/** A promise while the services rest; clients wait for it. */
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
await Promise.all(services.map((service) => ask(service, 'measure')))
const wrong = report()
for (const service of services) service.child.kill()
if (wrong.length > 0) stop(`\n${wrong.join('\n')}`)

/** Starts a service process. Collects its measurements. */
function startService() {
  return new Promise((done, failed) => {
    const child = fork(path.join(root, 'tools', 'check', 'soak', 'service.mjs'))
    const service = { child, measured: [], rested: [] }
    child.on('message', (/** @type {any} */ message) => {
      if (message.port !== undefined) return done(Object.assign(service, { port: message.port }))
      if (message.resting !== undefined) service.rested.push(message.resting)
      else service.measured.push(message)
    })
    child.on('exit', (code, signal) => {
      service.ended = signal ?? code
      failed(new Error(`the service ended with ${service.ended}`))
    })
  })
}

/** Requests with their answers: many short ones, several long ones, batches. */
function knownRequests() {
  const gpt = Tokenizer.fromEncodingSync('o200k_base')
  const one = (url, units, seed) => {
    const body = text(units, seed)
    return {
      url,
      body: { text: body },
      answer: url === '/count' ? { count: gpt.count(body) } : { ids: [...gpt.encode(body).ids] },
    }
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

/** Pauses the requests periodically, so that the services rest. */
async function rests() {
  for (;;) {
    await wait(Math.max(1000, (minutes * 60_000) / REST_COUNT), undefined, { ref: false })
    if (performance.now() >= end) return
    let go = () => {}
    pause = new Promise((done) => (go = () => done(undefined)))
    while (counts.underWay > 0) await wait(1)
    await rest()
    pause = undefined
    go()
  }
}

function rest() {
  return Promise.all(services.map((service) => ask(service, 'rest')))
}

/** Sends a command to a service, and waits for the answer or the end of the process. */
async function ask({ child, measured, rested }, command) {
  const answers = command === 'rest' ? rested : measured
  const before = answers.length
  if (child.connected) child.send(command)
  while (answers.length === before && child.connected) await wait(1)
}

/** Sends requests, one at a time, until the run ends. */
async function client(number) {
  for (let turn = number; performance.now() < end; turn += 1) {
    const { url, body, answer } = requests[(turn * 7919) % requests.length]
    await pause
    counts.requests += 1
    counts.underWay += 1
    try {
      // In each round of requests the other process gets them, so that both get every request.
      const to = services[(turn + Math.floor(turn / requests.length)) % PROCESSES]
      const found = await post(to.port, url, JSON.stringify(body))
      if (found !== JSON.stringify(answer)) throw new Error(`${url}: wrong answer: ${found.slice(0, 200)}`)
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
      response.on('end', () =>
        response.statusCode === 200
          ? done(found)
          : failed(new Error(`${url}: ${response.statusCode} ${found.slice(0, 200)}`)),
      )
    })
    request.on('error', failed).end(body)
  })
}

/** Prints the counters. Returns a list of failures. */
function report() {
  console.log(`${counts.requests} requests, ${counts.errors} errors`)
  const wrong = counts.errors > 0 ? [`${counts.errors} errors`] : []
  services.forEach(({ measured, rested, ended }, i) => {
    if (ended !== undefined) wrong.push(`process ${i + 1} ended with ${ended}`)
    if (measured.length === 0 || rested.length === 0) return
    const { delay, rss } = measured.at(-1)
    const { growth, error } = slope(rested.slice(Math.floor(rested.length * SETTLING_SHARE)))
    const [now, resting, caches] = [rss, rested.at(-1).rss, rested.at(-1).caches].map((bytes) =>
      (bytes / 2 ** 20).toFixed(0),
    )
    const trend = `${growth.toFixed(2)} ± ${error.toFixed(2)} MiB per 10 minutes`
    const sizes = `RSS ${now} MiB, at rest ${resting}, including ${caches} of word caches`
    console.log(`  process ${i + 1}: event loop p99 ${delay.toFixed(2)} ms, ${sizes}; growth without them ${trend}`)
    if (minutes < 10 || performance.now() < end) return
    if (delay >= MAX_DELAY_MS) {
      wrong.push(`process ${i + 1}: the event loop's delay is ${delay.toFixed(2)} ms, limit ${MAX_DELAY_MS}`)
    }
    if (growth >= MAX_GROWTH_MIB) {
      wrong.push(`process ${i + 1}: memory grows by ${growth.toFixed(2)} MiB in 10 minutes, limit ${MAX_GROWTH_MIB}`)
    }
  })
  return wrong
}

/**
 * The slope of the least-squares line through the memory at rest without word caches, and its
 * standard error, in MiB per ten minutes.
 */
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
