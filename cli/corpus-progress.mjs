// What a corpus job shows while it runs: events as JSON Lines, a bar on a terminal, or nothing.

import { Bar, canDraw } from './bar.mjs'
import { duration } from './progress.mjs'
import { oneLine } from './terminal.mjs'

/** @param {{ json?: boolean, quiet?: boolean }} values */
export function corpusProgress({ json, quiet }) {
  if (json)
    return { on: (event) => event.event !== 'done' && process.stdout.write(`${JSON.stringify(event)}\n`), stop() {} }
  if (!canDraw(process.stderr) || quiet) return { on() {}, stop() {} }
  return new CorpusBar()
}

/** Machines that have a place in the bar. */
const SHOWN = 4

const rateOf = ({ tokens, seconds }) => tokens / Math.max(seconds, 0.001)
const perSecond = (rate) => Math.round(rate).toLocaleString('en')

/** The machines of a job with a queue, the busiest first. */
export function machinesOf(hosts) {
  const all = Object.entries(hosts).sort(([, a], [, b]) => rateOf(b) - rateOf(a))
  if (all.length < 2) return ''
  const named = all.slice(0, SHOWN).map(([name, host]) => `${oneLine(name)}: ${perSecond(rateOf(host))} tokens/s`)
  return ` · ${named.join(', ')}${all.length > SHOWN ? `, ${all.length - SHOWN} more machines` : ''}`
}

class CorpusBar {
  #bar = new Bar(process.stderr)

  on({ event, bytes, allBytes, documents, shards, allShards, left, hosts }) {
    if (event !== 'progress') return
    const part = bytes / Math.max(1, allBytes)
    const rate = Object.values(hosts).reduce((sum, host) => sum + rateOf(host), 0)
    this.#bar.update(part, [
      `${Math.floor(part * 100)}%`,
      `${documents.toLocaleString('en')} documents`,
      `${perSecond(rate)} tokens/s`,
      `${duration(left ?? NaN)} left`,
      `shard ${shards} of ${allShards}${machinesOf(hosts)}`,
    ])
  }

  stop() {
    this.#bar.stop()
  }
}
