'use strict'

// The API of the memory pool that holds results of batches, and the garbage collections that
// JavaScript threads run for it.

const { wrongType, wrongValue, unknownOption } = require('./errors.js')
const native = require('./native.js')
const runtime = require('./runtime.js')

const POOLS = ['split', 'binned', 'off']
const ADVICE = ['free', 'dontneed', 'off']
const OPTIONS = ['pool', 'cap', 'madvise', 'collect']

/** Smallest cap in bytes. A smaller one could not hold the chunks of one batch. */
const MIN_CAP = 1 << 20

// The order is that of src/memory.rs.
const BYTES = ['mapped', 'lent', 'free', 'cached', 'warm', 'mostLent', 'cap', 'external']
const STEPS = ['scan', 'merge', 'map', 'reclaim', 'quickCollection', 'fullCollection', 'copy']
const QUICK = 1
const FULL = 2

// Applies TOKENLANE_POOL and TOKENLANE_MADVISE.
native.prepareMemory()

const memory = {
  /** Settings, sizes and counters of the pool. */
  stats() {
    const { pool, madvise, collect, bytes, steps } = native.memoryStats()
    const stats = { pool, madvise, collect }
    BYTES.forEach((name, i) => (stats[name] = bytes[i]))
    stats.steps = {}
    STEPS.forEach((name, i) => {
      const [count, helped, ms] = steps.slice(3 * i, 3 * i + 3)
      stats.steps[name] = { count, helped, ms }
    })
    return stats
  },

  /** Changes the given settings. */
  configure(options) {
    if (typeof options !== 'object' || options === null) throw wrongType('options', 'an object', options)
    const known = {}
    for (const name in options) {
      if (!OPTIONS.includes(name)) throw unknownOption(name, OPTIONS)
      if (options[name] !== undefined) known[name] = options[name]
    }
    checkName('pool', known.pool, POOLS)
    checkName('madvise', known.madvise, ADVICE)
    if (known.cap !== undefined) checkCap(known.cap)
    if (known.collect !== undefined && typeof known.collect !== 'boolean') {
      throw wrongType('collect', 'a boolean', known.collect)
    }
    native.configureMemory(known)
  },

  /** Returns unused memory to the system. */
  trim() {
    native.trimMemory()
  },
}

function checkName(option, value, names) {
  if (value === undefined) return
  const expected = names.map((name) => `'${name}'`).join(' or ')
  if (typeof value !== 'string') throw wrongType(option, expected, value)
  if (!names.includes(value)) throw wrongValue(option, expected, value)
}

function checkCap(cap) {
  if (typeof cap !== 'number') throw wrongType('cap', 'a number of bytes', cap)
  const max = runtime.systemMemory()
  if (!(Number.isInteger(cap) && cap >= MIN_CAP && cap <= max)) {
    throw wrongValue('cap', `a whole number of bytes from ${MIN_CAP} to ${max}, the memory of this machine`, cap)
  }
}

/**
 * Is called with every result, and collects garbage if the addon requests it. This frees
 * unreachable results early; V8 itself does not know how much external memory they hold and would
 * wait too long.
 */
function collectIfRequested() {
  const kind = native.nextCollection()
  if (kind !== QUICK && kind !== FULL) return
  // Before the clock starts, because the first lookup takes longer than ten quick collections.
  gc ??= runtime.findGc()
  const start = performance.now()
  collect(kind === FULL)
  native.collected(kind === FULL, performance.now() - start)
}

let gc

/**
 * Runs a collection. A full one needs a call without arguments: up to Node 20 any object requests a
 * quick one, whatever its `type` is.
 */
function collect(isFull) {
  if (isFull) gc()
  else gc({ type: 'minor', execution: 'sync' })
}

module.exports = { memory, collectIfRequested }
