// The packed rank file of o200k_base, for the option `data` of Tokenizer.fromEncoding.

export { default } from './dist/o200k_base.mjs'
