// The programs in examples/, run like a reader runs them.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer } from '../../index.mjs'
import { bert, bertConfig } from '../support/bert.mjs'
import { withstands } from '../support/hostile-clients.mjs'
import { startHub } from '../support/hub.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const folder = fileURLToPath(new URL('../../examples/', import.meta.url))

function output(name, ...args) {
  const result = spawnSync(process.execPath, [folder + name, ...args], { encoding: 'utf8' })
  assert.equal(result.status, 0, result.stdout + result.stderr)
  return result.stdout
}

/** Starts an example service, and calls `tries` with its address when it has printed it. */
async function whileServing(name, tries) {
  const service = spawn(process.execPath, [folder + name, '0'])
  try {
    const printed = await new Promise((resolve) => service.stdout.once('data', (data) => resolve(String(data))))
    await tries(printed.match(/http:\S+/)[0])
  } finally {
    service.kill()
  }
}

/** Services go on under load, with hostile bodies and with connections that are aborted. */
for (const [name, paths] of Object.entries({
  'count-service.mjs': ['/'],
  'fastify.mjs': ['/count', '/chat'],
  'observability.mjs': ['/count'],
})) {
  test(`${name} goes on with hostile bodies, aborted connections and a long connection`, async () => {
    const service = spawn(process.execPath, [folder + name, '0'])
    let warned = ''
    service.stderr.on('data', (data) => (warned += data))
    try {
      const [printed] = await once(service.stdout, 'data')
      const [address] = /http:[^\s]+/.exec(String(printed))
      for (const place of paths) await withstands(new URL(place, address))
      assert.deepEqual([service.exitCode, warned], [null, ''])
    } finally {
      service.kill('SIGKILL')
    }
  })
}

/** Like whileServing, for a service that ends itself: returns how it ended. */
async function whileObserved(tries) {
  const service = spawn(process.execPath, [`${folder}observability.mjs`, '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  const ended = new Promise((resolve) => service.once('close', (status) => resolve(status)))
  const listening = new Promise((resolve) => service.stdout.on('data', (data) => resolve((printed += data))))
  try {
    await tries((await listening).match(/http:\S+/)[0], service)
    return { status: await ended, printed }
  } finally {
    service.kill('SIGKILL')
  }
}

async function post(address, body) {
  const response = await fetch(address, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  return [response.status, await response.json()]
}

/** Calls `tries` with the path of a BERT tokenizer's tokenizer.json, and returns its result. */
function whileBertIsIn(tries) {
  const model = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-example-'))
  try {
    fs.writeFileSync(path.join(model, 'tokenizer_config.json'), JSON.stringify(bertConfig()))
    fs.writeFileSync(path.join(model, 'tokenizer.json'), bytesOf(bert()))
    return tries(path.join(model, 'tokenizer.json'))
  } finally {
    fs.rmSync(model, { recursive: true })
  }
}

const bertTokenizer = Tokenizer.fromBufferSync(bytesOf(bert()))
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0)

/**
 * The outputs of the models in testdata (tools/data/make_onnx_model.py of commit 372bc683), without
 * onnxruntime.
 */
function embeddingOf(text) {
  const { ids } = bertTokenizer.encode(text)
  return [0.5, 0.25, 0.125, 0.0625].map(
    (frequency) => ids.reduce((sum, id) => sum + Math.sin(id * frequency), 0) / ids.length,
  )
}
function overlapOf(query, passage) {
  const { ids, typeIds } = bertTokenizer.encode(query, { pair: passage })
  const [first, second] = [0, 1].map((type) => Array.from(ids).filter((_, at) => typeIds[at] === type))
  return first.reduce((sum, id) => sum + second.filter((other) => other === id).length, 0) / second.length
}

const TESTED = {
  'rate-limit.mjs': () => {
    const lines = output('rate-limit.mjs').trim().split('\n')
    assert.deepEqual(lines.slice(0, 1), ['4 tokens'])
    assert.match(lines[1], /^90\d tokens$/)
    assert.match(lines[2], /^429: try again in \d+ s$/)
    assert.equal(lines[3], '413: a prompt can have at most 1000 tokens')
  },
  'chunks.mjs': () => {
    const printed = output('chunks.mjs')
    assert.match(printed, /^0–\d+: \d+ tokens, "# tokenlane/)
    assert.ok(Number(printed.match(/(\d+) chunks/)[1]) > 10)
  },
  'stream-answer.mjs': () => assert.equal(output('stream-answer.mjs'), 'Naïve café 👩‍🚀🚀: 日本語のテキスト。\n'),
  'corpus.mjs': () => {
    const to = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-example-'))
    try {
      fs.writeFileSync(path.join(to, 'a.txt'), 'Hello, world!\nHello again\n')
      const run = () => output('corpus.mjs', path.join(to, 'a.txt'), path.join(to, 'tokens'))
      assert.equal(run(), '2 documents, 8 tokens in 1 shards, 0 of them from before\n')
      assert.equal(run(), '2 documents, 8 tokens in 1 shards, 1 of them from before\n')
    } finally {
      fs.rmSync(to, { recursive: true, force: true })
    }
  },
  'workers.mjs': () => assert.match(output('workers.mjs'), /^\d{4,5} tokens in 1000 texts\n$/),
  'count-service.mjs': () =>
    whileServing('count-service.mjs', async (address) => {
      assert.deepEqual(await post(address, '"Hello, world!"'), [200, { tokens: 4 }])
      assert.deepEqual(await post(address, '["Hello, world!", "<|endoftext|>"]'), [200, { tokens: 11, counts: [4, 7] }])
      assert.deepEqual(await post(address, JSON.stringify('a b '.repeat(10_000))), [200, { tokens: 20_001 }])
      assert.equal((await post(address, 'nonsense'))[0], 400)
      const [status, { code }] = await post(address, JSON.stringify('x'.repeat(5 << 20)))
      assert.deepEqual([status, code], [413, 'ERR_TOKENLANE_INPUT_TOO_LARGE'])
    }),
  'fastify.mjs': () =>
    whileServing('fastify.mjs', async (address) => {
      assert.deepEqual(await post(`${address}/count`, '["Hello, world!", "<|endoftext|>"]'), [200, { counts: [4, 7] }])
      assert.deepEqual(await post(`${address}/chat`, '[{"role": "user", "content": "Hello, world!"}]'), [
        200,
        { tokens: 11 },
      ])
      assert.equal((await post(`${address}/chat`, '[{"content": "x"}]'))[0], 400)
      assert.equal(
        (await post(`${address}/chat`, '[{"role": "user", "content": 7}]'))[1].code,
        'ERR_TOKENLANE_ARGUMENT_TYPE',
      )
      const [status, { code }] = await post(`${address}/count`, JSON.stringify(['x'.repeat(5 << 20)]))
      assert.deepEqual([status, code], [413, 'ERR_TOKENLANE_INPUT_TOO_LARGE'])
    }),
  'observability.mjs': async () => {
    const { status, printed } = await whileObserved(async (address, service) => {
      assert.deepEqual(await post(`${address}/count`, '["Hello, world!", "<|endoftext|>"]'), [200, { counts: [4, 7] }])
      assert.equal((await post(`${address}/count`, JSON.stringify(['x'.repeat(5 << 20)])))[0], 413)
      assert.deepEqual([(await fetch(`${address}/ready`)).status, (await fetch(`${address}/live`)).status], [200, 200])
      const metrics = await (await fetch(`${address}/metrics`)).text()
      for (const line of [
        'tokenlane_queue_waiting 0',
        'tokenlane_tokens_total 11',
        'tokenlane_count_seconds_count 1',
        'tokenlane_errors_total{code="ERR_TOKENLANE_INPUT_TOO_LARGE"} 1',
      ]) {
        assert.ok(metrics.includes(`\n${line}\n`), `${line}\n${metrics}`)
      }
      assert.match(metrics, /^tokenlane_cache_hit_ratio (0|0?\.\d+|1)$/m)
      assert.match(metrics, /^tokenlane_table_bytes \d{7,}$/m)
      // More batches than may wait: some may be refused, the others are answered, and none is lost.
      const body = JSON.stringify(['word '.repeat(200_000)])
      const all = await Promise.all(Array.from({ length: 90 }, () => post(`${address}/count`, body)))
      const statuses = new Set(all.map(([code]) => code))
      assert.ok(statuses.has(200) && [...statuses].every((code) => code === 200 || code === 503), [...statuses].join())
      // A request in flight is answered after SIGTERM.
      const running = post(`${address}/count`, JSON.stringify(['word '.repeat(700_000)]))
      while (!/^tokenlane_queue_running 1$/m.test(await (await fetch(`${address}/metrics`)).text())) {
        if ((await Promise.race([running, undefined])) !== undefined) break
      }
      service.kill('SIGTERM')
      assert.equal((await running)[0], 200)
    })
    assert.equal(status, 0)
    assert.match(printed, /closed\n$/)
  },
  'next-route.mjs': async () => {
    const { POST, runtime } = await import('../../examples/next-route.mjs')
    assert.equal(runtime, 'nodejs')
    const ask = async (body) => {
      const response = await POST(new Request('http://localhost/api/tokens', { method: 'POST', body }))
      return [response.status, await response.json()]
    }
    assert.deepEqual(await ask('[{"role": "user", "content": "Hello, world!"}]'), [200, { tokens: 11, fits: true }])
    assert.equal((await ask('[]'))[1].code, 'ERR_TOKENLANE_ARGUMENT_VALUE')
    assert.equal((await ask('nonsense'))[0], 400)
    assert.equal((await ask(''))[0], 400)
    const audio = { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }
    assert.deepEqual(
      [await ask(JSON.stringify([{ role: 'user', content: [audio] }]))].map(([status, { code }]) => [status, code]),
      [[400, 'ERR_TOKENLANE_CHAT_UNDOCUMENTED']],
    )
    // Of an endless body, the limit is read.
    let read = 0
    const endless = new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array((read += 2 ** 16) && 2 ** 16)) })
    const request = new Request('http://localhost', { method: 'POST', body: endless, duplex: 'half' })
    assert.equal((await POST(request)).status, 413)
    assert.ok(read < 10 << 20, String(read))
  },
  'chat-budget.mjs': () => {
    const [before, after] = output('chat-budget.mjs').trim().split('\n')
    assert.match(before, /^42 messages, \d{3} tokens$/)
    const [, messages, tokens] = after.match(
      /^(\d+) messages, (\d+) tokens, the first turn: This is the text of turn \d+\.$/,
    )
    assert.ok(Number(messages) > 5 && Number(messages) < 42 && Number(tokens) <= 200)
  },
  'pretrained.mjs': async () => {
    const template = '<s>{{ messages[0].content }}{{ " <wait>" if add_generation_prompt }}'
    const config = Buffer.from(JSON.stringify({ chat_template: template }))
    const hub = await startHub({
      'org/name': { files: { 'tokenizer.json': Buffer.from(bytesOf(tiny())), 'tokenizer_config.json': config } },
    })
    const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-example-'))
    // The hub runs in this process, so spawnSync would block it.
    const run = (repo) =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, [`${folder}pretrained.mjs`, repo], {
          env: { ...process.env, HF_ENDPOINT: hub.url, HF_HOME: home, HF_HUB_CACHE: '', HF_TOKEN: '' },
        })
        const printed = { out: '', err: '' }
        child.stdout.on('data', (data) => (printed.out += data))
        child.stderr.on('data', (data) => (printed.err += data))
        child.on('close', (status) => resolve({ status, ...printed }))
      })
    try {
      const { status, out, err } = await run('org/name')
      assert.deepEqual([status, out], [0, '<s>Why is the sky blue? <wait>\n11 tokens\n'], err)
      assert.match(err, /tokenizer\.json: \d+ bytes/)
      assert.match((await run('org/none')).err, /there is no repository 'org\/none'/)
    } finally {
      hub.close()
      fs.rmSync(home, { recursive: true })
    }
  },
  'embeddings.mjs': () => {
    const model = fileURLToPath(new URL('../testdata/mean-embedding.onnx', import.meta.url))
    const texts = ['The capital of France', 'the capital of france', 'How do I bake bread in my oven?', 'o']
    const lines = whileBertIsIn((file) => output('embeddings.mjs', model, file, ...texts))
      .trimEnd()
      .split('\n')
    assert.ok(
      lines.every((line) => /^( +-?\d\.\d\d){4} {2}/.test(line)),
      lines.join('\n'),
    )
    const vectors = texts.map(embeddingOf)
    const similarity = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
    for (const [row, line] of lines.entries()) {
      assert.ok(line.endsWith(`  ${texts[row]}`), line)
      const found = line.trim().split(/ +/, texts.length).map(Number)
      const furthest = Math.max(...found.map((value, at) => Math.abs(value - similarity(vectors[row], vectors[at]))))
      assert.ok(furthest < 0.0051, `${line}: off by ${furthest}`)
    }
    assert.equal(lines[0].slice(0, 12), lines[1].slice(0, 12), 'an uncased tokenizer')
  },
  'reranker.mjs': () => {
    const model = fileURLToPath(new URL('../testdata/overlap-reranker.onnx', import.meta.url))
    const passages = ['Bake the bread in the oven, and sleep.', 'Paris is the capital city of France.', 'A dog']
    const query = 'What is the capital of France?'
    const printed = whileBertIsIn((file) => output('reranker.mjs', model, path.dirname(file), query, ...passages))
    const expected = passages.map((passage) => [overlapOf(query, passage), passage]).sort(([a], [b]) => b - a)
    assert.equal(printed, expected.map(([score, passage]) => `${score.toFixed(4).padStart(9)}  ${passage}\n`).join(''))
    assert.equal(expected[0][1], passages[1])
    // A long passage is cut, the query is not.
    const long = whileBertIsIn((file) => output('reranker.mjs', model, path.dirname(file), query, 'cat '.repeat(500)))
    assert.match(long, /^ +0\.\d+ /)
  },
}

test('every example has a test', () =>
  assert.deepEqual(
    fs
      .readdirSync(folder)
      .filter((name) => name.endsWith('.mjs'))
      .sort(),
    Object.keys(TESTED).sort(),
  ))
for (const [name, tried] of Object.entries(TESTED)) test(name, tried)
