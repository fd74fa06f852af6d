// @tokenlane/corpus: several processes start jobs in one new folder at the same time.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'

import { cleanCorpus, tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { thisProcess } from '../../../lib/files/parts.mjs'
import { startIn } from '../../../__test__/support/cli.mjs'
import { hashes, scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestS3 } from './support/s3.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
writeCorpus(at('data'), 2, 20)
writeCorpus(at('other'), 3, 15)
const BASE = { tokenizer: 'r50k_base', shardSize: 8000, concurrency: 1 }
const FIRST = { ...BASE, inputs: at('data') }
const MISMATCH = 'ERR_TOKENLANE_CORPUS_MISMATCH'
/** @type {TestS3} */
let s3

before(async () => {
  s3 = await TestS3.start(['lake'])
  Object.assign(process.env, s3.env)
  await tokenizeCorpus({ ...FIRST, output: at('reference') })
})
after(() => s3.stop())

/** Starts jobs at once; asserts that one kind wins, and that the others are refused. */
async function race(output, ...jobs) {
  const ends = await Promise.allSettled(jobs.map((job) => tokenizeCorpus({ ...job, output })))
  const won = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
  assert.ok(won.length >= 1, JSON.stringify(ends))
  assert.equal(new Set(won.map(({ id }) => id)).size, 1)
  for (const end of ends) {
    if (end.status === 'fulfilled') continue
    assert.equal(end.reason.code, MISMATCH, end.reason.stack)
    assert.match(end.reason.message, new RegExp(`started on "${os.hostname()}" at \\d{4}-\\d\\d-\\d\\dT`))
  }
  const { isWhole, tokens } = await verifyCorpus(output)
  assert.ok(isWhole)
  assert.equal(tokens, won[0].tokens)
  return won.length
}

test('two different jobs in one new folder: one is done, the other is refused with the name of the first', async () => {
  for (let round = 0; round < 6; round++) {
    const second = round % 2 === 0 ? { ...FIRST, eos: true } : { ...BASE, inputs: at('other') }
    assert.equal(await race(at(`two-${round}`), FIRST, second), 1)
    assert.ok(!fs.existsSync(at(`two-${round}`, 'claim.json')))
  }
})

test('two different commands in one new folder', async () => {
  const args = (input) => ['corpus', input, '-o', at('commands'), '-t', 'r50k_base', '--shard-size', '8000']
  const ends = await Promise.all(['data', 'other'].map((input) => startIn(at(), args(input), {}).ended))
  assert.deepEqual(ends.map(({ status }) => status).sort(), [0, 1], JSON.stringify(ends))
  assert.match(
    ends.find(({ status }) => status === 1).stderr,
    /(?:claimed by|holds) another job, "(?:data|other)" with/,
  )
  assert.ok((await verifyCorpus(at('commands'))).isWhole)
})

test('the same job several times at once: all of them join it', async () => {
  assert.equal(await race(at('same'), FIRST, FIRST, FIRST), 3)
  assert.deepEqual(hashes(at('same')), hashes(at('reference')))
})

test('two different jobs in one new prefix of S3', async () => {
  for (let round = 0; round < 3; round++)
    assert.equal(await race(`s3://lake/two-${round}/`, FIRST, { ...FIRST, eos: true }), 1)
  assert.deepEqual(
    s3.names('lake/').filter((name) => name.endsWith('claim.json')),
    [],
  )
})

test('a store without conditional writes is used all the same', async () => {
  s3.isConditional = false
  await tokenizeCorpus({ ...FIRST, output: 's3://lake/plain/' })
  s3.isConditional = true
  assert.ok((await verifyCorpus('s3://lake/plain/')).isWhole)
})

/** A folder that is claimed by a process. */
function claimed(name, process) {
  const start = { inputs: ['first'], tokenizer: 'gpt2', host: 'far', time: '2026-01-02T03:04:05.000Z' }
  fs.mkdirSync(at(name))
  fs.writeFileSync(at(name, 'claim.json'), JSON.stringify({ digest: '0'.repeat(64), start, process }))
  return at(name)
}

test('a claim of a process that has ended is taken over; one that may live is not', async () => {
  const gone = { ...thisProcess(), pid: 2 ** 22 + 1 }
  await tokenizeCorpus({ ...FIRST, output: claimed('gone', gone) })
  assert.deepEqual(hashes(at('gone')), hashes(at('reference')))
  for (const [name, process] of Object.entries({
    far: { ...gone, system: 'f'.repeat(12) },
    alive: thisProcess(),
    none: undefined,
  })) {
    const output = claimed(name, process)
    const error = await failure(() => tokenizeCorpus({ ...FIRST, output }))
    assert.equal(error.code, MISMATCH)
    assert.match(error.message, /"first" with "gpt2", started on "far" at 2026-01-02T03:04:05\.000Z/)
    assert.deepEqual(fs.readdirSync(output), ['claim.json'])
  }
})

test('clean keeps the claim of a process that appends to a job, and removes that of one that ended', async () => {
  const output = at('appending')
  await tokenizeCorpus({ ...FIRST, output })
  const claim = path.join(output, 'claim.json')
  const claimIt = (name, process) => fs.renameSync(path.join(claimed(name, process), 'claim.json'), claim)
  const far = { ...thisProcess(), system: 'f'.repeat(12) }
  claimIt('claim-alive', thisProcess())
  assert.deepEqual(await cleanCorpus(output, { ageSeconds: 0 }), { removed: [] })
  claimIt('claim-far', far)
  assert.deepEqual(await cleanCorpus(output, { ageSeconds: 1e9 }), { removed: [] })
  assert.deepEqual(await cleanCorpus(output), { removed: ['claim.json'] })
  claimIt('claim-gone', { ...thisProcess(), pid: 2 ** 22 + 1 })
  assert.deepEqual(await cleanCorpus(output), { removed: ['claim.json'] })
})

test('a job that ends before it is planned releases its claim', async () => {
  const output = at('released')
  const { code } = await failure(() => tokenizeCorpus({ ...FIRST, inputs: at('nothing'), output }))
  assert.equal(code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
  await tokenizeCorpus({ ...FIRST, output })
  assert.deepEqual(hashes(output), hashes(at('reference')))
})

test('a job whose plan is missing gets it again; a manifest is that of its own job', async () => {
  const output = at('planless')
  await tokenizeCorpus({ ...FIRST, output })
  const plan = fs.readFileSync(at('planless', 'plan.jsonl'), 'utf8')
  fs.rmSync(at('planless', 'plan.jsonl'))
  await tokenizeCorpus({ ...FIRST, output })
  assert.equal(fs.readFileSync(at('planless', 'plan.jsonl'), 'utf8'), plan)
  fs.copyFileSync(at('planless', 'job.json'), at('own.json'))
  await tokenizeCorpus({ ...FIRST, eos: true, output: at('another') })
  const onEvent = ({ event }) =>
    event === 'plan' && fs.copyFileSync(at('another', 'job.json'), at('planless', 'job.json'))
  const { code } = await failure(() => tokenizeCorpus({ ...FIRST, output, onEvent }))
  assert.equal(code, MISMATCH)
})
