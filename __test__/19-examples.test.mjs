// The programs in examples/, run like a reader runs them.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { startHub } from './support/hub.mjs'
import { bytesOf, tiny } from './support/tiny.mjs'

const folder = fileURLToPath(new URL('../examples/', import.meta.url))

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

async function post(address, body) {
  const response = await fetch(address, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  return [response.status, await response.json()]
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
  'count-service.mjs': () => whileServing('count-service.mjs', async (address) => {
    assert.deepEqual(await post(address, '"Hello, world!"'), [200, { tokens: 4 }])
    assert.deepEqual(await post(address, '["Hello, world!", "<|endoftext|>"]'), [200, { tokens: 11, counts: [4, 7] }])
    assert.deepEqual(await post(address, JSON.stringify('a b '.repeat(10_000))), [200, { tokens: 20_001 }])
    assert.equal((await post(address, 'nonsense'))[0], 400)
    const [status, { code }] = await post(address, JSON.stringify('x'.repeat(5 << 20)))
    assert.deepEqual([status, code], [413, 'ERR_TOKENLANE_INPUT_TOO_LARGE'])
  }),
  'fastify.mjs': () => whileServing('fastify.mjs', async (address) => {
    assert.deepEqual(await post(`${address}/count`, '["Hello, world!", "<|endoftext|>"]'), [200, { counts: [4, 7] }])
    assert.deepEqual(await post(`${address}/chat`, '[{"role": "user", "content": "Hello, world!"}]'), [200, { tokens: 11 }])
    assert.equal((await post(`${address}/chat`, '[{"content": "x"}]'))[0], 400)
    assert.equal((await post(`${address}/chat`, '[{"role": "user", "content": 7}]'))[1].code, 'ERR_TOKENLANE_ARGUMENT_TYPE')
    const [status, { code }] = await post(`${address}/count`, JSON.stringify(['x'.repeat(5 << 20)]))
    assert.deepEqual([status, code], [413, 'ERR_TOKENLANE_INPUT_TOO_LARGE'])
  }),
  'next-route.mjs': async () => {
    const { POST, runtime } = await import('../examples/next-route.mjs')
    assert.equal(runtime, 'nodejs')
    const ask = async (body) => {
      const response = await POST(new Request('http://localhost/api/tokens', { method: 'POST', body }))
      return [response.status, await response.json()]
    }
    assert.deepEqual(await ask('[{"role": "user", "content": "Hello, world!"}]'), [200, { tokens: 11, fits: true }])
    assert.equal((await ask('[]'))[1].code, 'ERR_TOKENLANE_ARGUMENT_VALUE')
    assert.equal((await ask('nonsense'))[0], 400)
  },
  'chat-budget.mjs': () => {
    const [before, after] = output('chat-budget.mjs').trim().split('\n')
    assert.match(before, /^42 messages, \d{3} tokens$/)
    const [, messages, tokens] = after.match(/^(\d+) messages, (\d+) tokens, the first turn: This is the text of turn \d+\.$/)
    assert.ok(Number(messages) > 5 && Number(messages) < 42 && Number(tokens) <= 200)
  },
  'pretrained.mjs': async () => {
    const template = '<s>{{ messages[0].content }}{{ " <wait>" if add_generation_prompt }}'
    const config = Buffer.from(JSON.stringify({ chat_template: template }))
    const hub = await startHub({ 'org/name': { files: { 'tokenizer.json': Buffer.from(bytesOf(tiny())), 'tokenizer_config.json': config } } })
    const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-example-'))
    // The hub runs in this process, so spawnSync would block it.
    const run = (repo) => new Promise((resolve) => {
      const child = spawn(process.execPath, [`${folder}pretrained.mjs`, repo], { env: { ...process.env, HF_ENDPOINT: hub.url, HF_HOME: home, HF_HUB_CACHE: '', HF_TOKEN: '' } })
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
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-example-')), 'tokenizer.json')
    fs.writeFileSync(file, bytesOf(tiny()))
    const model = fileURLToPath(new URL('./testdata/mean-embedding.onnx', import.meta.url))
    const lines = output('embeddings.mjs', model, file, 'hello world', 'hello world', 'o').trimEnd().split('\n')
    fs.rmSync(path.dirname(file), { recursive: true })
    assert.deepEqual(lines.map((line) => line.slice(0, 11)), [' 1.00  1.00', ' 1.00  1.00', lines[2].slice(0, 11)])
    assert.ok(lines.every((line) => /^( -?\d\.\d\d ?){3} /.test(line)) && lines[2].endsWith(' 1.00  o'))
  },
}

test('every example has a test', () => assert.deepEqual(fs.readdirSync(folder).filter((name) => name.endsWith('.mjs')).sort(), Object.keys(TESTED).sort()))
for (const [name, tried] of Object.entries(TESTED)) test(name, tried)
