// Bit operations on flags and bytes. biome.jsonc forbids them where there are addresses.

/** Whether the flags of a call have a bit of BITS. */
export const hasFlag = (flags, bit) => (flags & bit) !== 0

/** A mixed sum of bytes, which shows whether a caller changed them. */
export function checksum(bytes) {
  let sum = bytes.length
  const mix = (value) => (sum = Math.imul(sum ^ value, 0x01000193))
  // Four bytes at a time, from the first multiple of four on.
  const start = Math.min(-bytes.byteOffset & 3, bytes.length)
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + start, Math.floor((bytes.length - start) / 4))
  for (let index = 0; index < start; index++) mix(bytes[index])
  for (let index = 0; index < words.length; index++) mix(words[index])
  for (let index = start + 4 * words.length; index < bytes.length; index++) mix(bytes[index])
  return sum
}
