// The display of a running training: a bar for each phase.

import { barOf, mib, plural, duration } from 'tokenlane/internal/cli.mjs'

const PHASES = {
  words: 'sorting words',
  pairs: 'counting pairs',
  merges: 'merging pairs',
  seeds: 'looking for pieces',
  estimate: 'estimating pieces',
  prune: 'pruning pieces',
  encode: 'encoding words',
}

/** @param {{ quiet?: boolean }} values */
export function trainProgress({ quiet }) {
  const bar = barOf({ quiet })
  return {
    on: (state) => bar.update(...barStateOf(state)),
    stop: () => bar.stop(),
  }
}

/**
 * How much of a phase is done, and the words beside the bar.
 *
 * @param {any} state
 * @returns {[part: number | undefined, words: string[]]}
 */
export const barStateOf = (state) => (state.phase === 'count' ? counting(state) : making(state))

/** @returns {[part: number | undefined, words: string[]]} */
function counting({ bytes, allBytes, texts, left }) {
  const part = allBytes === undefined ? undefined : bytes / Math.max(1, allBytes)
  return [part, ['counting words', mib(bytes), plural(texts, 'text'), `${duration(left ?? NaN)} left`]]
}

/** @returns {[part: number | undefined, words: string[]]} */
function making({ phase, done, total, tokens }) {
  const words = [PHASES[phase], ...(tokens > 0 ? [plural(tokens, 'token')] : [])]
  return [done / Math.max(1, total), words]
}
