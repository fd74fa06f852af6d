// The options that select a tokenizer.

import { encodings, tokenizerNames } from '../lib/files/tokenizers.mjs'

export * from '../lib/files/tokenizers.mjs'

/** The options that select the tokenizer. */
export const TOKENIZER_OPTIONS = {
  tokenizer: {
    short: 't',
    value: 'NAME',
    default: 'o200k_base',
    names: tokenizerNames,
    help: 'a tokenizer.json, tekken.json, SentencePiece model, GGUF file or rank file, the folder of a model, a bundled encoding, a model of OpenAI, or OWNER/NAME[@REVISION] on the Hugging Face Hub',
  },
  encoding: {
    value: 'NAME',
    names: encodings,
    help: 'bundled encoding whose pattern and special tokens a rank file uses',
  },
}

/** The same for commands that compare tokenizers. */
export const TOKENIZERS_OPTIONS = {
  ...TOKENIZER_OPTIONS,
  tokenizer: {
    ...TOKENIZER_OPTIONS.tokenizer,
    multiple: true,
    default: [TOKENIZER_OPTIONS.tokenizer.default],
    help: `${TOKENIZER_OPTIONS.tokenizer.help}; can be repeated (default: o200k_base)`,
  },
}
