// The packed rank file of r50k_base, for the option `data` of Tokenizer.fromEncoding.

export { default } from './dist/r50k_base.mjs'
