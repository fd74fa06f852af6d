// The recipes in examples/, run as a reader would.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../examples/', import.meta.url))

function output(name, ...args) {
  const result = spawnSync(process.execPath, [folder + name, ...args], { encoding: 'utf8' })
  assert.equal(result.status, 0, result.stdout + result.stderr)
  return result.stdout
}

const TESTED = {
  'rate-limit.mjs': () => {
    const lines = output('rate-limit.mjs').trim().split('\n')
    assert.deepEqual(lines.slice(0, 1), ['4 tokens'])
    assert.match(lines[1], /^90\d tokens$/)
    assert.match(lines[2], /^429: try again in \d+ s$/)
    assert.equal(lines[3], '413: a prompt has at most 1000 tokens')
  },
  'chunks.mjs': () => {
    const printed = output('chunks.mjs')
    assert.match(printed, /^0–\d+: \d+ tokens, "# tokenlane/)
    assert.ok(Number(printed.match(/(\d+) chunks/)[1]) > 10)
  },
  'stream-answer.mjs': () => assert.equal(output('stream-answer.mjs'), 'Naïve café 👩‍🚀🚀: 日本語のテキスト。\n'),
  'workers.mjs': () => assert.match(output('workers.mjs'), /^\d{4,5} tokens in 1000 texts\n$/),
  'count-service.mjs': async () => {
    const service = spawn(process.execPath, [`${folder}count-service.mjs`, '0'])
    try {
      const [line] = await new Promise((resolve) => service.stdout.once('data', (data) => resolve(String(data).split('\n'))))
      const post = async (body) => {
        const response = await fetch(line.match(/http:\S+/)[0], { method: 'POST', body })
        return [response.status, await response.json()]
      }
      assert.deepEqual(await post('"Hello, world!"'), [200, { tokens: 4 }])
      assert.deepEqual(await post('["Hello, world!", "<|endoftext|>"]'), [200, { tokens: 11, counts: [4, 7] }])
      assert.equal((await post('nonsense'))[0], 400)
      const [status, { code }] = await post(JSON.stringify('x'.repeat(5 << 20)))
      assert.deepEqual([status, code], [413, 'ERR_TOKENLANE_INPUT_TOO_LARGE'])
    } finally {
      service.kill()
    }
  },
}

test('every example is tried', () => assert.deepEqual(fs.readdirSync(folder).filter((name) => name.endsWith('.mjs')).sort(), Object.keys(TESTED).sort()))
for (const [name, tried] of Object.entries(TESTED)) test(name, tried)
