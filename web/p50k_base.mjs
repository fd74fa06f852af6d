// The packed rank file of p50k_base, for the option `data` of Tokenizer.fromEncoding.

export { default } from './dist/p50k_base.mjs'
