// The display of a running corpus job: events as JSON Lines, or a bar on a terminal; and lines
// about what the user may have to do something about.

import { barOf, stopBars, number, plural, duration, forOutput, oneLine } from 'tokenlane/internal/cli.mjs'

/** Maximum number of machines that the bar names. */
const MAX_NAMED = 4
/** Maximum number of lines that are remembered, so that they are not repeated. */
const MAX_NOTICES = 1000
/** Maximum number of inputs that were left out and have a line of their own. */
const MAX_LEFT_OUT = 20

/** @param {{ json?: boolean, quiet?: boolean }} values */
export function corpusProgress({ json, quiet }) {
  if (json)
    return {
      on: (event) => event.event !== 'done' && process.stdout.write(forOutput(`${JSON.stringify(event)}\n`)),
      stop() {},
    }
  const bar = barOf({ quiet })
  const notices = new Notices()
  return {
    on(event) {
      if (event.event === 'progress') draw(bar, event)
      if (!quiet) notices.on(event)
    },
    stop: () => bar.stop(),
  }
}

/** Writes lines about events that need attention, each line once. */
export class Notices {
  #written = new Set()
  #leftOut = 0

  on(event) {
    if (event.event === 'unreadable' && ++this.#leftOut > MAX_LEFT_OUT) return
    if (event.event === 'plan' && this.#leftOut > MAX_LEFT_OUT)
      this.#write(`left out: ${plural(this.#leftOut - MAX_LEFT_OUT, 'more input')}, which cannot be read either`)
    else this.#write(lineOf(event))
  }

  #write(line) {
    if (line === undefined || this.#written.has(line)) return
    if (this.#written.size < MAX_NOTICES) this.#written.add(line)
    stopBars()
    process.stderr.write(`tokenlane: ${oneLine(line)}\n`)
  }
}

/**
 * What Ctrl-C says about a job.
 *
 * @param {{ queue?: string }} job
 */
export const howToGoOn = ({ queue }) =>
  queue === undefined
    ? 'interrupted: what is done is kept; run the same command again to continue'
    : 'interrupted: the workers continue; run the same command again to see the progress'

function lineOf({ event, host, shard, message, url }) {
  switch (event) {
    case 'metrics':
      return `metrics at ${url}`
    case 'refused':
      return `${host} cannot process shards and pauses: ${message}`
    case 'stalled':
      return `the worker of shard ${shard} is gone; another one takes it`
    case 'failed':
      return `shard ${shard} failed: ${message}`
    case 'unreadable':
      return `left out: ${message}`
    case 'waiting':
    case 'note':
      return message
    default:
      return undefined
  }
}

const rateOf = ({ tokens, seconds }) => tokens / Math.max(seconds, 0.001)
const perSecond = (rate) => number(Math.round(rate))

/** The machines of a job with a queue, the fastest first; '' for one machine. */
export function machinesOf(hosts) {
  const all = Object.entries(hosts).sort(([, a], [, b]) => rateOf(b) - rateOf(a))
  if (all.length < 2) return ''
  const named = all.slice(0, MAX_NAMED).map(([name, host]) => `${oneLine(name)}: ${perSecond(rateOf(host))} tokens/s`)
  return `${named.join(', ')}${all.length > MAX_NAMED ? `, ${plural(all.length - MAX_NAMED, 'more machine')}` : ''}`
}

function draw(bar, { bytes, allBytes, documents, shards, allShards, left, hosts }) {
  const part = bytes / Math.max(1, allBytes)
  const rate = Object.values(hosts).reduce((sum, host) => sum + rateOf(host), 0)
  bar.update(part, [
    `${Math.floor(part * 100)}%`,
    plural(documents, 'document'),
    `${perSecond(rate)} tokens/s`,
    `${duration(left ?? NaN)} left`,
    `shard ${shards} of ${allShards}`,
    ...[machinesOf(hosts)].filter((names) => names !== ''),
  ])
}
