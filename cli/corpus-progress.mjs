// What a corpus job shows while it runs: events as JSON Lines, a bar on a terminal, or nothing.

import { duration } from './progress.mjs'

const FORMAT =
  '{bar} {percentage}% · {documents} documents · {rate} tokens/s · {left} left · shard {shards} of {allShards}'

/** @param {{ json?: boolean, quiet?: boolean }} values */
export function corpusProgress({ json, quiet }) {
  if (json)
    return { on: (event) => event.event !== 'done' && process.stdout.write(`${JSON.stringify(event)}\n`), stop() {} }
  if (!process.stderr.isTTY || quiet) return { on() {}, stop() {} }
  return new Bar()
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
    const { bytes, allBytes, documents, tokens, shards, allShards, seconds } = event
    const words = {
      documents: documents.toLocaleString('en'),
      rate: Math.round(tokens / seconds).toLocaleString('en'),
      left: duration(((allBytes - bytes) / bytes) * seconds),
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
