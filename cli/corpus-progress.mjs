// What a corpus job shows while it runs: events as JSON Lines, a bar on a terminal, or nothing.

import { duration } from './progress.mjs'
import { oneLine } from './terminal.mjs'

const FORMAT =
  '{bar} {percentage}% · {documents} documents · {rate} tokens/s · {left} left · shard {shards} of {allShards}{machines}'

/** @param {{ json?: boolean, quiet?: boolean }} values */
export function corpusProgress({ json, quiet }) {
  if (json)
    return { on: (event) => event.event !== 'done' && process.stdout.write(`${JSON.stringify(event)}\n`), stop() {} }
  if (!process.stderr.isTTY || quiet) return { on() {}, stop() {} }
  return new Bar()
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

class Bar {
  #library = import('cli-progress').catch(() => undefined)
  #bar
  #isOver = false

  constructor() {
    // However the process ends, the cursor comes back.
    process.on('exit', () => this.stop())
  }

  async on(event) {
    const cli = await this.#library
    if (cli === undefined || this.#isOver || event.event !== 'progress') return
    const { bytes, allBytes, documents, shards, allShards, left, hosts } = event
    const words = {
      documents: documents.toLocaleString('en'),
      rate: perSecond(Object.values(hosts).reduce((sum, host) => sum + rateOf(host), 0)),
      left: duration(left ?? NaN),
      machines: machinesOf(hosts),
      shards,
      allShards,
    }
    if (this.#bar === undefined) {
      this.#bar = new cli.default.SingleBar(
        { format: FORMAT, clearOnComplete: true, hideCursor: true, stream: process.stderr },
        cli.default.Presets.shades_classic,
      )
      this.#bar.start(allBytes, bytes, words)
    } else {
      this.#bar.update(bytes, words)
    }
  }

  stop() {
    this.#isOver = true
    this.#bar?.stop()
    this.#bar = undefined
  }
}
