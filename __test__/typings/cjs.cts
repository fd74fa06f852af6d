// Is compiled, never run: the package with require.
import tokenlane = require('tokenlane')
import transformers = require('@tokenlane/transformers')

async function main(): Promise<number> {
  const tokenizer: tokenlane.Tokenizer = await tokenlane.Tokenizer.fromEncoding('o200k_base')
  const options: tokenlane.EncodeOptions = { offsets: false }
  const batch: tokenlane.Batch = await tokenizer.encodeBatch(['a'], options)
  batch.dispose()
  const auto: transformers.PreTrainedTokenizer = await transformers.AutoTokenizer.from_pretrained('org/name')
  const dims: number[] = auto('a').input_ids.dims
  return dims.length + tokenizer.encode('a').length + tokenlane.encodings().length
}

export = main

import jsRanks = require('@tokenlane/js-tiktoken/ranks/gpt2')
import jsLite = require('@tokenlane/js-tiktoken/lite')
const jsIds: number[] = new jsLite.Tiktoken(jsRanks).encode('a')
