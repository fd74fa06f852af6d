// Commands and calls end on their signals while Redis, or a store, does not answer: it accepts
// connections and is silent, it was stopped, it is gone, or it answers slowly. A command that does
// not end fails by the timeout of its test.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import net from 'node:net'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { createWorker, tokenizeCorpus, verifyCorpus, trainTokenizer } from '@tokenlane/corpus'
import { sender, storeFailure } from '../src/store/store-failure.mjs'
import { startIn } from '../../../__test__/support/cli.mjs'
import { scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
const TIMEOUT = { timeout: 120_000 }
const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
const servers = []
after(() => servers.forEach((server) => server.close()))

before(async () => {
  writeCorpus(at('data'), 1, 60)
  await tokenizeCorpus({ inputs: at('data'), output: at('done'), tokenizer: 'r50k_base', shardSize: 20_000 })
})

/** A server that hands connections to `accept`. */
async function listen(accept) {
  const sockets = new Set()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    accept(socket)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  servers.push({ close })
  return { url: `redis://127.0.0.1:${port}`, port, connections: () => sockets.size, close }
}

async function until(isSo, what) {
  for (let round = 0; round < 4000; round++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.fail(`${what} did not happen`)
}

let made = 0
const COMMANDS = {
  corpus: (url) => ['corpus', 'data', '-t', 'r50k_base', '-o', `out-${(made += 1)}`, '--queue', url],
  train: (url) => ['train', 'data', '-o', 'new.json', '--work-dir', `work-${(made += 1)}`, '--queue', url],
  verify: (url) => ['corpus', 'verify', 'done', '--queue', url],
}
const CALLS = {
  corpus: (more) =>
    tokenizeCorpus({ inputs: at('data'), output: at(`out-${(made += 1)}`), tokenizer: 'r50k_base', ...more }),
  train: (more) => trainTokenizer({ inputs: at('data'), workDir: at(`work-${(made += 1)}`), vocabSize: 400, ...more }),
  verify: (more) => verifyCorpus(at('done'), more),
}

describe('a Redis that accepts connections and never answers', () => {
  const signals = Object.keys(STATUS)
  for (const [index, [name, args]] of Object.entries(COMMANDS).entries())
    test(`${name} ends on ${signals[index]}`, TIMEOUT, async () => {
      const silent = await listen(() => {})
      const { child, ended, written } = startIn(at(), args(silent.url))
      await until(() => silent.connections() > 0 || child.exitCode !== null, 'a connection')
      child.kill(/** @type {any} */ (signals[index]))
      assert.equal((await ended).status, STATUS[signals[index]], written.stderr)
    })

  for (const [name, call] of Object.entries(CALLS))
    test(`${name} in JavaScript ends by its signal, and by giveUpSeconds`, TIMEOUT, async () => {
      const silent = await listen(() => {})
      const controller = new AbortController()
      const reason = new Error('enough')
      const aborted = failure(() => call({ queue: silent.url, signal: controller.signal }))
      await until(() => silent.connections() > 0, 'a connection')
      controller.abort(reason)
      assert.equal(await aborted, reason)
      const given = await failure(() => call({ queue: silent.url, giveUpSeconds: 1 }))
      assert.equal(given.code, 'ERR_TOKENLANE_CORPUS_QUEUE')
      assert.match(given.message, /does not answer; gave up after 1 seconds/)
    })

  test('a job and a worker stop waiting for it', TIMEOUT, async () => {
    const silent = await listen(() => {})
    const worker = () => createWorker({ queue: silent.url, allow: at(), waitSeconds: 0 })
    for (const call of [worker, () => CALLS.verify({ queue: silent.url })]) {
      const { code, message } = await failure(call)
      assert.equal(code, 'ERR_TOKENLANE_CORPUS_QUEUE')
      assert.match(message, /cannot be used: it does not answer/)
    }
  })
})

describe('a Redis that answered', { skip: missing }, () => {
  /** @type {TestRedis} */
  let redis
  before(async () => {
    redis = await TestRedis.start()
  })
  after(async () => {
    redis.continue()
    await redis.end()
  })

  /** Waits until a planner has added all its jobs, and waits for workers. */
  const planned = (queueName) => async () => {
    const client = redis.client()
    const keys = await client.keys(`bull:${queueName}:*`)
    const gates = await client.keys(`bull:${queueName}-gates:*-gate`)
    client.disconnect()
    return keys.some((key) => key.endsWith(':wait')) && gates.length === 0
  }

  for (const [state, change, restore] of /** @type {[string, () => any, () => any][]} */ ([
    ['is stopped (SIGSTOP)', () => redis.silence(), () => redis.continue()],
    ['is gone', () => redis.stop('SIGKILL'), () => redis.start()],
  ]))
    for (const [name, args] of Object.entries(COMMANDS))
      test(`and ${state}: ${name} ends on SIGTERM, and gives up`, TIMEOUT, async () => {
        const queueName = `${name}-${state.length}`
        const giveUpSeconds = 15
        const { child, ended, written } = startIn(at(), [...args(redis.url), '--queue-name', queueName])
        const calling = failure(() => CALLS[name]({ queue: redis.url, queueName: `${queueName}-js`, giveUpSeconds }))
        for (const jobs of [queueName, `${queueName}-js`]) await until(planned(jobs), 'the jobs')
        await change()
        try {
          child.kill('SIGTERM')
          assert.equal((await ended).status, 143, written.stderr)
          const { code, message } = await calling
          assert.equal(code, 'ERR_TOKENLANE_CORPUS_QUEUE')
          assert.match(message, /does not answer; gave up after 15 seconds/)
        } finally {
          await restore()
        }
      })

  test('and answers slowly: corpus ends on SIGHUP', TIMEOUT, async () => {
    const slow = await listen((socket) => {
      const upstream = net.connect(redis.port, '127.0.0.1')
      socket.pipe(upstream).on('error', () => {})
      upstream.on('data', (bytes) => setTimeout(() => socket.write(bytes), 1500))
      socket.on('close', () => upstream.destroy())
    })
    const { child, ended, written } = startIn(at(), [...COMMANDS.corpus(slow.url), '--queue-name', 'slow'])
    await until(() => slow.connections() > 1, 'connections')
    child.kill('SIGHUP')
    assert.equal((await ended).status, 129, written.stderr)
  })

  test('and is stopped: a worker closes', TIMEOUT, async () => {
    const worker = await createWorker({ queue: redis.url, allow: at(), graceSeconds: 0 })
    redis.silence()
    await worker.close()
    await worker.done
    redis.continue()
  })
})

test('a second signal ends the process at once, whatever its kind', TIMEOUT, async () => {
  const code = `import { onFirstSignal } from '${new URL('../../../cli/interrupt.mjs', import.meta.url)}'
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(70))
    onFirstSignal((status) => console.log(status))
    setInterval(() => {}, 1000)
    console.log('ready')`
  for (const first of Object.keys(STATUS))
    for (const second of Object.keys(STATUS)) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', code])
      let said = ''
      child.stdout.on('data', (bytes) => (said += bytes))
      const ended = new Promise((resolve) => child.on('close', resolve))
      await until(() => said.includes('ready'), 'the start')
      child.kill(/** @type {any} */ (first))
      await until(() => said.includes(`${STATUS[first]}`), 'the first signal')
      child.kill(/** @type {any} */ (second))
      assert.equal(await ended, 70, `${first} ${second}`)
    }
})

test('stores and a Redis that never answer: calls end by their signals, and then the process', async () => {
  const file = fileURLToPath(new URL('./support/silent-stores.mjs', import.meta.url))
  // Killed late enough for a busy machine; no request of the calls ends by itself before that.
  const limit = { timeout: 500_000, killSignal: /** @type {const} */ ('SIGKILL') }
  const { stdout } = await promisify(execFile)(process.execPath, [file, at()], limit)
  const lines = stdout.trimEnd().split('\n')
  assert.equal(lines.length, 19)
  for (const line of lines) assert.match(line, /^[a-z0-9]+, [a-z]+: ended$/)
})

test('a request to a store has a limit of time', async () => {
  const explained = (address, { name, message }) =>
    storeFailure(address, { name, message, isNoBucket: false, secrets: [] })
  const sent = sender(explained, (bytes) => bytes)
  const error = await failure(() => sent('gs://lake/x', () => new Promise(() => {}), 20))
  assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_STORE')
  assert.match(error.message, /the store does not answer/)
  assert.equal(await sent('gs://lake/x', async () => 7, 2 ** 40), 7)
})
