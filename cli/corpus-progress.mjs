// What a corpus job shows while it runs: events as JSON Lines, a bar on a terminal, or nothing.

import { Bar, canDraw } from './bar.mjs'
import { duration } from './progress.mjs'

/** @param {{ json?: boolean, quiet?: boolean }} values */
export function corpusProgress({ json, quiet }) {
  if (json)
    return { on: (event) => event.event !== 'done' && process.stdout.write(`${JSON.stringify(event)}\n`), stop() {} }
  if (!canDraw(process.stderr) || quiet) return { on() {}, stop() {} }
  return new CorpusBar()
}

class CorpusBar {
  #bar = new Bar(process.stderr)

  on({ event, bytes, allBytes, documents, tokens, shards, allShards, seconds }) {
    if (event !== 'progress') return
    const part = bytes / Math.max(1, allBytes)
    const number = (value) => value.toLocaleString('en')
    this.#bar.update(part, [
      `${Math.floor(part * 100)}%`,
      `${number(documents)} documents`,
      `${number(Math.round(tokens / seconds))} tokens/s`,
      `${duration(((allBytes - bytes) / bytes) * seconds)} left`,
      `shard ${shards} of ${allShards}`,
    ])
  }

  stop() {
    this.#bar.stop()
  }
}
