// Metrics of corpus jobs: of a job on this machine, of a planner and of workers with a real Redis.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import net from 'node:net'
import { after, before, test } from 'node:test'

import { createWorker, tokenizeCorpus } from '@tokenlane/corpus'
import { Figures, startMetrics } from '../src/metrics.mjs'
import { runIn } from '../../../__test__/support/cli.mjs'
import { scratch, writeCorpus } from '../../../__test__/support/corpus.mjs'
import { TestRedis, missing } from '../../../__test__/support/redis.mjs'
import { failure } from '../../../__test__/support/texts.mjs'

const { version } = JSON.parse(fs.readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
const skip = { skip: missing, timeout: 240_000 }
const at = scratch()
writeCorpus(at('data'), 3, 30)
fs.writeFileSync(at('bad.jsonl'), '{"text": "good"}\n{"text": 1}\nnot JSON\n')
fs.mkdirSync(at('elsewhere'))
const BASE = { inputs: at('data'), tokenizer: 'r50k_base', shardSize: 20_000, format: 'npy' }
const ANY = { port: 0 }
/** @type {TestRedis} */
let redis

before(async () => {
  if (!missing) redis = await TestRedis.start()
})
after(() => redis?.end())

/**
 * Reads the text format of Prometheus strictly: each family has HELP, TYPE and its samples, in this
 * order and once. Returns the values by name and labels.
 */
function parse(text) {
  const values = new Map()
  let family = { name: '', type: '' }
  const families = new Set()
  assert.ok(text.endsWith('\n'))
  for (const line of text.slice(0, -1).split('\n')) {
    const [, help, about] = /^# HELP ([a-z][a-z0-9_]*) (.+)$/.exec(line) ?? []
    const [, typed, type] = /^# TYPE ([a-z][a-z0-9_]*) (counter|gauge)$/.exec(line) ?? []
    const [, name, labels = '', value] = /^([a-z][a-z0-9_]*)(\{(?:[a-z]+="[^"\\\n]*",?)+\})? (\S+)$/.exec(line) ?? []
    if (about !== undefined) {
      assert.ok(!families.has(help), `${help} twice`)
      families.add(help)
      family = { name: help, type: '' }
    } else if (typed !== undefined) {
      assert.equal(typed, family.name)
      assert.equal(type === 'counter', typed.endsWith('_total'), typed)
      family.type = type
    } else {
      assert.equal(name, family.name, line)
      assert.notEqual(family.type, '')
      assert.ok(Number.isFinite(Number(value)), line)
      assert.ok(!values.has(name + labels), line)
      values.set(name + labels, Number(value))
    }
  }
  return values
}

async function read(url) {
  const response = await fetch(url)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  return parse(await response.text())
}

/** The URL in the event that a job or a worker starts with. */
function place() {
  let found = (_url) => {}
  const url = new Promise((resolve) => (found = resolve))
  return { url, onEvent: (event) => event.event === 'metrics' && found(event.url) }
}

async function until(isSo) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 25))
}

const shards = (result) => `tokenlane_corpus_shards_total{result="${result}"}`

test('the figures of a job are its totals; the shards of an earlier run are only counted', async () => {
  const job = { ...BASE, inputs: [at('data'), at('bad.jsonl')], output: at('out'), onError: 'skip' }
  const runs = []
  for (let run = 0; run < 2; run++) {
    const figures = new Figures('job')
    const addresses = []
    const onEvent = (event) => {
      if (event.event === 'metrics') addresses.push(event.url)
      figures.add(event)
    }
    const result = await tokenizeCorpus({ ...job, metrics: ANY, onEvent })
    assert.match(addresses.join(' '), /^http:\/\/127\.0\.0\.1:\d+\/metrics$/, 'one address')
    runs.push({ result, values: parse(String(figures)) })
  }
  const [{ result, values }, { values: again }] = runs
  assert.equal(values.get('tokenlane_corpus_documents_total'), result.documents)
  assert.equal(values.get('tokenlane_corpus_tokens_total'), result.tokens)
  assert.equal(values.get('tokenlane_corpus_input_bytes_total'), result.plan.bytes)
  assert.equal(values.get('tokenlane_corpus_skipped_rows_total'), 2)
  assert.equal(values.get('tokenlane_corpus_planned_shards'), result.shards)
  assert.equal(values.get('tokenlane_corpus_progress_ratio'), 1)
  assert.equal(values.get('tokenlane_corpus_running_shards'), 0)
  assert.equal(values.get(shards('done')), result.shards)
  assert.equal(again.get(shards('kept')), result.shards)
  assert.equal(again.get('tokenlane_corpus_tokens_total'), 0)
})

test('figures of planner and workers, with a machine that does not fit', skip, async () => {
  const queue = { queue: redis.url, queueName: 'metrics' }
  const [planner, bad, good] = [place(), place(), place()]
  const worker = { ...queue, concurrency: 1, metrics: ANY }
  const misfit = await createWorker({ ...worker, allow: at('elsewhere'), onEvent: bad.onEvent })
  const job = tokenizeCorpus({ ...BASE, ...queue, output: at('shared'), metrics: ANY, onEvent: planner.onEvent })
  const [ofPlanner, ofBad] = [await planner.url, await bad.url]
  await until(async () => (await read(ofPlanner)).get('tokenlane_corpus_paused_machines') === 1)
  const waiting = await read(ofPlanner)
  assert.equal(waiting.get(`tokenlane_corpus_info{version="${version}",role="planner"}`), 1)
  assert.ok(waiting.get(shards('returned')) >= 1)
  assert.equal(waiting.get('tokenlane_corpus_tokens_total'), 0)
  const paused = await read(ofBad)
  assert.equal(paused.get('tokenlane_corpus_paused_machines'), 1)
  assert.ok(paused.get(shards('returned')) >= 1)
  await misfit.close()
  const fit = await createWorker({ ...worker, allow: at(), onEvent: good.onEvent })
  const result = await job
  const done = await read(await good.url)
  assert.equal(done.get('tokenlane_corpus_tokens_total'), result.tokens)
  assert.equal(done.get('tokenlane_corpus_documents_total'), result.documents)
  assert.equal(done.get('tokenlane_corpus_input_bytes_total'), result.plan.bytes)
  assert.equal(done.get(shards('done')), result.shards)
  assert.equal(done.get('tokenlane_corpus_paused_machines'), 0)
  assert.equal(done.get(`tokenlane_corpus_info{version="${version}",role="worker"}`), 1)
  await fit.close()
  for (const url of [ofPlanner, ofBad, await good.url]) await assert.rejects(fetch(url), 'the server has ended')
})

test('events become figures; what a queue sends cannot spoil them', () => {
  const figures = new Figures('planner')
  const [host, shard] = ['a\nb{}"', 1]
  figures.add({ event: 'refused', host, message: 'x' })
  figures.add({ event: 'stalled', shard })
  figures.add({ event: 'failed', shard, message: 'x' })
  figures.add({ event: 'failed', message: 'the manifest' })
  figures.add({ event: 'unreadable' })
  figures.add({ event: 'error' })
  figures.add({ event: 'shard', host: 'b', isNew: true, documents: 2, tokens: 3, bytes: 4, skipped: '5\n' })
  const values = parse(String(figures))
  const names = ['returned', 'lost', 'failed', 'done', 'kept']
  assert.deepEqual(
    names.map((name) => values.get(shards(name))),
    [1, 1, 1, 1, 0],
  )
  assert.equal(values.get('tokenlane_corpus_paused_machines'), 1)
  assert.equal(values.get('tokenlane_corpus_skipped_rows_total'), 0)
  assert.equal(values.get('tokenlane_corpus_unreadable_inputs_total'), 1)
  assert.equal(values.get('tokenlane_corpus_queue_errors_total'), 1)
  assert.equal(values.has('tokenlane_corpus_planned_shards'), false)
})

test('other paths, methods and addresses', async () => {
  for (const host of ['127.0.0.1', '::1']) {
    const { url, onEvent } = place()
    const serving = startMetrics({ metrics: { port: 0, host }, onEvent }, 'job')
    const { end } = await serving.catch(() => ({ end: undefined }))
    if (end === undefined && host === '::1') continue // a machine without IPv6
    const found = await url
    assert.match(found, host === '::1' ? /^http:\/\/\[::1\]:\d+\/metrics$/ : /^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
    const values = await read(`${found}?x=1`)
    assert.ok(values.get('process_start_time_seconds') > 1.7e9)
    assert.ok(values.get('process_resident_memory_bytes') > 1e6)
    const statusOf = async (at, method) => (await fetch(at, { method })).status
    assert.deepEqual([await statusOf(new URL('/', found), 'GET'), await statusOf(found, 'POST')], [404, 405])
    end()
    await assert.rejects(fetch(found))
  }
})

test('a port in use, an address of another machine and wrong options are errors before any work', async (t) => {
  const server = net.createServer()
  // Also after a failure: the spec would not end.
  t.after(() => server.close())
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  const job = (metrics) => failure(() => tokenizeCorpus({ ...BASE, output: at('none'), metrics }))
  const used = await job({ port })
  assert.equal(used.code, 'ERR_TOKENLANE_METRICS')
  assert.match(used.message, new RegExp(`127\\.0\\.0\\.1:${port}: another program uses this port`))
  assert.match((await job({ port: 0, host: '192.0.2.1' })).message, /no such address/)
  for (const [metrics, code] of [
    [9464, 'ARGUMENT_TYPE'],
    [{}, 'ARGUMENT_TYPE'],
    [{ port: '1' }, 'ARGUMENT_TYPE'],
    [{ port: 65_536 }, 'ARGUMENT_VALUE'],
    [{ port: 0, host: '' }, 'ARGUMENT_VALUE'],
    [{ port: 0, address: 'x' }, 'UNKNOWN_OPTION'],
  ])
    assert.equal((await job(metrics)).code, `ERR_TOKENLANE_${code}`)
  assert.equal(fs.existsSync(at('none')), false)
  const run = runIn(at())
  const command = run(['corpus', 'data', '-o', 'none', '--metrics', `127.0.0.1:${port}`])
  assert.equal(command.status, 1)
  assert.match(command.stderr, /another program uses this port/)
  for (const wrong of ['x', '1:x', '70000', ':1'])
    assert.equal(run(['corpus', 'data', '-o', 'none', '--metrics', wrong]).status, 2, wrong)
  const chosen = run(['corpus', 'data', '--dry-run', '-t', 'r50k_base', '--metrics', '0'])
  assert.equal(chosen.status, 0, chosen.stderr)
  assert.match(chosen.stderr, /^tokenlane: metrics at http:\/\/127\.0\.0\.1:\d+\/metrics$/m)
})
