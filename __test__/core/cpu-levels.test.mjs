// Each level of the CPU, chosen by TOKENLANE_CPU_LEVEL, gives the same results.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Encodes texts of many kinds with several models, and prints a digest of the results. */
const PROGRAM = `
  import { createHash } from 'node:crypto'
  import { Tokenizer } from ${JSON.stringify(new URL('../../index.mjs', import.meta.url))}
  import native from ${JSON.stringify(new URL('../../lib/native.js', import.meta.url))}
  import { bert } from ${JSON.stringify(new URL('../support/bert.mjs', import.meta.url))}
  import { bytesOf } from ${JSON.stringify(new URL('../support/tiny.mjs', import.meta.url))}
  import { texts } from ${JSON.stringify(new URL('../support/texts.mjs', import.meta.url))}
  const rows = [...texts(300, 2000), 'naïve Straße 東京 \\u{1f600} '.repeat(500), 'x'.repeat(5000), '']
  const digest = createHash('sha256')
  const tokenizers = [Tokenizer.fromBufferSync(bytesOf(bert()))]
  for (const name of ['r50k_base', 'cl100k_base', 'o200k_base']) tokenizers.push(Tokenizer.fromEncodingSync(name))
  for (const tokenizer of tokenizers) {
    const batch = tokenizer.encodeBatchSync(rows, { specialTokens: 'text', offsets: 'utf16' })
    digest.update(batch.ids).update(batch.offsets).update(JSON.stringify(await tokenizer.decodeBatch([...batch])))
    digest.update(JSON.stringify(tokenizer.split(rows[0], { maxTokens: 50 })))
  }
  console.log(native.cpuLevel(), digest.digest('hex'))
`

function outcome(level) {
  const { TOKENLANE_CPU_LEVEL: _, ...env } = process.env
  if (level !== undefined) env.TOKENLANE_CPU_LEVEL = level
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: root,
    env,
    encoding: 'utf8',
  })
  return stdout.trim() || stderr
}

const unknown = outcome('none')
const levels = /the levels of this CPU are ([\w+, ]+)/.exec(unknown)?.[1].split(', ') ?? []

test('a level that the CPU lacks is an error that lists the levels', () => {
  assert.match(unknown, /RangeError: TOKENLANE_CPU_LEVEL is "none", but the levels of this CPU are scalar/)
  assert.match(unknown, /ERR_TOKENLANE_CPU_LEVEL/)
  assert.equal(levels[0], 'scalar')
})

test('without the variable, the fastest level is used', () => {
  assert.equal(outcome(undefined).split(' ')[0], levels.at(-1))
  assert.equal(outcome('').split(' ')[0], levels.at(-1))
})

test('every level gives the same results', () => {
  const digests = new Set()
  for (const level of levels) {
    const [used, digest] = outcome(level).split(' ')
    assert.equal(used, level)
    digests.add(digest)
  }
  assert.equal(digests.size, 1)
})
