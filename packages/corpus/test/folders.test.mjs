// @tokenlane/corpus: folders that are read-only, what killed processes leave in them, inputs that
// change behind its back, and compressed ones.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { cleanCorpus, createWorker, tokenizeCorpus } from '@tokenlane/corpus'
import { thisProcess } from '../../../lib/files/parts.mjs'
import { runIn, startIn } from '../../../__test__/support/cli.mjs'
import { documents, jsonl, leftovers, scratch, temporaryIn, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
writeCorpus(at('data'), 1, 20)
const BASE = { inputs: at('data'), tokenizer: 'r50k_base', concurrency: 1 }
const code = (name) => `ERR_TOKENLANE_${name}`

test('an edit that keeps the size and has an older time is found', async () => {
  const input = at('edited', 'x.jsonl')
  fs.mkdirSync(path.dirname(input))
  // Only the first and the last 64 KiB are in the plan.
  const line = `${JSON.stringify({ text: 'seven words make up this whole line' })}\n`
  const text = line.repeat(5000)
  fs.writeFileSync(input, text)
  const options = { ...BASE, inputs: input, output: at('from-edited') }
  await tokenizeCorpus(options)
  const { atime, mtime } = fs.statSync(input)
  // The same content with another time is read again, and is the same.
  fs.utimesSync(input, atime, new Date(mtime.getTime() - 5000))
  assert.equal((await tokenizeCorpus(options)).kept, 1)
  const middle = 2500 * line.length
  fs.writeFileSync(input, text.slice(0, middle) + line.replace('seven', 'eight') + text.slice(middle + line.length))
  fs.utimesSync(input, atime, new Date(mtime.getTime() - 3_600_000))
  assert.equal((await failure(() => tokenizeCorpus(options))).code, code('CORPUS_INPUT_CHANGED'))
})

test('resumeCheck is that of the planner on a queue too', { skip: missing, timeout: 120_000 }, async () => {
  const redis = await TestRedis.start()
  const queue = { queue: redis.url, queueName: 'check' }
  const worker = await createWorker({ ...queue, allow: at() })
  const options = { ...BASE, ...queue, output: at('checked'), format: /** @type {const} */ ('npy') }
  await tokenizeCorpus(options)
  const file = at('checked', 'shard-00000000.npy')
  const bytes = fs.readFileSync(file)
  bytes[bytes.length - 2] ^= 1
  fs.writeFileSync(file, bytes)
  await tokenizeCorpus({ ...options, resumeCheck: 'size' })
  assert.deepEqual(fs.readFileSync(file), bytes)
  await tokenizeCorpus(options)
  assert.notDeepEqual(fs.readFileSync(file), bytes)
  await worker.close()
  await redis.end()
})

test('a read-only output is called so', async (t) => {
  const disk = at('disk')
  fs.mkdirSync(disk)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', disk]).status !== 0) return t.skip('mount is needed')
  try {
    for (const output of [disk, path.join(disk, 'new', 'folder')]) {
      const error = await failure(() => tokenizeCorpus({ ...BASE, output }))
      assert.equal(error.code, code('FILE'))
      assert.equal(error.message, `${output}: the file system is read-only`)
    }
  } finally {
    spawnSync('umount', ['-l', disk])
  }
})

test('a book whose lines become documents is noted, once; other inputs are not', () => {
  fs.mkdirSync(at('books'))
  for (const name of ['a.txt', 'b.txt']) fs.writeFileSync(at('books', name), 'It was\nthe best\nof times\n')
  const run = (...args) => runIn(at())(['corpus', '--dry-run', '-t', 'r50k_base', ...args]).stderr
  const note = /^tokenlane: each line of books\/a\.txt is a document.*--rows files/m
  assert.match(run('books'), note)
  assert.equal(run('books').match(/each line/g)?.length, 1)
  for (const args of [['books', '--rows', 'lines'], ['books', '--rows', 'files'], ['data']])
    assert.doesNotMatch(run(...args), /each line/)
})

/** Leaves an unfinished file of a process; `age` is in seconds. */
function leave(folder, name, { system, pid, start }, age) {
  const place = path.join(folder, `.${name}.tokenlane-${system}-${pid}-${start}-1.part`)
  fs.writeFileSync(place, 'x')
  const time = new Date(Date.now() - age * 1000)
  fs.utimesSync(place, time, time)
  return path.basename(place)
}

test('unfinished files of other machines are removed by age, at the end of a job and by corpus clean', async () => {
  const output = at('left')
  const far = { system: 'f'.repeat(12), pid: 1, start: '5' }
  await tokenizeCorpus({ ...BASE, output })
  leave(output, 'shard-00000000.bin.0', far, 7200)
  const young = leave(output, 'shard-00000000.bin.0', { ...far, pid: 2 }, 60)
  const stranger = leave(output, 'mine.txt', far, 1e6)
  const own = leave(output, 'shard-00000000.idx.0', { ...thisProcess(), start: '1' }, 0)
  await tokenizeCorpus({ ...BASE, output })
  assert.deepEqual(leftovers(output).sort(), [young, stranger].sort(), `without ${own}`)
  assert.deepEqual(await cleanCorpus(output), { removed: [] })
  assert.deepEqual(await cleanCorpus(output, { ageSeconds: 30 }), { removed: [young] })
  assert.deepEqual(leftovers(output), [stranger])
  leave(output, 'plan.jsonl', far, 10)
  fs.writeFileSync(path.join(output, 'claim.json'), '{}')
  const { status, stdout } = runIn(at())(['corpus', 'clean', 'left', '--age', '0'])
  assert.equal(status, 0)
  assert.match(stdout, /^\.plan\.jsonl.*\nclaim\.json\n2 removed\n$/)
  assert.deepEqual(leftovers(output), [stranger])
  assert.equal((await failure(() => cleanCorpus(at('data')))).code, code('FILE_NOT_FOUND'))
  assert.equal((await failure(() => cleanCorpus(output, { ageSeconds: -1 }))).code, code('ARGUMENT_VALUE'))
})

test('kill -9: the next run removes the temporary folders of processes that have ended, and no others', async () => {
  const temporary = at('temporary')
  fs.mkdirSync(temporary)
  fs.writeFileSync(at('many.jsonl'), jsonl(documents(4000, 3)).repeat(10))
  const train = (...more) =>
    startIn(at(), ['train', 'many.jsonl', '-o', 'many.json', '--vocab-size', '400', ...more], temporaryIn(temporary))
  const names = () => fs.readdirSync(temporary).sort()
  const killed = train()
  for (let round = 0; names().length === 0; round++) {
    assert.ok(round < 4000 && killed.child.exitCode === null, killed.written.stderr)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  killed.child.kill('SIGKILL')
  await killed.ended
  const [left] = names()
  assert.match(left, /^tokenlane-train-/)

  // Of a running process, of another machine, of another user, and what is no folder.
  const { system, pid, start } = thisProcess()
  const folder = (owner, suffix = 'aaaaaa') => {
    const name = `tokenlane-train-${owner.join('-')}-${suffix}`
    fs.mkdirSync(path.join(temporary, name))
    fs.writeFileSync(path.join(temporary, name, 'words'), 'x')
    return name
  }
  const dead = 2 ** 22 + 1
  const kept = [folder([system, pid, start]), folder(['f'.repeat(12), dead, '5']), 'tokenlane-train-abcdef']
  fs.mkdirSync(path.join(temporary, kept[2]))
  if (process.getuid?.() === 0) {
    kept.push(folder([system, dead, '6']))
    fs.chownSync(path.join(temporary, kept[3]), 12_345, 12_345)
  }
  const link = `tokenlane-train-${system}-${dead}-7-aaaaaa`
  try {
    fs.symlinkSync(path.join(temporary, kept[0]), path.join(temporary, link), 'junction')
    kept.push(link)
  } catch (error) {
    // Wine has no links.
    assert.deepEqual([process.platform, error.code], ['win32', 'ENOTSUP'])
  }
  // Another process has got the number of the one that ended; only Linux tells them apart.
  const reused = folder([system, pid, '1'])
  if (start === '0') kept.push(reused)
  const next = await train('--quiet').ended
  assert.equal(next.status, 0, next.stderr)
  assert.deepEqual(names(), [...kept].sort())
  assert.ok(fs.existsSync(path.join(temporary, kept[0], 'words')))
})

test('the plan counts a compressed byte as four', async () => {
  fs.mkdirSync(at('weights'))
  const packed = zlib.gzipSync(jsonl(documents(40, 5)))
  for (const name of ['a', 'b']) fs.writeFileSync(at('weights', `${name}.jsonl.gz`), packed)
  const shards = async (shardSize) => {
    const output = at(`of-weights-${shardSize}`)
    return (await tokenizeCorpus({ ...BASE, inputs: at('weights'), output, shardSize })).shards
  }
  assert.deepEqual([await shards(4 * packed.length), await shards(12 * packed.length)], [2, 1])
})
