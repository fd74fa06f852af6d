'use strict'

const { pat_str, special_tokens, bpe_ranks } = require('../encoder-data.js').encoder('r50k_base')

exports.pat_str = pat_str
exports.special_tokens = special_tokens
exports.bpe_ranks = bpe_ranks
