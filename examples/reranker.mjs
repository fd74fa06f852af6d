// Ranks passages by their relevance to a query with a cross-encoder and onnxruntime-node: `npm
// install tokenlane onnxruntime-node`, `node reranker.mjs model.onnx FOLDER "a query" "a passage"
// "another passage" …`. FOLDER has the tokenizer.json and the tokenizer_config.json of the model.

import ort from 'onnxruntime-node'
import { AutoTokenizer } from '@tokenlane/transformers'

const [model, folder, query, ...passages] = process.argv.slice(2)
if (passages.length === 0) {
  console.error('usage: node reranker.mjs model.onnx FOLDER "a query" "a passage" …')
  process.exit(2)
}
const [session, tokenizer] = await Promise.all([
  ort.InferenceSession.create(model),
  AutoTokenizer.from_pretrained(folder),
])

/** Returns a score for each passage; higher is more relevant. */
async function score(query, passages) {
  const inputs = tokenizer(Array(passages.length).fill(query), {
    text_pair: passages,
    padding: true,
    truncation: 'only_second',
    max_length: Math.min(512, tokenizer.model_max_length),
    return_token_type_ids: session.inputNames.includes('token_type_ids'),
  })
  // The tensors are int64, which most models take. For int32, use `batch.tensor('int32')` of
  // tokenlane's own API, as in embeddings.mjs.
  const feeds = Object.fromEntries(
    session.inputNames.map((name) => {
      const { type, data, dims } = inputs[name]
      return [name, new ort.Tensor(type, data, dims)]
    }),
  )
  const { data } = Object.values(await session.run(feeds))[0]
  return Array.from({ length: passages.length }, (_, row) => data[(row * data.length) / passages.length])
}

const scores = await score(query, passages)
const ranked = passages.map((passage, row) => ({ passage, score: scores[row] })).sort((a, b) => b.score - a.score)
for (const { passage, score } of ranked) console.log(`${score.toFixed(4).padStart(9)}  ${passage}`)
