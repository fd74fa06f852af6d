'use strict'

const fs = require('node:fs/promises')

const { typeError } = require('tokenlane/internal/dropins/errors.js')
const { Model } = require('./components.js')

const BPE_OPTIONS = {
  dropout: 'dropout',
  unkToken: 'unk_token',
  continuingSubwordPrefix: 'continuing_subword_prefix',
  endOfWordSuffix: 'end_of_word_suffix',
  fuseUnk: 'fuse_unk',
  byteFallback: 'byte_fallback',
}
const WORD_PIECE_OPTIONS = {
  unkToken: 'unk_token',
  continuingSubwordPrefix: 'continuing_subword_prefix',
  maxInputCharsPerWord: 'max_input_chars_per_word',
}
const WORD_LEVEL_OPTIONS = { unkToken: 'unk_token' }
const UNIGRAM_OPTIONS = { unkId: 'unk_id', byteFallback: 'byte_fallback' }

/** The given options with their names in tokenizer.json. */
function settingsOf(known, options) {
  const given = Object.entries(known).filter(([name]) => options?.[name] !== undefined && options[name] !== null)
  return Object.fromEntries(given.map(([name, key]) => [key, options[name]]))
}

function checkVocab(vocab) {
  if (typeof vocab !== 'object' || vocab === null) throw typeError('the vocabulary must be an object of tokens and ids')
}

/** Checks a path, with the error message of the original. */
function checkPath(path) {
  if (typeof path === 'string') return
  const kind =
    path === undefined ? 'Undefined' : path === null ? 'Null' : typeof path === 'object' ? 'Object {}' : String(path)
  throw typeError(`Failed to convert JavaScript value \`${kind}\` into rust type \`String\``)
}

class BPE extends Model {
  static empty() {
    return BPE.init({}, [])
  }

  static init(vocab, merges, options) {
    checkVocab(vocab)
    return new BPE({ type: 'BPE', ...settingsOf(BPE_OPTIONS, options), vocab, merges })
  }

  static async fromFile(vocab, merges, options) {
    const [tokens, pairs] = await Promise.all([vocab, merges].map((file) => fs.readFile(file, 'utf8')))
    const lines = pairs.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#version'))
    return BPE.init(
      JSON.parse(tokens),
      lines.map((line) => line.split(' ')),
      options,
    )
  }
}

class WordPiece extends Model {
  static empty() {
    return WordPiece.init({})
  }

  static init(vocab, options) {
    checkVocab(vocab)
    const defaults = { unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100 }
    return new WordPiece({ type: 'WordPiece', ...defaults, ...settingsOf(WORD_PIECE_OPTIONS, options), vocab })
  }

  /** Reads one token per line. The number of the line is the id. */
  static fromFile(vocab, options) {
    checkPath(vocab)
    return fs.readFile(vocab, 'utf8').then((text) => {
      const lines = text.replace(/\n$/, '').split('\n')
      const tokens = text === '' ? [] : lines.map((line, id) => [line.trimEnd(), id])
      return WordPiece.init(Object.fromEntries(tokens), options)
    })
  }
}

class WordLevel extends Model {
  static empty() {
    return WordLevel.init({})
  }

  static init(vocab, options) {
    checkVocab(vocab)
    return new WordLevel({ type: 'WordLevel', vocab, unk_token: '<unk>', ...settingsOf(WORD_LEVEL_OPTIONS, options) })
  }

  static fromFile(vocab, options) {
    checkPath(vocab)
    return fs.readFile(vocab, 'utf8').then((text) => WordLevel.init(JSON.parse(text), options))
  }
}

class Unigram extends Model {
  static empty() {
    return Unigram.init([['<unk>', 0]], { unkId: 0 })
  }

  static init(vocab, options) {
    if (!Array.isArray(vocab)) throw typeError('the vocabulary must be an array of pieces with their scores')
    return new Unigram({ type: 'Unigram', unk_id: null, vocab, ...settingsOf(UNIGRAM_OPTIONS, options) })
  }
}

module.exports = { BPE, WordPiece, WordLevel, Unigram }
