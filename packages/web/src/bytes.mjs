// Replaces lib/internal/dropins/bytes.js.

import { fromBase64 } from '../base64.mjs'

const encoder = new TextEncoder()
/** `String.fromCharCode` takes this many arguments in all engines. */
const AT_ONCE = 8192

/** The maximum of V8, which is the smallest one of all engines. */
export const MAX_STRING_LENGTH = 2 ** 29 - 24

export const utf8Of = (text) => encoder.encode(text)
export const ofBinary = (binary) => Uint8Array.from({ length: binary.length }, (_, at) => binary.charCodeAt(at))

export function binaryOf(bytes) {
  let binary = ''
  for (let at = 0; at < bytes.length; at += AT_ONCE) binary += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE))
  return binary
}

export function ofBase64(base64) {
  try {
    return fromBase64(base64)
  } catch {
    // Buffer and rank files ignore other characters.
    const letters = base64
      .replace(/-/g, '+')
      .replace(/_/g, '/')
      .replace(/[^A-Za-z0-9+/]/g, '')
    return fromBase64(letters.slice(0, letters.length - (letters.length % 4 === 1 ? 1 : 0)))
  }
}

export const base64Of = (bytes) => btoa(binaryOf(Uint8Array.from(bytes)))

export function concat(parts) {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
