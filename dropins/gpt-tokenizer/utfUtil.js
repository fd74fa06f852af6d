'use strict'

const utf8 = new TextDecoder('utf-8', { fatal: true })

exports.isAscii = (codePoint) => codePoint <= 0x7f

exports.endsWithIncompleteUtfPairSurrogate = (string) => /[\ud800-\udbff]$/.test(string)

exports.tryConvertToString = (arr) => {
  try {
    return utf8.decode(Uint8Array.from(arr))
  } catch {
    return undefined
  }
}

exports.compareUint8Arrays = (a, b) => {
  const at = a.findIndex((byte, index) => index >= b.length || byte !== b[index])
  return at === -1 || at >= b.length ? a.length - b.length : a[at] - b[at]
}
