// The packed rank file of cl100k_base, for the option `data` of Tokenizer.fromEncoding.

export { default } from './dist/cl100k_base.mjs'
