// @tokenlane/corpus on many machines: worker processes, a real Redis, and what can happen to them.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'

import { Queue } from 'bullmq'

import { createWorker, tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { runIn, startIn, withoutPackage } from '../../../__test__/support/cli.mjs'
import { hashes, leftovers, scratch, stems, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const skip = { skip: missing, timeout: 240_000 }
const VERSION = JSON.parse(fs.readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version
const at = scratch()
const run = runIn(at())
writeCorpus(at('data'), 4, 250)
const ARGS = ['corpus', 'data', '-t', 'r50k_base', '--format', 'npy', '--id-field', 'id', '--eos', '--shuffle', '3']
/** @type {TestRedis} */
let redis
const children = []

before(async () => {
  if (!missing) redis = await TestRedis.start()
})

after(async () => {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  await redis?.end()
})

/** Starts a command; `events` are what it says. */
function start(args, env = {}) {
  const run = startIn(at(), [...args, '--json'], env)
  children.push(run.child)
  const events = () =>
    run.written.stdout
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line))
  return { ...run, events }
}

const startWorker = (name, more = [], lockTime = '4') =>
  start([
    'worker',
    '--queue',
    redis.url,
    '--queue-name',
    name,
    '--allow',
    at(),
    '--concurrency',
    '1',
    '--lock-time',
    lockTime,
    ...more,
  ])
const startPlanner = (name, output, size, ...more) =>
  start([...ARGS, '-o', output, '--shard-size', size, '--queue', redis.url, '--queue-name', name, ...more])

async function until(isSo, what) {
  for (let round = 0; round < 4000; round++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.fail(`${what} did not happen`)
}

/** Ends workers as an operator does. */
async function close(...workers) {
  for (const { child } of workers) child.kill('SIGTERM')
  for (const { ended } of workers) {
    const { status, stderr, stdout } = await ended
    assert.equal(status, 0, stderr + stdout)
  }
}

function openQueue(name) {
  const queue = new Queue(name, { connection: { port: redis.port, maxRetriesPerRequest: null } })
  queue.on('error', () => {})
  return queue
}

/** The output of one machine. */
function reference(size) {
  const output = `reference-${size}`
  if (!fs.existsSync(at(output))) assert.equal(run([...ARGS, '-o', output, '--shard-size', size]).status, 0)
  return hashes(at(output))
}

/** Stops a worker while it has a shard. */
async function stopWithShard(queue, { child }) {
  await until(async () => {
    child.kill('SIGSTOP')
    // What it sent before it stopped arrives.
    await new Promise((resolve) => setTimeout(resolve, 50))
    const active = await queue.getActive()
    if (active.some(({ processedBy }) => processedBy?.endsWith(`:${child.pid}`))) return true
    child.kill('SIGCONT')
    return false
  }, 'a shard of a worker')
}

test(
  'three workers, one killed -9, one stopped, Redis restarted meanwhile: the output is that of one machine',
  skip,
  async () => {
    const expected = reference('20000')
    const queue = openQueue('chaos')
    const [killed, stopped, other] = ['a', 'b', 'c'].map(() => startWorker('chaos'))
    await until(() => [killed, stopped, other].every((one) => one.events().length > 0), 'workers')
    const planner = startPlanner('chaos', 'chaos', '20000')
    await stopWithShard(queue, killed)
    killed.child.kill('SIGKILL')
    await stopWithShard(queue, stopped)
    await redis.stop('SIGKILL')
    await redis.start()
    const { status, stderr } = await planner.ended
    assert.equal(status, 0, stderr)
    assert.deepEqual(hashes(at('chaos')), expected)
    // The one that was stopped finds that its shard was done by another one.
    stopped.child.kill('SIGCONT')
    await close(stopped, other)
    assert.deepEqual(hashes(at('chaos')), expected)
    assert.deepEqual(leftovers(at('chaos')), [])
    assert.equal((await verifyCorpus(at('chaos'))).isWhole, true)
    await queue.close()
  },
)

test(
  'two planners of the same job do not double it, and both see it done; the next run finds all done',
  skip,
  async () => {
    // No worker loses a lock, however busy the machine is.
    const workers = ['a', 'b'].map(() => startWorker('double', [], '300'))
    const planners = [startPlanner('double', 'double', '30000'), startPlanner('double', 'double', '30000')]
    const results = await Promise.all(planners.map(({ ended }) => ended))
    for (const { status, stderr } of results) assert.equal(status, 0, stderr)
    const shards = stems(at('double')).length
    const done = workers.flatMap(({ events }) => events().filter(({ event }) => event === 'shard'))
    assert.equal(done.filter(({ isNew }) => isNew).length, shards)
    assert.deepEqual(hashes(at('double')), reference('30000'))
    const again = await startPlanner('double', 'double', '30000').ended
    assert.equal(again.status, 0, again.stderr)
    assert.deepEqual(hashes(at('double')), reference('30000'))
    await close(...workers)
  },
)

test('a planner that is killed while it adds jobs: no manifest before the next one has added all', skip, async () => {
  // Jobs are added in batches of 500.
  const rows = Array.from({ length: 1100 }, (_, row) => `{"text":"${row}"}\n`)
  fs.mkdirSync(at('short'))
  fs.writeFileSync(at('short', 'rows.jsonl'), rows.join(''))
  const plan = (name) =>
    start([
      'corpus',
      'short',
      '-t',
      'r50k_base',
      '-o',
      name,
      '--shard-size',
      '1',
      '--queue',
      redis.url,
      '--queue-name',
      name,
    ])
  let name, queue, added, planned
  // A planner can have added all before the signal reaches it.
  for (let round = 1; round <= 5 && !(added?.wait < planned); round++) {
    await queue?.close()
    name = `planner-${round}`
    queue = openQueue(name)
    const first = plan(name)
    await until(() => first.events().some(({ event }) => event === 'queued'), 'a batch')
    first.child.kill('SIGKILL')
    await first.ended
    added = await queue.getJobCounts('wait')
    assert.ok(added.wait > 0)
    planned = first.events().find(({ event }) => event === 'queued').allShards
  }
  assert.ok(added.wait < planned, `${added.wait} of ${planned}`)
  const workers = [startWorker(name), startWorker(name)]
  await until(async () => (await queue.getJobCounts('wait', 'active')).wait === 0, 'the first batches')
  assert.equal(fs.existsSync(at(name, 'manifest.json')), false)
  const { status, stderr } = await plan(name).ended
  assert.equal(status, 0, stderr)
  assert.equal((await verifyCorpus(at(name))).isWhole, true)
  await close(...workers)
  await queue.close()
})

test('a shard that fails three times is put aside, the others are done, and a later run mends it', skip, async () => {
  const worker = startWorker('aside')
  const obstacle = at('aside', 'shard-00000002.npy')
  fs.mkdirSync(path.join(obstacle, 'in the way'), { recursive: true })
  const refused = await startPlanner('aside', 'aside', '100000').ended
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /is not empty and holds no job/)
  fs.rmSync(at('aside'), { recursive: true })
  const planner = startPlanner('aside', 'aside', '100000')
  await until(() => planner.events().some(({ event }) => event === 'plan'), 'the plan')
  fs.mkdirSync(path.join(obstacle, 'in the way'), { recursive: true })
  const { status, stderr } = await planner.ended
  assert.equal(status, 1)
  assert.match(stderr, /1 of \d+ shards failed: shard \d+: .*\(ERR_TOKENLANE_CORPUS_SHARDS_FAILED\)/)
  const tries = worker.events().filter(({ event, shard }) => event === 'failed' && shard === 2)
  assert.deepEqual(
    tries.map(({ attempt }) => attempt),
    [1, 2, 3],
  )
  assert.equal(stems(at('aside')).length, JSON.parse(fs.readFileSync(at('aside', 'job.json'), 'utf8')).plan.shards - 1)
  assert.equal(fs.existsSync(at('aside', 'manifest.json')), false)
  fs.rmSync(obstacle, { recursive: true })
  const mended = await startPlanner('aside', 'aside', '100000').ended
  assert.equal(mended.status, 0, mended.stderr)
  assert.deepEqual(hashes(at('aside')), reference('100000'))
  await close(worker)
})

test('SIGTERM finishes shards, or hands them back after the grace period', skip, async () => {
  const queue = openQueue('term')
  const planner = startPlanner('term', 'term', '20000')
  const first = startWorker('term', ['--grace', '0'])
  await until(() => first.events().some(({ event }) => event === 'shard'), 'a shard')
  await close(first)
  assert.deepEqual(await queue.getActive(), [])
  const waiting = await queue.getJobs(['wait', 'paused', 'delayed'])
  assert.ok(waiting.length > 0)
  assert.ok(waiting.every(({ attemptsMade }) => attemptsMade === 0))
  const second = startWorker('term')
  assert.equal((await planner.ended).status, 0)
  await close(second)
  assert.deepEqual(hashes(at('term')), reference('20000'))
  assert.deepEqual(leftovers(at('term')), [])
  await queue.close()
})

test('a worker of another version is refused, and the shard goes to one of the right version', skip, async () => {
  const queue = openQueue('version')
  const data = { id: 'x', tokenlane: '0.0.1', output: at('data'), base: at(), shard: 0, from: 0, to: 1 }
  const job = await queue.add('shard', data, { jobId: 'old', attempts: 3 })
  const { status, stderr } = await startWorker('version').ended
  assert.equal(status, 1)
  assert.ok(stderr.includes(`the job is one of tokenlane 0.0.1, but this worker is ${VERSION}`), stderr)
  await until(async () => (await job.getState()) === 'waiting', 'handing back')
  await queue.close()
})

test('a program whose worker is stopped by a job of another version can end', skip, async () => {
  const library = import.meta.resolve('@tokenlane/corpus')
  const script = `
    import { createWorker, tokenizeCorpus } from ${JSON.stringify(library)}
    const [url, folder, queueName] = process.argv.slice(2)
    const worker = await createWorker({ queue: url, queueName, allow: folder, concurrency: 1 })
    const options = { inputs: folder + '/data', output: folder + '/stopped', tokenizer: 'r50k_base' }
    await tokenizeCorpus({ ...options, queue: url, queueName })
    console.log('done')
    await worker.done.catch(({ code }) => console.log(code))`
  fs.writeFileSync(at('stopped.mjs'), script)
  const child = spawn(process.execPath, [at('stopped.mjs'), redis.url, at(), 'stopped'])
  children.push(child)
  let written = ''
  child.stdout.on('data', (text) => (written += text))
  await until(() => written.includes('done'), 'the first job')
  const queue = openQueue('stopped')
  const data = { id: 'x', tokenlane: '0.0.1', output: at('data'), base: at(), shard: 0, from: 0, to: 1 }
  await queue.add('shard', data, { jobId: 'old' })
  await until(() => child.exitCode !== null, 'the end of the program')
  assert.match(written, /ERR_TOKENLANE_CORPUS_MISMATCH/)
  await queue.close()
})

test('a worker reads and writes below --allow only, whatever a job says', skip, async () => {
  fs.mkdirSync(at('allowed', 'inside'), { recursive: true })
  const refusal = async (output, inputs, allow) => {
    const queue = { queue: redis.url, queueName: `allow-${path.basename(output)}` }
    const worker = await createWorker({ ...queue, allow, concurrency: 8 })
    const { message } = await failure(() =>
      tokenizeCorpus({
        ...queue,
        giveUpSeconds: 6,
        inputs,
        output: at(output),
        tokenizer: 'r50k_base',
        shardSize: 1_000_000,
      }),
    )
    await worker.close()
    await worker.done
    return message
  }
  const outputOutside = await refusal('outside', at('data'), [at('allowed')])
  assert.match(outputOutside, /outside is not below a folder that this worker allows/)
  assert.deepEqual(stems(at('outside')), [])
  const inputOutside = await refusal('allowed/tokens', at('data'), [at('allowed')])
  assert.match(inputOutside, /data\/part-0\.jsonl is not below a folder that this worker allows/)
  fs.symlinkSync(at('data', 'part-0.jsonl'), at('allowed', 'inside', 'link.jsonl'))
  const linked = await refusal('allowed/linked', at('allowed', 'inside'), [at('allowed'), at('data', 'part-1.jsonl')])
  assert.match(linked, /is not below a folder that this worker allows/)
  fs.cpSync(at('data'), at('allowedness'), { recursive: true })
  const beside = await refusal('allowed/beside', at('allowedness'), [at('allowed'), at('data')])
  assert.match(beside, /allowedness\/part-0\.jsonl is not below a folder/)
})

test('what is no job of tokenlane fails, and the worker goes on', skip, async () => {
  const queue = openQueue('junk')
  const worker = startWorker('junk')
  const junk = [
    {},
    { id: 1 },
    { id: 'x', tokenlane: VERSION, output: 'relative', base: '/' },
    { id: '../..', tokenlane: VERSION, output: at(), base: at(), shard: 0, from: 0, to: 9 },
  ]
  const jobs = await Promise.all(junk.map((data) => queue.add('shard', data)))
  for (const job of jobs) await until(() => job.isFailed(), 'failing')
  await close(worker)
  await queue.close()
})

test('a job in Redis has at most 1 KiB', skip, async () => {
  const queue = openQueue('size')
  const planner = startPlanner('size', 'size', '20000')
  await until(() => planner.events().some(({ event }) => event === 'progress'), 'watching')
  const client = redis.client()
  const keys = (await client.keys('bull:size:*')).filter((key) => /:[0-9a-f]{32}-\d+-\d+$/.test(key))
  assert.ok(keys.length > 5)
  for (const key of keys) {
    const bytes = Object.entries(await client.hgetall(key))
      .flat()
      .reduce((sum, text) => sum + Buffer.byteLength(text), key.length)
    assert.ok(bytes <= 1024, `${key}: ${bytes}`)
  }
  client.disconnect()
  planner.child.kill('SIGTERM')
  assert.equal((await planner.ended).status, 143)
  await queue.close()
})

test('passwords come by URL or environment and are never printed', skip, async () => {
  const secret = 'p4ss%3Aw0rd'
  const plain = decodeURIComponent(secret)
  const locked = await TestRedis.start(plain)
  const said = []
  try {
    const url = `redis://:${secret}@127.0.0.1:${locked.port}`
    const worker = start(['worker', '--queue', `redis://127.0.0.1:${locked.port}`, '--allow', at()], {
      TOKENLANE_QUEUE_PASSWORD: plain,
    })
    const planner = start([...ARGS, '-o', 'secret', '--queue', url])
    said.push(await planner.ended)
    assert.equal(said[0].status, 0, said[0].stderr)
    worker.child.kill('SIGTERM')
    said.push(await worker.ended)
    for (const queue of [
      url.replace('p4ss', 'wr0ng-p4ss'),
      `redis://user-p4ss:${secret}@127.0.0.1:${locked.port}`,
      `redis://127.0.0.1:${locked.port}`,
      `redis://:${secret}@127.0.0.1:1`,
      `http://:${secret}@x`,
      `redis://:${secret}@[`,
    ]) {
      const refused = run(['worker', '--queue', queue, '--allow', at(), '--wait', '0'])
      assert.notEqual(refused.status, 0, queue)
      said.push(refused)
    }
  } finally {
    await locked.end()
  }
  for (const { stdout, stderr } of said) assert.doesNotMatch(stdout + stderr, /p4ss/)
  for (const name of fs.readdirSync(at('secret')))
    assert.doesNotMatch(fs.readFileSync(at('secret', name), 'latin1'), /p4ss/)
})

test('the same from JavaScript; without the package the error names it', skip, async () => {
  const worker = await createWorker({ queue: redis.url, queueName: 'api', allow: at() })
  const options = { inputs: at('data'), output: at('api'), tokenizer: 'r50k_base', shardSize: 50_000 }
  const events = []
  const result = await tokenizeCorpus({
    ...options,
    queue: redis.url,
    queueName: 'api',
    onEvent: ({ event }) => events.push(event),
  })
  assert.ok(events.includes('queued') && events.includes('progress'))
  const alone = await tokenizeCorpus({ ...options, output: at('api-alone') })
  assert.equal(result.tokens, alone.tokens)
  assert.deepEqual(hashes(at('api')), hashes(at('api-alone')))
  await worker.close()
  await worker.done
  for (const [wrong, code] of [
    [{ queue: redis.url }, 'ARGUMENT_TYPE'],
    [{ queue: 'x', allow: at() }, 'ARGUMENT_VALUE'],
    [{ queue: redis.url, allow: at('nothing') }, 'FILE_NOT_FOUND'],
    [{ queue: redis.url, allow: at(), more: 1 }, 'UNKNOWN_OPTION'],
    [{ queue: 'redis://127.0.0.1:1', allow: at(), waitSeconds: 0 }, 'CORPUS_QUEUE'],
  ]) {
    assert.equal((await failure(() => createWorker(wrong))).code, `ERR_TOKENLANE_${code}`, JSON.stringify(wrong))
  }
  const run = withoutPackage('bullmq')(['worker', '--queue', redis.url, '--allow', at()])
  assert.match(run.stderr, /needs the package bullmq.*npm install bullmq.*ERR_TOKENLANE_PACKAGE_MISSING/)
})
