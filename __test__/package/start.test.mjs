import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { bytesOf, tiny } from '../support/tiny.mjs'

const script = fileURLToPath(new URL('../../tools/start.mjs', import.meta.url))
const start = (...args) => spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-'))
test.after(() => fs.rmSync(folder, { recursive: true }))

test('without arguments it encodes a megabyte of the sample', () => {
  const { status, stdout, stderr } = start()
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^documents {3}\d+$/m)
  assert.match(stdout, /^tokens {6}\d{3},\d{3}$/m)
  assert.match(stdout, /\(1\.\d\d MiB\)/)
  assert.match(stdout, /MiB\/s/)
  assert.match(stdout, /blocked for at most [\d.]+ ms/)
  assert.ok(!stdout.includes('\u001b'), 'no colours without a terminal')
})

test('files, an encoding or a tokenizer can be given', () => {
  const text = path.join(folder, 'text.txt')
  const tokenizer = path.join(folder, 'tokenizer.json')
  fs.writeFileSync(text, 'hello world')
  fs.writeFileSync(tokenizer, bytesOf(tiny()))
  assert.match(start(text, '--encoding', 'cl100k_base').stdout, /^15339 1917$/m)
  assert.match(start(text, '--tokenizer', tokenizer).stdout, /^14 11 12 13 2 7 15$/m)
})

test('errors are one line', () => {
  const wrong = [
    [['no-such-file.txt'], /cannot read no-such-file\.txt/],
    [[folder], /directory/],
    [['--encoding', 'gpt-7'], /no encoding "gpt-7".*o200k_base/],
    [['--tokenizer', 'nowhere.json'], /nowhere\.json/],
    [['--encodings', 'x'], /encodings/],
  ]
  for (const [args, message] of wrong) {
    const { status, stderr } = start(...args)
    assert.equal(status, 1)
    assert.match(stderr, message)
    assert.ok(!/\n\s+at /.test(stderr), stderr)
  }
})
