'use strict'

// Reads the width and height of an image from the header of its file, in a data: URL. The pixels
// are not decoded.

/** Base64 characters that are decoded first. Only the metadata of a JPEG may need more. */
const FIRST_CHARACTERS = 1 << 16
/** How many times as many characters are decoded each time that a JPEG needs more. */
const GROWTH = 8
/** The first two bytes of a JPEG in base64. */
const JPEG = /^\/9[g-j]/

/** The size of a PNG, JPEG, GIF or WebP in a data: URL, or undefined. */
function sizeOfDataUrl(url) {
  const comma = /^data:[^,]{0,200};base64,/i.exec(url)?.[0].length
  if (comma === undefined) return undefined
  const isJpeg = JPEG.test(url.slice(comma, comma + 3))
  for (let length = FIRST_CHARACTERS; ; length *= GROWTH) {
    const size = sizeOf(url, comma, length)
    if (size !== undefined || !isJpeg || comma + length >= url.length) return size
  }
}

function sizeOf(url, from, length) {
  const bytes = decoded(url.slice(from, from + length))
  if (bytes === undefined) return undefined
  const at = new DataView(bytes.buffer)
  try {
    return sizeOfPng(at) ?? sizeOfGif(at) ?? sizeOfWebp(at) ?? sizeOfJpeg(at)
  } catch (failure) {
    // The file ends within its header.
    if (failure instanceof RangeError) return undefined
    throw failure
  }
}

function decoded(text) {
  try {
    const whole = text.length % 4 === 1 ? text.slice(0, -1) : text
    const binary = atob(whole)
    const bytes = new Uint8Array(binary.length)
    for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i)
    return bytes
  } catch {
    return undefined
  }
}

const PNG = 0x89504e47
const GIF = 0x474946
const RIFF = 0x52494646
const WEBP = 0x57454250
const IHDR = 0x49484452

function sizeOfPng(at) {
  if (at.byteLength < 24 || at.getUint32(0) !== PNG || at.getUint32(12) !== IHDR) return undefined
  return { width: at.getUint32(16), height: at.getUint32(20) }
}

function sizeOfGif(at) {
  if (at.byteLength < 10 || at.getUint32(0) >>> 8 !== GIF) return undefined
  return { width: at.getUint16(6, true), height: at.getUint16(8, true) }
}

/** The three kinds of WebP store their sizes with 14, 14 and 24 bits. */
function sizeOfWebp(at) {
  if (at.byteLength < 30 || at.getUint32(0) !== RIFF || at.getUint32(8) !== WEBP) return undefined
  switch (at.getUint32(12)) {
    case 0x56503820: // 'VP8 '
      return { width: at.getUint16(26, true) & 0x3fff, height: at.getUint16(28, true) & 0x3fff }
    case 0x5650384c: {
      // 'VP8L': both sizes less one, after the signature byte.
      const bits = at.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 0x56503858: // 'VP8X': both sizes less one.
      return { width: uint24(at, 24) + 1, height: uint24(at, 27) + 1 }
    default:
      return undefined
  }
}

const uint24 = (at, from) => at.getUint16(from, true) | (at.getUint8(from + 2) << 16)

/** Markers of a JPEG that start a frame: SOF0 to SOF15 without DHT, JPG and DAC. */
const isFrame = (marker) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
/** Markers without a length: TEM and the restart markers. */
const isAlone = (marker) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)

function sizeOfJpeg(at) {
  if (at.byteLength < 4 || at.getUint16(0) !== 0xffd8) return undefined
  for (let from = 2; at.getUint8(from) === 0xff; ) {
    const marker = at.getUint8(from + 1)
    if (isFrame(marker)) return { width: at.getUint16(from + 7), height: at.getUint16(from + 5) }
    if (marker === 0xff) from += 1
    else if (isAlone(marker)) from += 2
    else from += 2 + Math.max(2, at.getUint16(from + 2))
  }
  return undefined
}

module.exports = { sizeOfDataUrl }
