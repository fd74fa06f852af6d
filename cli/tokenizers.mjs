// The options that select a tokenizer.

export * from '../lib/files/tokenizers.mjs'

/** The options that select the tokenizer. */
export const TOKENIZER_OPTIONS = {
  tokenizer: {
    type: 'string',
    short: 't',
    value: 'NAME',
    default: 'o200k_base',
    help: 'a tokenizer.json, tekken.json, SentencePiece model or rank file, the folder of a model, a bundled encoding, a model of OpenAI, or OWNER/NAME[@REVISION] on the Hugging Face Hub',
  },
  encoding: { type: 'string', value: 'NAME', help: 'which bundled encoding a rank file is read as' },
}
