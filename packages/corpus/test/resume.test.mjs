// @tokenlane/corpus: jobs that end early, and everything that can be wrong with inputs and outputs.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { main, runIn, startIn } from '../../../__test__/support/cli.mjs'
import { documents, hashes, jsonl, leftovers, scratch, stems, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { areEnforced } from '../../../__test__/support/limited.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
writeCorpus(at('data'), 3, 120)
const FORMAT = ['--format', 'npy', '--id-field', 'id', '--eos', '--shuffle', '3']
const ARGS = ['corpus', 'data', '-t', 'r50k_base', '--shard-size', '15000', ...FORMAT]
const OPTIONS = {
  inputs: at('data'),
  tokenizer: 'r50k_base',
  shardSize: 15_000,
  format: 'npy',
  idField: 'id',
  eos: true,
  shuffle: 3,
}

/** Runs the command to its end. */
const finish = (output) => runIn(at())([...ARGS, '-o', output])

assert.equal(finish('reference').status, 0)
const reference = hashes(at('reference'))
const shards = stems(at('reference')).length

/** Asserts that an output is that of a job that was not disturbed. */
async function assertWhole(output) {
  assert.deepEqual(hashes(output), reference)
  assert.deepEqual(leftovers(output), [])
  assert.equal((await verifyCorpus(output)).isWhole, true)
}

/** Asserts that nothing half-written has a final name. */
function assertNothingHalf(output) {
  if (!fs.existsSync(output)) return
  for (const [name, hash] of Object.entries(hashes(output))) assert.equal(hash, reference[name], name)
  for (const name of fs.readdirSync(output))
    if (!name.startsWith('.') && name.endsWith('.json')) JSON.parse(fs.readFileSync(path.join(output, name), 'utf8'))
}

test('kill -9 at random moments: the next run does what is missing, and the output is the same', {
  timeout: 600_000,
}, async () => {
  let state = 4711
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
  const output = at('killed')
  let kills = 0
  let kept = 0
  for (let round = 0; round < 8; round++) {
    const { child, written, ended } = startIn(at(), [...ARGS, '-o', 'killed', '--json'])
    // Some runs die before the plan is written, others between two writes of a later shard.
    const lines = Math.floor(random() * 12)
    const spins = Math.floor(random() * 20_000)
    const isDone = await new Promise((resolve) => {
      const look = () => {
        if (written.stdout.split('\n').length > lines) {
          for (let spin = 0; spin < spins; spin++) Math.sqrt(spin)
          child.kill('SIGKILL')
          resolve(false)
        }
      }
      child.stdout.on('data', look)
      if (lines === 0) child.once('spawn', () => setTimeout(() => child.kill('SIGKILL'), Math.floor(random() * 400)))
      ended.then(() => resolve(child.exitCode === 0))
    })
    const { stdout, stderr } = await ended
    kept = Math.max(kept, (stdout.match(/"isNew":false/g) ?? []).length)
    assert.equal(stderr, '')
    assertNothingHalf(output)
    if (isDone) break
    kills += 1
  }
  assert.ok(kills >= 2, `${kills} kills`)
  assert.ok(kept > 0, 'shards of killed runs were kept')
  assert.equal(finish('killed').status, 0)
  await assertWhole(output)
})

/** The numbers of the shards that a run did, without those that it kept. */
async function resume(output, options = {}) {
  const events = []
  await tokenizeCorpus({
    ...OPTIONS,
    output,
    ...options,
    onEvent: (event) => event.event === 'shard' && events.push(event),
  })
  return events
    .filter(({ isNew }) => isNew)
    .map(({ shard }) => shard)
    .sort((a, b) => a - b)
}

test('a record that is written again after the manifest with another time is no damage', async () => {
  const output = at('late')
  await resume(output)
  const file = path.join(output, 'shard-00000002.json')
  const record = JSON.parse(fs.readFileSync(file, 'utf8'))
  const write = (changes) => fs.writeFileSync(file, JSON.stringify({ ...record, ...changes }))
  write({ seconds: record.seconds + 7.5, started: new Date().toISOString(), host: 'another' })
  assert.equal((await verifyCorpus(output)).isWhole, true)
  write({ tokens: record.tokens + 1 })
  const { problems, listed } = await verifyCorpus(output)
  assert.equal(problems, 1)
  assert.match(listed[0].problem, /totals are not those of the records/)
})

test('a run does exactly the shards that are missing or damaged', async () => {
  const output = at('mended')
  assert.equal((await resume(output)).length, shards)
  const before = hashes(output)
  const files = (number, suffix) => path.join(output, `shard-${String(number).padStart(8, '0')}${suffix}`)
  fs.rmSync(files(1, '.npy'))
  fs.truncateSync(files(2, '.rows.npy'), 40)
  const bytes = fs.readFileSync(files(3, '.npy'))
  bytes[bytes.length - 5] ^= 1
  fs.writeFileSync(files(3, '.npy'), bytes)
  fs.rmSync(files(4, '.json'))
  fs.truncateSync(files(5, '.json'), 10)
  fs.writeFileSync(files(6, '.json'), '{}')
  fs.writeFileSync(files(0, '.json'), fs.readFileSync(files(0, '.json'), 'utf8').replace(/"job":"\w/, '"job":"x'))
  const { problems } = await verifyCorpus(output)
  assert.equal(problems, 8, 'seven damages, and the sums of the manifest')
  assert.deepEqual(await resume(output), [0, 1, 2, 3, 4, 5, 6])
  assert.deepEqual(hashes(output), before)
  assert.equal((await verifyCorpus(output)).isWhole, true)
  assert.deepEqual(await resume(output), [])
  // Sizes alone do not show a byte that changed.
  fs.writeFileSync(files(3, '.npy'), bytes)
  assert.deepEqual(await resume(output, { resumeCheck: 'size' }), [])
  assert.deepEqual(await resume(output), [3])
})

test('a run that ended between the plan and the job starts anew; the rest of a folder is not touched', async () => {
  const output = at('planned')
  fs.mkdirSync(output)
  fs.copyFileSync(at('reference', 'plan.jsonl'), path.join(output, 'plan.jsonl'))
  fs.appendFileSync(path.join(output, 'plan.jsonl'), '{"shard":99')
  assert.equal((await resume(output)).length, shards)
  fs.mkdirSync(at('foreign'))
  fs.writeFileSync(at('foreign', 'notes.txt'), 'mine')
  const error = await failure(() => tokenizeCorpus({ ...OPTIONS, output: at('foreign') }))
  assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
  assert.deepEqual(fs.readdirSync(at('foreign')), ['notes.txt'])
  const file = await failure(() => tokenizeCorpus({ ...OPTIONS, output: at('foreign', 'notes.txt') }))
  assert.equal(file.code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
})

test('another job in the same folder is refused, and the error names what differs', async () => {
  const output = at('first')
  await tokenizeCorpus({ ...OPTIONS, output })
  const others = [
    [{ eos: false }, /eos is true, here it is false/],
    [{ shuffle: 4 }, /shuffle is 3, here it is 4/],
    [{ pack: 10 }, /pack is none, here it is 10/],
    [{ tokenizer: 'p50k_base' }, /the SHA-256 of the tokenizer is/],
    [{ shardSize: 16_000 }, /shardSize is 15000, here it is 16000/],
  ]
  for (const [options, message] of others) {
    const error = await failure(() => tokenizeCorpus({ ...OPTIONS, output, ...options }))
    assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
    assert.match(error.message, message)
  }
  const job = path.join(output, 'job.json')
  fs.writeFileSync(job, fs.readFileSync(job, 'utf8').replace(/"tokenlane": "[^"]+"/, '"tokenlane": "0.0.1"'))
  assert.match((await failure(() => tokenizeCorpus({ ...OPTIONS, output }))).message, /tokenlane is "0\.0\.1"/)
})

/** A file of a corpus of its own, and a job on it. */
async function ownJob(name, rows = documents(300, 5)) {
  fs.mkdirSync(at(name), { recursive: true })
  const input = at(name, 'a.jsonl')
  fs.writeFileSync(input, jsonl(rows))
  const options = { inputs: input, output: at(name, 'tokens'), tokenizer: 'r50k_base', shardSize: 1 << 20 }
  return { input, options, run: (more = {}) => tokenizeCorpus({ ...options, ...more }) }
}

test('an input that changed since the plan is refused, with both sizes or hashes', async () => {
  const { input, run } = await ownJob('changed')
  await run()
  const text = fs.readFileSync(input, 'utf8')
  const size = Buffer.byteLength(text)
  fs.appendFileSync(input, '{"text":"more"}\n')
  const longer = await failure(run)
  assert.equal(longer.code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
  assert.ok(
    longer.message.includes(`${input} changed since the job was planned: it had ${size} bytes and has ${size + 16}`),
    longer.message,
  )
  fs.writeFileSync(input, text.replace('"text":"', '"text":"X').replace(/.("}\n)/, '$1'))
  const edited = await failure(run)
  assert.equal(edited.code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
  assert.match(edited.message, /had the SHA-256 [0-9a-f]{64} and have [0-9a-f]{64}/)
  fs.rmSync(input)
  assert.equal((await failure(run)).code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
  fs.writeFileSync(input, text)
  assert.equal((await run()).kept, 1)
})

test('an input that changed far from its ends after its shard was done is refused, with both hashes', async () => {
  const { input, run } = await ownJob('middle', documents(900, 6))
  await run()
  const bytes = fs.readFileSync(input)
  assert.ok(bytes.length > 400_000)
  const middle = bytes.indexOf('"text":"', bytes.length >> 1) + 10
  bytes.write('CHANGED', middle)
  // A clock that stands still would hide the change.
  fs.writeFileSync(input, bytes)
  fs.utimesSync(input, new Date(Date.now() + 5000), new Date(Date.now() + 5000))
  const error = await failure(run)
  assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
  assert.match(error.message, /the SHA-256 of what was read was [0-9a-f]{64} and is [0-9a-f]{64}/)
})

test('a job in a script that has no file', () => {
  const script = `import { tokenizeCorpus } from ${JSON.stringify(import.meta.resolve('@tokenlane/corpus'))}
    const result = await tokenizeCorpus(${JSON.stringify({ ...OPTIONS, output: at('script'), concurrency: 2 })})
    console.log(result.shards)`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  assert.equal(stdout, `${shards}\n`, stderr)
})

test('an input that changes between the plan and its shard is refused', async () => {
  for (const change of [
    (input) => fs.appendFileSync(input, '{"text":"more"}\n'),
    (input) => fs.truncateSync(input, 100),
  ]) {
    const { input, run, options } = await ownJob('racing')
    const error = await failure(() => run({ onEvent: ({ event }) => event === 'plan' && change(input) }))
    assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
    assert.equal(fs.existsSync(path.join(options.output, 'manifest.json')), false)
    fs.rmSync(options.output, { recursive: true })
  }
})

test('new and missing inputs of a folder are named', async () => {
  const { input, run, options } = await ownJob('grown')
  const folder = { inputs: path.dirname(input) }
  await run(folder)
  const more = path.join(path.dirname(input), 'b.jsonl')
  fs.writeFileSync(more, '{"text":"new"}\n')
  const error = await failure(() => run(folder))
  assert.match(error.message, /b\.jsonl changed since the job was planned: it was not there/)
  fs.rmSync(more)
  assert.equal((await run(folder)).kept, 1, 'the output folder itself is no input')
  const inside = await failure(() =>
    tokenizeCorpus({ ...options, inputs: path.join(options.output, 'shard-00000000.bin') }),
  )
  assert.equal(inside.code, 'ERR_TOKENLANE_OUTPUT_IS_INPUT')
})

test('inputs that cannot be read', async (t) => {
  const request = (inputs) => ({ ...OPTIONS, inputs, output: at('unread') })
  assert.equal((await failure(() => tokenizeCorpus(request(at('nothing.jsonl'))))).code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
  fs.mkdirSync(at('empty'))
  assert.equal((await failure(() => tokenizeCorpus(request(at('empty'))))).code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
  if (process.platform === 'win32') return t.skip('no pipes and no permissions')
  spawnSync('mkfifo', [at('pipe')])
  assert.equal((await failure(() => tokenizeCorpus(request(at('pipe'))))).code, 'ERR_TOKENLANE_NOT_A_FILE')
  fs.mkdirSync(at('locked', 'data'), { recursive: true })
  fs.writeFileSync(at('locked', 'data', 'a.jsonl'), '{"text":"a"}\n')
  fs.writeFileSync(at('locked', 'data', 'b.jsonl'), '{"text":"b"}\n', { mode: 0 })
  fs.chmodSync(at(), 0o755)
  fs.chmodSync(at('locked'), 0o777)
  const user = process.getuid() === 0 ? { uid: 65534, gid: 65534 } : {}
  const run = (...more) =>
    spawnSync(process.execPath, [main, 'corpus', 'data', '-o', 'tokens', '-t', 'r50k_base', ...more], {
      cwd: at('locked'),
      encoding: 'utf8',
      ...user,
    })
  if (run('--help').status !== 0) return t.skip('another user cannot run this working copy')
  const { status, stderr } = run()
  assert.equal(status, 1)
  assert.match(stderr, /data\/b\.jsonl: permission denied \(ERR_TOKENLANE_FILE\)/)
  const skipped = run('--on-error', 'skip', '--json')
  assert.equal(skipped.status, 0, skipped.stderr)
  assert.match(skipped.stdout, /"event":"unreadable"/)
  assert.equal(JSON.parse(skipped.stdout.trimEnd().split('\n').at(-1)).documents, 1)
})

/** Asserts that a run without space failed and left nothing half-written. */
async function afterFull(output, result) {
  assert.equal(result.status, 1, result.stderr)
  assert.match(result.stderr, /\(ERR_TOKENLANE_FILE\)/)
  assertNothingHalf(output)
  assert.deepEqual(leftovers(output), [])
}

test('files that may not grow: the job ends, and goes on when they may', {
  skip: !areEnforced && 'no prlimit',
}, async () => {
  for (const bytes of [1500, 6000]) {
    const name = `limited-${bytes}`
    const command = [main, ...ARGS, '-o', name]
    const result = spawnSync('/usr/bin/prlimit', [`--fsize=${bytes}`, process.execPath, ...command], {
      cwd: at(),
      encoding: 'utf8',
    })
    await afterFull(at(name), result)
    assert.equal(finish(name).status, 0)
    await assertWhole(at(name))
  }
})

test('a full disk: the job ends, and goes on when there is space', async (t) => {
  const disk = at('disk')
  fs.mkdirSync(disk)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', disk]).status !== 0)
    return t.skip('a small disk needs mount')
  try {
    const result = finish('disk/tokens')
    assert.match(result.stderr, /no space is left on the disk/)
    await afterFull(path.join(disk, 'tokens'), result)
    assert.equal(spawnSync('mount', ['-o', 'remount,size=64m', disk]).status, 0)
    assert.equal(finish('disk/tokens').status, 0)
    await assertWhole(path.join(disk, 'tokens'))
  } finally {
    // Detached at once, even if a scanner of this machine has a file open.
    spawnSync('umount', ['-l', disk])
  }
})

test('an AbortSignal ends a job; another run goes on', async () => {
  const output = at('aborted')
  const reason = new Error('enough')
  assert.equal(await failure(() => tokenizeCorpus({ ...OPTIONS, output, signal: AbortSignal.abort(reason) })), reason)
  const controller = new AbortController()
  let done = 0
  const onEvent = ({ event }) => event === 'shard' && (done += 1) === 3 && controller.abort(reason)
  assert.equal(await failure(() => tokenizeCorpus({ ...OPTIONS, output, signal: controller.signal, onEvent })), reason)
  assert.deepEqual(leftovers(output), [])
  const written = hashes(output)
  assert.ok((await resume(output)).length <= shards - 3)
  const whole = hashes(output)
  for (const [name, hash] of Object.entries(written)) assert.equal(hash, whole[name], name)
  // The tables name the inputs, which are absolute paths here.
  const arrays = (all) => Object.fromEntries(Object.entries(all).filter(([name]) => name.endsWith('.npy')))
  assert.deepEqual(arrays(whole), arrays(reference))
})

test('Ctrl-C and SIGTERM remove what is half-written, and say how to go on', {
  skip: process.platform === 'win32',
}, async () => {
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    // On a busy machine the run may end before the signal arrives, so there are rounds.
    let result
    for (let round = 0; round < 10 && (result?.status ?? 0) === 0; round++) {
      const output = `ended-${signal}-${round}`
      const event = `"event":"${round % 2 === 0 ? 'shard' : 'plan'}"`
      const { child, written, ended } = startIn(at(), [...ARGS, '-o', output, '--json'])
      // Once: a second signal ends the process at once, without its message.
      let isSent = false
      child.stdout.on('data', () => {
        if (!isSent && written.stdout.includes(event)) isSent = child.kill(signal)
      })
      result = await ended
      assert.deepEqual(leftovers(at(output)), [])
      assertNothingHalf(at(output))
    }
    assert.equal(result.status, status)
    assert.match(result.stderr, /run the same command again to continue/)
  }
})

test('two processes do the same job at the same time', async () => {
  const runs = [1, 2].map(() => startIn(at(), [...ARGS, '-o', 'both']).ended)
  const ends = (await Promise.all(runs)).map(({ status, stderr }) => ({ status, said: status === 0 ? '' : stderr }))
  assert.deepEqual(ends, [
    { status: 0, said: '' },
    { status: 0, said: '' },
  ])
  await assertWhole(at('both'))
})

test('a row that fails ends the job; the shards that were done stay', async () => {
  const { input, run, options } = await ownJob('poison')
  const rows = documents(300, 5)
  rows.splice(250, 0, /** @type {any} */ ({ text: 7 }))
  fs.writeFileSync(input, jsonl(rows))
  const error = await failure(() => run({ shardSize: 20_000, concurrency: 1 }))
  assert.equal(error.code, 'ERR_TOKENLANE_FIELD')
  assert.ok(stems(options.output).length > 2)
  assert.deepEqual(leftovers(options.output), [])
  const again = await failure(() => run({ shardSize: 20_000, concurrency: 1 }))
  assert.equal(again.message, error.message)
})
