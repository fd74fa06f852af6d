// A Redis that answers nonsense: bytes that are no replies, replies without an end or of any
// announced size, well-formed replies of other types, and errors. Commands and calls end with an
// error that has a code. What is thrown where nobody catches fails the test; what never ends fails
// by its timeout.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { createWorker, tokenizeCorpus, verifyCorpus, trainTokenizer } from '@tokenlane/corpus'
import { Replies } from '../src/queue/replies.mjs'
import { startIn } from '../../../__test__/support/cli.mjs'
import { scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { INFO, REAL, endless, hostileRedis } from './support/hostile-redis.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
const TIMEOUT = { timeout: 300_000 }
const servers = []
after(() => servers.forEach((server) => server.end()))

before(async () => {
  writeCorpus(at('data'), 1, 60)
  await tokenizeCorpus({ inputs: at('data'), output: at('done'), tokenizer: 'r50k_base', shardSize: 20_000 })
})

async function serve(...args) {
  const server = await hostileRedis(...args)
  servers.push(server)
  return server
}

let made = 0
const CALLS = {
  corpus: (more) =>
    tokenizeCorpus({ inputs: at('data'), output: at(`out-${(made += 1)}`), tokenizer: 'r50k_base', ...more }),
  train: (more) => trainTokenizer({ inputs: at('data'), workDir: at(`work-${(made += 1)}`), vocabSize: 400, ...more }),
  verify: (more) => verifyCorpus(at('done'), more),
}

/** Bytes that are no replies, or none that a client can keep. */
const BROKEN = {
  HTTP: 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n',
  'random bytes': Buffer.from('9f3ac0de00ff1b7e', 'hex'),
  'a text of ten gigabytes': '$9999999999\r\nabc',
  'a text of a negative length': '$-7\r\n',
  'a length that is no number': '$abc\r\n',
  'an array of a negative length': '*-7\r\n',
  'more elements than an array has': '*99999999999\r\n',
  'elements without end': '*4194304\r\n*4194304\r\n',
  'arrays in arrays': '*1\r\n'.repeat(100_000),
  'an integer that is none': ':1e9\r\n',
  'a line end without CR': '+OK\n',
  'two replies to one command': '+OK\r\n+OK\r\n'.repeat(50),
}
const ENDLESS = { 'a line without end': 'a', 'replies without end': '+OK\r\n', 'arrays without end': '*1\r\n' }

/** What a command and a call do with a server. `isLate`: INFO is answered as by Redis. */
async function outcomes(answer) {
  const { url } = await serve(answer)
  const worker = async () => {
    const running = await createWorker({ queue: url, allow: at(), waitSeconds: 0, graceSeconds: 0 })
    await running.done
  }
  return Promise.all([worker, ...Object.values(CALLS).map((call) => () => call({ queue: url }))].map(failure))
}

const okay = (name) => (name === 'info' ? `$${INFO.length}\r\n${INFO}\r\n` : '+OK\r\n')

describe('bytes that are no replies of Redis', () => {
  for (const [what, bytes] of Object.entries(BROKEN)) {
    test(`${what}: to the first command`, TIMEOUT, async () => {
      for (const { code, message } of await outcomes(() => bytes))
        assert.equal(code, 'ERR_TOKENLANE_CORPUS_QUEUE', message)
    })
    test(`${what}: later`, TIMEOUT, async () => {
      const answer = (name) => (['info', 'client', 'select'].includes(name) ? okay(name) : bytes)
      for (const { code, message } of await outcomes(answer)) assert.equal(code, 'ERR_TOKENLANE_CORPUS_QUEUE', message)
    })
  }

  for (const [what, text] of Object.entries(ENDLESS))
    test(what, TIMEOUT, async () => {
      const answer = (_name, _words, socket) => endless(socket, text)
      for (const { code, message } of await outcomes(answer)) assert.equal(code, 'ERR_TOKENLANE_CORPUS_QUEUE', message)
    })

  test('commands say it, and end with status 1', TIMEOUT, async () => {
    const { url } = await serve(() => BROKEN.HTTP)
    for (const args of [
      ['corpus', 'data', '-t', 'r50k_base', '-o', `out-${(made += 1)}`, '--queue', url],
      ['train', 'data', '-o', 'new.json', '--work-dir', `work-${(made += 1)}`, '--queue', url],
      ['corpus', 'verify', 'done', '--queue', url],
      ['worker', '--allow', '.', '--queue', url],
    ]) {
      const { ended, written } = startIn(at(), args)
      assert.equal((await ended).status, 1, written.stderr)
      assert.match(written.stderr, /does not speak the protocol of Redis/)
    }
  })
})

/** Replies of the protocol that no command of the planner expects. */
const WRONG = {
  'an integer': ':7\r\n',
  'a text': '$3\r\nabc\r\n',
  null: '$-1\r\n',
  'an empty array': '*0\r\n',
  nulls: '*2\r\n$-1\r\n$-1\r\n',
  arrays: '*1\r\n*2\r\n:1\r\n*1\r\n$-1\r\n',
  'an error': '-ERR nonsense\r\n',
}

describe('replies of another type', () => {
  for (const [what, reply] of Object.entries(WRONG)) {
    test(`${what}: to each command`, TIMEOUT, async () => {
      const { url } = await serve(() => reply)
      for (const call of [...Object.values(CALLS), (more) => createWorker({ ...more, allow: at(), waitSeconds: 0 })]) {
        const { code, message } = await failure(() => call({ queue: url }))
        assert.equal(code, 'ERR_TOKENLANE_CORPUS_QUEUE', message)
      }
    })
    test(`${what}: to each command but INFO`, TIMEOUT, async () => {
      const { url } = await serve((name) => (['info', 'client', 'select'].includes(name) ? okay(name) : reply))
      const all = Object.values(CALLS).map((call) => failure(() => call({ queue: url, giveUpSeconds: 1 })))
      for (const { code, message } of await Promise.all(all)) assert.match(code, /^ERR_TOKENLANE_CORPUS_/, message)
      const events = []
      const worker = await createWorker({ queue: url, allow: at(), onEvent: (event) => events.push(event) })
      await new Promise((resolve) => setTimeout(resolve, 500))
      // It has ended if each answer seemed to be a job.
      const ended = await worker.close().catch((reason) => reason)
      if (ended !== undefined) assert.equal(ended.code, 'ERR_TOKENLANE_CORPUS_QUEUE')
      assert(events.length <= 200, `${events.length} events`)
    })
  }
})

for (const what of ['a text', 'arrays'])
  test(`${what} in place of jobs, and then no Redis: a worker ends, and then its process`, TIMEOUT, async () => {
    const { url, end } = await serve((name) => (['info', 'client', 'select'].includes(name) ? okay(name) : WRONG[what]))
    const code = `import { createWorker } from '${new URL('../index.js', import.meta.url)}'
      const worker = await createWorker({ queue: '${url}', allow: '.' })
      console.log(await worker.done.catch(({ code }) => code))`
    // Killed late enough for a busy machine; the process would never end by itself.
    const limit = { timeout: 200_000, killSignal: /** @type {const} */ ('SIGKILL') }
    const running = promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], limit)
    running.child.stdout?.once('data', end)
    const { stdout } = await running
    assert.equal(stdout, 'ERR_TOKENLANE_CORPUS_QUEUE\n')
  })

describe('a Redis that answers one command with nonsense', { skip: missing }, () => {
  /** @type {TestRedis} */
  let redis
  before(async () => {
    redis = await TestRedis.start()
  })
  after(() => redis.end())

  /** Commands by their names, scripts by their hashes. */
  const kindOf = (name, words) =>
    name === 'evalsha' || name === 'eval' ? `script ${words[1].toString().slice(-40)}` : name

  test('the planner ends with a code, whichever command it is', TIMEOUT, async () => {
    const kinds = new Set()
    const queueName = () => `queue-${(made += 1)}`
    const note = await serve((name, words) => kinds.add(kindOf(name, words)) && REAL, { port: redis.port })
    await failure(() => CALLS.verify({ queue: note.url, queueName: queueName(), giveUpSeconds: 1 }))
    assert(kinds.size > 8, `${[...kinds]}`)
    const failures = []
    for (const kind of kinds) {
      const runs = Object.entries(WRONG).map(async ([what, reply]) => {
        const answer = (name, words) => (kindOf(name, words) === kind ? reply : REAL)
        const { url } = await serve(answer, { port: redis.port })
        const { code, message } = await failure(() =>
          CALLS.verify({ queue: url, queueName: queueName(), giveUpSeconds: 1 }),
        )
        if (!/^ERR_TOKENLANE_CORPUS_(QUEUE|SHARDS_FAILED)$/.test(code)) failures.push(`${kind}: ${what}: ${message}`)
      })
      await Promise.all(runs)
    }
    assert.deepEqual(failures, [])
  })
})

test('replies are told apart, however they arrive', () => {
  const bytes = Buffer.from('+OK\r\n$5\r\na\r\nbc\r\n*2\r\n*0\r\n*2\r\n:-1\r\n$-1\r\n-ERR x\r\n$0\r\n\r\n*-1\r\n')
  for (let size = 1; size <= bytes.length; size++) {
    const replies = new Replies()
    let ended = 0
    for (let from = 0; from < bytes.length; from += size) ended += replies.read(bytes.subarray(from, from + size))
    assert.equal(ended, 6, `chunks of ${size}`)
  }
})
