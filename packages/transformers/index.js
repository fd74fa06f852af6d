'use strict'

// The API of the tokenizers of @huggingface/transformers 4, implemented with tokenlane.

const { AutoTokenizer } = require('./auto.js')
const { env } = require('./env.js')
const { Tensor } = require('./tensor.js')
const { PreTrainedTokenizer } = require('./tokenizer.js')

exports.AutoTokenizer = AutoTokenizer
exports.PreTrainedTokenizer = PreTrainedTokenizer
exports.TokenizersBackend = PreTrainedTokenizer
exports.Tensor = Tensor
exports.env = env

// Node finds the names by the name of this function, which is that of TypeScript's.
const __exportStar = (from, to) => Object.assign(to, from)

__exportStar(require('./classes.js'), exports)
