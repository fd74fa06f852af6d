'use strict'

// The classes of transformers 5 that build their tokenizer from the vocabulary of a tokenizer.json
// and from the configs beside it, and ignore its normalizer, pre-tokenizer and decoder. A class has
//
// - model: the type of its model, and the end-of-word suffix of BPE if there is one
// - tokens: its special tokens by name; `wrapped`: flags of those that are given as text
// - named: special tokens with other names; extra: a function that makes the list of further ones
// - needs: tokens of which the vocabulary must have one, because the class adds them otherwise
// - again: whether the class adds all special tokens again ('plain', or as 'special' tokens)
// - usesFile: the components of the file stay, apart from the post-processor
// - parts: a function that makes normalizer, pre-tokenizer, decoder and settings of the model
// - post: a function that makes the post-processor; without it, that of the file stays, and with
//   `keepsPost` it stays unless there is none
//
// The functions get a Given (given.js).

/** @type {Record<string, any>} */
const classes = {
  ...require('./byte-level.js'),
  ...require('./unigram.js'),
  ...require('./wordpiece.js'),
}

module.exports = { classes }
