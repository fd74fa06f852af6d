'use strict'

// The models of each encoding that gpt-tokenizer lists. Their encodings are those of
// tokenlane's list.

const { encodings } = require('tokenlane/internal/gpt-tokenizer.js')
const { listed } = require('./internal/models.json')

const of = (encoding) => listed.filter((name) => encodings[encoding].includes(name))

exports.gpt2 = of('gpt2')
exports.p50k_base = of('p50k_base')
exports.r50k_base = of('r50k_base')
exports.p50k_edit = of('p50k_edit')
exports.cl100k_base = of('cl100k_base')
// Models that are not listed use o200k_base.
exports.o200k_base = []
exports.o200k_harmony = of('o200k_harmony')
exports.modelsMap_exports = { ...exports }
