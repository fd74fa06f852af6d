// How far a job is: sums of what threads or workers say, by machine, and the time that is left.

const NAMES = ['documents', 'tokens', 'bytes']

/** Sums of what one machine did in this run. */
const machine = () => ({ running: 0, shards: 0, documents: 0, tokens: 0, bytes: 0, seconds: 0 })

export class Progress {
  #plan
  #started = performance.now()
  /** What a shard that is under way said last. */
  #running = /** @type {Map<string | number, any>} */ (new Map())
  #done = { documents: 0, tokens: 0, bytes: 0 }
  /** Bytes of shards that a run before did. */
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

  /** @param {{ host: string, documents: number, tokens: number, bytes: number }} said */
  update(shard, said) {
    this.#machine(said.host)
    this.#running.set(shard, said)
  }

  /**
   * @param {{ host: string, isNew: boolean, documents: number, tokens: number, bytes: number }}
   *   done
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
    const known = this.#machine(done.host)
    known.shards += 1
    for (const name of NAMES) known[name] += done[name]
  }

  /** A shard that failed or was handed back is under way no more. */
  drop(shard) {
    this.#running.delete(shard)
  }

  #machine(host) {
    let known = this.#machines.get(host)
    if (known === undefined) {
      known = { since: performance.now(), shards: 0, documents: 0, tokens: 0, bytes: 0 }
      this.#machines.set(host, known)
    }
    return known
  }

  /** The event. */
  get event() {
    const now = performance.now()
    const sum = { ...this.#done }
    const hosts = /** @type {Record<string, ReturnType<typeof machine>>} */ ({ __proto__: null })
    for (const [host, { since, ...known }] of this.#machines)
      hosts[host] = { ...machine(), ...known, seconds: (now - since) / 1000 }
    for (const said of this.#running.values()) {
      hosts[said.host].running += 1
      for (const name of NAMES) {
        sum[name] += said[name]
        hosts[said.host][name] += said[name]
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
