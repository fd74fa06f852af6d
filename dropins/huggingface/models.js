'use strict'

const fs = require('node:fs/promises')

const { notCovered, typeError } = require('../errors.js')
const { Component } = require('./components.js')

class Model extends Component {}

const OPTIONS = {
  dropout: 'dropout',
  unkToken: 'unk_token',
  continuingSubwordPrefix: 'continuing_subword_prefix',
  endOfWordSuffix: 'end_of_word_suffix',
  fuseUnk: 'fuse_unk',
  byteFallback: 'byte_fallback',
}

class BPE extends Model {
  static empty() {
    return BPE.init({}, [])
  }

  static init(vocab, merges, options) {
    if (typeof vocab !== 'object' || vocab === null) throw typeError('vocab must be an object that maps tokens to ids')
    const given = Object.entries(OPTIONS).filter(([name]) => options?.[name] !== undefined)
    const settings = Object.fromEntries(given.map(([name, key]) => [key, options[name]]))
    return new BPE({ type: 'BPE', ...settings, vocab, merges })
  }

  static async fromFile(vocab, merges, options) {
    const [tokens, pairs] = await Promise.all([vocab, merges].map((file) => fs.readFile(file, 'utf8')))
    const lines = pairs.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#version'))
    return BPE.init(JSON.parse(tokens), lines.map((line) => line.split(' ')), options)
  }
}

/** A class for a model that this drop-in does not support. */
const missing = (name) =>
  class extends Model {
    static empty() {
      throw notCovered(`the model ${name}`)
    }

    static init() {
      throw notCovered(`the model ${name}`)
    }

    static fromFile() {
      throw notCovered(`the model ${name}`)
    }
  }

module.exports = { Model, BPE, WordPiece: missing('WordPiece'), WordLevel: missing('WordLevel'), Unigram: missing('Unigram') }
