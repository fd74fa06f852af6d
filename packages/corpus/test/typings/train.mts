// Is compiled, never run: correct use of training, and with @ts-expect-error incorrect use.
import type { Tokenizer } from 'tokenlane'
import { extendTokenizer, pruneTokenizer, trainTokenizer } from '@tokenlane/corpus'
import type { SpecialToken, TrainOptions, TrainProgress, VocabularyProgress } from '@tokenlane/corpus'

const mask: SpecialToken = { content: '<mask>', lstrip: true }
const options: TrainOptions = { inputs: ['data/'], vocabSize: 32_000, specialTokens: ['<eos>', mask] }
const trained: Tokenizer = await trainTokenizer({ ...options, signal: AbortSignal.timeout(1000), onProgress: hear })
const parts = await trainTokenizer({
  texts: ['a', 'b'],
  model: 'unigram',
  normalizer: null,
  preTokenizer: { type: 'Metaspace', replacement: '_' },
  like: trained,
})
const file: Uint8Array = parts.toBuffer()

function hear(progress: TrainProgress): number {
  if (progress.phase === 'count') return progress.bytes / (progress.allBytes ?? Infinity)
  const later: VocabularyProgress = progress
  return later.done / later.total
}

async function* later() {
  yield file.length.toString()
}
await trainTokenizer({ texts: later(), like: 'gpt-4o' })

const more = await extendTokenizer(trained, { texts: ['a'], newTokens: 10 })
const id: number | undefined = more.newTokens[0]?.id
const fewer: Map<number, number> = (await pruneTokenizer('gpt-4o', { inputs: 'data/' })).ids
await trainTokenizer({ texts: later(), vocabSize: (id ?? 0) + fewer.size })

// @ts-expect-error there is no such model
await trainTokenizer({ texts: [], model: 'gpt' })
// @ts-expect-error texts are strings
await trainTokenizer({ texts: [1] })
// @ts-expect-error a number of tokens
await trainTokenizer({ texts: [], vocabSize: '32000' })
