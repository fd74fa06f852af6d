// @tokenlane/corpus: outputs of finished jobs are merged, shuffled, mixed and read.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { before, test } from 'node:test'

import { mergeCorpora, openTokens, tokenizeCorpus, verifyCorpus, writeReport } from '@tokenlane/corpus'
import { bestFit } from '../src/best-fit.mjs'
import { HashSet } from '../src/merge/duplicates.mjs'
import { exactFiles } from '../src/merge/plan.mjs'
import { runIn } from '../../../__test__/support/cli.mjs'
import {
  documents,
  hashes,
  jsonl,
  leftovers,
  readMegatron,
  readNpy,
  readTable,
  scratch,
  stems,
  writeCorpus,
} from '../../../__test__/support/corpus.mjs'
import { generator } from '../../../__test__/support/random.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const at = scratch()
const run = runIn(at())
const BASE = { tokenizer: 'r50k_base', eos: true }
const SMALL = { ...BASE, shardSize: 20_000 }
const FORMATS = ['megatron', 'npy', 'bin']

before(async () => {
  writeCorpus(at('a'), 3, 60)
  fs.mkdirSync(at('b'))
  for (const seed of [11, 12]) fs.writeFileSync(at('b', `${seed}.jsonl`), jsonl(documents(40, seed)))
  for (const format of FORMATS)
    for (const name of ['a', 'b'])
      await tokenizeCorpus({
        ...SMALL,
        inputs: at(name),
        output: at(`${format}-${name}`),
        format,
        idField: format === 'megatron' ? undefined : 'id',
      })
})

/** The documents of a job in order, as their ids joined by spaces. */
async function documentsOf(folder) {
  const tokens = await openTokens(folder)
  assert.equal(tokens.pack, undefined)
  const found = []
  for await (const { index, ids } of tokens.rows()) {
    assert.equal(index, found.length)
    found.push(ids.join(' '))
  }
  assert.equal(found.length, tokens.length)
  await tokens.close()
  return found
}

/** How often each value occurs. */
const countsOf = (values) => {
  const counts = new Map()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

for (const format of FORMATS)
  test(`${format}: merged in order, the files are those of one job with one shard`, async () => {
    const idField = format === 'megatron' ? undefined : 'id'
    const whole = at(`${format}-whole`)
    await tokenizeCorpus({ ...BASE, inputs: [at('a'), at('b')], output: whole, format, idField, pack: 100 })
    const output = at(`${format}-merged`)
    const inputs = [at(`${format}-a`), at(`${format}-b`)]
    const result = await mergeCorpora({ inputs, output, pack: 100 })
    assert.equal(result.shards, 1)
    const [merged, direct] = [hashes(output), hashes(whole)]
    // The table of Dolma has the places in the inputs of the first job, which are the same.
    assert.deepEqual(merged, direct)
    const { isWhole, tokens, textBytes } = await verifyCorpus(output)
    assert.ok(isWhole)
    assert.equal(tokens, result.tokens)
    assert.equal(textBytes, (await verifyCorpus(whole)).textBytes)
  })

test('files have at most tokensPerFile, apart from larger shards, and all documents in order', async () => {
  const inputs = [at('megatron-a'), at('megatron-b')]
  const expected = [...(await documentsOf(inputs[0])), ...(await documentsOf(inputs[1]))]
  const output = at('sized')
  const { shards } = await mergeCorpora({ inputs, output, tokensPerFile: 30_000 })
  assert.ok(shards > 2 && shards < stems(inputs[0]).length + stems(inputs[1]).length)
  const files = stems(output).map((stem) => readMegatron(at('sized', stem)).rows)
  for (const rows of files) assert.ok(rows.flat().length <= 30_000)
  assert.deepEqual(
    files.flat().map((ids) => ids.join(' ')),
    expected,
  )
  const blend = fs.readFileSync(at('sized', 'blend.txt'), 'utf8').trim().split(' ')
  assert.deepEqual(
    blend,
    stems(output).flatMap((stem, shard) => [`${files[shard].flat().length}`, path.join(output, stem)]),
  )
})

test('a shuffle has all documents of all inputs, in an order that depends on the seed alone', async () => {
  const inputs = [at('npy-a'), at('npy-b')]
  const expected = [...(await documentsOf(inputs[0])), ...(await documentsOf(inputs[1]))]
  const shuffled = async (name, options) => {
    await mergeCorpora({ inputs, output: at(name), tokensPerFile: 30_000, ...options })
    assert.deepEqual(leftovers(at(name)), [])
    assert.ok(!fs.readdirSync(at(name)).some((file) => file.startsWith('scatter-')))
    return documentsOf(at(name))
  }
  const first = await shuffled('shuffle-1', { shuffle: 1, concurrency: 1 })
  assert.deepEqual(countsOf(first), countsOf(expected))
  assert.notDeepEqual(first, expected)
  await shuffled('shuffle-1-again', { shuffle: 1, concurrency: 4 })
  assert.deepEqual(hashes(at('shuffle-1-again')), hashes(at('shuffle-1')))
  const second = await shuffled('shuffle-2', { shuffle: 2 })
  assert.deepEqual(countsOf(second), countsOf(expected))
  assert.notDeepEqual(second, first)
  // Documents keep their ids and sources.
  const facts = (folder) =>
    stems(folder).flatMap((stem) => {
      const tokens = readNpy(path.join(folder, `${stem}.npy`)).values
      return readTable(path.join(folder, `${stem}.csv.gz`)).map(({ start, end, id, source, at: place }) =>
        JSON.stringify([id, source, place, tokens.slice(start, end)]),
      )
    })
  assert.deepEqual(facts(at('shuffle-1')).sort(), [...facts(inputs[0]), ...facts(inputs[1])].sort())
  // Documents of both inputs are in every file.
  for (const stem of stems(at('shuffle-1'))) {
    const record = JSON.parse(fs.readFileSync(at('shuffle-1', `${stem}.json`), 'utf8'))
    assert.deepEqual(Object.keys(record.sources).sort(), inputs)
  }
})

test('a merge can be ended in the middle of a file', async () => {
  for (const shuffle of [1, undefined]) {
    const { signal } = new AbortController()
    let checks = 0
    let firstOfFile = shuffle === undefined ? 2 : Infinity
    signal.throwIfAborted = () => {
      if (++checks > firstOfFile) throw new Error('stopped')
    }
    // The next check is that before the only file.
    const onEvent = ({ event, done, all }) => {
      if (event === 'read' && done === all) firstOfFile = checks + 1
    }
    const output = at(`middle-${shuffle}`)
    const options = { inputs: [at('npy-a'), at('npy-b')], output, shuffle, signal, onEvent, concurrency: 1 }
    await assert.rejects(mergeCorpora(options), /stopped/)
    assert.deepEqual(stems(output), [])
  }
})

test('a merge that was interrupted goes on: the bytes are the same', async () => {
  const options = { inputs: [at('bin-a'), at('bin-b')], tokensPerFile: 20_000, shuffle: 7, pack: 64 }
  await mergeCorpora({ ...options, output: at('undisturbed') })
  const expected = hashes(at('undisturbed'))
  const output = at('disturbed')
  // Stopped after each event in turn, until a run gets through.
  let runs = 0
  for (let stop = 1; ; stop += 2) {
    const aborter = new AbortController()
    let events = 0
    const onEvent = () => ++events === stop && aborter.abort(new Error('stopped'))
    const end = await failure(() =>
      mergeCorpora({ ...options, output, onEvent, signal: aborter.signal, concurrency: 1 }),
    ).catch(() => undefined)
    runs += 1
    if (end === undefined) break
    assert.equal(end.message, 'stopped')
  }
  assert.ok(runs > 2)
  assert.deepEqual(hashes(output), expected)
  // A file that was changed is written again, and the others are kept.
  const [stem] = stems(output)
  fs.appendFileSync(path.join(output, `${stem}.bin`), 'x')
  const { kept, shards } = await mergeCorpora({ ...options, output })
  assert.equal(kept, shards - 1)
  assert.deepEqual(hashes(output), expected)
})

test('epochs and weights: whole passes, then a share of the documents', async () => {
  const inputs = [at('megatron-a'), { path: at('megatron-b'), epochs: 2.5 }]
  const once = await documentsOf(at('megatron-b'))
  for (const shuffle of [undefined, 5]) {
    const output = at(`epochs-${shuffle}`)
    const result = await mergeCorpora({ inputs, output, shuffle })
    const counts = countsOf(await documentsOf(output))
    const times = once.map((document) => counts.get(document))
    assert.ok(times.every((count) => count === 2 || count === 3))
    assert.ok(new Set(times).size === 2)
    assert.equal(
      result.inputs[1].documents,
      times.reduce((sum, count) => sum + count, 0),
    )
    for (const document of await documentsOf(at('megatron-a'))) assert.equal(counts.get(document), 1)
  }
  const weighted = [
    { path: at('megatron-a'), weight: 1 },
    { path: at('megatron-b'), weight: 3 },
  ]
  const mixed = await mergeCorpora({ inputs: weighted, output: at('weights'), shuffle: 1, tokens: 200_000 })
  assert.ok(Math.abs(mixed.tokens - 200_000) < 20_000, `${mixed.tokens}`)
  assert.ok(Math.abs(mixed.inputs[1].tokens / mixed.tokens - 0.75) < 0.05)
})

test('rows: each reader has its share, and goes on where it stopped', async () => {
  const output = at('packed')
  await mergeCorpora({ inputs: [at('npy-a'), at('npy-b')], output, pack: 100, tokensPerFile: 40_000 })
  const tokens = await openTokens(output)
  const rowsOf = async (options) => {
    const rows = []
    for await (const row of tokens.rows(options)) rows.push(row)
    return rows
  }
  const all = await rowsOf({})
  assert.deepEqual(
    all.map(({ index }) => index),
    Array.from({ length: tokens.length }, (_, index) => index),
  )
  assert.equal(
    all.reduce((sum, { ids }) => sum + ids.length, 0),
    tokens.tokens,
  )
  assert.deepEqual(await tokens.row(7), all[7].ids)
  const shuffled = await rowsOf({ shuffle: 3 })
  assert.deepEqual(
    [...shuffled].sort((left, right) => left.index - right.index),
    all,
  )
  assert.notDeepEqual(shuffled, all)
  const shares = [await rowsOf({ shuffle: 3, rank: 0, ranks: 2 }), await rowsOf({ shuffle: 3, rank: 1, ranks: 2 })]
  assert.deepEqual(
    shuffled,
    shuffled.map((_, place) => shares[place % 2][place >> 1]),
  )
  assert.deepEqual(await rowsOf({ shuffle: 3, rank: 1, ranks: 2, start: 10 }), shares[1].slice(10))
  for (const index of [-1, tokens.length, 1.5]) assert.match((await failure(() => tokens.row(index))).code, /ARGUMENT/)
  await tokens.close()
})

test('best fit: rows of whole documents, as good as a search through all rows', () => {
  const random = generator(7)
  for (const capacity of [1, 2, 31, 33, 1000, 40_000]) {
    const lengths = Array.from({ length: 700 }, () => 1 + Math.min(capacity - 1, random(1 + random(capacity))))
    const rows = bestFit(lengths, capacity)
    const sums = (all) => all.map((items) => items.reduce((sum, item) => sum + lengths[item], 0)).sort((a, b) => a - b)
    assert.deepEqual(
      rows.flat().sort((a, b) => a - b),
      lengths.map((_, item) => item),
    )
    assert.ok(sums(rows).every((sum) => sum <= capacity))
    // The slow twin.
    const slow = []
    for (const item of [...lengths.keys()].sort((a, b) => lengths[b] - lengths[a])) {
      const left = (items) => capacity - items.reduce((sum, one) => sum + lengths[one], 0)
      const fitting = slow.filter((items) => left(items) >= lengths[item])
      const best = fitting.reduce(
        (found, items) => (found === undefined || left(items) < left(found) ? items : found),
        undefined,
      )
      if (best === undefined) slow.push([item])
      else best.push(item)
    }
    assert.deepEqual(sums(rows), sums(slow))
  }
})

test('packing: no document is cut that fits; rows know their documents; figures for padding and cuts', async () => {
  const pack = 300
  for (const format of FORMATS) {
    const options = { ...SMALL, inputs: at('a'), format, pack, packing: 'best-fit' }
    const folder = at(`best-${format}`)
    const result = await tokenizeCorpus({ ...options, output: folder })
    const whole = countsOf(await documentsOf(at(`${format}-a`)))
    const tokens = await openTokens(folder)
    assert.equal(tokens.length, result.rows)
    const found = []
    let padding = 0
    for await (const { ids, cuSeqlens, positionIds, index } of tokens.rows({ documents: true })) {
      assert.ok(ids.length <= pack)
      padding += pack - ids.length
      assert.deepEqual(cuSeqlens, await tokens.documentsOfRow(index))
      assert.deepEqual([cuSeqlens[0], cuSeqlens.at(-1)], [0, ids.length])
      for (let document = 1; document < cuSeqlens.length; document++) {
        const [from, to] = [cuSeqlens[document - 1], cuSeqlens[document]]
        found.push(ids.subarray(from, to).join(' '))
        assert.deepEqual([...positionIds.subarray(from, to)], [...Array(to - from).keys()])
      }
    }
    await tokens.close()
    const isLong = (ids) => ids.split(' ').length > pack
    const short = [...whole].filter(([ids]) => !isLong(ids))
    const longOnes = [...whole.keys()].filter(isLong)
    const counts = countsOf(found)
    for (const [ids, count] of short) assert.ok(counts.get(ids) >= count)
    const sum = (all) => all.reduce((total, ids) => total + ids.split(' ').length, 0)
    assert.equal(sum(found), result.tokens)
    assert.equal(result.cutDocuments, longOnes.length)
    assert.ok(longOnes.length > 0)
    assert.equal(padding, result.padding)
    const sequential = await tokenizeCorpus({ ...options, packing: undefined, output: at(`sequential-${format}`) })
    assert.ok(result.padding < result.rows * pack * 0.1, `${result.padding} of ${result.rows * pack}`)
    assert.ok(sequential.cutDocuments > result.cutDocuments)
    assert.equal(sequential.rows * pack - sequential.tokens, sequential.padding)
    assert.equal((await verifyCorpus(folder)).isWhole, true)
    const again = { inputs: [at(`${format}-a`)], output: at(`best-merged-${format}`), pack, packing: 'best-fit' }
    const merged = await mergeCorpora(again)
    assert.equal(merged.tokens, result.tokens)
    assert.equal(merged.cutDocuments, result.cutDocuments)
  }
  await writeReport(at('best-npy'), at('packed.html'))
  assert.match(fs.readFileSync(at('packed.html'), 'utf8'), /padding if filled up/)
  for (const [options, message] of [
    [{ packing: 'best-fit' }, /needs pack/],
    [{ packing: 'best-fit', pack: 8, format: 'jsonl' }, /megatron, npy, bin and mds/],
    [{ packing: 'best-fit', pack: 1 << 21 }, /at most 1048576/],
  ])
    assert.match(
      (await failure(() => tokenizeCorpus({ ...BASE, inputs: at('a'), output: at('no'), ...options }))).message,
      message,
    )
})

test('packing: more tokens than a window; long documents; the same bytes in every run', async () => {
  const lines = Array.from({ length: 3000 }, (_, index) => `word${' word'.repeat((index * 7919) % 1500)}`)
  lines.push(`w${' word'.repeat(50_000)}`)
  fs.writeFileSync(at('window.txt'), `${lines.join('\n')}\n`)
  const options = { ...BASE, inputs: at('window.txt'), format: 'bin', pack: 4096, packing: 'best-fit' }
  const { tokens, rows, padding, cutDocuments } = await tokenizeCorpus({ ...options, output: at('window') })
  assert.ok(tokens > 2 ** 21)
  assert.equal(cutDocuments, 1)
  assert.equal(rows * 4096 - tokens, padding)
  assert.ok(padding < tokens * 0.01, `${padding} of ${tokens}`)
  await tokenizeCorpus({ ...options, output: at('window-again'), threads: 1 })
  assert.deepEqual(hashes(at('window')), hashes(at('window-again')))
  const all = fs.readFileSync(at('window', 'shard-00000000.bin'))
  assert.equal(all.length, tokens * 2)
})

test('budgets of tokens: what was planned and what the files have is in the result and the report', async () => {
  const budgets = { a: 9000, b: 30_000 }
  const inputs = Object.entries(budgets).map(([name, tokens]) => ({ path: at(`npy-${name}`), tokens }))
  const result = await mergeCorpora({ inputs, output: at('budgets'), shuffle: 5 })
  for (const [index, { tokens, planned, epochs }] of result.inputs.entries()) {
    assert.equal(planned, inputs[index].tokens)
    assert.ok(Math.abs(tokens - planned) < planned * 0.2, `${tokens} of ${planned}`)
    assert.ok(epochs > 0)
  }
  await writeReport(at('budgets'), at('budgets.html'))
  const page = fs.readFileSync(at('budgets.html'), 'utf8')
  assert.match(page, /<h2>Mixture<\/h2>/)
  assert.match(page, /9,000<\/td><td>23.08 %/)
  assert.doesNotMatch(page, /object Object/)
  const done = run(['corpus', 'merge', at('npy-a'), '-o', at('mix'), '--shuffle', '5', '--mix', `${at('npy-a')}=9K`])
  assert.match(done.stdout, /planned 9,000, 100.0 %/, done.stderr)
})

test('dedup: documents that occurred before are left out of all inputs, and counted', async () => {
  const seen = new Set()
  const all = [
    ...(await documentsOf(at('npy-a'))),
    ...(await documentsOf(at('npy-a'))),
    ...(await documentsOf(at('npy-b'))),
  ]
  const unique = all.filter((ids) => !seen.has(ids) && seen.add(ids))
  const inputs = [at('npy-a'), { path: at('npy-a') }, at('npy-b')]
  const result = await mergeCorpora({ inputs, output: at('dedup'), dedup: true })
  assert.deepEqual(await documentsOf(at('dedup')), unique)
  const sizes = result.inputs.map(({ duplicates, documents: own }) => [duplicates, own])
  assert.equal(sizes[1][1], 0)
  assert.equal(sizes[1][0], sizes[0][0] + sizes[0][1])
  assert.equal(
    result.inputs.reduce((sum, { duplicates }) => sum + duplicates, 0),
    all.length - unique.length,
  )
  for (const { planned, tokens } of result.inputs) assert.equal(planned, tokens)
  const options = {
    inputs: [{ path: at('npy-a'), epochs: 1.5 }, at('npy-a')],
    output: at('dedup-epochs'),
    dedup: true,
    shuffle: 1,
  }
  const {
    tokens,
    inputs: [first],
  } = await mergeCorpora(options)
  const counts = countsOf(await documentsOf(at('dedup-epochs')))
  assert.ok([...counts.values()].every((count) => count <= 2))
  assert.ok(Math.abs(tokens - first.planned) < first.planned * 0.1)
  const before = hashes(at('dedup'))
  fs.rmSync(at('dedup', 'shard-00000000.npy'))
  await mergeCorpora({ inputs, output: at('dedup'), dedup: true })
  assert.deepEqual(hashes(at('dedup')), before)
  await writeReport(at('dedup'), at('dedup.html'))
  assert.match(fs.readFileSync(at('dedup.html'), 'utf8'), /duplicates left out/)
  const set = new HashSet(4)
  for (let at = 1n; at < 1000n; at++) assert.ok(set.add(at % 7n, at << 32n))
  for (let at = 1n; at < 1000n; at++) assert.ok(!set.add(at % 7n, at << 32n))
})

test('tokensPerShard: files of exactly so many tokens, and documents cut at their ends', async () => {
  const inputs = [at('npy-a'), at('npy-b')]
  const options = { inputs, tokensPerShard: 7000, format: 'bin' }
  const { shards, tokens } = await mergeCorpora({ ...options, output: at('exact') })
  const whole = (await documentsOf(at('npy-a'))).concat(await documentsOf(at('npy-b')))
  const files = stems(at('exact')).map((stem) => fs.readFileSync(at('exact', `${stem}.bin`)))
  assert.equal(files.length, shards)
  assert.ok(shards > 3)
  for (const file of files.slice(0, -1)) assert.equal(file.length, 14_000)
  const all = new Uint16Array(Uint8Array.from(Buffer.concat(files)).buffer)
  assert.equal(all.length, tokens)
  assert.equal(all.join(' '), whole.join(' '))
  // A document is in one file, or cut into pieces that follow each other.
  const pieces = await documentsOf(at('exact'))
  const ends = []
  let end = 0
  for (const one of whole) ends.push((end += one.split(' ').length))
  for (let cut = 7000; cut < tokens; cut += 7000) ends.push(cut)
  const expected = [...new Set(ends)].sort((left, right) => left - right)
  assert.deepEqual(
    pieces.map((one, index) => one.split(' ').length === expected[index] - (expected[index - 1] ?? 0)),
    pieces.map(() => true),
  )
  const before = hashes(at('exact'))
  fs.rmSync(at('exact', 'shard-00000001.bin'))
  assert.equal((await mergeCorpora({ ...options, output: at('exact') })).kept, shards - 1)
  assert.deepEqual(hashes(at('exact')), before)
  assert.equal((await verifyCorpus(at('exact'))).isWhole, true)
  const tiny = await failure(async () => exactFiles([{ input: 0, pass: 0, shard: 0, share: 1, tokens: 2 ** 40 }], 1000))
  assert.deepEqual(
    [tiny.code, /set tokensPerShard to 1048576/.test(tiny.message)],
    ['ERR_TOKENLANE_ARGUMENT_VALUE', true],
  )
  const one = await mergeCorpora({ inputs, tokensPerShard: 1 << 30, output: at('exact-one') })
  assert.equal(one.shards, 1)
  assert.deepEqual(await documentsOf(at('exact-one')), whole)
})

test('the output is that of a job: it can be merged again, and reported on', async () => {
  await mergeCorpora({ inputs: [at('npy-a'), at('npy-b')], output: at('once'), shuffle: 1 })
  const twice = await mergeCorpora({ inputs: [at('once')], output: at('twice'), format: 'megatron' })
  assert.deepEqual(await documentsOf(at('twice')), await documentsOf(at('once')))
  // What a merge was made with is not what another merge of its output is made with.
  await mergeCorpora({ inputs: [at('once')], output: at('parts'), tokensPerShard: 5000 })
  await mergeCorpora({ inputs: [at('parts')], output: at('without'), dedup: true })
  await mergeCorpora({ inputs: [at('without')], output: at('again'), tokensPerShard: 6000 })
  const optionsOf = (name) => JSON.parse(fs.readFileSync(at(name, 'job.json'), 'utf8')).options
  assert.deepEqual([optionsOf('without').tokensPerShard, optionsOf('without').dedup], [undefined, true])
  const { dedup, tokensPerFile, tokensPerShard } = optionsOf('again')
  assert.deepEqual(
    { dedup, tokensPerFile, tokensPerShard },
    {
      dedup: undefined,
      tokensPerFile: undefined,
      tokensPerShard: 6000,
    },
  )
  const { tokens } = await writeReport(at('twice'), at('page.html'))
  assert.equal(tokens, twice.tokens)
  assert.doesNotMatch(fs.readFileSync(at('page.html'), 'utf8'), /NaN|Infinity/)
})

test('what cannot be merged is named', async () => {
  const merged = (options) => failure(() => mergeCorpora({ output: at('never'), ...options }))
  await tokenizeCorpus({ ...BASE, inputs: at('a'), output: at('lines'), format: 'jsonl' })
  await tokenizeCorpus({ ...BASE, tokenizer: 'cl100k_base', inputs: at('a'), output: at('cl100k') })
  const cases = [
    [{ inputs: [] }, 'ERR_TOKENLANE_ARGUMENT_TYPE', /no inputs/],
    [{ inputs: at('a') }, 'ERR_TOKENLANE_ARGUMENT_TYPE', /array of folders/],
    [{ inputs: [at('a')] }, 'ERR_TOKENLANE_FILE_NOT_FOUND', /no job.json/],
    [{ inputs: [at('lines')] }, 'ERR_TOKENLANE_UNSUPPORTED', /format jsonl/],
    [
      { inputs: [at('megatron-a'), at('cl100k')] },
      'ERR_TOKENLANE_ARGUMENT_TYPE',
      /different tokenizers: "r50k_base" and "cl100k_base"$/,
    ],
    [{ inputs: [{ path: at('npy-a'), weight: 1 }] }, 'ERR_TOKENLANE_ARGUMENT_TYPE', /give the option tokens/],
    [{ inputs: [{ path: at('npy-a'), epochs: 0 }] }, 'ERR_TOKENLANE_ARGUMENT_VALUE', /above 0/],
    [{ inputs: [{ path: at('npy-a'), epochs: 1, tokens: 5 }] }, 'ERR_TOKENLANE_ARGUMENT_TYPE', /one of epochs/],
    [{ inputs: [{ path: at('npy-a'), tokens: 5 }], tokens: 7 }, 'ERR_TOKENLANE_ARGUMENT_TYPE', /of their own/],
    [{ inputs: [at('npy-a')], tokensPerShard: 5, shuffle: 1 }, 'ERR_TOKENLANE_ARGUMENT_TYPE', /shuffle or dedup first/],
    [{ inputs: [{ path: at('npy-a'), tokens: 5 }], tokensPerShard: 5 }, 'ERR_TOKENLANE_ARGUMENT_TYPE', /mix first/],
    [{ inputs: [at('npy-a')], tokenPerFile: 1 }, 'ERR_TOKENLANE_UNKNOWN_OPTION', /tokensPerFile/],
    [{ inputs: [at('npy-a')], output: at('npy-b') }, 'ERR_TOKENLANE_CORPUS_MISMATCH', /another job/],
    [{ inputs: [at('npy-a')], output: at('a') }, 'ERR_TOKENLANE_CORPUS_MISMATCH', /holds no job/],
    [{ inputs: [at('npy-a')], shuffle: 1, tokensPerFile: 1 }, 'ERR_TOKENLANE_ARGUMENT_VALUE', /tokensPerFile/],
  ]
  for (const [options, code, message] of cases) {
    const found = await merged(options)
    assert.equal(found.code, code, found.message)
    assert.match(found.message, message)
  }
  assert.ok(!fs.existsSync(at('never')) || fs.readdirSync(at('never')).length === 0)
})

test('an input that is not finished, or not as it was written, is named', async () => {
  const copy = (name) => {
    fs.cpSync(at('npy-a'), at(name), { recursive: true })
    return at(name)
  }
  const unfinished = copy('unfinished')
  fs.rmSync(path.join(unfinished, 'manifest.json'))
  const [stem] = stems(unfinished)
  const damage = {
    short: (folder) => fs.truncateSync(path.join(folder, `${stem}.npy`), 200),
    rows: (folder) => {
      const file = path.join(folder, `${stem}.rows.npy`)
      const bytes = fs.readFileSync(file)
      bytes.writeBigUInt64LE(2n ** 60n, 128 + 16)
      fs.writeFileSync(file, bytes)
    },
    table: (folder) => fs.writeFileSync(path.join(folder, `${stem}.csv.gz`), 'no table'),
    record: (folder) => fs.rmSync(path.join(folder, `${stem}.json`)),
  }
  for (const [name, spoil] of Object.entries(damage)) spoil(copy(name))
  for (const folder of [unfinished, ...Object.keys(damage).map((name) => at(name))]) {
    const { code, message } = await failure(() => mergeCorpora({ inputs: [folder], output: at('of-damaged') }))
    assert.equal(code, 'ERR_TOKENLANE_CORPUS_DAMAGED', message)
    assert.match(message, new RegExp(path.basename(folder)))
    fs.rmSync(at('of-damaged'), { recursive: true, force: true })
  }
})

test('the command', async () => {
  const args = ['corpus', 'merge', at('npy-a'), at('npy-b'), '-o', at('command'), '--shuffle', '3']
  const done = run([...args, '--epochs', `${at('npy-b')}=1.5`])
  assert.equal(done.status, 0, done.stderr)
  assert.match(
    done.stdout,
    /command: [\d,]+ documents, [\d,]+ tokens in 1 file\n.*npy-a: .* 1 epochs\n.*npy-b: .* 1.5 epochs\n/,
  )
  const other = args.map((word) => (word === at('command') ? at('command-json') : word))
  const told = run([...other, '--json'])
  const events = told.stdout.trimEnd().split('\n').map(JSON.parse)
  assert.equal(events.at(-1).event, 'result')
  assert.ok(events.length > 1 && events.every(({ event }) => typeof event === 'string'))
  for (const [given, message] of [
    [['-o', at('none')], /name the folders of finished jobs/],
    [[at('npy-a')], /name a folder for the output with '--output'/],
  ]) {
    const refused = run(['corpus', 'merge', ...given])
    assert.equal(refused.status, 2, refused.stderr)
    assert.match(refused.stderr, message)
  }
  for (const [more, message] of [
    [['--epochs', `${at('npy-b')}=2`, '--epochs', `${at('npy-b')}=3`], /'--epochs' is given twice for /],
    [['--epochs', 'x'], /FOLDER=NUMBER/],
    [['--epochs', `${at('a')}=2`], /is no input/],
    [['--weight', `${at('npy-a')}=2`], /all inputs a weight/],
  ]) {
    const refused = run([...args, ...more])
    assert.equal(refused.status, 2, refused.stderr)
    assert.match(refused.stderr, message)
  }
})
