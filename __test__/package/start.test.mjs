import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { bytesOf, tiny } from '../support/tiny.mjs'

const script = fileURLToPath(new URL('../../tools/start.mjs', import.meta.url))
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-'))
test.after(() => fs.rmSync(folder, { recursive: true }))
const start = (...args) => spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', cwd: folder })

test('without arguments it encodes a megabyte of the sample, and shows tokens', () => {
  const { status, stdout, stderr } = start()
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^\d+ rows, (?:0\.9\d?|1(?:\.0\d?)?) MiB$/m)
  assert.match(stdout, /^o200k_base .*MiB\/s/m)
  assert.match(stdout, /^All│·human│/m)
})

test('files of the working directory and a tokenizer can be given', () => {
  fs.writeFileSync(path.join(folder, 'text.txt'), 'hello world')
  fs.writeFileSync(path.join(folder, 'tokenizer.json'), bytesOf(tiny()))
  const { stdout } = start('text.txt', '-t', 'tokenizer.json', '--json')
  const { tokenizer, rows, tokens } = JSON.parse(stdout)
  assert.deepEqual([tokenizer, rows, tokens], ['tokenizer.json', 1, 7])
})

test('an error is that of the command', () => {
  const { status, stderr } = start('no-such-file.txt')
  assert.equal(status, 1)
  assert.match(stderr, /no-such-file\.txt/)
  assert.ok(!/\n\s+at /.test(stderr), stderr)
})
