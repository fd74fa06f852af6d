// Runs onnxruntime-node with the tensors of `tensor()`, like an embedding service.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'

import ort from 'onnxruntime-node'

import { Tokenizer } from '../index.mjs'
import { bytesOf, tiny } from './support/tiny.mjs'

const FREQUENCIES = [0.5, 0.25, 0.125, 0.0625]
const model = fileURLToPath(new URL('./testdata/mean-embedding.onnx', import.meta.url))

/** The output of the model (scripts/make_onnx_model.py) for rows without padding. */
function embeddings(batch) {
  return Array.from(batch, (ids, row) => {
    const typeIds = batch.typeIds.subarray(batch.rowOffsets[row], batch.rowOffsets[row + 1])
    const waves = (frequency) => Array.from(ids, (id, at) => Math.sin((id + typeIds[at]) * frequency))
    return FREQUENCIES.map((frequency) => waves(frequency).reduce((sum, wave) => sum + wave, 0) / ids.length)
  })
}

test('onnxruntime accepts the tensors of a batch', async () => {
  const tokenizer = Tokenizer.fromBufferSync(bytesOf(tiny()))
  const session = await ort.InferenceSession.create(model)
  const texts = ['hello', 'hello world', 'o', 'world hello world hello']
  const pairs = ['hold', 'o', 'well well well', 'her']
  const columns = ['typeIds']
  const tensor = ({ type, data, dims }) => new ort.Tensor(type, data, dims)
  for (const padding of [{ padId: 9 }, { padId: 3, direction: 'left', multipleOf: 8 }, { to: 40, padTypeId: 1 }]) {
    const batch = await tokenizer.encodeBatch(texts, { pairs, columns, padding })
    const { embedding } = await session.run({
      input_ids: tensor(batch.tensor('int64')),
      attention_mask: tensor(batch.tensor('int64', 'attentionMask')),
      token_type_ids: tensor(batch.tensor('int32', 'typeIds')),
    })
    const expected = embeddings(await tokenizer.encodeBatch(texts, { pairs, columns })).flat()
    assert.deepEqual(embedding.dims, [texts.length, FREQUENCIES.length])
    const furthest = Math.max(...expected.map((value, at) => Math.abs(value - embedding.data[at])))
    assert.ok(furthest < 1e-5, `off by ${furthest} with padding ${JSON.stringify(padding)}`)
  }
})
