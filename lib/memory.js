'use strict'

// The memory that the results of batches lie in, as JS sees it; and the collections that a JS thread does for it.

const { wrongType, wrongValue, unknownOption } = require('./errors.js')
const host = require('./host.js')
const native = require('./native.js')

const POOLS = ['split', 'binned', 'off']
const ADVICE = ['free', 'dontneed', 'off']
const OPTIONS = ['pool', 'cap', 'madvise', 'collect']

/** Less would not hold the pieces that one batch is put together from. */
const LEAST_CAP = 1 << 20

// In the order of src/memory.rs.
const BYTES = ['mapped', 'lent', 'free', 'cached', 'warm', 'mostLent', 'cap', 'external']
const STEPS = ['scan', 'merge', 'map', 'reclaim', 'quickCollection', 'fullCollection', 'copy']
const QUICK = 1
const FULL = 2

// What TOKENLANE_POOL and TOKENLANE_MADVISE say holds from the start.
native.prepareMemory()

const memory = {
  /** What the pool is, has and did. */
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

  /** Sets what is named; the rest stays. */
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

  /** Gives back to the system what is not in use. */
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
  const most = host.memoryThere()
  if (!(Number.isInteger(cap) && cap >= LEAST_CAP && cap <= most)) {
    throw wrongValue('cap', `a whole number of bytes from ${LEAST_CAP} to ${most}, the memory of this machine`, cap)
  }
}

/**
 * Called with every result: collects when the addon says that it is time. Collecting frees results that nobody looks at
 * any more; V8 itself would wait until there are very many.
 */
function collectIfWanted() {
  const how = native.nextCollection()
  if (how !== QUICK && how !== FULL) return
  // Found before the clock starts: the first time that takes longer than ten quick collections.
  gc ??= host.findGc()
  const start = performance.now()
  collect(how === FULL)
  native.collected(how === FULL, performance.now() - start)
}

let gc

/** A full collection is asked for without arguments: up to Node 20 any object, whatever its `type` says, is a wish for a quick one. */
function collect(isFull) {
  if (isFull) gc()
  else gc({ type: 'minor', execution: 'sync' })
}

module.exports = { memory, collectIfWanted }
