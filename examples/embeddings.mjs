// Computes embeddings with onnxruntime-node, and compares texts: `npm install tokenlane
// onnxruntime-node`, `node embeddings.mjs model.onnx tokenizer.json "a text" "another text" …`. The
// inputs of the model must be ids and masks.

import ort from 'onnxruntime-node'
import { Tokenizer } from 'tokenlane'

const [model, file, ...texts] = process.argv.slice(2)
if (texts.length === 0) {
  console.error('usage: node embeddings.mjs model.onnx tokenizer.json "a text" "another text" …')
  process.exit(2)
}
const [session, tokenizer] = await Promise.all([ort.InferenceSession.create(model), Tokenizer.fromFile(file)])

const COLUMNS = { input_ids: 'ids', attention_mask: 'attentionMask', token_type_ids: 'typeIds' }

/** The input tensors of a batch, with the names and types that the model declares. */
function feeds(batch) {
  return Object.fromEntries(
    session.inputMetadata.map(({ name, type: wanted }) => {
      const { type, data, dims } = batch.tensor(wanted === 'int32' ? 'int32' : 'int64', COLUMNS[name])
      return [name, new ort.Tensor(type, data, dims)]
    }),
  )
}

/**
 * Returns a vector for each text: the model's output, or its mean over the tokens without padding.
 */
async function embed(texts) {
  const batch = await tokenizer.encodeBatch(texts, {
    padding: {},
    truncation: { maxLength: 512 },
    columns: ['typeIds'],
  })
  const { dims, data } = Object.values(await session.run(feeds(batch)))[0]
  const width = dims.at(-1)
  const vectors = Array.from({ length: data.length / width }, (_, i) => data.subarray(i * width, (i + 1) * width))
  if (dims.length === 2) return vectors
  return Array.from(batch, (_, row) => {
    const own = vectors
      .slice(row * dims[1], (row + 1) * dims[1])
      .filter((_, i) => batch.attentionMask[batch.rowOffsets[row] + i] === 1)
    return own[0].map((_, at) => own.reduce((sum, vector) => sum + vector[at], 0) / own.length)
  })
}

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0)
const similarity = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))

const vectors = await embed(texts)
for (const [i, text] of texts.entries()) {
  console.log(vectors.map((other) => similarity(vectors[i], other).toFixed(2).padStart(5)).join(' '), ` ${text}`)
}
