// Texts for the specs, equal in every run.

const WORDS = (
  'the quick brown fox jumps over a lazy dog while 12 boxing wizards ask: why? naïve café, Größe, ' +
  'привет мир, 你好世界, こんにちは, مرحبا, 👩‍🚀🚀 {"json": [1, 2.5, null]} if (x >= 10) { return x * 2; }'
).split(' ')

/** A text of about `units` UTF-16 units that depends on `seed`. */
export function text(units, seed = 1) {
  let state = seed * 2654435761
  let result = ''
  while (result.length < units) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    result += WORDS[state % WORDS.length] + (state % 11 === 0 ? '\n' : ' ')
  }
  return result.slice(0, units).toWellFormed?.() ?? result.slice(0, units)
}

/** Returns `count` texts of about `units` UTF-16 units. */
export const texts = (count, units = 6500) => Array.from({ length: count }, (_, seed) => text(units, seed + 1))

/** Returns the error that `f` throws, or with which its promise rejects. */
export async function failure(f) {
  try {
    await f()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
