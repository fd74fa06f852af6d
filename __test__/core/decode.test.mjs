import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'
import { text, texts } from '../support/texts.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const gpt = Tokenizer.fromEncodingSync('o200k_base')
const small = Tokenizer.fromBufferSync(bytesOf(tiny()))

test('decode returns the encoded text', () => {
  for (const string of ['', 'Hello', text(3000), text(100_000, 7)]) {
    const { ids } = gpt.encode(string)
    assert.equal(gpt.decode(ids), string)
    assert.equal(gpt.decode([...ids]), string)
    assert.deepEqual(Buffer.from(gpt.decodeBytes(ids)), Buffer.from(string))
  }
})

test('an incomplete character is U+FFFD as text, and unchanged as bytes', () => {
  const { ids } = gpt.encode('🦜')
  assert.ok(ids.length > 1)
  assert.ok(gpt.decode(ids.subarray(0, 1)).includes('\ufffd'))
  const bytes = gpt.decodeBytes(ids.subarray(0, 1))
  assert.ok(bytes instanceof Uint8Array)
  assert.deepEqual(Buffer.from(bytes), Buffer.from('🦜').subarray(0, bytes.length))
})

test('skipSpecialTokens removes special tokens', () => {
  const { ids } = small.encode('hello')
  assert.equal(small.decode(ids), '<s>hello</s>')
  assert.equal(small.decode(ids, { skipSpecialTokens: true }), 'hello')
})

test('a batch decodes like its rows', async () => {
  const rows = texts(50, 500)
  const batch = await gpt.encodeBatch(rows)
  assert.deepEqual(await gpt.decodeBatch(batch), rows)
  assert.deepEqual(await gpt.decodeBatch([...batch]), rows)
  assert.deepEqual(await gpt.decodeBatch([[13225], Uint32Array.of(11), []]), ['Hello', ',', ''])
  assert.deepEqual(await gpt.decodeBatch([]), [])
})

test('a queued batch is decoded with the ids at the time of the call', async () => {
  const batch = await gpt.encodeBatch(['one', 'two'])
  const busy = [1, 2, 3].map(() => gpt.encodeBatch(texts(200)))
  const decoded = gpt.decodeBatch(batch)
  batch.dispose()
  assert.deepEqual(await decoded, ['one', 'two'])
  await Promise.all(busy)
})

test('an unknown id is an error', async () => {
  assert.throws(() => gpt.decode([13225, 4_000_000_000]), { name: 'RangeError', code: 'ERR_TOKENLANE_UNKNOWN_ID' })
  assert.throws(() => gpt.decodeBytes([4_000_000_000]), { code: 'ERR_TOKENLANE_UNKNOWN_ID' })
  await assert.rejects(gpt.decodeBatch([[0], [4_000_000_000]]), { code: 'ERR_TOKENLANE_UNKNOWN_ID', row: 1 })
})
