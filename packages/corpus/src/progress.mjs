// The progress of a job: sums of what threads or workers report, per machine, and the time left.

const NAMES = ['documents', 'tokens', 'bytes']

/** The sums of one machine in this run. */
const machine = () => ({ running: 0, shards: 0, documents: 0, tokens: 0, bytes: 0, seconds: 0 })

export class Progress {
  #plan
  #started = performance.now()
  /** The last report of each shard in progress. */
  #running = /** @type {Map<string | number, any>} */ (new Map())
  #done = { documents: 0, tokens: 0, bytes: 0 }
  /** Bytes of the shards that an earlier run wrote. */
  #keptBytes = 0
  #shards = 0
  #kept = 0
  /** Machines, with the time of their first message. */
  #machines = /** @type {Map<string, { since: number, shards: number, documents: number, tokens: number,
    bytes: number }>} */ (new Map())

  constructor(plan) {
    this.#plan = plan
  }

  get kept() {
    return this.#kept
  }

  /**
   * Records the progress of a shard.
   *
   * @param {string | number} shard
   * @param {{ host: string, documents: number, tokens: number, bytes: number, seconds?: number }}
   *   report `seconds` since the shard was started
   */
  update(shard, report) {
    this.#machine(report.host, report.seconds)
    this.#running.set(shard, report)
  }

  /**
   * Records that a shard is done.
   *
   * @param {string | number} shard
   * @param {{ host: string, isNew: boolean, documents: number, tokens: number,
   *   bytes: number, seconds?: number }} done
   */
  end(shard, done) {
    this.#running.delete(shard)
    this.#shards += 1
    for (const name of NAMES) this.#done[name] += done[name]
    if (!done.isNew) {
      this.#kept += 1
      this.#keptBytes += done.bytes
      return
    }
    const known = this.#machine(done.host, done.seconds)
    known.shards += 1
    for (const name of NAMES) known[name] += done[name]
  }

  /** Forgets the progress of a shard that failed or was given back to the queue. */
  drop(shard) {
    this.#running.delete(shard)
  }

  /**
   * The sums of a machine. Its time starts with its first shard, `seconds` before its first
   * message: otherwise the first rate would be that of no time.
   */
  #machine(host, seconds = 0) {
    let known = this.#machines.get(host)
    if (known === undefined) {
      known = { since: performance.now() - Math.max(0, seconds) * 1000, shards: 0, documents: 0, tokens: 0, bytes: 0 }
      this.#machines.set(host, known)
    }
    return known
  }

  /** The event that reports the progress. */
  get event() {
    const now = performance.now()
    const sum = { ...this.#done }
    const hosts = /** @type {Record<string, ReturnType<typeof machine>>} */ ({ __proto__: null })
    for (const [host, { since, ...known }] of this.#machines)
      hosts[host] = { ...machine(), ...known, seconds: (now - since) / 1000 }
    for (const report of this.#running.values()) {
      hosts[report.host].running += 1
      for (const name of NAMES) {
        sum[name] += report[name]
        hosts[report.host][name] += report[name]
      }
    }
    const { shards: allShards, bytes: allBytes } = this.#plan
    const seconds = (now - this.#started) / 1000
    const rate = (sum.bytes - this.#keptBytes) / seconds
    const left = rate > 0 ? { left: Math.max(0, allBytes - sum.bytes) / rate } : {}
    const counts = { shards: this.#shards, kept: this.#kept }
    return { event: 'progress', ...counts, ...sum, allShards, allBytes, seconds, ...left, hosts }
  }
}
