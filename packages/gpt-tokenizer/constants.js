'use strict'

exports.ALL_SPECIAL_TOKENS = 'all'
exports.DEFAULT_MERGE_CACHE_SIZE = 100_000
