// Compares the time of `split` with that of `encode` of the same text, for `npm run maintain
// hostile -- texts --ratio`.

import { adversarial } from './adversarial.mjs'
import { isDocumented } from './child.mjs'

/** `split` may take this many times as long as `encode`. */
const MAX_RATIO = 3
const TEXT_BYTES = 200_000
const RUNS = 5
const RETRY_RUNS = 15
const PARSE = { specialTokens: 'parse' }

const MAX_TOKENS = [64, 256, 2048]
const BOUNDARIES = ['token', 'sentence', 'line']
const SPLITS = MAX_TOKENS.flatMap((maxTokens) =>
  BOUNDARIES.flatMap((boundary) => [0, maxTokens / 8].map((overlap) => ({ ...PARSE, maxTokens, boundary, overlap }))),
)

/** CPU milliseconds of a call, the minimum of several runs. */
function least(tokenizer, run, runs) {
  let best = Infinity
  for (let at = 0; at < runs; at++) {
    // Without this call, a long word could resume from the cached merges of the previous run.
    tokenizer.count('z'.repeat(1000))
    const start = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(start)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}

/**
 * Measures each kind of split of each kind of text. Returns the number of measurements
 * (`measured`), the number of splits that took too long (`suspects`), and a line for each that
 * still does when it is measured again (`steep`).
 */
export function ratiosOf({ name, tokenizer }, kinds) {
  const result = { measured: 0, suspects: 0, steep: [] }
  for (const kind of kinds) {
    const text = adversarial(kind, TEXT_BYTES)
    const encode = () => tokenizer.encode(text, { ...PARSE, truncation: false, padding: false }).ids
    for (const options of SPLITS) {
      const ratio = (runs) => {
        const once = least(tokenizer, encode, runs)
        return least(tokenizer, () => tokenizer.split(text, options), runs) / once
      }
      try {
        let found = ratio(RUNS)
        result.measured++
        if (found <= MAX_RATIO) continue
        result.suspects++
        found = Math.min(found, ratio(RETRY_RUNS))
        if (found <= MAX_RATIO) continue
        const { maxTokens, boundary, overlap } = options
        result.steep.push(
          `${name}, ${kind}, ${maxTokens} tokens, ${boundary}, overlap ${overlap}: x${found.toFixed(1)}`,
        )
      } catch (error) {
        if (!isDocumented(error)) throw error
      }
    }
  }
  return result
}
