// What commands and the page say to people, asserted whole.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { duration } from '../../cli/progress.mjs'
import { SENTENCES } from '../../cli/web/languages.mjs'
import { folderWithTokenizer, runIn } from '../support/cli.mjs'

const folder = folderWithTokenizer()
const run = runIn(folder)

test('durations', () => {
  const written = {
    '0 s': [0, 0.4, -3],
    '59 s': [59.4],
    '1 min 0 s': [59.6, 60],
    '2 min 5 s': [125],
    '59 min 59 s': [3599],
    '1 h 0 min': [3599.5, 3600, 3659],
    '25 h 1 min': [90061],
    '?': [Infinity, NaN],
  }
  for (const [text, all] of Object.entries(written)) for (const seconds of all) assert.equal(duration(seconds), text)
})

test('the figures of a corpus job', () => {
  fs.writeFileSync(path.join(folder, 'rows.txt'), `a\n${'a '.repeat(11)}a\n\na a\n`)
  const job = ['corpus', 'rows.txt', '--rows', 'lines', '-t', 'r50k_base', '-f', 'npy']
  const said = (...more) => {
    const { status, stdout, stderr } = run([...job, ...more])
    assert.equal(status, 0, stderr)
    return stdout.trimEnd().split('\n')
  }
  // 1, 12, 0 and 2 tokens; 27 bytes of text.
  const documents = '3 documents, 15 tokens, 1.80 bytes per token'
  const empty = 'left out: 1 document without tokens'
  assert.deepEqual(said('-o', 'plain'), [documents, empty, '1 shard in plain'])
  assert.deepEqual(said('-o', 'plain'), [documents, empty, '1 shard in plain, 1 of them from an earlier run'])
  // Four rows of four tokens, and one of the 16 is padding.
  const packed = '4 rows, 6.25 % padding; cut: 1 document (33.33 %)'
  assert.deepEqual(said('-o', 'packed', '--pack', '4'), [documents, empty, packed, '1 shard in packed'])
})

test('each language has its name', () => {
  const names = new Intl.DisplayNames(['en'], { type: 'language' })
  for (const [name, code] of SENTENCES) assert.ok(names.of(code).startsWith(name), `${code}: ${name}`)
  assert.equal(new Set(SENTENCES.map(([name]) => name)).size, SENTENCES.length)
  assert.ok(SENTENCES.every(([name]) => name !== ''))
})
