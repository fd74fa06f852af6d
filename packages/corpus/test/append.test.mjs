// @tokenlane/corpus over time: new inputs are appended, and plans are trusted.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { appended } from '../src/append.mjs'
import { MAX_SEGMENTS } from '../src/job-file.mjs'
import { openTokens, tokenizeCorpus, verifyCorpus } from '@tokenlane/corpus'
import { documents, hashes, jsonl, scratch, stems, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { jobsIn } from './support/corpus-jobs.mjs'
import { statIfThere } from '../../../lib/files/stat.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
writeCorpus(at('data'))
const BASE = { inputs: at('data'), tokenizer: 'r50k_base', shardSize: 20_000 }

const run = jobsIn(at, BASE)

test('--append: new inputs become new shards, and what is there is untouched', async () => {
  const inputs = at('growing')
  fs.cpSync(at('data'), inputs, { recursive: true })
  for (const shuffle of [undefined, 4]) {
    const output = at(`appended-${shuffle}`)
    const append = (options = {}) => tokenizeCorpus({ ...BASE, inputs, output, shuffle, append: true, ...options })
    const first = await append()
    const [before, states] = [hashes(output), new Map()]
    for (const name of fs.readdirSync(output).filter((name) => name !== 'job.json' && name !== 'manifest.json'))
      states.set(name, fs.statSync(path.join(output, name)).mtimeMs)
    const names = [`new-${shuffle}-1.jsonl`, `new-${shuffle}-2.jsonl`]
    for (const [index, name] of names.entries()) {
      fs.writeFileSync(path.join(inputs, name), jsonl(documents(50, 40 + index)))
      const { shards, kept, documents: count } = await append()
      const alone = await run({ inputs: path.join(inputs, name), shuffle })
      const total = stems(output).length
      assert.equal(shards, total)
      assert.equal(kept, total - alone.result.shards)
      assert.equal(count, first.documents + (index + 1) * alone.result.documents)
      const own = Object.entries(hashes(output)).slice(-Object.keys(hashes(alone.output)).length)
      assert.deepEqual(
        own.map(([, hash]) => hash),
        Object.values(hashes(alone.output)),
      )
      assert.equal((await verifyCorpus(output)).isWhole, true)
    }
    for (const [name, hash] of Object.entries(before)) assert.equal(hashes(output)[name], hash)
    for (const [name, time] of states) assert.equal(fs.statSync(path.join(output, name)).mtimeMs, time, name)
    // Nothing new: shards that are missing are made again.
    const all = hashes(output)
    fs.rmSync(path.join(output, 'shard-00000000.bin'))
    const { kept, shards } = await append()
    assert.equal(kept, shards - 1)
    assert.deepEqual(hashes(output), all)
    const reader = await openTokens(output)
    assert.equal(reader.documents, (await verifyCorpus(output)).documents)
    await reader.close()
    for (const [options, code] of [
      [{ append: false }, 'CORPUS_MISMATCH'],
      [{ eos: true }, 'CORPUS_MISMATCH'],
      [{ queue: 'redis://x' }, 'ARGUMENT_TYPE'],
    ])
      assert.equal((await failure(() => append(options))).code, `ERR_TOKENLANE_${code}`)
    // An append that ended early is continued by its own command.
    fs.writeFileSync(path.join(inputs, `late-${shuffle}.jsonl`), jsonl(documents(50, 90)))
    await append()
    fs.rmSync(path.join(output, 'manifest.json'))
    fs.rmSync(path.join(output, stems(output).at(-1).concat('.bin')))
    const early = await failure(() => append({ inputs: [path.join(inputs, names[0])] }))
    assert.equal(early.code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
    const last = await append()
    assert.equal(last.kept, last.shards - 1)
    assert.equal((await verifyCorpus(output)).isWhole, true)
    fs.appendFileSync(path.join(inputs, names[1]), '{"text":"more"}\n')
    assert.equal((await failure(() => append())).code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
    for (const name of [...names, `late-${shuffle}.jsonl`]) fs.rmSync(path.join(inputs, name))
  }
})

test('--append makes shards of earlier runs again that are missing, with their new inputs', async () => {
  const inputs = at('mended')
  fs.cpSync(at('data'), inputs, { recursive: true })
  const { output } = await run({ inputs })
  const append = () => tokenizeCorpus({ ...BASE, inputs, output, append: true })
  const reference = hashes(output)
  fs.writeFileSync(path.join(inputs, 'y.jsonl'), jsonl(documents(20, 50)))
  for (const name of ['shard-00000001.json', 'shard-00000001.bin']) fs.rmSync(path.join(output, name))
  await append()
  assert.equal((await verifyCorpus(output)).isWhole, true)
  for (const [name, hash] of Object.entries(reference)) assert.equal(hashes(output)[name], hash)
  // The same after an append that ended early.
  fs.rmSync(path.join(output, 'manifest.json'))
  fs.rmSync(path.join(output, 'shard-00000000.json'))
  await append()
  assert.equal((await verifyCorpus(output)).isWhole, true)
})

test('--append finishes a first run that ended before it wrote its plan', async () => {
  const { output } = await run({})
  const reference = hashes(output)
  for (const name of ['plan.jsonl', 'manifest.json', 'shard-00000000.json']) fs.rmSync(path.join(output, name))
  await tokenizeCorpus({ ...BASE, output, append: true })
  assert.equal((await verifyCorpus(output)).isWhole, true)
  assert.deepEqual(hashes(output), reference)
})

test('--append believes no plan that was changed: its inputs would be there twice', async () => {
  const { output } = await run({})
  const plan = path.join(output, 'plan.jsonl')
  const [, ...lines] = fs.readFileSync(plan, 'utf8').split('\n')
  fs.writeFileSync(plan, lines.join('\n'))
  const { code, message } = await failure(() => tokenizeCorpus({ ...BASE, output, append: true }))
  assert.equal(code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
  assert.match(message, /plan.jsonl is missing or was changed/)
})

test('--append knows an input by its place, however it is named', async () => {
  const { output, result } = await run({})
  const inputs = `${path.relative('.', at('data'))}${path.sep}.`
  const again = await tokenizeCorpus({ ...BASE, inputs, output, append: true })
  assert.equal(again.documents, result.documents)
})

test('--append after another process has appended since the first look: nothing is lost', async () => {
  const [inputs, hooks] = [at('meanwhile'), at('meanwhile.mjs')]
  fs.cpSync(at('data'), inputs, { recursive: true })
  // The module is loaded after the first look at the folder: then the other process appends.
  fs.writeFileSync(
    hooks,
    `import { execFileSync } from 'node:child_process'
     import { isMainThread } from 'node:worker_threads'
     const { APPEND } = process.env
     delete process.env.APPEND
     if (APPEND && isMainThread) execFileSync(process.execPath, JSON.parse(APPEND), { stdio: 'ignore' })
     export const filter = () => true`,
  )
  const output = at('meanwhile-out')
  const job = [...['corpus', '-t', BASE.tokenizer, '--shard-size', `${BASE.shardSize}`], '--hooks', hooks, '-o', output]
  const cli = fileURLToPath(new URL('../../../cli/main.mjs', import.meta.url))
  execFileSync(process.execPath, [cli, ...job, inputs], { stdio: 'ignore' })
  fs.writeFileSync(path.join(inputs, 'y.jsonl'), jsonl(documents(20, 60)))
  fs.writeFileSync(at('other.jsonl'), jsonl(documents(30, 61)))
  process.env.APPEND = JSON.stringify([cli, ...job, '--append', at('other.jsonl')])
  const result = await tokenizeCorpus({ ...BASE, inputs, hooks, output, append: true })
  const apart = await run({ inputs: [inputs, at('other.jsonl')], hooks })
  assert.equal(result.documents, apart.result.documents)
  assert.equal((await verifyCorpus(output)).isWhole, true)
})

test('--trust-plan: the inputs are not listed; those that are read are compared', async () => {
  const inputs = at('trusted')
  fs.cpSync(at('data'), inputs, { recursive: true })
  const { output, result } = await run({ inputs, trustPlan: true })
  const reference = hashes(output)
  const [first, ...more] = fs.readdirSync(inputs).map((name) => path.join(inputs, name))
  const late = path.join(inputs, 'zz.jsonl')
  fs.writeFileSync(late, '{"text":"late"}\n')
  const again = (options = {}) => tokenizeCorpus({ ...BASE, inputs, output, ...options })
  assert.equal((await failure(() => again())).code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
  // The error closes the two plans.
  const plans = () =>
    fs.readdirSync('/proc/self/fd').filter((name) => statIfThere(`/proc/self/fd/${name}`)?.ino === planInode)
  const planInode = fs.statSync(path.join(output, 'plan.jsonl')).ino
  while (process.platform === 'linux' && plans().length > 0) await setTimeout(10)
  assert.equal((await again({ trustPlan: true })).kept, result.shards)
  for (const name of more) fs.rmSync(name)
  assert.equal((await again({ trustPlan: true })).kept, result.shards)
  fs.rmSync(path.join(output, 'shard-00000000.bin'))
  assert.equal((await again({ trustPlan: true })).kept, result.shards - 1)
  assert.deepEqual(hashes(output), reference)
  fs.rmSync(path.join(output, 'shard-00000000.bin'))
  fs.writeFileSync(first, fs.readFileSync(first, 'utf8').toUpperCase())
  assert.equal((await failure(() => again({ trustPlan: true }))).code, 'ERR_TOKENLANE_CORPUS_INPUT_CHANGED')
  const other = await failure(() => again({ trustPlan: true, inputs: [inputs, first] }))
  assert.equal(other.code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
  fs.appendFileSync(path.join(output, 'plan.jsonl'), '\n')
  assert.equal((await failure(() => again({ trustPlan: true }))).code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
})

test('--trust-plan compares the names of all inputs, not only those that job.json shows', async () => {
  fs.mkdirSync(at('names'))
  const inputs = Array.from({ length: 12 }, (_, index) => at('names', `${index}.jsonl`))
  for (const file of [...inputs, at('names', 'other.jsonl')]) fs.writeFileSync(file, '{"text":"a name"}\n')
  const { output, result } = await run({ inputs })
  const again = (changed) => tokenizeCorpus({ ...BASE, inputs: changed, output, trustPlan: true })
  assert.equal((await again(inputs)).kept, result.shards)
  const error = await failure(() => again([...inputs.slice(0, -1), at('names', 'other.jsonl')]))
  assert.equal(error.code, 'ERR_TOKENLANE_CORPUS_MISMATCH')
  assert.match(error.message, /with other inputs than here/)
})

test('a job has a limited number of segments, because each is read at each run', () => {
  const plan = { shards: 1, parts: 1, documents: 1, bytes: 1, sha256: '0'.repeat(64) }
  const job = { version: 1, tokenlane: '0', tokenizer: {}, options: {}, id: 'x', plan }
  const many = (count) => ({ ...job, segments: Array.from({ length: count }, () => ({ id: 'x', plan, first: 0 })) })
  assert.equal(appended(many(MAX_SEGMENTS - 1), job).segments.length, MAX_SEGMENTS)
  assert.throws(() => appended(many(MAX_SEGMENTS), job), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
    message: /at most 999 times/,
  })
})
