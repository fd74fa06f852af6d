// Inputs of corpus jobs and their plan: which files, in which order, cut into which shards.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import zlib from 'node:zlib'

import { defaultConcurrency, shardsAtOnce } from '../src/concurrency.mjs'
import { checkContent, checkOptions } from '../src/options.mjs'
import { planParts } from '../src/plan.mjs'
import { Probes } from '../src/probe.mjs'
import { inputFiles } from '../src/walk.mjs'
import { HEAD_BYTES } from '../../../lib/files/foreign.mjs'
import { runIn } from '../../../__test__/support/cli.mjs'
import { documents, hashes, jsonl, record, scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { jobsIn } from './support/corpus-jobs.mjs'
import { parseJsonLines } from '../../../__test__/support/json-lines.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
writeCorpus(at('data'))
const run = jobsIn(at, { tokenizer: 'r50k_base' })

test('the plan depends on the inputs alone, and cuts plain files at the ends of records', async () => {
  const plans = ['here', 'there'].map((name) => {
    fs.cpSync(at('data'), at(name, 'data'), { recursive: true })
    const time = name === 'here' ? 1e9 : 1.5e9
    for (const file of fs.readdirSync(at(name, 'data'))) fs.utimesSync(at(name, 'data', file), time, time)
    const { status, stderr } = runIn(at(name))([
      'corpus',
      'data',
      '-t',
      'r50k_base',
      '-o',
      'tokens',
      '--shard-size',
      '20000',
    ])
    assert.equal(status, 0, stderr)
    return fs.readFileSync(at(name, 'tokens', 'plan.jsonl'), 'utf8')
  })
  assert.equal(plans[0], plans[1])
  const parts = parseJsonLines(plans[0])
  for (const { path: name, start, end, size } of parts) {
    const bytes = fs.readFileSync(at('here', name))
    assert.equal(bytes.length, size)
    assert.ok(start === 0 || bytes[start - 1] === 10)
    assert.equal(bytes[end - 1], 10)
    assert.ok(end - start < 25_000)
  }
  assert.deepEqual(
    parts.map(({ shard }) => shard),
    parts.map(({ shard }) => shard).toSorted((a, b) => a - b),
  )
})

test('two processors get one shard at a time only where the addon reads and JavaScript adds nothing', () => {
  const parts = [{ rows: 'json' }, { rows: 'lines' }]
  const atOnce = (options, more = [], processors = 2) =>
    shardsAtOnce([...parts, ...more], checkContent({ format: 'megatron', ...options }), processors)
  assert.equal(atOnce({}), 1)
  assert.equal(atOnce({ format: 'npy', idField: 'id' }), 1)
  assert.equal(atOnce({}, [], 1), 1)
  assert.equal(atOnce({}, [], 3), defaultConcurrency(3))
  for (const options of [
    { shuffle: 1 },
    { format: 'jsonl' },
    { pack: 64, packing: 'best-fit' },
    { idField: 'id', groupBy: 'group' },
    { messages: 'messages' },
    { hooksSha256: 'a'.repeat(64) },
  ])
    assert.equal(atOnce(options), 2, JSON.stringify(options))
  for (const part of [{ rows: 'json', codec: 'zstd' }, { rows: 'parquet' }]) assert.equal(atOnce({}, [part]), 2)
  assert.deepEqual([1, 2, 4, 6, 8, 64].map(defaultConcurrency), [2, 2, 2, 3, 4, 4])
})

test('shards that are much larger than others are handed out first, largest first', async () => {
  fs.mkdirSync(at('sizes'))
  const names = ['a', 'b-large', 'c', 'd-largest', 'e']
  for (const [index, name] of names.entries()) {
    // Text that does not compress well; a gzip file of one member is not cut.
    const rows = documents(name.endsWith('largest') ? 400 : name.endsWith('large') ? 200 : 20, index + 1)
    const bytes = Buffer.from(jsonl(rows))
    const isLarge = name.includes('-')
    fs.writeFileSync(at('sizes', `${name}.jsonl${isLarge ? '.gz' : ''}`), isLarge ? zlib.gzipSync(bytes) : bytes)
  }
  const shardSize = fs.statSync(at('sizes', 'b-large.jsonl.gz')).size
  const orders = []
  for (const concurrency of [1, 2]) {
    const order = []
    const onEvent = ({ event, shard }) => event === 'shard' && order.push(shard)
    const { names: stems, output } = await run({ inputs: at('sizes'), shardSize, concurrency, onEvent })
    const plan = parseJsonLines(fs.readFileSync(path.join(output, 'plan.jsonl'), 'utf8'))
    const shardOf = (name) => plan.find(({ path }) => path.includes(name)).shard
    assert.equal(order.length, stems.length)
    assert.equal(new Set(order).size, stems.length)
    if (concurrency === 1) assert.deepEqual(order.slice(0, 2), [shardOf('d-largest'), shardOf('b-large')])
    if (concurrency === 1)
      assert.deepEqual(
        order.slice(2),
        order.slice(2).toSorted((a, b) => a - b),
      )
    orders.push(hashes(output))
  }
  assert.deepEqual(orders[0], orders[1])
})

test('many small files share a shard', async () => {
  fs.mkdirSync(at('small'), { recursive: true })
  for (let index = 0; index < 50; index++) fs.writeFileSync(at('small', `${index}.txt`), `text number ${index}\n`)
  const { names, result } = await run({ inputs: at('small'), shardSize: 1 << 20 })
  assert.equal(names.length, 1)
  assert.equal(result.documents, 50)
  assert.equal(Object.keys(record(path.dirname(names[0]), 'shard-00000000').sources).length, 50)
})

test('inputs that threads look at have the plan of inputs that are opened one by one', async () => {
  fs.mkdirSync(at('very-many'))
  const inputs = Array.from({ length: 900 }, (_, index) => {
    const text = jsonl(documents(1 + (index % 3), index))
    const [kind, bytes] = [
      ['jsonl', text],
      ['jsonl.gz', zlib.gzipSync(text)],
      ['jsonl', ''],
      ['txt', `${'x'.repeat(99)}\n`.repeat(index % 80 === 3 ? 2000 : 1)],
    ][index % 4]
    const name = at('very-many', `${String(index).padStart(4, '0')}.${kind}`)
    fs.writeFileSync(name, bytes)
    return name
  })
  const partsOf = async (names) => {
    const parts = []
    const content = checkContent({ shardSize: 100_000 })
    for await (const part of planParts({ inputs: names, content })) parts.push(part)
    return parts
  }
  // Windows takes both kinds of slashes; the names in a folder have these.
  const slashed = (name) => name.replaceAll('\\', '/')
  const all = (await partsOf([at('very-many')])).map((part) => ({ ...part, path: slashed(part.path) }))
  const firsts = new Map(all.toReversed().map((part) => [part.path, part]))
  const known = inputs.filter((name) => fs.statSync(name).size > 0)
  assert.deepEqual([...firsts.keys()].sort(), known.map(slashed))
  assert.ok(
    all.some(({ start }) => start > 0),
    'inputs are cut',
  )
  // Fewer inputs than those for which threads are started.
  let compared = 0
  for (let from = 0; from < inputs.length; from += 200) {
    for (const part of await partsOf(inputs.slice(from, from + 200))) {
      const { shard: _shard, path: _path, ...same } = firsts.get(slashed(part.path))
      if (part.start !== 0 || part.end !== same.end) continue
      assert.deepEqual({ ...same, shard: part.shard, path: part.path }, part)
      compared += 1
    }
  }
  assert.ok(compared > 600, `${compared}`)
  const probes = new Probes()
  test.after(() => probes.end())
  const found = [at('very-many'), at('very-many', 'missing')].map((name) => failure(() => probes.of(name)))
  probes.flush()
  const codes = (await Promise.all(found)).map(({ code }) => code)
  assert.deepEqual(codes, ['ERR_TOKENLANE_NOT_A_FILE', 'ERR_TOKENLANE_FILE_NOT_FOUND'])
  // What the plan needs of a small input is known without opening it.
  fs.writeFileSync(at('gone.txt'), 'x'.repeat(HEAD_BYTES + 1))
  const probed = probes.of(at('gone.txt'))
  probes.flush()
  const input = await probed
  fs.rmSync(at('gone.txt'))
  assert.equal(input.kind, 'plain')
  const sha256 = createHash('sha256')
    .update('x'.repeat(HEAD_BYTES + 1))
    .digest('hex')
  assert.equal(await input.sample(0, HEAD_BYTES + 1), sha256)
})

/** The names that a walk finds, relative to a folder. */
async function walk(base, names, options = {}) {
  const found = []
  for await (const file of inputFiles(
    names.map((name) => `${base}/${name}`),
    options.filesFrom,
    options,
  ))
    found.push(file.slice(base.length + 1))
  return found
}

test('an output that is a file is left out, also by a link to it, and a file of its name is not', async () => {
  const folder = at('left-out')
  fs.mkdirSync(path.join(folder, 'below'), { recursive: true })
  for (const name of ['a.txt', 'out.npy', 'below/out.npy', 'z.txt']) fs.writeFileSync(path.join(folder, name), 'x\n')
  fs.symlinkSync(path.join(folder, 'out.npy'), path.join(folder, 'link.npy'))
  const exclude = [fs.realpathSync(path.join(folder, 'out.npy'))]
  const names = ['a.txt', 'below/out.npy', 'z.txt']
  assert.deepEqual(await walk(folder, [''], { exclude }), names)
  assert.deepEqual(await walk(folder, ['**/*'], { exclude }), names)
})

test('inputs: folders, patterns and lists, in one order, also if names are sorted on the disk', async () => {
  const tree = [
    'b.txt',
    'a/z.md',
    'a/b/c.txt',
    'a/b/d.md',
    'a.txt',
    '.hidden/x.txt',
    'a/.dot.txt',
    'c/1.txt',
    'c/10.txt',
    'c/2.txt',
  ]
  for (const name of tree) {
    fs.mkdirSync(path.dirname(at('tree', name)), { recursive: true })
    fs.writeFileSync(at('tree', name), 'x')
  }
  const sorted = ['a/b/c.txt', 'a/b/d.md', 'a/z.md', 'a.txt', 'b.txt', 'c/1.txt', 'c/10.txt', 'c/2.txt']
  assert.deepEqual(await walk(at('tree'), ['']), sorted)
  assert.deepEqual(await walk(at('tree'), [''], { run: 2 }), sorted)
  assert.deepEqual(
    await walk(at('tree'), ['**/*.txt']),
    sorted.filter((name) => name.endsWith('.txt')),
  )
  assert.deepEqual(await walk(at('tree'), ['a/**']), ['a/b/c.txt', 'a/b/d.md', 'a/z.md'])
  assert.deepEqual(await walk(at('tree'), ['**/**/**/*.md', '{b,c/?}.txt']), [
    'a/b/d.md',
    'a/z.md',
    'b.txt',
    'c/1.txt',
    'c/2.txt',
  ])
  fs.writeFileSync(at('list'), `${at('tree', 'b.txt')}\n${at('tree', 'c')}\n\n`)
  const listed = await walk(at('tree'), ['a.txt'], { filesFrom: at('list') })
  assert.deepEqual(listed, ['a.txt', 'b.txt', 'c/1.txt', 'c/10.txt', 'c/2.txt'])
  assert.equal((await failure(() => walk(at('tree'), ['nothing*']))).code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
  assert.equal((await failure(() => walk(at('tree'), ['nothing']))).code, 'ERR_TOKENLANE_FILE_NOT_FOUND')
})

test('inputs are a path or an array of paths, and options of job files are no options', () => {
  const given = { output: 'out' }
  assert.deepEqual(checkOptions({ ...given, inputs: 'a' }).inputs, ['a'])
  assert.deepEqual(checkOptions({ ...given, inputs: ['a', 'b'] }).inputs, ['a', 'b'])
  for (const inputs of [5, ['a', 5], ['a', ''], [5, 'a'], ''])
    assert.throws(() => checkOptions({ ...given, inputs }), {
      code: 'ERR_TOKENLANE_ARGUMENT_TYPE',
      message: /^inputs must be a path or an array of paths/,
    })
  for (const name of ['hooksSha256', 'chat'])
    assert.throws(() => checkOptions({ ...given, inputs: 'a', [name]: undefined }), {
      code: 'ERR_TOKENLANE_UNKNOWN_OPTION',
    })
})
