// The display of a running corpus job: events as JSON Lines, a bar on a terminal, or nothing.

import { Bar, canDraw } from './bar.mjs'
import { duration } from './progress.mjs'
import { forOutput, oneLine } from './terminal.mjs'

/** Maximum number of machines that the bar names. */
const MAX_NAMED = 4

/** @param {{ json?: boolean, quiet?: boolean }} values */
export function corpusProgress({ json, quiet }) {
  if (json)
    return {
      on: (event) => event.event !== 'done' && process.stdout.write(forOutput(`${JSON.stringify(event)}\n`)),
      stop() {},
    }
  if (!canDraw(process.stderr) || quiet) return { on() {}, stop() {} }
  return new CorpusBar()
}

const number = (value) => value.toLocaleString('en')
const rateOf = ({ tokens, seconds }) => tokens / Math.max(seconds, 0.001)
const perSecond = (rate) => number(Math.round(rate))

/** The machines of a job with a queue, the fastest first; '' for one machine. */
export function machinesOf(hosts) {
  const all = Object.entries(hosts).sort(([, a], [, b]) => rateOf(b) - rateOf(a))
  if (all.length < 2) return ''
  const named = all.slice(0, MAX_NAMED).map(([name, host]) => `${oneLine(name)}: ${perSecond(rateOf(host))} tokens/s`)
  return `${named.join(', ')}${all.length > MAX_NAMED ? `, ${all.length - MAX_NAMED} more machines` : ''}`
}

class CorpusBar {
  #bar = new Bar(process.stderr)

  on({ event, bytes, allBytes, documents, shards, allShards, left, hosts }) {
    if (event !== 'progress') return
    const part = bytes / Math.max(1, allBytes)
    const rate = Object.values(hosts).reduce((sum, host) => sum + rateOf(host), 0)
    this.#bar.update(part, [
      `${Math.floor(part * 100)}%`,
      `${number(documents)} documents`,
      `${perSecond(rate)} tokens/s`,
      `${duration(left ?? NaN)} left`,
      `shard ${shards} of ${allShards}`,
      ...[machinesOf(hosts)].filter((names) => names !== ''),
    ])
  }

  stop() {
    this.#bar.stop()
  }
}
