'use strict'

// The models of each encoding.

const { encodings } = require('./models.json')

exports.gpt2 = encodings.gpt2
exports.p50k_base = encodings.p50k_base
exports.r50k_base = encodings.r50k_base
exports.p50k_edit = encodings.p50k_edit
exports.cl100k_base = encodings.cl100k_base
// Models that are not listed use o200k_base.
exports.o200k_base = []
exports.o200k_harmony = encodings.o200k_harmony
