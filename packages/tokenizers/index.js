'use strict'

// The API of the npm package tokenizers 0.23, implemented with tokenlane.

const { AddedToken } = require('./added-token.js')
const { Encoding, mergeEncodings } = require('./encoding.js')
const { BPE, Unigram, WordLevel, WordPiece } = require('./models.js')
const { PaddingDirection, TruncationDirection, TruncationStrategy } = require('./settings.js')
const { Tokenizer } = require('./tokenizer.js')
const { byteLevelAlphabet } = require('tokenlane/internal/tokenizers.js')
const { slice } = require('./utils.js')

/** Cannot be made in the original either: `train` uses the default trainer of the model. */
class Trainer {
  constructor() {
    throw new Error('Class contains no `constructor`, can not new it!')
  }
}

const behaviors = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']

exports.AddedToken = AddedToken
exports.BPE = BPE
exports.Bpe = BPE
exports.Encoding = Encoding
exports.JsEncoding = Encoding
exports.JsSplitDelimiterBehavior = Object.fromEntries(behaviors.map((name) => [name, name]))
exports.JsTruncationDirection = TruncationDirection
exports.JsTruncationStrategy = TruncationStrategy
exports.PaddingDirection = PaddingDirection
exports.Tokenizer = Tokenizer
exports.Trainer = Trainer
exports.TruncationDirection = TruncationDirection
exports.TruncationStrategy = TruncationStrategy
exports.Unigram = Unigram
exports.WordLevel = WordLevel
exports.WordPiece = WordPiece
exports.byteLevelAlphabet = byteLevelAlphabet
exports.mergeEncodings = mergeEncodings
exports.slice = slice

// Node finds the names by the name of this function, which is that of TypeScript's.
const __exportStar = (from, to) => Object.assign(to, from)

__exportStar(require('./components.js'), exports)
