// Files that could exhaust memory or take quadratic time. Each case runs in a child process with 4
// s of CPU and 1 GiB of memory of its own, and must return a result or throw an error with a code.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer, limits } from '../../index.mjs'
import { CASES } from '../support/file-limit-cases.mjs'
import { LimitedProcess, areEnforced } from '../support/limited.mjs'
import { failure } from '../support/texts.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const MAX_KILOBYTES = 1 << 20
const child = new LimitedProcess('file-limits.mjs', { flags: ['--max-old-space-size=512'], data: null })

for (const [name, { code, codes = [code] }] of Object.entries(CASES)) {
  test(name, { skip: !areEnforced && 'there is no prlimit here' }, async () => {
    const outcome = await child.call(name)
    assert.equal(outcome.signal, undefined, `it was ended by ${outcome.signal}: ${outcome.stderr}`)
    assert.ok(codes.includes(outcome.code), `${outcome.code}: ${outcome.message}`)
    assert.ok(outcome.peak < MAX_KILOBYTES, `${outcome.peak} KB`)
    if (outcome.code === 'ERR_TOKENLANE_OUTPUT_LIMIT') {
      assert.ok(outcome.reached > outcome.limit && typeof outcome.component === 'string', JSON.stringify(outcome))
    }
  })
}

test('the component that would exceed the limit makes nothing, and the next ones do not run', async () => {
  const wide = 'a'.repeat(60_000)
  const components = {
    Prepend: { type: 'Prepend', prepend: wide },
    Replace: { type: 'Replace', pattern: { Regex: '^' }, content: wide },
  }
  for (const [name, component] of Object.entries(components)) {
    const normalizer = { type: 'Sequence', normalizers: Array(20).fill(component) }
    const tokenizer = Tokenizer.fromBufferSync(bytesOf({ ...tiny(), normalizer }))
    const error = await failure(async () => tokenizer.encode('a'))
    // The first one is within the limit of 64 KiB.
    assert.deepEqual([error.component, error.reached, error.limit], ['the normalizer', 120_001, 65_536], name)
  }
})

test('the output limit is a multiple of the input that can be set', async () => {
  const file = tiny()
  file.normalizer = { type: 'Replace', pattern: { String: 'h' }, content: 'o'.repeat(100) }
  const tokenizer = Tokenizer.fromBufferSync(bytesOf(file))
  const text = 'h'.repeat(20_000)
  try {
    assert.equal(limits.maxExpansion, 32)
    const error = await failure(async () => tokenizer.encode(text))
    assert.equal(error.code, 'ERR_TOKENLANE_OUTPUT_LIMIT')
    assert.deepEqual([error.component, error.reached, error.limit], ['the normalizer', 2_000_000, 640_000])
    const row = await failure(() => tokenizer.encodeBatch(['h', text]))
    assert.deepEqual([row.code, row.row, row.limit], ['ERR_TOKENLANE_OUTPUT_LIMIT', 1, 640_000])
    limits.configure({ maxExpansion: 100 })
    assert.equal(tokenizer.encode(text).ids.length, 2_000_002)
    limits.configure({ maxExpansion: Infinity })
    assert.equal(tokenizer.encode(text).ids.length, 2_000_002)
    limits.configure({ maxExpansion: 2 })
    assert.equal((await failure(async () => tokenizer.encode(text))).limit, 65_536)
    // A short text may always expand to 64 KiB.
    assert.equal(tokenizer.encode('h'.repeat(600)).ids.length, 60_002)
    assert.equal(
      (await failure(async () => limits.configure({ maxExpansion: 0 }))).code,
      'ERR_TOKENLANE_ARGUMENT_VALUE',
    )
  } finally {
    limits.configure({ maxExpansion: 32 })
  }
})
