// Adapts `trainTokenizer` to the judge of trainers (train_check.py).

import { trainTokenizer } from '@tokenlane/corpus'

/** The models of `trainTokenizer` by the trainers of the reference. */
const MODELS = {
  BpeTrainer: 'bpe',
  WordPieceTrainer: 'wordpiece',
  WordLevelTrainer: 'wordlevel',
  UnigramTrainer: 'unigram',
}

const inCamelCase = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())

/**
 * Trains a tokenizer.
 *
 * @param {{ base: string, files: string[], trainer: object }} task the text of a tokenizer.json,
 *   names of files, and the options under their Python names
 * @returns {Promise<string>} the text of a tokenizer.json
 */
export async function train({ base, files, trainer: { type, ...options } }) {
  const { normalizer, pre_tokenizer: preTokenizer, post_processor: postProcessor, decoder, model } = JSON.parse(base)
  const tokenizer = await trainTokenizer({
    inputs: files,
    rows: 'lines',
    model: MODELS[type],
    normalizer,
    preTokenizer,
    postProcessor,
    decoder,
    ...(model.unk_token && { unkToken: model.unk_token }),
    // The reference has no alphabet by default.
    ...(type !== 'WordLevelTrainer' && { initialAlphabet: [] }),
    ...Object.fromEntries(Object.entries(options).map(([name, value]) => [inCamelCase(name), value])),
  })
  return Buffer.from(tokenizer.toBuffer()).toString()
}
