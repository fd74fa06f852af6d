// The display of a running training: a bar for each phase.

import { Bar, canDraw } from './bar.mjs'
import { duration } from './progress.mjs'

const MIB = 2 ** 20

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
  if (quiet || !canDraw(process.stderr)) return { on() {}, stop() {} }
  const bar = new Bar(process.stderr)
  return {
    on: (state) => bar.update(...(state.phase === 'count' ? counting(state) : making(state))),
    stop: () => bar.stop(),
  }
}

const number = (value) => value.toLocaleString('en')

/** @returns {[part: number | undefined, words: string[]]} */
function counting({ bytes, allBytes, texts, left }) {
  const part = allBytes === undefined ? undefined : bytes / Math.max(1, allBytes)
  const amount = `${(bytes / MIB).toFixed(1)} MiB`
  return [part, ['counting words', amount, `${number(texts)} texts`, `${duration(left ?? NaN)} left`]]
}

/** @returns {[part: number | undefined, words: string[]]} */
function making({ phase, done, total, tokens }) {
  const words = [PHASES[phase], ...(tokens > 0 ? [`${number(tokens)} tokens`] : [])]
  return [done / Math.max(1, total), words]
}
