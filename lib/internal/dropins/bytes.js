'use strict'

// Bytes as the drop-ins need them. The build for the web replaces this file by
// packages/web/src/bytes.mjs. A binary string has one character (U+0000 to U+00FF) for each byte.

// This comes first: in a bundle of ES modules it reports why the modules of Node are not found.
require('../../package-root.js')
const { constants } = require('node:buffer')

module.exports = {
  MAX_STRING_LENGTH: constants.MAX_STRING_LENGTH,

  /** The UTF-8 of a text. */
  utf8Of: (text) => Buffer.from(text),
  /** The bytes of a binary string. */
  ofBinary: (binary) => Buffer.from(binary, 'latin1'),
  binaryOf: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'),
  ofBase64: (base64) => Buffer.from(base64, 'base64'),
  base64Of: (bytes) => Buffer.from(bytes).toString('base64'),
  concat: (parts) => Buffer.concat(parts),
}
