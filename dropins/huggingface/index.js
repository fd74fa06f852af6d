'use strict'

// The API of the npm package tokenizers 0.23, implemented with tokenlane.

const { AddedToken } = require('./added-token.js')
const { Decoder, Normalizer, PreTokenizer, Processor, functions } = require('./components.js')
const { Encoding, mergeEncodings } = require('./encoding.js')
const { BPE, Model, Unigram, WordLevel, WordPiece } = require('./models.js')
const { PaddingDirection, TruncationDirection, TruncationStrategy } = require('./settings.js')
const { Tokenizer } = require('./tokenizer.js')
const { byteLevelAlphabet } = require('../../lib/byte-level.js')
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
exports.Decoder = Decoder
exports.Encoding = Encoding
exports.JsEncoding = Encoding
exports.JsSplitDelimiterBehavior = Object.fromEntries(behaviors.map((name) => [name, name]))
exports.JsTruncationDirection = TruncationDirection
exports.JsTruncationStrategy = TruncationStrategy
exports.Model = Model
exports.Normalizer = Normalizer
exports.PaddingDirection = PaddingDirection
exports.PreTokenizer = PreTokenizer
exports.Processor = Processor
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
exports.bertNormalizer = functions.bertNormalizer
exports.bertPreTokenizer = functions.bertPreTokenizer
exports.bertProcessing = functions.bertProcessing
exports.bpeDecoder = functions.bpeDecoder
exports.byteFallbackDecoder = functions.byteFallbackDecoder
exports.byteLevelPreTokenizer = functions.byteLevelPreTokenizer
exports.byteLevelProcessing = functions.byteLevelProcessing
exports.charDelimiterSplit = functions.charDelimiterSplit
exports.ctcDecoder = functions.ctcDecoder
exports.digitsPreTokenizer = functions.digitsPreTokenizer
exports.fuseDecoder = functions.fuseDecoder
exports.lowercase = functions.lowercase
exports.metaspaceDecoder = functions.metaspaceDecoder
exports.metaspacePreTokenizer = functions.metaspacePreTokenizer
exports.nfcNormalizer = functions.nfcNormalizer
exports.nfdNormalizer = functions.nfdNormalizer
exports.nfkcNormalizer = functions.nfkcNormalizer
exports.nfkdNormalizer = functions.nfkdNormalizer
exports.nmt = functions.nmt
exports.precompiled = functions.precompiled
exports.prependNormalizer = functions.prependNormalizer
exports.punctuationPreTokenizer = functions.punctuationPreTokenizer
exports.replace = functions.replace
exports.replaceDecoder = functions.replaceDecoder
exports.robertaProcessing = functions.robertaProcessing
exports.sequenceDecoder = functions.sequenceDecoder
exports.sequenceNormalizer = functions.sequenceNormalizer
exports.sequencePreTokenizer = functions.sequencePreTokenizer
exports.sequenceProcessing = functions.sequenceProcessing
exports.splitPreTokenizer = functions.splitPreTokenizer
exports.stripAccentsNormalizer = functions.stripAccentsNormalizer
exports.stripDecoder = functions.stripDecoder
exports.stripNormalizer = functions.stripNormalizer
exports.templateProcessing = functions.templateProcessing
exports.whitespacePreTokenizer = functions.whitespacePreTokenizer
exports.whitespaceSplitPreTokenizer = functions.whitespaceSplitPreTokenizer
exports.wordPieceDecoder = functions.wordPieceDecoder
