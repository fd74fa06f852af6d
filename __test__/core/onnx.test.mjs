// Runs onnxruntime-node with the tensors of `tensor()`, like an embedding service.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'

import ort from 'onnxruntime-node'

import { BertTokenizer } from '@tokenlane/transformers'

import { Tokenizer } from '../../index.mjs'
import { bert, bertConfig } from '../support/bert.mjs'
import { bytesOf, tiny } from '../support/tiny.mjs'

const FREQUENCIES = [0.5, 0.25, 0.125, 0.0625]
const model = fileURLToPath(new URL('../testdata/mean-embedding.onnx', import.meta.url))
const reranker = fileURLToPath(new URL('../testdata/overlap-reranker.onnx', import.meta.url))

/** The output of the model (tools/data/make_onnx_model.py of 372bc683) for rows without padding. */
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

/**
 * The output of overlap-reranker.onnx (tools/data/make_onnx_model.py of 372bc683) for a pair.
 */
function overlap(tokenizer, query, passage) {
  const { ids, typeIds } = tokenizer.encode(query, { pair: passage })
  const [first, second] = [0, 1].map((type) => ids.filter((_, at) => typeIds[at] === type))
  const matches = Array.from(first, (id) => second.filter((other) => other === id).length)
  return matches.reduce((sum, count) => sum + count, 0) / second.length
}

test('onnxruntime accepts the tensors of @tokenlane/transformers as they are', async () => {
  const tokenizer = new BertTokenizer(bert(), bertConfig())
  const session = await ort.InferenceSession.create(reranker)
  const passages = [
    'Paris is the capital of France.',
    'Bake the bread',
    'The capital city, Berlin, is in Germany; what is the river?',
  ]
  const text = passages.map(() => 'What is the capital of France?')
  for (const options of [{ padding: true }, { padding: 'max_length', max_length: 48 }]) {
    const { logits } = await session.run(tokenizer(text, { text_pair: passages, ...options }))
    const expected = passages.map((passage) => overlap(tokenizer._tokenizer.engine, text[0], passage))
    assert.deepEqual(logits.dims, [passages.length, 1])
    assert.deepEqual([...logits.data], [...Float32Array.from(expected)])
    assert.ok(expected[0] > Math.max(expected[1], expected[2]))
  }
})
