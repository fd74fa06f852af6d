'use strict'

// The rank files of the bundled encodings, by their names. The build for the web replaces this file
// by packages/web/src/rank-files.mjs.

const native = require('../../native.js')
const { encodingPath } = require('../../package-root.js')
const fs = require('node:fs')

const { Tokenizer } = require('../../tokenizer.js')
const { rankText } = require('./rank-text.js')

module.exports = {
  Tokenizer,
  /** The pattern, the special tokens and the name of the rank file of an encoding. */
  encodingDefinition: (name) => native.encodingDefinition(name),
  openFile: (file, options) => Tokenizer.fromFileSync(encodingPath(file), options),
  readFile: (file) => rankText(fs.readFileSync(encodingPath(file))),
}
