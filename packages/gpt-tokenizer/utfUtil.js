'use strict'

const { bounded, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { typeError } = require('tokenlane/internal/dropins/errors.js')

const utf8 = new TextDecoder('utf-8', { fatal: true })

exports.isAscii = (codePoint) => primitive(codePoint) <= 0x7f

exports.endsWithIncompleteUtfPairSurrogate = (string) => /[\ud800-\udbff]$/.test(primitive(string))

exports.tryConvertToString = (arr) => {
  try {
    return utf8.decode(Uint8Array.from(bounded(arr), (byte) => primitive(byte)))
  } catch {
    return undefined
  }
}

exports.compareUint8Arrays = (a, b) => {
  if (![a, b].every(ArrayBuffer.isView)) throw typeError('both arguments must be a Uint8Array')
  const at = a.findIndex((byte, index) => index >= b.length || byte !== b[index])
  return at === -1 || at >= b.length ? a.length - b.length : a[at] - b[at]
}
